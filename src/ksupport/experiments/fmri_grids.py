"""What is tuned over in the fMRI experiment, method by method.

As in the paper, k is given, and the model with the least error on the validation rows is kept.
Our protocol has the same grids with steps from the spectral norm, models of both signs for IROSR,
and fewer steps, as these steps go further.  IRCR chooses between its default steps and two pairs of
equal ones, which the paper has: which suit depends on the size of the weights.
"""

from __future__ import annotations

from functools import partial
from itertools import product

from ..algorithms.enet import RATIOS
from ..design import NormKind
from .experiment import Protocol
from .prediction_data import Split
from .prediction_walk import Params, Walk

ALPHA = 1e-3  # of IRKSN
SMALL = (1e-3, 1e-2, 1e-1)  # κ, α and η
STRENGTHS = (0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)  # of KSN; the paper names two
N_LAMBDAS = 100
STEPS: dict[Protocol, int] = {"paper": 10_000, "fair": 1_000}
EQUAL = (0.1, 0.99)  # of IRCR: √(sigma tau) ‖X‖ where both steps are the same
KAPPAS = (0.01, 0.1, 1.0)  # of SRDI, for weights of the order of 0.1


def walk_of(method: str, protocol: Protocol, k: int, quick: bool) -> Walk:
    """The paths of one method."""
    steps = 100 if quick else STEPS[protocol]
    norm: NormKind = "nuclear" if protocol == "paper" else "spectral"
    every = {"iht": 1, "ksn": None if protocol == "paper" else 5}.get(method, 5)
    if method == "lasso":
        return Walk("lasso", lambda split: [{}], steps=N_LAMBDAS, every=1, first=1)
    if method == "enet":
        ratios = RATIOS[::3] if quick else RATIOS
        settings = [{"l1_ratio": ratios}]
        return Walk("enet", lambda split: settings, N_LAMBDAS * len(ratios), every=1, first=1)
    if method == "omp":
        return Walk("omp", lambda split: [{"n_atoms": k}], steps=k, every=None)
    settings_of = partial(_settings, method, protocol, k, norm)
    average = method == "ircr" and protocol == "paper"
    return Walk(method, settings_of, steps, every, published_average=average)


def _settings(
    method: str, protocol: Protocol, k: int, norm: NormKind, split: Split
) -> list[Params]:
    if method == "irksn":
        return [{"k": k, "alpha": ALPHA, "step": norm}]
    if method == "iht":
        return [{"k": k, "norm": norm}]
    if method == "ksn":
        return [{"k": k, "lam": lam, "norm": norm} for lam in STRENGTHS]
    if method == "ircr":
        if protocol == "fair":
            return [{}, *_equal_steps(split)]
        return [{"norm": norm}]
    if method == "srdi":
        if protocol == "fair":
            return [{"kappa": kappa} for kappa in KAPPAS]
        return [
            {"kappa": kappa, "alpha": alpha, "scale": "d"} for kappa, alpha in product(SMALL, SMALL)
        ]
    if method == "irosr":
        if protocol == "fair":
            return [{"alpha": alpha} for alpha in SMALL]
        return [
            {"eta": eta, "alpha": alpha, "init": "published"}
            for eta, alpha in product(SMALL, SMALL)
        ]
    raise ValueError(f"no grid for method {method!r}")


def _equal_steps(split: Split) -> list[Params]:
    """sigma = tau, as in the paper, but stable steps that are not as short."""
    norm = split.design.norm("spectral")
    return [{"sigma": share / norm, "tau": share / norm} for share in EQUAL]
