"""The problems of the selection benchmark: each knows its truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ksupport import datasets
from ksupport.datasets import make_block_data, make_correlated_data, make_fmri_process

Array = NDArray[np.float64]
Problem = tuple[Array, Array, Array]
Sizes = Literal["equal", "gaussian"]


def problem(kind: str, seed: int, **setting: Any) -> Problem:
    """X, y and the true w of a setting."""
    return MAKERS[kind](np.random.RandomState(seed), **setting)


def standardised(X: Array) -> Array:
    """Columns with mean 0 and variance 1; constant ones become 0."""
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def _coefficients(rng: Any, d: int, k: int, sizes: str) -> Array:
    w = np.zeros(d)
    where = rng.choice(d, k, replace=False)
    w[where] = rng.standard_normal(k) if sizes == "gaussian" else rng.choice([-1.0, 1.0], k)
    return w


def _noisy(rng: Any, X: Array, w: Array, snr: float) -> Problem:
    signal, noise = X @ w, rng.standard_normal(len(X))
    return X, signal + noise * np.linalg.norm(signal) / (snr * np.linalg.norm(noise)), w


def ar1(rng: Any, n: int, d: int, k: int, rho: float, snr: float) -> Problem:
    w = _coefficients(rng, d, k, "gaussian")
    return make_correlated_data(n, d, rho=rho, snr=snr, w_true=w, random_state=rng)


def blocks(rng: Any, n: int, block: int, rho: float, sizes: Sizes) -> Problem:
    return make_block_data(
        n, 10 * block if block > 20 else 20 * block, block_size=block,
        n_active_blocks=2 if block > 20 else 3, rho=rho, coef=sizes, snr=3.0, random_state=rng,
    )  # fmt: skip


def factor(rng: Any, n: int, d: int, k: int, factors: int) -> Problem:
    loadings = rng.standard_normal((factors, d)) / np.sqrt(factors)
    X = rng.standard_normal((n, factors)) @ loadings + 0.7 * rng.standard_normal((n, d))
    return _noisy(rng, X, _coefficients(rng, d, k, "gaussian"), 3.0)


def real(rng: Any, name: str, k: int, sizes: str) -> Problem:
    """A simulated response on the 1000 most variable columns of a real design."""
    data = getattr(datasets, f"fetch_{name}")()
    X = np.asarray(data.data, float)
    if "data_test" in data:
        X = np.vstack([X, data.data_test])
    X = X[:, np.argsort(-X.var(axis=0), kind="stable")[:1000]]
    X = standardised(X)
    return _noisy(rng, X, _coefficients(rng, X.shape[1], k, sizes), 5.0)


def example2(rng: Any, n: int, d: int, region: int) -> Problem:
    """Fewer samples than active features, as in the paper's Example 2."""
    return make_fmri_process(n, d, region_size=region, snr=5.0, random_state=rng)


MAKERS: dict[str, Callable[..., Problem]] = {
    "ar1": ar1,
    "blocks": blocks,
    "factor": factor,
    "real": real,
    "example2": example2,
}


def settings() -> list[dict[str, Any]]:
    """All settings of the benchmark."""
    out: list[dict[str, Any]] = []
    for rho in (0.0, 0.5, 0.9):
        for d in (200, 2000):
            for snr in (1.0, 3.0, 5.0):
                out.append({"kind": "ar1", "n": 100, "d": d, "k": 10, "rho": rho, "snr": snr})
    for block in (10, 40):
        for rho in (0.5, 0.7, 0.9):
            for n in (30, 100):
                for sizes in ("equal", "gaussian"):
                    out.append(
                        {"kind": "blocks", "n": n, "block": block, "rho": rho, "sizes": sizes}
                    )
    for factors in (3, 10):
        out.append({"kind": "factor", "n": 100, "d": 500, "k": 10, "factors": factors})
    for name in ("leukemia", "riboflavin", "scheetz2006"):
        for k in (5, 10):
            for sizes in ("gaussian", "equal"):
                out.append({"kind": "real", "name": name, "k": k, "sizes": sizes})
    for region in (30, 60):
        out.append({"kind": "example2", "n": 20, "d": 300, "region": region})
    return out
