"""Table 1 of the paper, evaluated: which methods have their sufficient condition met."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from ..design import Design, Floats
from ._support import Support
from .irksn import IRKSNCondition
from .isometry import IHT_RIP, refutes_iht, restricted_isometry
from .l1 import L1Condition, OMPCondition

METHODS = ("IRKSN", "Lasso", "IRCR", "SRDI", "OMP", "IHT", "IROSR", "ElasticNet", "KSN")
CHEAP_SUBSETS = 5_000  # a report enumerates supports only up to here


@dataclass(frozen=True)
class MethodStatus:
    """One row of Table 1 at one X and w.

    Attributes
    ----------
    method : str
        Name of the method.
    status : {"met", "not met", "unknown"}
        Whether its sufficient condition holds. "unknown" where none is known, or where it could not
        be decided at a reasonable cost.
    why : str
        One phrase.
    """

    method: str
    status: str
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
    irosr = "not met" if support.k + 1 > X.shape[0] or not support.injective else "unknown"
    rows = {
        "IRKSN": (_status(irksn.alpha_sharp > 0, irksn.source.decided), irksn_why),
        "Lasso": (lasso, l1_why),
        "IRCR": (lasso, l1_why),
        "SRDI": (_status(omp.holds), "irrepresentable condition with injectivity"),
        "OMP": (_status(omp.holds), "exact recovery condition"),
        "IHT": (iht, iht_why),
        "IROSR": (irosr, "restricted isometry of order k+1, with a constant left unspecified"),
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
