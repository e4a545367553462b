"""Univariate tests: effect and p-value of every feature by itself.

Whole-matrix forms of SciPy's tests (`linregress`, `ttest_ind`, `f_oneway`) and of the score test of
a Cox model with one feature.  X is taken by blocks of columns, each read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator

from .._common.checks import dense
from ..design import Floats, Incomplete, is_dask, unwrapped
from ..losses import Cox
from .cross_validation import Kind

# Entries of X that are looked at together: 32 MB, and a few times that for squares.
BLOCK_ENTRIES = 1 << 22


@dataclass(frozen=True)
class Univariate:
    """Effect and p-value of each feature by itself; NaN where it is constant."""

    # Means by class ("mean of A"), or "slope": change of the response, or of the logarithm of the
    # hazard, for one unit more of the feature.
    columns: dict[str, Floats]
    # In units that compare: the correlation with numbers, the difference of the means of two
    # classes in standard deviations within them (Cohen's d, second class less first), the share of
    # the variance that more classes explain (eta squared), the log hazard ratio of one standard
    # deviation.
    effect: Floats
    # Two-sided, of no effect: t-test of the slope, Welch's t-test, analysis of variance, or score
    # test of the Cox model.  Not adjusted for covariates.
    p_value: Floats

    @property
    def q_value(self) -> Floats:
        """Adjusted for the number of features: of those up to q, a share of q is expected null."""
        return benjamini_hochberg(self.p_value)

    @property
    def signed_score(self) -> Floats:
        """-log10 of the p-value, with the sign of the effect: what lists for enrichment rank by."""
        smallest = np.finfo(np.float64).tiny
        sign = np.where(self.effect < 0, -1.0, 1.0)
        return np.asarray(-np.log10(np.maximum(self.p_value, smallest)) * sign)


def univariate(X: Any, y: ArrayLike, kind: Kind) -> Univariate:
    """Univariate tests of all features; missing values are dropped column by column."""
    X = unwrapped(X)
    if isinstance(X, LinearOperator):
        raise ValueError(
            "X must be an array, data frame or sparse matrix, got a LinearOperator: univariate "
            "tests need its columns"
        )
    if kind == "numbers" and np.ndim(y) > 1:
        raise ValueError(f"y must be one response, got shape {np.shape(y)}; pass one column")
    parts = [_of_block(block, y, kind) for block in _blocks(X)]
    names = list(parts[0][0])
    return Univariate(
        {name: np.concatenate([part[0][name] for part in parts]) for name in names},
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )


def benjamini_hochberg(p: Floats) -> Floats:
    """p-values adjusted by Benjamini and Hochberg; NaN are ignored."""
    out = np.full(p.shape, np.nan)
    there = np.isfinite(p)
    if there.any():
        out[there] = stats.false_discovery_control(p[there], method="bh")
    return out


def _blocks(X: Any) -> Iterator[Floats]:
    """Blocks of columns as arrays, missing values as NaN."""
    n, d = X.shape
    if isinstance(X, Incomplete):
        X = X.values
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if sp.issparse(X):
        X = sp.csc_array(X)
    width = max(1, BLOCK_ENTRIES // max(n, 1))
    for start in range(0, d, width):
        block = X[:, np.arange(start, min(start + width, d))]
        block = block.compute() if is_dask(block) else block
        yield np.asarray(dense(block), np.float64)


Part = tuple[dict[str, Floats], Floats, Floats]  # columns, effect and p-value of a block


def _of_block(X: Floats, y: ArrayLike, kind: Kind) -> Part:
    with np.errstate(divide="ignore", invalid="ignore"):  # of constant columns
        if kind == "classes":
            return _classes(X, np.asarray(y))
        if kind == "survival":
            return _survival(X, Cox().checked(y))
        return _numbers(X, np.asarray(y, np.float64))


def _numbers(X: Floats, y: Floats) -> Part:
    """Least squares on one feature: `scipy.stats.linregress`, column by column."""
    there = np.isfinite(X)
    n = there.sum(axis=0)
    x = _center_columns(X, there, n)
    response = np.where(there, y[:, None], 0.0)
    response = np.where(there, response - response.sum(axis=0) / np.maximum(n, 1), 0.0)
    xx, xy, yy = (x * x).sum(axis=0), (x * response).sum(axis=0), (response**2).sum(axis=0)
    r = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    r = np.where(_varies(X, xx, n), r, np.nan)
    t = r * np.sqrt((n - 2) / ((1.0 - r) * (1.0 + r)))
    p = np.where(n > 2, 2.0 * stats.t.sf(np.abs(t), np.maximum(n - 2, 1)), np.nan)
    return {"slope": np.where(np.isfinite(r), xy / xx, np.nan)}, r, np.where(np.isnan(r), np.nan, p)


def _classes(X: Floats, y: NDArray[Any]) -> Part:
    """Means by class; of two classes Welch's t-test, of more an analysis of variance."""
    names = np.unique(y)
    there = np.isfinite(X)
    count = np.stack([there[y == name].sum(axis=0) for name in names]).astype(np.float64)
    zeroed = np.where(there, X, 0.0)
    means = np.stack([zeroed[y == name].sum(axis=0) for name in names]) / count
    squares = np.stack(
        [
            (np.where(there[y == name], X[y == name] - mean, 0.0) ** 2).sum(axis=0)
            for name, mean in zip(names, means, strict=True)
        ]
    )
    total = (_center_columns(X, there, there.sum(axis=0)) ** 2).sum(axis=0)
    varies = _varies(X, total, there.sum(axis=0)) & (count > 0).all(axis=0)
    effect, p = (_welch if len(names) == 2 else _anova)(count, means, squares)
    columns = {f"mean of {name}": mean for name, mean in zip(names, means, strict=True)}
    return columns, np.where(varies, effect, np.nan), np.where(varies, p, np.nan)


