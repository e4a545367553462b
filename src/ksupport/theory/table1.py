"""Table 1 of the paper, evaluated: which methods have their sufficient condition met."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from ..design import Design, Floats
from ._support import BLOCK, Support
from .irksn import IRKSNCondition
from .isometry import IHT_RIP, refutes_iht, restricted_isometry
from .l1 import L1Condition, OMPCondition

METHODS = ("IRKSN", "Lasso", "IRCR", "SRDI", "OMP", "IHT", "IROSR", "ElasticNet", "KSN")
CHEAP_SUBSETS = 5_000  # a report enumerates supports only up to here


@dataclass(frozen=True)
class MethodStatus:
    """One row of Table 1 at one X and w."""

    method: str
    status: str  # of its sufficient condition: "met", "not met", or "unknown" at a reasonable cost
    why: str


def table1(
    X: Design,
    support: Support,
    nearness: Floats,
    irksn: IRKSNCondition,
    l1: L1Condition,
    omp: OMPCondition,
) -> tuple[MethodStatus, ...]:
    """Every row, from conditions already checked."""
    iht, iht_why = _iht(X, support, nearness)
    l1_why = "Assumption 3" if l1.holds else "strong source condition with injectivity"
    irksn_why = "Assumption 2" if irksn.holds else "existence of a dual certificate"
    lasso = _status(l1.recovers, l1.source.decided or not l1.injective)
    irosr, irosr_why = _irosr(X, support)
    rows = {
        "IRKSN": (_status(irksn.alpha_sharp > 0, irksn.source.decided), irksn_why),
        "Lasso": (lasso, l1_why),
        "IRCR": (lasso, l1_why),
        "SRDI": (_status(omp.holds), "irrepresentable condition with injectivity"),
        "OMP": (_status(omp.holds), "exact recovery condition"),
        "IHT": (iht, iht_why),
        "IROSR": (irosr, irosr_why),
        "ElasticNet": ("unknown", "no condition for recovery is known"),
        "KSN": ("unknown", "no condition for recovery is known"),
    }
    return tuple(MethodStatus(method, *rows[method]) for method in METHODS)


def _status(holds: bool, decided: bool = True) -> str:
    return "met" if holds else "not met" if decided else "unknown"


def _iht(X: Design, support: Support, nearness: Floats) -> tuple[str, str]:
    """Restricted isometry of order 3k, up to scale: refuted, proved, or unknown."""
    order = min(3 * support.k, X.shape[1])
    what = f"restricted isometry of order {order}"
    lower = refutes_iht(X, support.S, nearness)
    if lower >= IHT_RIP:
        return "not met", f"{what}: at least {lower:.3g}, needs {IHT_RIP:.3g}"
    if comb(X.shape[1], order) <= CHEAP_SUBSETS:
        exact = restricted_isometry(X, order).scaled_lower
        return _status(exact < IHT_RIP), f"{what}: {exact:.3g}, needs below {IHT_RIP:.3g}"
    return "unknown", f"{what}: at least {lower:.3g}, too costly to decide"


def _irosr(X: Design, support: Support) -> tuple[str, str]:
    """Restricted isometry of order k+1, with some constant below 1: refuted, or unknown."""
    what = "restricted isometry of order k+1, with a constant left unspecified"
    if X.shape[1] == support.k:
        return ("unknown" if support.injective else "not met"), what
    if not support.injective or support.k + 1 > X.shape[0]:
        return "not met", f"{what}: k+1 columns are dependent"
    # A feature in the span of the support will do; of the nearest one it is seen in full.
    norms = X.column_norms
    inside = (
        sum(
            (X.rmatmat(support.U[:, start : start + BLOCK]) ** 2).sum(axis=1)
            for start in range(0, support.rank, BLOCK)
        )
        / np.where(norms > 0, norms, 1) ** 2
    )
    inside[norms == 0] = 1.0
    inside[support.S] = -np.inf
    nearest = int(np.argmax(inside))
    if Support.of(X, np.append(support.S, nearest)).injective:
        return "unknown", what
    return "not met", f"{what}: feature {nearest} and the support are dependent"
