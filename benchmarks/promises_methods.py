"""The methods on the board of kept promises, each as its users run it, and what each promises.

A method is a function of X (standardised) and y (centred) that gives an `Answer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t
from sklearn.linear_model import LassoCV

from ksupport import IRKSN, AutoIRKSN, intervals, stability_selection

from .selection_designs import Array

LEVELS = (0.1, 0.2)  # false discovery rates that are asked for
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Intervals:
    """Intervals of 95 % of some coefficients."""

    features: NDArray[np.intp]
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Answer:
    """What a method gives.

    Attributes
    ----------
    named : dict
        Named features, by the rate that was asked for; None for a method that promises no rate.
    sets : list of arrays, optional
        Sets that claim to have a true feature with a probability of 95 %.
    sets_at : dict
        Sets of which at most a given share has no true feature, by that share.
    probability : array, optional
        That each feature matters.
    intervals : dict
        By their kind.
    signal : bool, optional
        Whether anything matters, of a method that tests for it at 5 %.
    """

    named: dict[float | None, Mask] = field(default_factory=dict)
    sets: Sequence[Any] | None = None
    sets_at: dict[float, Sequence[Any]] = field(default_factory=dict)
    probability: Array | None = None
    intervals: dict[str, Intervals] = field(default_factory=dict)
    signal: bool | None = None


def automatic(X: Array, y: Array) -> Answer:
    """`AutoIRKSN`, and least squares on its features, whose intervals ignore the choice."""
    model = AutoIRKSN().fit(X, y)
    posterior, chosen = model.posterior_, np.flatnonzero(model.support_)
    effects = posterior.effects()
    own = Intervals(chosen, effects.lower[chosen], effects.upper[chosen])
    return Answer(
        {level: posterior.select(level) for level in LEVELS} | {None: model.support_},
        [list(each.features) for each in model.sets_],
        {level: [list(each.features) for each in posterior.select_sets(level)] for level in LEVELS},
        model.probability_,
        {"posterior": own, "refit without correction": least_squares(X, y, chosen)},
        bool(model.signal_),
    )


def least_squares(X: Array, y: Array, chosen: NDArray[np.intp], level: float = 0.95) -> Intervals:
    """The usual intervals on chosen features, as if they had not been chosen on the same rows."""
    columns = X[:, chosen]
    freedom = len(X) - 1 - chosen.size
    if not chosen.size or freedom < 1 or np.linalg.matrix_rank(columns) < chosen.size:
        return Intervals(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))
    inverse = np.linalg.inv(columns.T @ columns)
    b = inverse @ (columns.T @ y)
    noise = float(np.sum((y - columns @ b) ** 2)) / freedom
    far = t.ppf((1 + level) / 2, freedom) * np.sqrt(noise * inverse.diagonal())
    return Intervals(chosen, b - far, b + far)


def splitting(X: Array, y: Array) -> Answer:
    """`intervals`; where no merged interval is left, it does not cover."""
    answer = {}
    for kind, method in (("splits", "splitting"), ("fission", "fission")):
        found = intervals(AutoIRKSN(), X, y, method=method)
        answer[kind] = Intervals(found.features, found.lower, found.upper)
    return Answer(intervals=answer)


def stability(X: Array, y: Array) -> Answer:
    """`stability_selection` of few features by IRKSN, at a rate."""
    found = stability_selection(IRKSN(k=10, max_iter=30), X, y, random_state=0)
    return Answer({level: found.select(level) for level in LEVELS})


def susie(X: Array, y: Array) -> Answer:
    """susieR's port: credible sets, and features by their inclusion probabilities."""
    from pysusie import susie as fitted

    found = fitted(X, y)
    p = np.asarray(found["pip"], float)
    sets = [np.asarray(S, int).tolist() for S in found["sets"]["cs"] or ()]
    return Answer({level: by_probability(p, level) for level in LEVELS}, sets, {}, p)


def by_probability(p: Array, level: float) -> Mask:
    """The most features whose mean probability of being false is at most the level."""
    order = np.argsort(-p, kind="stable")
    false = np.cumsum(1 - p[order]) / np.arange(1, p.size + 1)
    chosen = np.zeros(p.size, bool)
    chosen[order[: np.count_nonzero(false <= level)]] = True
    return chosen


def knockoffs(X: Array, y: Array) -> Answer:
    """hidimstat's Gaussian knockoffs, with the Lasso's coefficients."""
    from hidimstat import ModelXKnockoff

    found = ModelXKnockoff(random_state=0)
    found.fit_importance(X, y)
    return Answer({level: np.asarray(found.fdr_selection(fdr=level) != 0) for level in LEVELS})


def other_knockoffs(X: Array, y: Array) -> Answer:
    """knockpy's Gaussian knockoffs of least reconstructability, with the Lasso's coefficients."""
    from knockpy.knockoff_filter import KnockoffFilter

    np.random.seed(0)  # noqa: NPY002  (its knockoffs are drawn by the global generator)
    found = KnockoffFilter(ksampler="gaussian", fstat="lasso")
    found.forward(X=X, y=y, shrinkage="ledoitwolf")
    return Answer({level: found.make_selections(found.W, level) > 0 for level in LEVELS})


def dcrt(X: Array, y: Array) -> Answer:
    """hidimstat's distilled conditional randomisation test, by Benjamini and Hochberg."""
    from hidimstat import D0CRT

    found = D0CRT(estimator=LassoCV(cv=5), random_state=0)
    found.fit_importance(X, y)
    return Answer({level: np.asarray(found.fdr_selection(fdr=level) != 0) for level in LEVELS})


def trex(method: str) -> Callable[[Array, Array], Answer]:
    """The T-Rex selector, plain or aware of dependence."""

    def run(X: Array, y: Array) -> Answer:
        from trexselector import trex as selector

        named: dict[float | None, Mask] = {}
        for level in LEVELS:
            found = selector(X.copy(), y.copy(), tFDR=level, method=method, seed=1, verbose=False)
            named[level] = np.isin(np.arange(X.shape[1]), found["selected_var"])
        return Answer(named)

    return run


def ipss(X: Array, y: Array) -> Answer:
    """Integrated path stability selection by the Lasso."""
    from ipss import ipss as selector

    np.random.seed(0)  # noqa: NPY002  (its subsamples are drawn by the global generator)
    q_values = selector(X, y, selector="l1")["q_values"]
    q = np.array([q_values[j] for j in range(X.shape[1])], float)
    return Answer({level: q <= level for level in LEVELS})


def lasso(X: Array, y: Array) -> Answer:
    return Answer({None: LassoCV(cv=5).fit(X, y).coef_ != 0})


def abess(X: Array, y: Array) -> Answer:
    from abess import LinearRegression

    return Answer({None: LinearRegression(cv=5).fit(X, y).coef_ != 0})


METHODS: dict[str, Callable[[Array, Array], Answer]] = {
    "AutoIRKSN": automatic,
    "splits": splitting,
    "stability selection": stability,
    "pysusie": susie,
    "knockoffs": knockoffs,
    "knockpy": other_knockoffs,
    "dCRT": dcrt,
    "T-Rex": trex("trex"),
    "T-Rex+DA": trex("trex+DA+AR1"),
    "IPSS": ipss,
    "LassoCV": lasso,
    "abess": abess,
}
OURS = ("AutoIRKSN", "splits", "stability selection")
