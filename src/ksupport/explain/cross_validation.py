"""How well a procedure predicts held-out rows, beside a Lasso and a ridge.

Numbers are scored by R², two classes by the area under the ROC curve, survival times by Harrell's
concordance, more than two classes by accuracy.  AUC and concordance are shares of pairs of rows in
the right order; pairs are formed within a fold only, as each fold has a model of its own.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from .._common.phases import phase
from ..design import Floats, Incomplete, Ints
from ..losses import Cox, Logistic, Loss, Multinomial
from ..metrics import wrong_pairs

Kind = Literal["numbers", "classes", "survival"]


@dataclass(frozen=True)
class Metric(ABC):
    """A score of predictions, row by row, for one kind of response."""

    kind: ClassVar[Kind]
    chance: ClassVar[float]  # the score of a constant prediction

    def predictions(self, model: Any, X: Any) -> Floats:
        return np.asarray(model.predict(X))

    def constant_prediction(self, y: Floats, weights: Floats) -> Any:
        """The prediction without features, given the responses of the training rows."""
        return 0.0

    def baseline_errors(self, constant: Floats, weights: Floats) -> Floats:
        """The errors that stand for a score of ``chance``, given those of a constant."""
        return constant

    @abstractmethod
    def errors(self, y: Floats, predicted: Floats, fold: Ints, weights: Floats) -> Floats:
        """The error that each row contributes."""


class RSquared(Metric):
    """R², the share of variance explained: from squared errors."""

    kind: ClassVar[Kind] = "numbers"
    chance = 0.0

    def constant_prediction(self, y: Floats, weights: Floats) -> Any:
        return np.average(y, weights=weights)

    def errors(self, y: Floats, predicted: Floats, fold: Ints, weights: Floats) -> Floats:
        return weights * (y - predicted) ** 2


class Concordance(Metric):
    """Harrell's concordance: from pairs of rows of a fold in the wrong order."""

    kind: ClassVar[Kind] = "survival"
    chance = 0.5

    def times(self, y: Floats) -> Floats:
        """Columns time and event."""
        return y

    def errors(self, y: Floats, predicted: Floats, fold: Ints, weights: Floats) -> Floats:
        """Of each row the pairs that it is part of, and that are wrong."""
        out, Y = np.zeros(len(fold)), self.times(y)
        for each in np.unique(fold):
            rows = np.flatnonzero(fold == each)
            out[rows] = wrong_pairs(Y[rows], predicted[rows], weights[rows])[0]
        return out


class AUC(Concordance):
    """Area under the ROC curve of classes 0 and 1: concordance, where class 1 has an event."""

    kind: ClassVar[Kind] = "classes"

    def times(self, y: Floats) -> Floats:
        """Columns time and event."""
        return np.column_stack([1.0 - y, y])

    def predictions(self, model: Any, X: Any) -> Floats:
        return np.asarray(model.predict_proba(X))[:, 1]


@dataclass(frozen=True)
class Accuracy(Metric):
    """Share of rows of n_classes classes whose own class is the most probable one."""

    kind: ClassVar[Kind] = "classes"
    chance = 0.0
    n_classes: int

    def predictions(self, model: Any, X: Any) -> Floats:
        return np.asarray(model.predict_proba(X))

    def constant_prediction(self, y: Floats, weights: Floats) -> Any:
        return np.bincount(y.astype(np.intp), weights, self.n_classes) / weights.sum()

    def baseline_errors(self, constant: Floats, weights: Floats) -> Floats:
        """The weights: then the score is the share of rows predicted correctly."""
        return weights

    def errors(self, y: Floats, predicted: Floats, fold: Ints, weights: Floats) -> Floats:
        return weights * (predicted.argmax(axis=1) != y)


def metric_for(loss: Loss) -> Metric:
    if isinstance(loss, Cox):
        return Concordance()
    if isinstance(loss, Multinomial):
        return Accuracy(loss.n_dual)
    return AUC() if isinstance(loss, Logistic) else RSquared()


Make = Callable[[Ints], Any]  # an estimator, given the rows that it will be fitted on
Splits = Sequence[tuple[Ints, Ints]]
CLEAR = 2.0  # standard errors above which a difference is called clear
MENTIONED = 0.005  # the smallest difference of scores that is mentioned
BASELINE = "no features (baseline)"


@dataclass(frozen=True, eq=False)
class MethodScore:
    """The score of one method on held-out rows."""

    name: str
    errors: Floats  # of every row held out
    features: float  # of its models, on average
    baseline_errors: Floats  # the errors of a constant prediction
    chance: float = 0.0  # the score of a constant prediction

    @property
    def score(self) -> float:
        """1 if nothing is wrong; see `Metric`."""
        total = float(self.baseline_errors.mean())
        if total <= 0:
            return self.chance
        return 1.0 - (1.0 - self.chance) * float(self.errors.mean()) / total

    @property
    def standard_error(self) -> float:
        """Of the score, over rows."""
        return _spread(self.errors, self.baseline_errors)

    def ahead_of(self, other: MethodScore) -> tuple[float, float]:
        """The difference of scores on the same rows, and its standard error."""
        spread = _spread(other.errors - self.errors, self.baseline_errors)
        return self.score - other.score, spread


