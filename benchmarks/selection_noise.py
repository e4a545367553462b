"""Noise that breaks what models assume: rows that count for less, laws that are not normal.

Nothing is true in any of these.  What a user would tell `fit` of the rows (groups, weights) is told
to the methods that can be told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .selection_real import Array, Problem

PATIENTS, VISITS = 15, 5
BETWEEN = 0.75  # share of the variance of X and y that is between patients
ROWS, COLUMNS = 80, 200


def noise_law(rng: Any, law: str) -> Problem:
    """A design and a response that has nothing to do with it."""
    X, y = LAWS[law](rng)
    return X, y, np.zeros(X.shape[1])


def said_of_rows(law: str, seed: int) -> dict[str, Any]:
    """What is told to `fit` of the rows of this law."""
    if law == "grouped":
        return {"groups": np.repeat(np.arange(PATIENTS), VISITS)}
    if law == "weighted":
        return {"sample_weight": np.random.RandomState(seed).exponential(size=ROWS) ** 2}
    return {}


def _independent(rng: Any, n: int = ROWS, d: int = COLUMNS) -> tuple[Array, Array]:
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def _residualised(rng: Any) -> tuple[Array, Array]:
    """Columns to adjust for were projected off before: 47 rows of rank 24."""
    X, y = _independent(rng, 47)
    basis = np.linalg.qr(np.column_stack([np.ones(47), rng.standard_normal((47, 22))]))[0]
    return X - basis @ (basis.T @ X), y - basis @ (basis.T @ y)


def _grouped(rng: Any) -> tuple[Array, Array]:
    """Several rows of each patient."""
    of = np.repeat(np.arange(PATIENTS), VISITS)
    (X, y), (own_X, own_y) = _independent(rng, PATIENTS), _independent(rng, len(of))
    a, b = np.sqrt(BETWEEN), np.sqrt(1 - BETWEEN)
    return a * X[of] + b * own_X, a * y[of] + b * own_y


def _copied(rng: Any) -> tuple[Array, Array]:
    """Every row one to four times."""
    X, y = _independent(rng, ROWS // 2)
    times = rng.randint(1, 5, ROWS // 2)
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def _skewed(rng: Any) -> tuple[Array, Array]:
    X, y = _independent(rng)
    return np.exp(X), np.exp(y)


def _rare(rng: Any) -> tuple[Array, Array]:
    """Columns with two to five ones, noise with heavy tails."""
    X = np.zeros((100, COLUMNS))
    for column in X.T:
        column[rng.choice(100, rng.randint(2, 6), replace=False)] = 1.0
    return X, rng.standard_t(2, 100)


def _heteroscedastic(rng: Any) -> tuple[Array, Array]:
    """Three features say how large the noise is."""
    X, y = _independent(rng)
    return X, y * np.exp(X[:, :3].sum(axis=1) / 2)


LAWS: dict[str, Callable[[Any], tuple[Array, Array]]] = {
    "residualised": _residualised,
    "weighted": _independent,
    "grouped": _grouped,
    "copied": _copied,
    "skewed": _skewed,
    "rare": _rare,
    "heteroscedastic": _heteroscedastic,
    "12 x 3": lambda rng: _independent(rng, 12, 3),
    "10 x 30": lambda rng: _independent(rng, 10, 30),
}
