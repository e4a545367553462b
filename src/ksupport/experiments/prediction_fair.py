"""Prediction with steps that fit each method, grids that fit the data, and equal splits.

Every method walks to the same number of steps and is validated along its whole path.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from .prediction_data import Split
from .prediction_paper import PAPER
from .prediction_walk import Params, Walk

ALPHAS = (1e-3, 1e-2, 1e-1, 0.5, 0.9)  # of IRKSN: all over (0, 1)
PER_LAMBDA = 100  # steps with each penalty of KSN


def _levels(split: Split) -> list[int]:
    """1, 3, 10, 30, … up to the number of columns, and that number."""
    steps = (int(m * 10**e) for e in range(6) for m in (1, 3))
    return [k for k in steps if k < split.d] + [split.d]


def _irksn(split: Split) -> list[Params]:
    return [
        {"alpha": alpha, "k": k, "step": "spectral"} for alpha, k in product(ALPHAS, _levels(split))
    ]


def _ksn(split: Split) -> list[Params]:
    """One path over falling penalties for each k, from one at which nearly all is shrunk away."""
    lams = tuple(split.design.norm() ** 2 * np.geomspace(1, 1e-4, 9))
    return [{"k": k, "lam": lams, "steps_per_lam": PER_LAMBDA} for k in _levels(split)]


def _iht(split: Split) -> list[Params]:
    return [{"k": k, "step": step} for k, step in product(_levels(split), (None, "normalised"))]


def _srdi(split: Split) -> list[Params]:
    """Dampings for which the first feature enters after about 1, 3, …, 100 steps."""
    top = np.abs(split.design.rmatvec(split.centred(split.y_train))).max()
    unit = float(top) / split.design.norm() ** 2
    return [{"kappa": wait * unit} for wait in (1, 3, 10, 30, 100)]


def _irosr(split: Split) -> list[Params]:
    return [{"alpha": alpha} for alpha in (1e-4, 1e-3, 1e-2, 1e-1)]


FAIR: dict[str, Walk] = {
    "iht": Walk("iht", _iht),
    "lasso": Walk("lasso", PAPER["lasso"].settings, steps=100, every=1),
    "enet": Walk("enet", PAPER["enet"].settings, steps=700, every=1),
    "ksn": Walk("ksn", _ksn, steps=9 * PER_LAMBDA, every=PER_LAMBDA),
    "omp": Walk("omp", lambda split: [{}], every=1),
    "srdi": Walk("srdi", _srdi),
    "irosr": Walk("irosr", _irosr),
    "ircr": Walk("ircr", lambda split: [{"average": a} for a in (False, True)]),
    "irksn": Walk("irksn", _irksn),
}
