"""Every iterative method as one would first write it in NumPy: the side to compare with.

Each function walks ``steps`` steps on all of X, records the support's F1 every 5 of them, and
returns the last iterate and the scores.  Steps are given, so that no norm of X is timed.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from itertools import islice
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ksupport.commands.timing import prox_by_sorting

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    from modopt.opt.proximity import KSupportNorm  # says on import what it could not find

Floats = NDArray[np.float64]
Walked = tuple[Floats, list[float]]

EVERY = 5


def f1(truth: NDArray[np.bool_], w: Floats) -> float:
    found = w != 0
    return 2.0 * np.sum(found & truth) / (np.sum(truth) + np.sum(found))


def walk(iterates: Iterator[Floats], w_true: Floats, steps: int) -> Walked:
    """Iterates 0..steps, of which every fifth is scored."""
    truth, scores, w = w_true != 0, [], w_true
    for t, w in enumerate(islice(iterates, steps + 1)):
        if t % EVERY == 0:
            scores.append(f1(truth, w))
    return w, scores


# ----------------------------------------------------------------------------------------
# IRKSN, Algorithm 1 of the paper, with ModOpt's prox
# ----------------------------------------------------------------------------------------


def _after(X: Floats, z: Floats, alpha: float) -> Floats:
    return (X.T @ z) * (-1 / alpha)


def _left_to_right(X: Floats, z: Floats, alpha: float) -> Floats:
    return -1 / alpha * X.T @ z  # scales, and so copies, the whole of X first


def irksn(
    X: Floats, y: Floats, *, k: int, alpha: float, norm: float, copying: bool = False
) -> Iterator[Floats]:
    """w_0, w_1, … of Algorithm 1; ``copying`` multiplies in the order of the published code."""
    product = _left_to_right if copying else _after
    prox = KSupportNorm(beta=(1 - alpha) / alpha, k_value=k).op
    gamma = alpha / norm**2
    z = v = np.zeros(len(y))
    theta = 1.0
    while True:
        with np.errstate(all="ignore"):  # the first prox, of zero, divides by zero
            w = prox(product(X, z, alpha))
            r = prox(product(X, v, alpha))
        yield w
        z_old, z = z, v + gamma * (X @ r - y)
        theta_old, theta = theta, (1 + sqrt(1 + 4 * theta**2)) / 2
        v = z + (theta_old - 1) / theta * (z - z_old)


# ----------------------------------------------------------------------------------------
# The other methods
# ----------------------------------------------------------------------------------------


def ksn(X: Floats, y: Floats, *, k: int, lam: float, norm: float) -> Iterator[Floats]:
    """FISTA."""
    L = norm**2
    b = a = np.zeros(X.shape[1])
    theta = 1.0
    while True:
        yield b
        b_old, b = b, prox_by_sorting(a - X.T @ (X @ a - y) / L, lam / L, k)
        theta_old, theta = theta, (1 + sqrt(1 + 4 * theta**2)) / 2
        a = b + (theta_old - 1) / theta * (b - b_old)


def iht(X: Floats, y: Floats, *, k: int, norm: float) -> Iterator[Floats]:
    b = np.zeros(X.shape[1])
    while True:
        yield b
        c = b - X.T @ (X @ b - y) / norm**2
        kept = np.argpartition(np.abs(c), -k)[-k:]
        b = np.zeros_like(c)
        b[kept] = c[kept]


def shrink(z: Floats, level: float) -> Floats:
    return np.sign(z) * np.maximum(np.abs(z) - level, 0)


def srdi(X: Floats, y: Floats, *, kappa: float, norm: float) -> Iterator[Floats]:
    """The step alpha with κα‖X‖²/n = 1."""
    z = b = np.zeros(X.shape[1])
    while True:
        yield b
        z = z + X.T @ (y - X @ b) / (kappa * norm**2)
        b = kappa * shrink(z, 1)


def ircr(X: Floats, y: Floats, *, sigma: float, tau: float) -> Iterator[Floats]:
    """The averages of the iterates."""
    b = total = np.zeros(X.shape[1])
    theta = theta_old = np.zeros(len(y))
    t = 0
    while True:
        yield total / max(t, 1)
        b = shrink(b - tau * (X.T @ (2 * theta - theta_old)), tau)
        theta_old, theta = theta, theta + sigma * (X @ b - y)
        total = total + b
        t += 1


def irosr(X: Floats, y: Floats, *, alpha: float, eta: float) -> Iterator[Floats]:
    n, d = X.shape
    u, v = np.full(d, alpha), np.full(d, alpha)
    while True:
        w = u**2 - v**2
        yield w
        g = 2 * eta / n * (X.T @ (X @ w - y))
        u, v = u - g * u, v + g * v


BASELINES: dict[str, Callable[..., Iterator[Floats]]] = {
    "irksn": irksn,
    "ksn": ksn,
    "ircr": ircr,
    "irosr": irosr,
    "srdi": srdi,
    "iht": iht,
}
