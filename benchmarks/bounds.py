"""What no method can do better: how often a signal can be told from noise at all.

The likelihood ratio between the paper's synthetic settings and noise knows how many features are
true, how their coefficients are drawn and the signal-to-noise ratio; by the lemma of Neyman and
Pearson no test that noise passes as rarely finds more.  KSUPPORT_SEEDS is the number of draws of
each setting (100).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from .measure import Row, once
from .selection_designs import Array, problem, settings

LEVEL = 0.05  # of noise that may be called a signal
TRUE = 10  # features of the paper's settings
SUPPORTS = 300  # drawn ones, over which the likelihood is averaged
FIRST = 7000  # of the seeds


def log_ratio(X: Array, y: Array, snr: float, supports: list[Any]) -> float:
    """Log of how much likelier y is with a signal of normal coefficients, whatever its scale."""
    n = len(y)
    basis = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]  # off the mean
    z = basis.T @ y
    z /= np.linalg.norm(z)
    found = []
    for S in supports:
        K = basis.T @ X[:, S]
        K = K @ K.T
        covariance = np.eye(n - 1) + snr**2 * (n - 1) * K / np.trace(K)
        log_det = np.linalg.slogdet(covariance)[1]
        found.append(-0.5 * (log_det + (n - 1) * np.log(z @ np.linalg.solve(covariance, z))))
    return float(np.logaddexp.reduce(found) - np.log(len(found)))


def power(n: int, rho: float, snr: float) -> float:
    """How often the likelihood ratio tells a signal from noise."""
    rng, draws = np.random.RandomState(0), int(os.environ.get("KSUPPORT_SEEDS", 100))
    ratios = []
    for seed in range(FIRST, FIRST + draws):
        X, y, w = problem("paper", seed, n=n, rho=rho, snr=snr)
        supports = [rng.choice(w.size, TRUE, replace=False) for _ in range(SUPPORTS)]
        noise = rng.standard_normal(n)
        ratios.append([log_ratio(X, response, snr, supports) for response in (y, noise)])
    signal, noise = np.array(ratios).T
    return float(np.mean(signal > np.quantile(noise, 1 - LEVEL)))


def rows() -> Iterator[Row]:
    for setting in settings("paper"):
        of = {name: setting[name] for name in ("n", "rho", "snr")}
        label = " ".join(f"{name}={value}" for name, value in of.items())
        yield Row(f"signal told from noise at {LEVEL:.0%}, {label}", once(power(**of)), unit="")


def main() -> list[Row]:
    return list(rows())
