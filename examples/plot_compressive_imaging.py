"""
An image from too few measurements
==================================

A camera that measures a few hundred cosines of an image instead of its four thousand pixels: the
image can be found if it is sparse. The measurement is never written down as a matrix. It is an
operator of PyLops, which an estimator takes as it is, in the place of X.

This page needs ``pip install pylops spgl1``.
"""

# %%
# The image and the operator
# --------------------------
# Stars and a ring on a dark sky; random frequencies of its cosine transform, and some noise.

import matplotlib.pyplot as plt
import numpy as np
import pylops
from pylops.optimization.sparsity import fista, omp, spgl1

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
# noise, which SPGL1 and OMP are told as well. FISTA has a penalty instead: the best of ten, chosen
# by the truth. All four take the operator as it is; what they cost is how often it is applied.


class Counted(pylops.LinearOperator):
    """The operator on vectors, and how often it or its adjoint was applied."""

    def __init__(self):
        super().__init__(dtype="float64", shape=X.shape)
        self.count = 0

    def _matvec(self, image):
        self.count += 1
        return (X @ image).ravel()

    def _rmatvec(self, measured):
        self.count += 1
        return (X.H @ measured).ravel()


def error(found):
    return np.linalg.norm(found - image.ravel()) / np.linalg.norm(image)


tolerance = noise * np.sqrt(n)
penalty = min(
    np.geomspace(1e-3, 1, 10), key=lambda eps: error(fista(Counted(), y, niter=200, eps=eps)[0])
)
irksn = IRKSN(
    k=150, alpha=0.01, fit_intercept=False, stopping=Discrepancy(tolerance), max_iter=2000
)
ways = {
    "FISTA, best penalty": lambda op: fista(op, y, niter=200, eps=penalty)[0],
    "SPGL1": lambda op: spgl1(op, y, sigma=tolerance, iter_lim=300)[0],
    "OMP": lambda op: omp(op, y, niter_outer=250, niter_inner=30, sigma=tolerance)[0],
    "IRKSN": lambda op: irksn.fit(op, y).coef_,
}
found = {"truth": image.ravel()}
for name, way in ways.items():
    operator = Counted()
    found[name] = way(operator)
    lit = np.count_nonzero(np.abs(found[name]) > 1e-3)
    print(f"{name:20}{lit:5} pixels, error {error(found[name]):.2f}, {operator.count} products")

fig, axes = plt.subplots(1, 5, figsize=(10, 2.6), layout="constrained")
for ax, (name, each) in zip(axes, found.items(), strict=True):
    ax.imshow(each.reshape(side, side), vmin=0, vmax=1, cmap="magma")
    ax.set_title(name if name == "truth" else f"{name}: {error(each):.2f}", fontsize="medium")
    ax.set_axis_off()

# %%
# All are near the truth. OMP is nearest, and pays for it with the most products: pixels that are
# lit here and there are no groups, and these columns are hardly correlated, which is where taking
# the best pixel one at a time cannot go wrong. It is not the case that IRKSN is made for; it is
# level with SPGL1, which solves the problem of the l1 norm at the same residual.
