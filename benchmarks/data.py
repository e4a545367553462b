"""The problems that are measured: Gaussian designs with AR(1) correlations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ksupport.datasets import make_correlated_data
from ksupport.walking import Block

Problem = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def correlated(n: int, d: int, k: int, seed: int = 0) -> Problem:
    """X (C order), y and the true w with k features, corr(x_i, x_j) = 0.5^|i-j|, snr 3."""
    rng = np.random.RandomState(seed)
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.standard_normal(k)
    X, y, w = make_correlated_data(n, d, rho=0.5, snr=3.0, w_true=w, random_state=rng)
    return np.ascontiguousarray(X), y, w


def f1_of_blocks(w_true: NDArray[np.float64]) -> Callable[[Block], Any]:
    """Support F1 of every iterate of a block at once, for ``path(..., metrics=...)``."""
    truth = w_true != 0
    n_true = np.count_nonzero(truth)

    def f1(block: Block) -> NDArray[np.float64]:
        found = block.rows != 0
        here = truth if block.features is None else truth[block.features]
        hits = np.count_nonzero(found[:, here], axis=1)
        return 2.0 * hits / (n_true + np.count_nonzero(found, axis=1))

    return f1
