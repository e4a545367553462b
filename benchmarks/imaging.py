"""Images of 64 x 64 pixels from few measurements: `ksupport.recover` beside SPGL1.

Neither is given anything but the operator, the measurements and the norm of the noise.  Seeds 1 to
3 chose the constants of `ksupport.recover`; these are others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.fft import dctn, idctn
from scipy.sparse.linalg import LinearOperator

from ksupport import recover

Floats = NDArray[np.float64]
SIDE = 64
SEEDS = range(10, 16)
KINDS = (  # image, measurements, how many, noise
    ("ellipses", "signs", 1200, 0.02),
    ("ellipses", "signs", 1600, 0.05),
    ("ellipses", "signs", 2000, 0.02),
    ("ellipses", "low", 1200, 0.02),
    ("ellipses", "low", 2000, 0.05),
    ("squares", "signs", 800, 0.05),
    ("squares", "low", 800, 0.02),
    ("stars", "cosines", 900, 0.05),
)


def haar(image: Floats) -> Floats:
    """The orthonormal wavelet transform of Haar, in two dimensions."""
    image, size, root = image.copy(), len(image), np.sqrt(0.5)
    while size > 1:
        block = image[:size, :size]
        block = root * np.hstack([block[:, ::2] + block[:, 1::2], block[:, ::2] - block[:, 1::2]])
        image[:size, :size] = root * np.vstack([block[::2] + block[1::2], block[::2] - block[1::2]])
        size //= 2
    return image


def inverse_haar(coef: Floats) -> Floats:
    """The image with these coefficients."""
    coef, size, root = coef.copy(), 2, np.sqrt(0.5)
    while size <= len(coef):
        block, half = coef[:size, :size], size // 2
        rows = np.empty_like(block)
        rows[::2] = root * (block[:half] + block[half:])
        rows[1::2] = root * (block[:half] - block[half:])
        coef[:size, :size:2] = root * (rows[:, :half] + rows[:, half:])
        coef[:size, 1:size:2] = root * (rows[:, :half] - rows[:, half:])
        size *= 2
    return coef


def ellipses(rng: Generator) -> Floats:
    rows, columns = np.mgrid[:SIDE, :SIDE] / SIDE
    image = np.zeros((SIDE, SIDE))
    for _ in range(6):
        x, y = rng.uniform(0.25, 0.75, 2)
        a, b = rng.uniform(0.06, 0.3, 2)
        angle = rng.uniform(0, np.pi)
        u = (rows - x) * np.cos(angle) + (columns - y) * np.sin(angle)
        v = (columns - y) * np.cos(angle) - (rows - x) * np.sin(angle)
        image[(u / a) ** 2 + (v / b) ** 2 < 1] += rng.uniform(0.2, 1)
    return image


def squares(rng: Generator) -> Floats:
    image = np.zeros((SIDE, SIDE))
    for _ in range(8):
        size = 2 ** rng.integers(2, 5)
        i, j = rng.integers(0, SIDE // size, 2) * size
        image[i : i + size, j : j + size] += rng.uniform(0.2, 1)
    return image


def stars(rng: Generator) -> Floats:
    image = np.zeros((SIDE, SIDE))
    image[rng.integers(0, SIDE, 60), rng.integers(0, SIDE, 60)] = rng.uniform(0.3, 1, 60)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    image[np.abs(np.hypot(rows - 34, columns - 30) - 12) < 0.6] = 0.8
    return image


IMAGES: dict[str, Callable[[Generator], Floats]] = {
    "ellipses": ellipses,
    "squares": squares,
    "stars": stars,
}


def measured(rng: Generator, by: str, n: int) -> tuple[NDArray[np.intp], Floats | float]:
    """Which cosines of an image are measured, and the signs that its pixels are given before."""
    if by == "signs":  # so that each measurement has a part in every wavelet
        signs = rng.choice([-1.0, 1.0], (SIDE, SIDE))
        return rng.choice(SIDE**2, n, replace=False), signs
    if by == "low":  # low frequencies more often
        far = np.add.outer(np.arange(SIDE), np.arange(SIDE)).ravel().astype(float)
        chance = 1 / (1 + far) ** 1.5
        return rng.choice(SIDE**2, n, replace=False, p=chance / chance.sum()), 1.0
    return np.sort(np.append(0, 1 + rng.choice(SIDE**2 - 1, n - 1, replace=False))), 1.0


def problem(
    image: str, by: str, n: int, noise: float, seed: int
) -> tuple[LinearOperator, Floats, Floats, float]:
    """X, y, the coefficients, and the norm of the noise."""
    rng = np.random.default_rng(seed)
    picture = IMAGES[image](rng)
    kept, signs = measured(rng, by, n)
    identity = image == "stars"  # sparse as they are

    def forward(coef: Floats) -> Floats:
        coef = np.asarray(coef).reshape(SIDE, SIDE)
        pixels = coef if identity else inverse_haar(coef)
        return np.asarray(dctn(signs * pixels, norm="ortho").ravel()[kept])

    def back(values: Floats) -> Floats:
        cosines = np.zeros(SIDE**2)
        cosines[kept] = np.ravel(values)
        pixels = signs * idctn(cosines.reshape(SIDE, SIDE), norm="ortho")
        return np.ravel(pixels if identity else haar(pixels))

    X = LinearOperator((n, SIDE**2), matvec=forward, rmatvec=back, dtype=np.float64)
    w = (picture if identity else haar(picture)).ravel()
    y = X.matvec(w)
    size = noise * np.linalg.norm(y)
    return X, y + size / np.sqrt(n) * rng.standard_normal(n), w, float(size)


class Counted(LinearOperator):
    """An operator that counts its products."""

    def __init__(self, X: LinearOperator) -> None:
        super().__init__(X.dtype, X.shape)
        self.X, self.count = X, 0

    def _matvec(self, w: Floats) -> Floats:
        self.count += 1
        return np.asarray(self.X.matvec(w))

    def _rmatvec(self, u: Floats) -> Floats:
        self.count += 1
        return np.asarray(self.X.rmatvec(u))


def main() -> None:
    from spgl1 import spg_bpdn

    def error(coef: Floats, w: Floats) -> float:
        return float(np.linalg.norm(coef - w) / np.linalg.norm(w))

    rows = []
    print(f"{'error / products':38} SPGL1         known noise    noise not known")
    for kind in KINDS:
        mine = []
        for seed in SEEDS:
            X, y, w, noise = problem(*kind, seed)
            theirs, known = Counted(X), recover(X, y, noise)
            unknown, l1 = recover(X, y), spg_bpdn(theirs, y, noise, iter_lim=1000, verbosity=0)[0]
            pairs = (known.coef, known.n_products), (unknown.coef, unknown.n_products)
            mine.append([(error(l1, w), theirs.count)] + [(error(a, w), b) for a, b in pairs])
        rows += mine
        table = np.median(mine, axis=0)
        text = "   ".join(f"{e:.4f} / {count:4.0f}" for e, count in table)
        print(f"{'{} {} {} {}'.format(*kind):38} {text}")
    ratios = np.array(rows)[:, 1:] / np.array(rows)[:, :1]
    for name, (errors, products) in zip(
        ("known noise", "noise not known"), ratios.transpose(1, 2, 0), strict=True
    ):
        both = np.mean((errors <= 1.05) & (products <= 2))
        print(
            f"{name}: error {np.median(errors):.2f} times SPGL1's (at most {errors.max():.2f}) at "
            f"{np.median(products):.2f} times its products (at most {products.max():.2f}); within "
            f"1.05 and 2 in {both:.0%} of {len(errors)} images"
        )
