"""What the published prediction code tunes over, method by method, and when it validates."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..algorithms.enet import RATIOS
from .prediction_data import Split
from .prediction_walk import Params, Walk

TENS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # κ, α and η of the published grids
ALPHAS = TENS[:4]  # of IRKSN, where it is defined
BEYOND = (1.0, 10.0)  # published values of α, see `_irksn`
N_LAMBDAS = 100  # of a path of scikit-learn
LAST_LOOK = 495  # where a loop over 500 steps validates last: every fifth step, before it moves


def _levels(largest: int) -> list[int]:
    """Five values from 1 to ``largest``."""
    return [int(k) for k in np.linspace(1, largest, 5)]


def _iht(split: Split) -> list[Params]:
    n = len(split.y_train)
    return [{"k": k, "step": eta / n} for k, eta in product(_levels(split.d), TENS)]


def _ksn(split: Split) -> list[Params]:
    return [{"lam": lam, "k": k, "L": 1e6} for lam, k in product((0.1, 1.0), _levels(split.d))]


def _omp(split: Split) -> list[Params]:
    return [{"n_atoms": k} for k in _levels(min(split.X_train.shape))]


def _srdi(split: Split) -> list[Params]:
    # The published step divides by the columns that there were before constant ones went.
    share = split.d / split.n_columns
    return [
        {"kappa": kappa, "alpha": alpha * share, "scale": "d"}
        for kappa, alpha in product(TENS, TENS)
    ]


def _irosr(split: Split) -> list[Params]:
    return [{"eta": eta, "alpha": 1e-3, "init": "published"} for eta in TENS]


def _irksn(split: Split) -> list[Params]:
    """The published grid, with its α = 1 and α = 10, which lie outside of (0, 1).

    There λ = (1 - α)/α <= 0 leaves no k-support norm.  With k = d, the published prox then
    divides by 1 + λ, and as α (1 + λ) = 1 the iteration is the one that any α has for k = d,
    w = -Xᵀz, with the step α/‖X‖².  These runs count in the published table: on rhee2006 they
    alone win.  (The published α = 1 has the same models for every k; α = 10 with k < d never wins.)
    """
    grid = [
        {"alpha": alpha, "k": k, "step": "nuclear"}
        for alpha, k in product(ALPHAS, _levels(split.d))
    ]
    norm = split.design.norm("nuclear")
    return grid + [{"alpha": 0.5, "k": split.d, "step": alpha / norm**2} for alpha in BEYOND]


def _special(split: Split) -> list[Params]:
    return [{"alpha": 0.6, "k": min(33, split.d), "step": "nuclear"}]


PAPER: dict[str, Walk] = {
    "iht": Walk("iht", _iht, every=1, first=1),
    "lasso": Walk("lasso", lambda split: [{}], steps=N_LAMBDAS, every=1, first=1, draws=N_LAMBDAS),
    "enet": Walk(
        "enet", lambda split: [{"l1_ratio": RATIOS}], steps=N_LAMBDAS * len(RATIOS), every=1,
        first=1, draws=N_LAMBDAS * len(RATIOS),
    ),
    "ksn": Walk("ksn", _ksn, every=None),
    "omp": Walk("omp", _omp, every=None),
    "srdi": Walk("srdi", _srdi, steps=LAST_LOOK),
    "irosr": Walk("irosr", _irosr, steps=LAST_LOOK),
    "ircr": Walk(
        "ircr", lambda split: [{"norm": "nuclear"}], steps=LAST_LOOK, published_average=True
    ),
    "irksn": Walk("irksn", _irksn, steps=LAST_LOOK, late=True),
}  # fmt: skip

# The paper's own setting of IRKSN for rhee2006; only the stopping time is validated.
SPECIAL = Walk("irksn", _special, steps=LAST_LOOK + 500, late=True)
