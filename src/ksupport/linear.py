"""What all estimators share: validation, the prepared problem, prediction."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from .design import Design, Floats, Ints, as_operator
from .path import Block, Metric


class LinearModel(SelectorMixin, RegressorMixin, BaseEstimator):
    """A sparse linear model: predicts, and selects features."""

    fit_intercept: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validated(self, X: Any, y: ArrayLike, multi_output: bool = False) -> tuple[Any, Floats]:
        """X and y checked, as arrays; a LinearOperator passes through."""
        X = as_operator(X)
        if isinstance(X, LinearOperator):
            # An operator has no entries to check; its products are checked by a dot test.
            Y = np.asarray(y, np.float64)
            if Y.ndim not in ((1, 2) if multi_output else (1,)) or len(Y) != X.shape[0]:
                raise ValueError(f"y must have {X.shape[0]} rows to match X, got shape {Y.shape}")
            if not np.isfinite(Y).all():
                raise ValueError("Input y contains NaN or infinity.")
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit on a data frame
        else:
            X, Y = validate_data(
                self, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32),
                multi_output=multi_output, y_numeric=True,
                # A mapped file is checked in the same pass that finds the column means.
                ensure_all_finite=not isinstance(X, np.memmap) or not self.fit_intercept,
            )  # fmt: skip
        return X, np.asarray(Y, np.float64)

    def _check_counts(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")

    def predict(self, X: Any) -> Floats:
        """Predict the response: X w + intercept.

        Parameters
        ----------
        X : array, data frame, sparse matrix or LinearOperator, shape (n, d)
            The measurements.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
        """
        check_is_fitted(self)
        X = as_operator(X)
        if isinstance(X, LinearOperator):
            if X.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return np.asarray(X @ self.coef_.T) + self.intercept_
        X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        return np.asarray(safe_sparse_dot(X, self.coef_.T) + self.intercept_)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_


def checked_weights(sample_weight: ArrayLike | None, n: int) -> Floats | None:
    if sample_weight is None:
        return None
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}")
    if (weights < 0).any() or not weights.any():
        raise ValueError(
            "sample_weight must be non-negative and not all zero, got values from "
            f"{weights.min():g} to {weights.max():g}"
        )
    return np.asarray(weights)


class Problem:
    """(X, Y) as the paths see it, and the way back to the user's units."""

    def __init__(
        self,
        X: Any,
        Y: Floats,
        weights: Floats | None,
        train: Ints,
        center: bool,
        scale: bool,
        compress: bool = True,
    ) -> None:
        self.raw = Design.of(X)
        self.dtype = np.result_type(X.dtype, np.float32) if X.dtype is not None else np.float64
        self.Y = Y
        self.weights = weights
        self.center, self.scale = center, scale
        design = self.raw if len(train) == len(Y) else self.raw.take(train)
        self.view = design = self.prepared(design, train)
        weights = None if weights is None else weights[train]
        self.y_mean = (
            np.average(Y[train], axis=0, weights=weights) if center else np.zeros(Y.shape[1])
        )
        targets = Y[train] - self.y_mean
        if weights is not None:
            targets = targets * np.sqrt(weights)[:, None]
        if compress and design.compresses:
            design, targets = design.compressed(targets)
        self.design = design
        self.targets = [np.ascontiguousarray(t) for t in targets.T]

    def prepared(self, design: Design, rows: Ints) -> Design:
        """Weight, centre and scale a design that consists of these rows."""
        if self.weights is not None:
            design = design.weighted(self.weights[rows])
        if self.center or self.scale:
            design = design.centred(standardize=self.scale)
        return design if self.center else design.uncentred()

    @property
    def fingerprint(self) -> Floats:
        """Changes whenever the problem does: what a warm start must find again."""
        return np.stack([self.design.rmatvec(y) for y in self.targets])

    def error_on(self, rows: Ints, target: int) -> Metric:
        """The mean squared error of iterates on rows that were not walked on."""
        view = self.view.rows_like(self.raw, rows)
        y = self.Y[rows, target] - self.y_mean[target]

        def mean_squared_error(block: Block) -> Floats:
            return np.asarray(((block.predict(view) - y) ** 2).mean(axis=1))

        return mean_squared_error

    def unscaled(self, w: Floats) -> Floats:
        return w if self.view.scale is None else w / self.view.scale

    def intercept(self, coef: Floats) -> Any:
        """ȳ - x̄ᵀw: a number, or one for each target."""
        offset = 0.0 if self.view.mean is None else coef @ self.view.mean
        value = np.asarray(self.y_mean - offset, np.float64)
        return float(value[0]) if coef.ndim == 1 else value


class SelectingModel(LinearModel):
    """Base of the classes that choose among the models of many paths."""

    max_iter: int
    every: int
    standardize: bool
    verbose: bool

    def _problem(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
        self._check_counts("max_iter", "every")
        X, y = self._validated(X, y)
        weights = checked_weights(sample_weight, len(y))
        every_row = np.arange(len(y))
        return Problem(
            X, y[:, None], weights, every_row, self.fit_intercept, self.standardize, compress=False
        )

    def _keep(self, problem: Problem, w: Floats) -> None:
        """Store the chosen model in the user's units."""
        coef = problem.unscaled(w)
        self.coef_ = coef.astype(problem.dtype, copy=False)
        self.intercept_ = problem.intercept(self.coef_)
        self.support_ = coef != 0
        self.n_passes_ = problem.raw.passes
