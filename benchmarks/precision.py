"""Single against double precision: the same data in float32 and in float64.

X is rounded to single precision first, so that both are the same numbers.  For each estimator, over
draws of three kinds of data: how often the features chosen are the same, and the largest difference
of coefficients where they are, as a share of the largest coefficient.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from ksupport import IHT, IRCR, IRKSN, IRKSNCV, IRKSNIC, KSN, SRDI, AutoIRKSN
from ksupport.datasets import make_block_data, make_correlated_data

from .selection_designs import Array

DRAWS = 20
ESTIMATORS = {
    "IRKSN": IRKSN(k=5),
    "KSN": KSN(k=5, max_iter=200),
    "IHT": IHT(k=5, max_iter=200),
    "SRDI": SRDI(max_iter=200),
    "IRCR": IRCR(max_iter=200),
    "IRKSNIC": IRKSNIC(),
    "IRKSNCV": IRKSNCV(cv=3, random_state=0),
    "AutoIRKSN": AutoIRKSN(cv=3),
}


def data() -> Iterator[tuple[Array, Array]]:
    for seed in range(DRAWS):
        yield make_correlated_data(60, 200, rho=0.5, density=0.025, snr=4.0, random_state=seed)[:2]
        yield make_block_data(60, 200, block_size=5, n_active_blocks=1, random_state=seed)[:2]
        X = np.random.default_rng(seed).integers(0, 3, (60, 200)).astype(float)
        yield X, X[:, :3] @ [1.0, -1.0, 0.5] + np.random.default_rng(seed).standard_normal(60)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")  # that few steps do not converge
    print(f"{'estimator':<12}{'fits':>6}{'same features':>16}{'largest difference':>22}")
    for name, estimator in ESTIMATORS.items():
        same, fits, apart = 0, 0, 0.0
        for X, y in data():
            single = X.astype(np.float32)
            double = estimator.fit(single.astype(np.float64), y).coef_.copy()
            coef = estimator.fit(single, y).coef_
            fits += 1
            if np.array_equal(coef != 0, double != 0):
                same += 1
                apart = max(apart, np.abs(coef - double).max() / max(np.abs(double).max(), 1e-300))
        print(f"{name:<12}{fits:>6}{same:>16}{apart:>22.1e}")
