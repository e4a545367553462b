"""Where no signal was found: the best single feature, and the effect that could have been seen.

Power is that of testing one feature alone, two-sided, at level .05 divided by the number of
features (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import brentq

from ..losses import Cox
from .cross_validation import Kind
from .univariate import benjamini_hochberg, univariate

LEVEL, POWER = 0.05, 0.8


@dataclass(frozen=True)
class NoSignal:
    """What is known where no feature is named.

    Attributes
    ----------
    best : int or None
        The feature of the smallest p-value by itself; None if all are constant.
    p_value, adjusted : float
        Its p-value, and that after adjusting for all features (Benjamini and Hochberg).
    detectable : float or None
        The least effect that is found in four of five studies of this size; None: too few rows.
    measure : str
        What that effect is: a correlation, Cohen's d, a hazard ratio, eta squared.
    """

    best: int | None
    p_value: float
    adjusted: float
    detectable: float | None
    measure: str


def no_signal(X: Any, y: ArrayLike, kind: Kind, candidates: ArrayLike) -> NoSignal:
    """Look at every feature by itself, and at what tests of this size can see."""
    columns = np.asarray(candidates, np.intp)
    alone = univariate(X, y, kind)
    p = np.full(alone.p_value.shape, np.nan)
    p[columns] = alone.p_value[columns]
    detectable, measure = detectable_effect(y, kind, columns.size)
    if not np.isfinite(p).any():
        return NoSignal(None, 1.0, 1.0, detectable, measure)
    best = int(np.nanargmin(p))
    adjusted = float(np.nanmin(benjamini_hochberg(p)))
    return NoSignal(best, float(p[best]), adjusted, detectable, measure)


def detectable_effect(y: ArrayLike, kind: Kind, d: int) -> tuple[float | None, str]:
    """The effect of one feature that is seen with a power of 80 %, and what it is."""
    reach = float(stats.norm.isf(LEVEL / (2 * max(d, 1))) + stats.norm.ppf(POWER))
    if kind == "survival":
        events = float(Cox().checked(y)[:, 1].sum())
        name = "hazard ratio for one standard deviation"
        return (float(np.exp(reach / np.sqrt(events))) if events > 1 else None), name
    values = np.asarray(y)
    if kind == "numbers":
        n = len(values)
        return (float(np.tanh(reach / np.sqrt(n - 3))) if n > 3 else None), "correlation"
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    if len(counts) == 2:
        name = "difference of means in standard deviations (Cohen's d)"
        return reach * float(np.sqrt((1.0 / counts).sum())), name
    return _eta_squared(counts.sum(), len(counts), d), "share of variance between classes (eta²)"


def _eta_squared(n: float, groups: int, d: int) -> float | None:
    """Of an analysis of variance of so many rows and groups."""
    low, high = groups - 1, n - groups
    if high < 2:
        return None
    critical = stats.f.isf(LEVEL / max(d, 1), low, high)

    def missing(eta: float) -> float:
        return float(stats.ncf.sf(critical, low, high, n * eta / (1.0 - eta))) - POWER

    ends = 1e-6, 0.999
    return None if missing(ends[1]) < 0 else float(brentq(missing, *ends))
