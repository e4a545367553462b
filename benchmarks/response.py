"""Every kind of response, and what must be adjusted for: is the truth still found?

Every method is run as its users run it, with no knowledge of the truth, on draws that nothing was
chosen on.  A study is a function in `STUDIES` that gives rows.  Settings, all optional:
KSUPPORT_SEEDS (draws of each setting, 20), KSUPPORT_STUDIES ("confounded").
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from ksupport import AutoIRKSN
from ksupport.metrics import support_f1

from .measure import Row, at_most, once
from .selection_designs import Array, problem, standardised

FIRST = 52_000  # of the seeds: no other benchmark draws by these
NEAR = 0.05  # F1 that an adjusted model may lose against data without a confounder


def draws() -> range:
    return range(FIRST, FIRST + int(os.environ.get("KSUPPORT_SEEDS", 20)))


# -- a confounder ----------------------------------------------------------------------------

CONFOUNDED: dict[str, dict[str, Any]] = {
    "scattered": {"kind": "ar1", "n": 100, "d": 500, "k": 5, "rho": 0.5, "snr": 3.0},
    "grouped": {"kind": "blocks", "n": 100, "block": 10, "rho": 0.7, "sizes": "equal"},
    "real design": {"kind": "real", "name": "riboflavin", "k": 5, "sizes": "equal"},
}


def confounders(rng: Any, n: int) -> Array:
    """Something continuous, as age, and something with two levels, as a batch; as columns."""
    return standardised(np.column_stack([rng.standard_normal(n), rng.random(n) < 0.4]))


def confounded(setting: dict[str, Any], seed: int) -> dict[str, float]:
    """F1 without a confounder; and with two, adjusted for them, and in two ways without.

    They drive y, by as much as all features together, and leak into all features, some of which
    they explain for the most part.
    """
    clean, y, w = problem(seed=seed, **setting)
    rng = np.random.RandomState(seed + 1)
    C = confounders(rng, len(y))
    leaking = clean + C @ rng.standard_normal((2, len(w)))
    added = C @ rng.choice([-1.0, 1.0], 2)
    response = y + (leaking - clean) @ w + added * np.std(y) / np.std(added)
    both = np.hstack([C, leaking])

    def f1(X: Array, target: Array, **options: Any) -> float:
        chosen = AutoIRKSN(**options).fit(X, target).support_[-len(w) :]
        return float(support_f1(w, chosen.astype(float)))

    return {
        "no confounder": f1(clean, y),
        "adjusted": f1(both, response, unpenalized=[0, 1]),
        "as features": f1(both, response),
        "left out": f1(leaking, response),
    }


def study_confounded() -> Iterator[Row]:
    for name, setting in CONFOUNDED.items():
        found = [confounded(setting, seed) for seed in draws()]
        means = {way: float(np.mean([each[way] for each in found])) for way in found[0]}
        for way, mean in means.items():
            yield Row(f"confounders, {name}: F1, {way}", once(mean), unit="")
        lost = means["no confounder"] - means["adjusted"]
        yield Row(
            f"confounders, {name}: F1 lost, adjusted", once(lost), target=at_most(NEAR), unit=""
        )


# -- all -------------------------------------------------------------------------------------

STUDIES: dict[str, Callable[[], Iterator[Row]]] = {"confounded": study_confounded}


def main() -> list[Row]:
    asked = os.environ.get("KSUPPORT_STUDIES", ",".join(STUDIES)).split(",")
    return list(chain.from_iterable(STUDIES[name]() for name in asked))
