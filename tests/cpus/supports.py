"""The supports of a fixed set of walks and fits, as JSON on standard output.

Run under the BLAS, NumPy and compiled loops of other CPUs, the answers must be the same: what is
chosen must not depend on the machine.  `compare.py` and `test_cpus.py` do that.

    python supports.py [--quick] [--backwards]

Backwards, fits come before walks, and each kind in the opposite order: bits must not depend on
what a process has done before.
"""

import hashlib
import json
import sys
import warnings

import numpy as np

from ksupport import IHT, IRCR, IRKSN, IRKSNCV, IRKSNIC, KSN, SRDI, AutoIRKSN, PathCV, PathIC, path
from ksupport.datasets import make_block_data, make_correlated_data

DUST = 1e-12  # an entry this much smaller than the largest is rounding


def blocks(seed, n=32, d=30):
    X, y, _ = make_block_data(n, d, block_size=5, n_active_blocks=1, random_state=seed)
    return X / np.linalg.norm(X, axis=0), y


def correlated(seed, n=50, d=120):
    X, y, _ = make_correlated_data(n, d, rho=0.6, density=5 / d, snr=4.0, random_state=seed)
    return X, y


def orthogonal(seed):
    """Columns at right angles and no noise: most correlations are zero but for rounding."""
    rng = np.random.default_rng(seed)
    X = np.linalg.qr(rng.standard_normal((24, 16)))[0]
    return X, X[:, [2, 7, 11]] @ [1.0, -2.0, 0.5]


def whole_numbers(seed):
    """Small whole numbers: ties, and entries that meet a threshold exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (16, 40)).astype(float)
    return X, X[:, :3] @ [2.0, -1.0, 1.0]


WALKS = {
    "irksn": [{"k": k, "alpha": a} for k in (2, 5) for a in (0.1, 0.01)],
    "ksn": [{"k": 4, "lam": 0.3}],
    "iht": [{"k": 5}],
    "srdi": [{}],
    "ircr": [{}],
    "lasso": [{"n_lambdas": 30}],
    "enet": [{"l1_ratio": 0.5, "n_lambdas": 30}],
    "omp": [{}],
}
ESTIMATORS = {
    "AutoIRKSN": AutoIRKSN(),
    "IRKSNIC": IRKSNIC(),
    "IRKSNCV": IRKSNCV(),
    "IRKSN": IRKSN(k=5, stopping="held_out", random_state=0),
    "KSN": KSN(k=5),
    "IHT": IHT(k=5),
    "SRDI": SRDI(),
    "IRCR": IRCR(),
    "PathIC(iht)": PathIC("iht"),
    "PathCV(ksn)": PathCV("ksn"),
}


def walks(n_seeds, order):
    """All recorded iterates of each walk."""
    for seed in range(n_seeds):
        for make in (blocks, correlated, orthogonal):
            X, y = make(seed)
            for method, settings in order(WALKS.items()):
                for params in settings:
                    result = path(method, X, y, max_iter=60, **params)
                    name = f"{method} {params} {make.__name__} {seed}"
                    yield name, result.iterates


def fits(n_seeds, order):
    for seed in range(n_seeds):
        for make in (blocks, correlated, orthogonal, whole_numbers):
            X, y = make(100 + seed)
            groups = {"AutoIRKSN, groups": AutoIRKSN(feature_groups=np.arange(X.shape[1]) // 5)}
            for name, estimator in order((ESTIMATORS | groups).items()):
                yield f"{name} {make.__name__} {seed}", estimator.fit(X, y).coef_


def digest(values):
    return hashlib.sha256(values.tobytes()).hexdigest()[:16]


def walked(n_seeds, order, found):
    for name, W in walks(n_seeds, order):
        found["bits"][name] = digest(W.data)
        for t in range(W.shape[0]):
            row = slice(*W.indptr[t : t + 2])
            size = np.abs(W.data[row])
            found["dust"] += bool((size < DUST * size.max(initial=0.0)).any())
            found["supports"][f"{name} step {t}"] = W.indices[row].tolist()
            found["walked"] += 1


def fitted(n_seeds, order, found):
    for name, coef in fits(n_seeds, order):
        found["bits"][name] = digest(coef)
        found["supports"][name] = np.flatnonzero(coef).tolist()


def main(quick, backwards):
    warnings.simplefilter("ignore")  # that few steps do not converge
    found = {"walked": 0, "dust": 0, "bits": {}, "supports": {}}
    order = reversed if backwards else iter
    parts = [(walked, 2 if quick else 40), (fitted, 2 if quick else 6)]
    for part, n_seeds in order(parts):
        part(n_seeds, order, found)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:], "--backwards" in sys.argv[1:])