def _welch(count: Floats, means: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Cohen's d, and `scipy.stats.ttest_ind(equal_var=False)`."""
    difference = means[1] - means[0]
    pooled = np.sqrt(squares.sum(axis=0) / (count.sum(axis=0) - 2))
    first, second = zip(means, np.sqrt(squares / (count - 1)), count, strict=True)
    p = stats.ttest_ind_from_stats(*first, *second, equal_var=False).pvalue
    return difference / pooled, np.where(squares.sum(axis=0) == 0, 0.0, p)


def _anova(count: Floats, means: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Eta squared, and `scipy.stats.f_oneway`."""
    total = count.sum(axis=0)
    mean = (count * means).sum(axis=0) / total
    between = (count * (means - mean) ** 2).sum(axis=0)
    within = squares.sum(axis=0)
    low, high = len(count) - 1, total - len(count)
    p = stats.f.sf((between / low) / (within / high), low, high)
    return between / (between + within), np.where(within == 0, 0.0, p)


def _survival(X: Floats, y: Floats) -> Part:
    """The score test of a Cox model with one feature, at no effect; ties by Breslow.

    Missing values are taken to be the mean of their column.
    """
    there = np.isfinite(X)
    x = _center_columns(X, there, there.sum(axis=0))
    strata = y[:, 2] if y.shape[1] > 2 else np.zeros(len(y))
    score, information = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for stratum in np.unique(strata):
        inside = strata == stratum
        more = _cox_score(x[inside], y[inside, 0], y[inside, 1])
        score, information = score + more[0], information + more[1]
    xx = (x * x).sum(axis=0)
    varies = _varies(X, xx, there.sum(axis=0)) & (information > 0)
    slope = np.where(varies, score / information, np.nan)
    p = 2.0 * stats.norm.sf(np.abs(score) / np.sqrt(information))
    return {"slope": slope}, slope * np.sqrt(xx / len(x)), np.where(varies, p, np.nan)


def _cox_score(x: Floats, time: Floats, event: Floats) -> tuple[Floats, Floats]:
    """The first step of Newton's method from zero: score and information of each column."""
    order = np.argsort(-time, kind="stable")
    x, time, event = x[order], time[order], event[order] == 1
    last = np.searchsorted(-time, -time[event], side="right") - 1  # of those at risk
    at_risk = (last + 1.0)[:, None]
    mean = np.cumsum(x, axis=0)[last] / at_risk
    square = np.cumsum(x * x, axis=0)[last] / at_risk
    return (x[event] - mean).sum(axis=0), (square - mean**2).sum(axis=0)


def _center_columns(X: Floats, there: NDArray[np.bool_], n: NDArray[Any]) -> Floats:
    """Columns less their means; missing values at the mean."""
    return np.where(there, X - np.where(there, X, 0.0).sum(axis=0) / np.maximum(n, 1), 0.0)


def _varies(X: Floats, squares: Floats, n: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether columns vary by more than rounding."""
    size = np.nanmax(np.abs(np.where(np.isfinite(X), X, 0.0)), axis=0, initial=0.0)
    eps = float(np.finfo(np.float64).eps)
    return np.asarray(np.sqrt(squares / np.maximum(n, 1)) > 8 * eps * size)


# -- if no feature is selected -----------------------------------------------------------


TEST_LEVEL, TEST_POWER = 0.05, 0.8


@dataclass(frozen=True)
class NoSignal:
    """What to report if no feature is selected.

    Power is that of testing one feature alone, two-sided, at level .05 divided by the number of
    features (Bonferroni).
    """

    best: int | None  # the feature of the smallest p-value by itself; None if all are constant
    p_value: float
    adjusted: float  # for all features (Benjamini and Hochberg)
    detectable: float | None  # found in four of five studies of this size; None: too few rows
    measure: str  # what that effect is: a correlation, Cohen's d, a hazard ratio, eta squared


def no_signal(X: Any, y: ArrayLike, kind: Kind, candidates: ArrayLike) -> NoSignal:
    """The feature with the smallest univariate p-value, and the effect that is detectable."""
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
    """The effect of one feature that is detected with a power of 80 %, and its measure."""
    reach = float(stats.norm.isf(TEST_LEVEL / (2 * max(d, 1))) + stats.norm.ppf(TEST_POWER))
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
    critical = stats.f.isf(TEST_LEVEL / max(d, 1), low, high)

    def missing(eta: float) -> float:
        return float(stats.ncf.sf(critical, low, high, n * eta / (1.0 - eta))) - TEST_POWER

    ends = 1e-6, 0.999
    return None if missing(ends[1]) < 0 else float(brentq(missing, *ends))
