"""How well a way to fit predicts rows that it has not seen, beside a Lasso and a ridge."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._common.phases import phase
from ..design import Floats, Incomplete, Ints

Make = Callable[[Ints], Any]  # an estimator, given the rows that it will be fitted on
Splits = Sequence[tuple[Ints, Ints]]
STRENGTHS = np.logspace(-2, 6, 25)  # of the ridge, on columns of unit variance
CLEAR = 2.0  # standard errors from which a difference is one


@dataclass(frozen=True, eq=False)
class Trial:
    """What one way to fit makes of rows that it has not seen."""

    name: str
    errors: Floats  # squared, of every row held out, times its weight
    features: float  # of its models, on average
    baseline: Floats  # squared errors of the mean of the rows that were fitted on

    @property
    def score(self) -> float:
        """Share of the variation that is explained: 1 is all, 0 what the mean explains."""
        total = float(self.baseline.mean())
        return 1.0 - float(self.errors.mean()) / total if total > 0 else 0.0

    @property
    def standard_error(self) -> float:
        """Of the score, over rows."""
        return _spread(self.errors, self.baseline)

    def ahead_of(self, other: Trial) -> tuple[float, float]:
        """By how much the score is larger, row against row, and the standard error of that."""
        spread = _spread(other.errors - self.errors, self.baseline)
        return self.score - other.score, spread


def _spread(errors: Floats, baseline: Floats) -> float:
    """Standard error of a ratio of means (the delta method)."""
    total, n = float(baseline.mean()), len(errors)
    if total <= 0 or n < 2:
        return 0.0
    share = float(errors.mean()) / total
    return float(np.sqrt(((errors - share * baseline) ** 2).sum() / (n * (n - 1))) / total)


@dataclass(frozen=True, eq=False)
class Trials:
    """A way to fit and others, on the same folds."""

    rows: Ints  # that were held out
    predicted: Floats  # what ours says of them
    ours: Trial
    others: tuple[Trial, ...]
    folds: int

    @property
    def better(self) -> list[Trial]:
        """The others that predict better, best first."""
        ahead = [each for each in self.others if each.score > self.ours.score]
        return sorted(ahead, key=lambda each: -each.score)

    @property
    def clearly_better(self) -> list[Trial]:
        """Those of them for which the rows leave little doubt."""
        gaps = [(each, *each.ahead_of(self.ours)) for each in self.better]
        return [each for each, gap, spread in gaps if gap > CLEAR * spread]


def trials_of(
    ours: str,
    makes: Mapping[str, Make],
    X: Any,
    y: Floats,
    splits: Splits,
    sample_weight: Floats | None = None,
) -> Trials:
    """Fit every way on the rows of each split, and predict the others.

    Parameters
    ----------
    ours : str
        Which of them is the one in question.
    makes : mapping of str to callable
        Makes an estimator for given rows.
    X, y : arrays
        All rows; X may be sparse.
    splits : sequence of (train, test)
        Rows to fit and to predict; no row is predicted twice.
    sample_weight : array, optional
        Weights of the rows, in fits and in the errors.
    """
    rows = np.concatenate([test for _, test in splits])
    w = np.ones(len(y)) if sample_weight is None else sample_weight / sample_weight[rows].mean()
    means = [np.average(y[train], weights=w[train]) for train, _ in splits]
    nothing = np.concatenate(
        [w[test] * (y[test] - m) ** 2 for m, (_, test) in zip(means, splits, strict=True)]
    )
    found, predictions = {}, {}
    with phase("held-out rows", len(makes)) as update:
        for done, (name, make) in enumerate(makes.items()):
            predictions[name], sizes = _predicted(
                make, X, y, splits, None if sample_weight is None else w
            )
            errors = w[rows] * (y[rows] - predictions[name]) ** 2
            found[name] = Trial(name, errors, float(np.mean(sizes)), nothing)
            update(done + 1)
    others = tuple(trial for name, trial in found.items() if name != ours)
    return Trials(rows, predictions[ours], found[ours], others, len(splits))


def _predicted(
    make: Make, X: Any, y: Floats, splits: Splits, weights: Floats | None
) -> tuple[Floats, list[int]]:
    said, sizes = [], []
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts that are noise, or end early
            model, (seen, unseen) = make(train), filled(X[train], X[test])
            model.fit(seen, y[train], **_weighting(model, weights, train))
        said.append(np.asarray(model.predict(unseen)))
        last = model[-1] if hasattr(model, "steps") else model
        sizes.append(int(np.count_nonzero(last.coef_)))
    return np.concatenate(said), sizes


def filled(train: Any, test: Any) -> tuple[Any, Any]:
    """Rows to fit and to judge on; what is missing is the mean of the former."""
    if not isinstance(train, Incomplete):
        return train, test
    means = np.asarray(train).mean(axis=0)
    return train.filled(means), test.filled(means)


def _weighting(model: Any, weights: Floats | None, train: Ints) -> dict[str, Floats]:
    """What to give ``fit`` for the weights of the rows; a pipeline wants them for each step."""
    if weights is None:
        return {}
    steps = [f"{name}__" for name, _ in model.steps] if hasattr(model, "steps") else [""]
    return {f"{step}sample_weight": weights[train] for step in steps}


def scaled(model: Any, centred: bool = True) -> Any:
    """A model on columns of unit variance, which scikit-learn's do not see to."""
    return make_pipeline(StandardScaler(with_mean=centred), model)


def usual(X: Any, inner: Callable[[Ints], Any]) -> dict[str, Make]:
    """A Lasso and a ridge, each tuned on the rows that it is fitted on.

    ``inner`` gives the folds of some rows: a number, or splits of them.
    """
    centred = not sp.issparse(X)
    return {
        "Lasso": lambda train: scaled(LassoCV(cv=inner(train)), centred),
        "ridge": lambda train: scaled(RidgeCV(alphas=STRENGTHS), centred),
    }
