"""
An image from too few measurements
==================================

A camera that takes some hundreds of random measurements of an image instead of its four thousand
pixels: the image can be found if few of its wavelets are not zero. The measurement is never written
down as a matrix. It is an operator, of SciPy here, and what a method costs is how often it is
applied.

This page needs ``pip install pylops spgl1``.
"""

# %%
# The image and the operator
# --------------------------
# Blocks on a dark ground, in the wavelets of Haar. Pixels are given random signs before their
# cosine transform, of which 800 frequencies are measured, with 5 % of noise.

import matplotlib.pyplot as plt
import numpy as np
import pylops
from pylops.optimization.sparsity import fista, spgl1
from scipy.fft import dctn, idctn
from scipy.sparse.linalg import LinearOperator

from ksupport import recover

side, n = 64, 800
rng = np.random.default_rng(3)


def haar(image):
    image, size = image.copy(), len(image)
    while size > 1:
        block = image[:size, :size]
        block = np.hstack([block[:, ::2] + block[:, 1::2], block[:, ::2] - block[:, 1::2]]) / 2
        image[:size, :size] = np.vstack([block[::2] + block[1::2], block[::2] - block[1::2]])
        size //= 2
    return image


def inverse_haar(coef):
    coef, size = coef.copy(), 2
    while size <= len(coef):
        block, half = coef[:size, :size].copy(), size // 2
        rows = np.empty_like(block)
        rows[::2], rows[1::2] = block[:half] + block[half:], block[:half] - block[half:]
        coef[:size, :size:2] = (rows[:, :half] + rows[:, half:]) / 2
        coef[:size, 1:size:2] = (rows[:, :half] - rows[:, half:]) / 2
        size *= 2
    return coef


image = np.zeros((side, side))
for _ in range(8):
    size = 2 ** rng.integers(2, 5)
    i, j = rng.integers(0, side // size, 2) * size
    image[i : i + size, j : j + size] += rng.uniform(0.2, 1)
signs, kept = rng.choice([-1.0, 1.0], (side, side)), rng.choice(side**2, n, replace=False)


class Measure(LinearOperator):
    """From wavelets to measurements and back, and how often."""

    def __init__(self):
        super().__init__(np.float64, (n, side**2))
        self.count = 0

    def _matvec(self, coef):
        self.count += 1
        return dctn(signs * inverse_haar(coef.reshape(side, side)), norm="ortho").ravel()[kept]

    def _rmatvec(self, measured):
        self.count += 1
        cosines = np.zeros(side**2)
        cosines[kept] = measured.ravel()
        return haar(signs * idctn(cosines.reshape(side, side), norm="ortho")).ravel()


w = haar(image).ravel()
y = Measure().matvec(w)
sigma = 0.05 * np.linalg.norm(y) / np.sqrt(n)
y = y + sigma * rng.standard_normal(n)
noise = sigma * np.sqrt(n)
print(f"{n} measurements, {side**2} wavelets, of which {np.count_nonzero(w)} are not zero")

# %%
# Recover
# -------
# `ksupport.recover` and SPGL1 are told the norm of the noise, and nothing else. FISTA is given as
# many products as `ksupport.recover` took, and a penalty: the best of ten, chosen by the truth.
# SPGL1 stops by itself before that.


def error(coef):
    return np.linalg.norm(coef - w) / np.linalg.norm(w)


def by_fista(operator, penalty, products):
    steps = products // 3  # as PyLops counts its cost, too; the largest eigenvalue of XXᵀ is 1
    wrapped = pylops.LinearOperator(operator)
    return fista(wrapped, y, niter=steps, eps=penalty, alpha=1.0, tol=0)[0]


def by_spgl1(operator, steps):
    return spgl1(pylops.LinearOperator(operator), y, sigma=noise, iter_lim=steps)[0]


found = recover(Measure(), y, noise)
penalty = min(
    np.geomspace(1e-3, 1, 10), key=lambda each: error(by_fista(Measure(), each, found.n_products))
)
operators = {name: Measure() for name in ("FISTA", "SPGL1", "recover")}
images = {
    "truth": w,
    "FISTA": by_fista(operators["FISTA"], penalty, found.n_products),
    "SPGL1": by_spgl1(operators["SPGL1"], 1000),
    "recover": recover(operators["recover"], y, noise).coef,
}
for name, operator in operators.items():
    lit = np.count_nonzero(np.abs(images[name]) > 1e-3)
    print(f"{name:8}{lit:5} wavelets, error {error(images[name]):.3f}, {operator.count} products")

fig, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
for ax, (name, each) in zip(axes, images.items(), strict=True):
    ax.imshow(inverse_haar(each.reshape(side, side)), vmin=0, vmax=image.max(), cmap="magma")
    ax.set_title(name if name == "truth" else f"{name}: {error(each):.3f}", fontsize="medium")
    ax.set_axis_off()

# %%
# At equal products
# -----------------
# Errors of all three by the number of products they were allowed. SPGL1 is there first, and stays
# there: the l1 norm shrinks large wavelets, and lets many small ones in. `ksupport.recover` goes
# on to norms that do less of both.

budgets = np.array([20, 30, 40, 60, 80, 100, 150, 200])
curves = {"FISTA": [error(by_fista(Measure(), penalty, each)) for each in budgets]}
points = []
for steps in (3, 5, 8, 12, 18, 1000):
    operator = Measure()
    points.append((error(by_spgl1(operator, steps)), operator.count))

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(budgets, curves["FISTA"], "o-", label="FISTA, penalty chosen by the truth")
ax.plot([count for _, count in points], [each for each, _ in points], "s-", label="SPGL1")
ax.plot(found.n_products, error(found.coef), "*", ms=14, label="recover")
ax.set(xlabel="products with X or its adjoint", ylabel="relative error", yscale="log")
ax.legend()

# %%
# Why this k
# ----------
# Each level begins where the one before ended. Models become sparser as k falls (and, once k is 1,
# alpha), until that hardly changes any more; the sparsest one is taken.

for row in zip(*found.levels.values(), strict=True):
    print("  ".join(f"{name}={value:.3g}" for name, value in zip(found.levels, row, strict=True)))
