"""How well a way to fit predicts rows that it has not seen, beside a Lasso and a ridge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from .._common.phases import phase
from ..design import Floats, Incomplete, Ints
from .measures import Measure, Variation
from .usual import Make

Splits = Sequence[tuple[Ints, Ints]]
CLEAR = 2.0  # standard errors from which a difference is one
TOLD = 0.005  # a difference of scores that is worth a word
NOTHING = "knowing nothing"


@dataclass(frozen=True, eq=False)
class Trial:
    """What one way to fit makes of rows that it has not seen."""

    name: str
    errors: Floats  # of every row held out
    features: float  # of its models, on average
    baseline: Floats  # the errors of whoever says the same of all rows
    constant: float = 0.0  # the score of that

    @property
    def score(self) -> float:
        """1 if nothing is wrong; see `Measure`."""
        total = float(self.baseline.mean())
        if total <= 0:
            return self.constant
        return 1.0 - (1.0 - self.constant) * float(self.errors.mean()) / total

    @property
    def standard_error(self) -> float:
        """Of the score, over rows."""
        return _spread(self.errors, self.baseline)

    def ahead_of(self, other: Trial) -> tuple[float, float]:
        """By how much the score is larger, row against row, and the standard error of that."""
        spread = _spread(other.errors - self.errors, self.baseline)
        return self.score - other.score, spread


def _spread(errors: Floats, baseline: Floats) -> float:
    """Standard error of a score, a ratio of means (the delta method).

    Of pairs too: each counts for both its rows, which doubles what a row changes, and the score of
    a constant, one half, halves it.
    """
    total, n = float(baseline.mean()), len(errors)
    if total <= 0 or n < 2:
        return 0.0
    share = float(errors.mean()) / total
    return float(np.sqrt(((errors - share * baseline) ** 2).sum() / (n * (n - 1))) / total)


@dataclass(frozen=True, eq=False)
class Trials:
    """A way to fit and others, on the same folds."""

    measure: Measure
    rows: Ints  # that were held out
    fold: Ints  # in which of the folds each of them was
    observed: Floats  # what they are
    predicted: Floats  # what ours says of them
    ours: Trial
    others: tuple[Trial, ...]
    nothing: Trial  # without any feature
    weights: Floats | None = None  # of the rows, where they have any

    @property
    def folds(self) -> int:
        """How often rows were held out."""
        return len(np.unique(self.fold))

    @property
    def better(self) -> list[Trial]:
        """The others that predict better by what rounds to a per cent, or more; best first."""
        ahead = [each for each in self.others if each.score - self.ours.score >= TOLD]
        return sorted(ahead, key=lambda each: -each.score)

    @property
    def clearly_better(self) -> list[Trial]:
        """Those of them for which the rows leave little doubt."""
        return [each for each in self.better if clearly_ahead(each, self.ours)]


def clearly_ahead(one: Trial, other: Trial) -> bool:
    """Whether the rows leave little doubt that one predicts better than the other."""
    gap, spread = one.ahead_of(other)
    return gap > CLEAR * spread


def trials_of(
    ours: str,
    makes: Mapping[str, Make],
    X: Any,
    y: Floats,
    splits: Splits,
    sample_weight: Floats | None = None,
    *,
    measure: Measure | None = None,
    nothing: str = NOTHING,
    adjusting: Ints | None = None,
) -> Trials:
    """Fit every way on the rows of each split, and predict the others.

    Parameters
    ----------
    ours : str
        Which of them is the one in question.
    makes : mapping of str to callable
        Makes an estimator for given rows.
    X, y : arrays
        All rows; X may be sparse.  Classes are numbers, survival has columns time and event.
    splits : sequence of (train, test)
        Rows to fit and to predict; no row is predicted twice.
    sample_weight : array, optional
        Weights of the rows, in fits and in the errors.
    measure : Measure, optional
        How predictions are judged; None: as numbers.
    nothing : str
        Which of the ways knows no feature; if it is none of them, the mean of the training rows.
    adjusting : array of int, optional
        Columns that are not counted as features.
    """
    measure = Variation() if measure is None else measure
    rows = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    w = np.ones(len(y)) if sample_weight is None else sample_weight / sample_weight[rows].mean()
    constant = np.array([measure.nothing(y[train], w[train]) for train, _ in splits])

    def errors(said: Floats) -> Floats:
        return measure.errors(y[rows], said, fold, w[rows])

    known = errors(constant[fold])
    baseline = measure.baseline(known, w[rows])
    found = {NOTHING: Trial(NOTHING, known, 0.0, baseline, measure.constant)}
    predictions = {}
    with phase("held-out rows", len(makes)) as update:
        for done, (name, make) in enumerate(makes.items()):
            predictions[name], used = _predicted(
                make, X, y, splits, None if sample_weight is None else w, measure
            )
            used[:, np.empty(0, np.intp) if adjusting is None else adjusting] = False
            found[name] = Trial(
                name, errors(predictions[name]), float(used.sum(axis=1).mean()), baseline,
                measure.constant,
            )  # fmt: skip
            update(done + 1)
    others = tuple(found[name] for name in makes if name not in (ours, nothing))
    return Trials(
        measure, rows, fold, y[rows], predictions[ours], found[ours], others, found[nothing],
        None if sample_weight is None else w[rows],
    )  # fmt: skip


def _predicted(
    make: Make, X: Any, y: Floats, splits: Splits, weights: Floats | None, measure: Measure
) -> tuple[Floats, NDArray[np.bool_]]:
    """What is said of the rows held out, and which columns each fold's model uses."""
    said, used = [], []
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts that are noise, or end early
            model, (seen, unseen) = make(train), filled(X[train], X[test])
            model.fit(seen, y[train], **_weighting(model, weights, train))
        said.append(measure.said(model, unseen))
        used.append((np.atleast_2d(_coef(model)) != 0).any(axis=0))
    return np.concatenate(said), np.array(used)


def _coef(model: Any) -> Any:
    """The coefficients of a fitted model; of one on principal axes those of the columns."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    coef = steps[-1].coef_
    for step in reversed(steps[:-1]):
        if hasattr(step, "components_"):
            coef = coef @ step.components_
    return coef


def filled(train: Any, test: Any) -> tuple[Any, Any]:
    """Rows to fit and to judge on; what is missing is the mean of the former."""
    if not isinstance(train, Incomplete):
        return train, test
    means = np.asarray(train).mean(axis=0)
    return train.filled(means), test.filled(means)


def _weighting(model: Any, weights: Floats | None, train: Ints) -> dict[str, Floats]:
    """What to give ``fit`` for the weights of the rows; a pipeline wants them for its steps."""
    if weights is None:
        return {}
    if not hasattr(model, "steps"):
        return {"sample_weight": weights[train]}
    *before, (last, _) = model.steps
    names = [name for name, step in before if has_fit_parameter(step, "sample_weight")]
    return {f"{name}__sample_weight": weights[train] for name in (*names, last)}
