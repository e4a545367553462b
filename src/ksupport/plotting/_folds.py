"""Predictions of held-out folds, for displays of predictive performance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from ..choosing.folds import folds_of_rows
from ..design import Ints, is_dask, unwrapped
from ..explain.cross_validation import CrossValidation, Kind, Make, cross_validated, metric_for
from ..explain.models import chosen_by
from ..explain.standard_methods import lasso_and_ridge
from ._axes import check_data, check_ours

INNER = 5  # folds on which a Lasso is tuned


def held_out(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    cv: Any,
    random_state: Any,
    only: Kind | None = None,
    beside: bool = False,
) -> CrossValidation:
    """Fit copies of an estimator on folds, with a Lasso and a ridge if `beside`."""
    check_ours(estimator)
    check_data(estimator, X, y, sample_weight)
    metric = metric_for(estimator._loss)
    if only not in (None, metric.kind):
        raise ValueError(
            f"this display is for {only}, but {type(estimator).__name__} predicts {metric.kind}"
        )
    X = unwrapped(X)
    if isinstance(X, LinearOperator) or is_dask(X):
        raise TypeError(
            f"X must be an array, a data frame or a sparse matrix, got {type(X).__name__}: folds "
            "select its rows"
        )
    if not chosen_by(estimator).flat:
        raise ValueError("y must hold one target: fit several targets one at a time")
    X, observed = estimator._validated(X, y, multi_output=False, reset=False)
    weights = None
    if sample_weight is not None:
        weights = np.broadcast_to(np.asarray(sample_weight, float), (len(observed),))
    name = type(estimator).__name__
    makes: dict[str, Make] = {name: lambda rows: clone(estimator)}
    if beside and (weights is None or metric.kind != "survival"):  # those take no weights
        makes |= lasso_and_ridge(X, _inner, metric.kind)
    splits = _splits(cv, random_state, observed, estimator._loss.sorts(observed))
    return cross_validated(name, makes, X, observed, splits, weights, metric=metric)


def _splits(cv: Any, random_state: Any, y: Any, sorts: Any) -> list[tuple[Ints, Ints]]:
    """Folds of a splitter, or a number of shuffled folds stratified by class or event."""
    if isinstance(cv, int):
        return folds_of_rows(len(y), cv, check_random_state(random_state), sorts=sorts)
    return list(check_cv(cv).split(np.zeros((len(y), 1)), sorts if np.ptp(sorts) else y))


def _inner(rows: Ints) -> int:
    return INNER
