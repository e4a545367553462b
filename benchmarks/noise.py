"""How often features are found where there is nothing to find, by kind of noise.

Gaussian and permuted responses on simulated and real designs; rows that are grouped, weighted,
copied or of low rank; skewed, rare and heteroscedastic data; tiny designs; and classes, survival
times and counts that have nothing to do with X.  Each row of the table has the share of data sets
with any feature selected, with the exact binomial interval of 95 %.
Settings: KSUPPORT_FIRST (the first seed, 800000), KSUPPORT_SEEDS (data sets of a kind, 24).
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binomtest

from ksupport import AutoIRKSN

from . import losses
from .posterior import FIRST, SEEDS, without_folds
from .response_rivals import METHODS, OURS, fitted
from .selection_designs import NOISE, Array, label, problem, settings
from .selection_noise import said_of_rows

LIMIT = 0.05


def on_law(setting: dict[str, Any], seed: int) -> Any:
    """`AutoIRKSN` on one data set of a setting, told what a user would tell it of the rows."""
    X, y, _ = problem(seed=seed, **setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of no signal, as it should be
        return without_folds(AutoIRKSN).fit(X, y, **said_of_rows(setting.get("law", ""), seed))


def by_loss(kind: str, seed: int) -> Any:
    """A response of this kind, on a real design, that has nothing to do with it."""
    X, rng = losses.design(losses.DESIGNS[seed % len(losses.DESIGNS)]), np.random.default_rng(seed)
    y: Array = losses.KINDS[kind][0](2.0 * rng.standard_normal(len(X)), rng)
    return fitted(partial(without_folds, METHODS[kind][OURS]), X, y)


def row(what: str, found: int, count: int) -> str:
    """A row of the table; a kind that is above the limit for certain is marked."""
    near = binomtest(found, count).proportion_ci()
    mark = "  above" if near.low > LIMIT else ""
    return f"{what:44} {found:4} of {count:4} ({near.low:.3f} to {near.high:.3f}){mark}"


def main() -> None:
    """Print the table."""
    kinds = [(label(setting), partial(on_law, setting)) for setting in settings(*NOISE)]
    kinds += [(f"{kind}, response of noise", partial(by_loss, kind)) for kind in METHODS]
    total, seeds = 0, range(FIRST, FIRST + SEEDS)
    for what, fit in kinds:
        found = sum(bool(np.any(fit(seed).support_)) for seed in seeds)
        total += found
        print(row(what, found, SEEDS), flush=True)
    print(row("all", total, SEEDS * len(kinds)))
