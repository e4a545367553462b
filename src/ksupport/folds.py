"""Errors of whole paths on held-out folds: one walk gives every stopping time."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, check_cv

from ._progress import Progress
from .algorithms import Method
from .design import Design, Floats, Ints
from .linear import Problem
from .path import Block, Metric, Result, Rule, run
from .selection import (
    Choice,
    Support,
    choose,
    largest_support,
    least_squares,
    refit_all,
    visited_by,
)

Refit = Literal["ols", "ridge"] | None
EXCHANGED = 2  # supports of each fold from which features are exchanged
Loss = Callable[[Floats], float]  # of predictions for the held-out rows


@dataclass(frozen=True)
class Fold:
    """Rows to walk on and rows to measure on, centred and scaled by the former."""

    design: Design
    y: Floats
    held_out: Design
    truth: Floats  # y of the held-out rows, less the mean of the others
    weights: Floats | None  # of the held-out rows
    loss: Loss | None  # instead of the mean squared error

    @classmethod
    def of(
        cls, problem: Problem, design: Design, train: Ints, test: Ints, scoring: Any = None
    ) -> Fold:
        y, weights = problem.Y[:, 0], problem.weights
        w = None if weights is None else weights[train]
        mean = float(np.average(y[train], weights=w)) if problem.center else 0.0
        target = (y[train] - mean) * (1.0 if w is None else np.sqrt(w))
        return cls(
            design,
            target,
            design.rows_like(problem.raw, test),
            y[test] - mean,
            None if weights is None else weights[test],
            None if scoring is None else _loss(scoring, y[test], mean),
        )

    def errors(self, predictions: Floats) -> Floats:
        """Mean squared error, or the loss asked for, of each row of predictions."""
        if self.loss is not None:
            return np.array([self.loss(row) for row in predictions])
        squares = (predictions - self.truth) ** 2
        if self.weights is None:
            return np.asarray(squares.mean(axis=-1))
        return np.asarray(squares @ self.weights / self.weights.sum())

    def errors_of(self, models: Any) -> Floats:
        """The same for each row of coefficients."""
        used = np.unique(models.indices if sp.issparse(models) else np.nonzero(models)[1])
        return self.errors(models[:, used] @ self.held_out.columns(used))

    def refitted_errors(
        self, visited: Sequence[Sequence[Support]], refit: Refit, largest: int, ridge: float
    ) -> list[Floats]:
        """For each path and record, the error after refitting on the support visited there.

        Supports too large to refit count as infinitely bad.
        """
        distinct = {S for supports in visited for S in supports if len(S) <= largest}
        if refit == "ols":
            refits = refit_all(self.design, self.y, distinct)
            errors = dict(zip(refits.supports, self.errors_of(refits.coef), strict=True))
        else:
            listed = list(distinct)
            penalty = ridge * self.design.n_samples
            models = [least_squares(self.design, self.y, S, penalty) for S in listed]
            errors = dict(zip(listed, self.errors_of(np.array(models)), strict=True))
        return [np.array([errors.get(S, np.inf) for S in supports]) for supports in visited]

    def chosen_by_ebic(self, results: Sequence[Result]) -> tuple[Choice, float]:
        """What EBIC prefers of all that these paths visit, and its error."""
        largest = largest_support(self.design.n_samples)
        visited = visited_by(results)
        choice = choose(self.design, self.y, visited, "ebic", largest, EXCHANGED)
        model = least_squares(self.design, self.y, choice.support)
        return choice, float(self.errors_of(model[None])[0])


def aligned(rows: Sequence[Floats], n_records: int) -> Floats:
    """Histories of different lengths side by side; one that ended keeps its last value."""
    return np.stack(
        [np.r_[row[:n_records], np.repeat(row[-1:], n_records - min(len(row), n_records))]
         for row in rows]
    )  # fmt: skip


def folds_of(
    problem: Problem, cv: Any, random_state: Any, groups: ArrayLike | None, scoring: Any
) -> list[Fold]:
    """The folds of a problem; an int is cut to the number of samples."""
    n = len(problem.Y)
    if isinstance(cv, numbers.Integral):
        if n < 2:
            raise ValueError(f"cross-validation needs at least 2 samples, got n_samples={n}")
        shuffle = random_state is not None
        cv = KFold(min(int(cv), n), shuffle=shuffle, random_state=random_state)
    splitter = check_cv(cv)
    y = problem.Y[:, 0]
    splits = list(splitter.split(np.zeros((n, 1)), y, groups))
    rows = [train for train, _ in splits]
    designs = problem.prepared([problem.raw.take(train) for train in rows], rows)
    return [
        Fold.of(problem, design, train, test, scoring)
        for design, (train, test) in zip(designs, splits, strict=True)
    ]


def walk_folds(
    folds: Sequence[Fold],
    methods: Sequence[Method],
    *,
    max_iter: int,
    every: int,
    stopping: Rule | None,
    n_jobs: int | None,
    progress: Progress,
) -> list[list[Result]]:
    """Walk all methods on all folds side by side: they share their passes over X."""
    for fold in folds:
        fold.held_out.hold()
    pairs = [(fold, method) for fold in folds for method in methods]
    walked = np.zeros(len(pairs), np.intp)

    def metric(at: int, fold: Fold) -> Metric:
        def validation(block: Block) -> Floats:
            walked[at] = block.t[-1]
            progress.update(int(walked.sum()))
            return fold.errors(block.predict(fold.held_out))

        return validation

    results = run(
        [method.start(fold.design, fold.y) for fold, method in pairs],
        [fold.design for fold, _ in pairs],
        [fold.y for fold, _ in pairs],
        max_iter=max_iter,
        every=every,
        metrics=[{"validation": metric(at, fold)} for at, (fold, _) in enumerate(pairs)],
        stopping=stopping,
        n_jobs=n_jobs,
    )
    progress.close()
    count = len(methods)
    return [results[at : at + count] for at in range(0, len(results), count)]


class _Predicts(RegressorMixin, BaseEstimator):
    """Answers with given predictions, so that any scorer of scikit-learn can judge them."""

    def __init__(self, predictions: Any = None) -> None:
        self.predictions = predictions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.predictions


def _loss(scoring: Any, truth: Floats, mean: float) -> Loss:
    """Minus the score: of a scorer or its name, as everywhere in scikit-learn."""
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring

    def loss(predictions: Floats) -> float:
        rows = np.zeros((len(truth), 1))
        return -float(scorer(_Predicts(predictions + mean), rows, truth))

    return loss
