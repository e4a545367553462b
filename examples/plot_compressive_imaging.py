"""
An image from too few measurements
==================================

A camera that measures a few hundred cosines of an image instead of its four thousand pixels: the
image can be found if it is sparse. The measurement is never written down as a matrix. It is an
operator of PyLops, which an estimator takes as it is, in the place of X.

This page needs ``pip install pylops``.
"""

# %%
# The image and the operator
# --------------------------
# Stars and a ring on a dark sky; random frequencies of its cosine transform, and some noise.

import matplotlib.pyplot as plt
import numpy as np
import pylops
from pylops.optimization.sparsity import fista

from ksupport import IRKSN
from ksupport.stopping import Discrepancy

side = 64
rng = np.random.default_rng(0)
image = np.zeros((side, side))
image[rng.integers(0, side, 60), rng.integers(0, side, 60)] = rng.uniform(0.3, 1.0, 60)
rows, columns = np.mgrid[:side, :side]
radius = np.hypot(rows - 34, columns - 30)
image[np.abs(radius - 12) < 0.6] = 0.8

n = 900
frequencies = np.sort(rng.choice(side**2, n, replace=False))
X = pylops.Restriction(side**2, frequencies) @ pylops.signalprocessing.DCT((side, side))
y = X @ image.ravel()
noise = 0.05 * np.linalg.norm(y) / np.sqrt(n)
y = y + noise * rng.standard_normal(n)
print(f"{n} measurements of {side**2} pixels, of which {np.count_nonzero(image)} are lit")

# %%
# Recover
# -------
# ``k`` is a guess at the number of lit pixels. The walk stops when the residual is as small as the
# noise. Beside it, PyLops' own FISTA for the l1 norm, with the best of several penalties, chosen
# by the truth, and the image that least squares gives.


def error(found):
    return np.linalg.norm(found - image.ravel()) / np.linalg.norm(image)


model = IRKSN(
    k=150, alpha=0.01, fit_intercept=False, stopping=Discrepancy(noise * np.sqrt(n)), max_iter=2000
)
model.fit(X, y)
l1 = min(
    (fista(X, y, niter=200, eps=eps)[0].ravel() for eps in np.geomspace(1e-3, 1, 10)), key=error
)
found = {
    "truth": image.ravel(),
    "least squares": (X.H @ y).ravel(),
    "l1, best penalty": l1,
    "IRKSN": model.coef_,
}

fig, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for ax, (name, each) in zip(axes, found.items(), strict=True):
    ax.imshow(each.reshape(side, side), vmin=0, vmax=1, cmap="magma")
    ax.set_title(name if name == "truth" else f"{name}: error {error(each):.2f}", fontsize="medium")
    ax.set_axis_off()
print(f"step {model.n_iter_}, {model.support_.sum()} pixels, X read {model.n_passes_} times")

# %%
# Both images are near the truth. The l1 norm is nearer, with the one penalty of ten that the truth
# prefers; IRKSN knew the noise and a guess at ``k``. Pixels that are lit here and there are no
# groups, and these columns are hardly correlated: it is not the case that IRKSN is made for.