def _spread(errors: Floats, baseline: Floats) -> float:
    """Standard error of a score, a ratio of means (the delta method).

    This also holds for scores of pairs: each pair counts for both of its rows, a factor of two, and
    the score of a constant is one half, which cancels it.
    """
    total, n = float(baseline.mean()), len(errors)
    if total <= 0 or n < 2:
        return 0.0
    share = float(errors.mean()) / total
    return float(np.sqrt(((errors - share * baseline) ** 2).sum() / (n * (n - 1))) / total)


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """One method and others, on the same folds."""

    metric: Metric
    rows: Ints  # that were held out
    fold: Ints  # the fold of each of them
    observed: Floats  # their responses
    predicted: Floats  # by our method
    ours: MethodScore
    others: tuple[MethodScore, ...]
    baseline: MethodScore  # without any feature
    weights: Floats | None = None  # of the rows, where they have any

    @property
    def folds(self) -> int:
        """How often rows were held out."""
        return len(np.unique(self.fold))

    @property
    def better(self) -> list[MethodScore]:
        """The others that predict better by what rounds to a per cent, or more; best first."""
        ahead = [each for each in self.others if each.score - self.ours.score >= MENTIONED]
        return sorted(ahead, key=lambda each: -each.score)

    @property
    def clearly_better(self) -> list[MethodScore]:
        """Those that are better by more than two standard errors."""
        return [each for each in self.better if clearly_ahead(each, self.ours)]


def clearly_ahead(one: MethodScore, other: MethodScore) -> bool:
    """Whether one predicts better than the other by more than two standard errors."""
    gap, spread = one.ahead_of(other)
    return gap > CLEAR * spread


def cross_validated(
    ours: str,
    makes: Mapping[str, Make],
    X: Any,
    y: Floats,
    splits: Splits,
    sample_weight: Floats | None = None,
    *,
    metric: Metric | None = None,
    baseline: str = BASELINE,
    adjusting: Ints | None = None,
) -> CrossValidation:
    """Fit every method on the training rows of each split, and predict the test rows.

    Classes of y are numbers, survival has columns time and event; no row is predicted twice.
    Weights count in fits and in errors.  The ``baseline`` is the method that uses no features; if
    it is none of them, a constant prediction.  Columns in ``adjusting`` are not counted as
    features.
    """
    metric = RSquared() if metric is None else metric
    rows = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    w = np.ones(len(y)) if sample_weight is None else sample_weight / sample_weight[rows].mean()
    weights = None if sample_weight is None else w
    constant = np.array([metric.constant_prediction(y[train], w[train]) for train, _ in splits])

    def errors(predicted: Floats) -> Floats:
        return metric.errors(y[rows], predicted, fold, w[rows])

    without = errors(constant[fold])
    total = metric.baseline_errors(without, w[rows])
    found = {BASELINE: MethodScore(BASELINE, without, 0.0, total, metric.chance)}
    predictions = {}
    with phase("held-out rows", len(makes)) as update:
        for done, (name, make) in enumerate(makes.items()):
            predictions[name], used = _predict_folds(make, X, y, splits, weights, metric)
            used[:, np.empty(0, np.intp) if adjusting is None else adjusting] = False
            found[name] = MethodScore(
                name, errors(predictions[name]), float(used.sum(axis=1).mean()), total,
                metric.chance,
            )  # fmt: skip
            update(done + 1)
    others = tuple(found[name] for name in makes if name not in (ours, baseline))
    return CrossValidation(
        metric, rows, fold, y[rows], predictions[ours], found[ours], others, found[baseline],
        None if weights is None else w[rows],
    )  # fmt: skip


def _predict_folds(
    make: Make, X: Any, y: Floats, splits: Splits, weights: Floats | None, metric: Metric
) -> tuple[Floats, NDArray[np.bool_]]:
    """Predictions of the held-out rows, and which columns each fold's model uses."""
    predicted, used = [], []
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of folds without signal, or that do not converge
            model, (seen, unseen) = make(train), filled(X[train], X[test])
            model.fit(seen, y[train], **_weighting(model, weights, train))
        predicted.append(metric.predictions(model, unseen))
        used.append((np.atleast_2d(coef_of(model)) != 0).any(axis=0))
    return np.concatenate(predicted), np.array(used)


def coef_of(model: Any) -> Any:
    """The coefficients of a fitted model; of one on principal axes those of the columns."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    coef = steps[-1].coef_
    for step in reversed(steps[:-1]):
        if hasattr(step, "components_"):
            coef = coef @ step.components_
    return coef


def filled(train: Any, test: Any) -> tuple[Any, Any]:
    """Training and test rows, with missing values replaced by the means of the training rows."""
    if not isinstance(train, Incomplete):
        return train, test
    means = np.asarray(train).mean(axis=0)
    return train.filled(means), test.filled(means)


def _weighting(model: Any, weights: Floats | None, train: Ints) -> dict[str, Floats]:
    """The arguments of ``fit`` for row weights; in a pipeline each step has its own."""
    if weights is None:
        return {}
    if not hasattr(model, "steps"):
        return {"sample_weight": weights[train]}
    *before, (last, _) = model.steps
    names = [name for name, step in before if has_fit_parameter(step, "sample_weight")]
    return {f"{name}__sample_weight": weights[train] for name in (*names, last)}
