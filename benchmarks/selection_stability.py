"""Does the answer depend on the folds?  Ten seeds of them on the same data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from ksupport import IRKSNCV, AutoIRKSN
from ksupport.experiments.experiment import Cell, Experiment, Row
from ksupport.metrics import support_f1

from .selection_designs import Setting, first_seed, label, problem, standardised
from .selection_metrics import Mask, support_of
from .selection_rivals import RELEASES, asked_for

FOLDS = 10  # seeds
DRAWS = 2
METHODS: dict[str, Callable[[int], Any]] = {
    "AutoIRKSN": lambda folds: AutoIRKSN(random_state=folds),
    "IRKSNCV": lambda folds: IRKSNCV(random_state=folds),
}
SETTINGS: tuple[Setting, ...] = (
    *(
        {"kind": "real", "sizes": sizes, "k": 10, "snr": snr, "name": name}
        for sizes, name in (
            ("equal", "scheetz2006"),
            ("decaying", "leukemia"),
            ("grouped", "riboflavin"),
            ("mixed", "colon"),
        )
        for snr in (1.0, 2.0, 5.0)
    ),
    {"kind": "ar1", "n": 100, "d": 200, "k": 10, "rho": 0.5, "snr": 3.0},
    {"kind": "ar1", "n": 100, "d": 2000, "k": 10, "rho": 0.9, "snr": 5.0},
    {"kind": "blocks", "n": 100, "block": 10, "rho": 0.7, "sizes": "equal"},
    {"kind": "hiv", "rows": 150, "name": "hiv_pi", "drug": "NFV"},
    {"kind": "noise", "n": 120, "d": 300, "design": "ar1"},
    {"kind": "permuted", "name": "khan"},
)


def compute(method: str, release: int, seed: int, **setting: Any) -> list[Row]:
    """One method on one draw, ten times."""
    X, y, w = problem(seed=seed, **setting)
    X, y = standardised(X), y - y.mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model without features warns
        models = [METHODS[method](folds).fit(X, y) for folds in range(FOLDS)]
    supports = [support_of(model) for model in models]
    yes = sum(bool(getattr(model, "signal_", support_of(model).any())) for model in models)
    row = {
        "method": method,
        "seed": seed,
        "kind": setting["kind"],
        "setting": label(setting),
        "snr": setting.get("snr"),
        "jaccard": float(np.mean([jaccard(*two) for two in combinations(supports, 2)])),
        "flips": min(yes, FOLDS - yes),  # seeds that see signal where most do not, or none
        "f1": float(np.mean([support_f1(w, S) for S in supports])),
    }
    return [row]


def jaccard(one: Mask, other: Mask) -> float:
    """Shared features among those of either; two empty supports agree."""
    either = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / either if either else 1.0


def cells(protocol: str, quick: bool, among: tuple[str, ...] = tuple(METHODS)) -> list[Cell]:
    return [
        {"method": method, "release": RELEASES.get(method, 1), **s, "seed": first_seed() + i}
        for i in range(DRAWS)
        for s in SETTINGS
        for method in asked_for(among)
    ]


EXPERIMENT = Experiment(
    "selection-stability",
    __doc__.splitlines()[0],
    1,
    cells,
    compute,
    lambda rows, out: None,
    protocols=("fair",),
)
