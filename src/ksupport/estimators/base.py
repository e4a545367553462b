"""What all estimators share: validation, the prepared problem, prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._common.checks import check_count
from .._common.errors import warn
from .._common.names import shown
from .._common.progress import shows_progress
from ..choosing.selection import Selection
from ..design import (
    Design,
    Floats,
    Incomplete,
    Ints,
    Problem,
    Unpenalized,
    Weights,
    as_dask_array,
    as_real,
    by_blocks,
    fetched,
    is_complex,
    is_dask,
    refuse_dates,
    stacked,
    unstacked,
    unwrapped,
)
from ..explain.features import feature_table, frame_of
from ..explain.notebook import Finding, ShownInNotebooks, finding_of
from ..losses import Loss, Squared
from .averaging import LinearPredictors
from .certified import Certified
from .checks import naming_incomplete, outline
from .structured import Structured
from .unpenalized import (
    Levels,
    categories_of,
    check_numbers,
    columns_meant,
    encode_levels,
    level_names,
    set_aside,
    with_numbers,
    words_for_text,
)

SQUARES = Squared()


class LinearModel(Certified, Structured, ShownInNotebooks, SelectorMixin, BaseEstimator):
    """A sparse linear model: predicts, and selects features.

    Parameters
    ----------
    fit_intercept : bool
        Whether to centre X and y, and fit an intercept.
    standardize : bool
        Whether to scale the columns to unit variance while fitting; ``coef_`` is always in the
        units of X.
    unpenalized : names, indices, mask or selector, optional
        Columns that are always in the model (age, sex, batch): never penalised, never counted as
        chosen, and projected off all others and y, in each fold by its training rows.  A selector
        is a function of X, such as ``sklearn.compose.make_column_selector``.  Columns of a data
        frame that hold text or categories are one-hot encoded for this, the first level left out.
        ``standardize`` scales by the deviation of what the projection leaves of a column, as an
        intercept's projection, which is centring, does; a column of which nothing is left cannot
        be chosen.
    verbose : bool
        Show progress on fits of more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients; those of unpenalised columns too, at their places.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    support_ : ndarray of bool, shape (n_features,)
        Which features were chosen: have a nonzero coefficient and are not unpenalised.
    adjustment_ : dict of str to float
        Coefficients of all that the model is adjusted for, by name: unpenalised columns, and the
        levels of categories (``"sex=male"``), which have no place in ``coef_``: it is 0 there.
        Lists of floats for 2-D y.
    unpenalized_ : ndarray of int
        The columns that are unpenalised.
    levels_ : dict of str to list
        The levels of the categories among them; the first of each has no coefficient.
    n_passes_ : int
        How many times the whole of X was read (small ones are copied, and their copy not counted).
    n_features_in_, feature_names_in_
        As in all scikit-learn estimators.
    """

    # What `SelectFromModel` asks for to learn that zeros are exact: instead of the features of more
    # than average size it then keeps all chosen ones (all above 1e-5, as with the Lasso).
    penalty = "l1"

    method: str  # whose paths are walked
    max_iter: int
    fit_intercept: bool
    standardize: bool
    unpenalized: Any = None
    weights: str = "relative"  # what sample_weight means; where rows are counted, users say

    _loss: Loss = SQUARES  # by which the paths behind the model were fitted
    _complex = False  # whether rows are real and imaginary parts
    _fill: Floats | None = None  # of an X with holes: the means that stood in them
    _merges_copies = False  # whether exact copies of a row are one row with a weight
    _units_count = True  # whether responses with one support count by their size
    levels_: Levels
    _selection: Selection  # all that is told of the model; ``fit`` stores it by `_keep`

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _set_aside(self, X: Any) -> Unpenalized | None:
        """The columns of a validated X that are always in the model, as they were given."""
        return set_aside(unwrapped(X), self.n_features_in_, self.unpenalized_, self.levels_)

    def _numbers(self, X: Any) -> Any:
        """X with zeros for categories that the model is adjusted for."""
        X = with_numbers(unwrapped(X), self.levels_)
        check_numbers(X)
        return X

    def _validated(
        self, X: Any, y: ArrayLike, multi_output: bool = False, reset: bool = True
    ) -> tuple[Any, Floats]:
        """X and y checked; what is not an array in memory passes through.

        Features are remembered, and which are unpenalised; or, without ``reset``, they are
        compared with those of the fit.
        """
        given = unwrapped(X)
        refuse_dates(given)
        if reset:
            self.levels_ = categories_of(self.unpenalized, given)
        with words_for_text(given):
            X, y = self._real(self._numbers(given), fetched(y))
        refuse_dates(y, "y")
        if isinstance(X, LinearOperator) or is_dask(X):
            # An operator has no entries to check, its products are checked by a dot test; those
            # of a Dask array are checked where they are, in the first pass over it.
            if is_dask(X):
                X = Design.of(self._known_features(X, reset))
            elif reset:
                self.n_features_in_ = X.shape[1]
                self.__dict__.pop("feature_names_in_", None)  # of an earlier fit on a data frame
            else:
                self._check_width(X)
            Y = np.asarray(y, np.float64)
            if Y.ndim not in ((1, 2) if multi_output else (1,)) or len(Y) != X.shape[0]:
                raise ValueError(f"y must have {X.shape[0]} rows to match X, got shape {Y.shape}")
            if not np.isfinite(Y).all():
                raise ValueError("Input y contains NaN or infinity.")
        elif by_blocks(X):
            _, Y = validate_data(
                self, outline(X), y, dtype=None, ensure_all_finite=False,
                multi_output=multi_output, y_numeric=True, reset=reset,
            )  # fmt: skip
        else:
            with words_for_text(X, y), naming_incomplete():
                X, Y = validate_data(
                    self, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32),
                    multi_output=multi_output, y_numeric=True, reset=reset,
                )  # fmt: skip
        if reset:
            self.unpenalized_ = columns_meant(self.unpenalized, given, self.n_features_in_)
            self._learn_groups(given, self.n_features_in_, self.unpenalized_)
        return X, np.asarray(Y, np.float64)

    def _real(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X and y; complex ones as twice as many rows of real numbers."""
        self._complex = is_complex(X)
        if self._complex and self.fit_intercept:
            raise ValueError(
                "Complex data not supported with fit_intercept=True, as real and imaginary parts "
                "would share one intercept: give fit_intercept=False"
            )
        return as_real(X, y)

    def _check_width(self, X: LinearOperator) -> None:
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

    def _known_features(self, X: Any, reset: bool) -> Any:
        """A Dask array or data frame as an array; its features remembered or compared."""
        array = as_dask_array(X)
        named = array if array is X else X._meta  # an empty data frame
        validate_data(self, named, skip_check_array=True, reset=reset)
        return array

    def _weights(self, sample_weight: ArrayLike | None, n: int) -> Weights:
        if self._complex and np.shape(fetched(sample_weight, "sample_weight")) == (n // 2,):
            sample_weight = np.tile(fetched(sample_weight, "sample_weight"), 2)
        return Weights.checked(sample_weight, n, self.weights)

    def _weights_for(self, y: Floats, sample_weight: ArrayLike | None) -> Weights:
        """How much each row counts, given its response."""
        return self._weights(sample_weight, len(y))

    def _check_counts(self, *names: str) -> None:
        for name in names:
            check_count(name, getattr(self, name))

    def _eta(self, X: Any) -> Any:
        """What predictions go by: numbers, log odds, log risks; that of `_linear` mostly."""
        return self._linear(X)

    def _linear(self, X: Any) -> Any:
        """X w + intercept."""
        check_is_fitted(self)
        features = np.flatnonzero(np.atleast_2d(self.coef_).any(axis=0))
        # Of two classes coefficients are (1, d), whose adjustments are numbers.
        of_levels = np.array([self.adjustment_[name] for name in level_names(self.levels_)])
        of_levels = of_levels.reshape(-1, *self.coef_.shape[:-1])
        coef = self.coef_[..., features]
        return self._values(X, LinearPredictors(features, coef, self.intercept_, of_levels))

    def _values(self, X: Any, linear: LinearPredictors) -> Any:
        """The values of linear predictors on these rows."""
        measured = self._numbers(X)
        if is_complex(measured):
            if self.fit_intercept:
                raise ValueError(
                    "X is complex, but the model was fitted to real data, with an intercept: give "
                    "X.real"
                )
            return unstacked(self._products(stacked(measured), linear) + linear.intercept)
        found = self._products(measured, linear) + linear.intercept
        if not self.levels_:
            return found
        return found + encode_levels(unwrapped(X), self.levels_) @ linear.of_levels

    def _products(self, X: Any, linear: LinearPredictors) -> Any:
        """X w: of X, the columns are read that have coefficients."""
        features, coef = linear.features, linear.coef
        if is_dask(X):
            X = self._known_features(X, reset=False)
            if not features.size:  # Dask takes no empty selection
                features, coef = np.zeros(1, np.intp), np.zeros((*coef.shape[:-1], 1), coef.dtype)
            return X[:, features] @ coef.T
        if isinstance(X, LinearOperator):
            self._check_width(X)
            whole = np.zeros((*coef.shape[:-1], self.n_features_in_), coef.dtype)
            whole[..., features] = coef
            return np.asarray(X @ whole.T)
        if isinstance(X, Incomplete):
            X = X.filled(self._means_for(X))
        if by_blocks(X):
            validate_data(self, outline(X), dtype=None, ensure_all_finite=False, reset=False)
            return np.asarray(coef.astype(np.float64) @ Design.of(X).columns(features)).T
        with words_for_text(X), naming_incomplete():
            X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        return np.asarray(X[:, features] @ coef.T)

    def _means_for(self, X: Incomplete) -> Floats:
        """The values that replace missing entries of new rows: the means of the training rows."""
        if self._fill is None:
            raise ValueError(
                "X has missing entries, but the model was fitted on an X without: fit on a "
                "ksupport.design.Incomplete, or impute the missing entries of new rows"
            )
        return self._fill

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features; unpenalised columns are none of them.

        Parameters
        ----------
        X : array, data frame, sparse matrix or Dask array, shape (n, d)
            The measurements.

        Returns
        -------
        array of shape (n, n_selected)
            For a Dask array or data frame a Dask array, not computed yet.
        """
        check_is_fitted(self)
        X = self._numbers(X)
        if not is_dask(X):
            return super().transform(X)
        return self._known_features(X, reset=False)[:, self.get_support(indices=True)]

    def to_frame(self, X: Any = None, y: ArrayLike | None = None, *, all: bool = False) -> Any:
        """What was found, as a table: a row for each feature, the most certain first.

        Beneath a feature of the model stand those that could take its place, with a coefficient
        of zero.  ``all=True`` gives every feature of the data instead, and with X and y also what
        each tells by itself.

        Parameters
        ----------
        X : array, memmap, data frame, sparse matrix or Dask array, shape (n, d), optional
            The measurements of the fit, with ``all=True``.
        y : array of shape (n,), optional
            The response of the fit, with ``all=True``.
        all : bool, default=False
            Whether to list every feature: ``rank``, ``feature``, ``name``; by themselves the means
            of classes or the ``slope``, ``univariate_effect`` (correlation, Cohen's d, eta squared
            or log hazard ratio of one standard deviation), ``p_value`` (t-test, Welch's t-test,
            analysis of variance or Cox score test, two-sided) and ``q_value`` (adjusted by
            Benjamini and Hochberg); in the model ``probability``, ``set``, ``stands_in_for`` (a
            name), ``chosen`` and ``coefficient``, one for each class or target if there are many.

        Returns
        -------
        pandas.DataFrame
            Columns ``feature`` (its number), ``name``, ``coefficient``, ``probability`` (missing
            where the class gives none), ``set`` (which of the sets of features that stand in for
            each other; missing if it has none) and ``stands_in_for`` (a feature of the model;
            missing for those).  Of several targets a row for each, whose number is in the first
            column, ``target``; where each has a support of its own, the last three are not there.
            Where models were sampled, ``mean``, ``sd``, ``lower`` and ``upper`` are those of the
            coefficient over models (95 %; `Posterior.effects`), and ``ratio`` with its ends their
            exponentials, by losses for which these are ratios of odds, hazards or rates.

        Examples
        --------
        >>> from ksupport import IRKSN
        >>> from ksupport.datasets import make_example1
        >>> X, y, w = make_example1()
        >>> model = IRKSN(k=3, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
        >>> model.to_frame()[["feature", "name", "coefficient"]].round(3)
           feature name  coefficient
        0        2   x2         -4.0
        1        0   x0          1.0
        2        1   x1          1.0
        """
        check_is_fitted(self)
        if (X is None) != (y is None) or (X is not None and not all):
            raise ValueError(
                "to_frame needs X and y together, and only with all=True: give both and all=True, "
                "or neither"
            )
        if all:
            if X is not None:
                X = self._numbers(X if hasattr(X, "shape") else np.asarray(X))
                self._check_width(X)
            return feature_table(self, X, y)
        return frame_of(self)

    def _problem_again(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
        """The data of the fit, as the paths behind the model saw them."""
        check_is_fitted(self)
        given, chosen = X, self._selection
        X, Y = self._validated(X, y, multi_output=not chosen.flat, reset=False)
        return Problem(
            X, Y.reshape(len(Y), -1), self._weights_for(Y, sample_weight),
            self._walked_rows(len(Y)), self.fit_intercept, self.standardize,
            chosen.method_behind.compressible, unpenalized=self._set_aside(given),
            loss=self._loss, shared=chosen.shared, alike=not self._units_count,
            merge_copies=self._merges_copies,
        )  # fmt: skip

    def _walked_rows(self, n: int) -> Ints:
        return np.arange(n)

    def _why_empty(self) -> str:
        """Why a model without a feature has none, and what to do."""
        return "coef_ is all zero where the path was stopped; walk further (max_iter or stopping)"

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        """Store what was chosen, and what users see of it, in their units."""
        coef = problem.unscaled(chosen.coef)
        self.support_ = np.asarray(np.atleast_2d(coef != 0).any(axis=0))
        self.coef_, adjustment, self.intercept_ = problem.to_original_units(
            coef.astype(problem.dtype, copy=False)
        )
        names = () if problem.adjusting is None else problem.adjusting.columns.names
        self.adjustment_ = dict(zip(names, adjustment.T.tolist(), strict=True))
        self._warn_separating(problem.separating(coef, adjustment))
        self.n_iter_ = chosen.steps[0] if chosen.one_walk else list(chosen.steps)
        self.n_passes_ = problem.raw.passes
        self._fill = problem.view.store.fill
        self._selection = chosen
        problem.forget()

    def _warn_separating(self, names: list[str]) -> None:
        for name in names:
            sizes = np.ravel(self.adjustment_[name])
            warn(
                f"unpenalized: {shown(name)!r} separates the rows of y: its maximum likelihood "
                "estimate is infinite, and predictions depend on where the optimisation stopped, "
                f"{sizes[np.abs(sizes).argmax()]:.3g}; leave it out, merge rare levels, or let "
                "it be penalised like the other features",
                ConvergenceWarning,
            )

    def _finding(self) -> Finding:
        return finding_of(self)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_


class LinearRegressor(RegressorMixin, LinearModel):
    """A linear model of numbers."""

    @shows_progress
    def predict(self, X: Any) -> Any:
        """Predict the response: X w + intercept, or what the loss expects there.

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
            For a Dask array or data frame a Dask array, not computed yet.
        """
        return self._loss.mean(self._eta(X))
