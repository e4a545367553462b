"""What all estimators share: validation, the prepared problem, prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY, replace
from functools import wraps
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._common.checks import check_count, check_switch
from .._common.levels import Setting
from .._common.names import names_seen, shown
from .._common.telling import tells
from .._common.warned import warn
from ..algorithms import known_method
from ..algorithms.irksn import StepRule
from ..choosing.grids import by_loss
from ..choosing.selecting import Search, select_by_criterion
from ..choosing.selection import Selection
from ..design import (
    Design,
    Floats,
    Incomplete,
    Ints,
    Problem,
    Split,
    Unpenalized,
    Weights,
    as_dask_array,
    as_real,
    by_blocks,
    fetched,
    is_complex,
    is_dask,
    stacked,
    unstacked,
    unwrapped,
)
from ..explain.features import feature_table, frame_of
from ..explain.notebook import Finding, ShownInNotebooks, finding_of
from ..losses import Loss, Squared, loss_of
from ..stopping import NoChange
from ..theory.report import RecoveryReport, report_on
from .parameters import with_parameters
from .structured import Structured
from .unpenalized import (
    Levels,
    categories_of,
    check_numbers,
    columns_meant,
    encoded,
    level_names,
    set_aside,
    with_numbers,
    words_for_text,
)

SQUARES = Squared()
Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """A ``fit`` that changes the estimator only once it is done.

    A twin is fitted, and the estimator takes its attributes in one assignment at the end.  So a fit
    that fails, or is interrupted at any point, leaves the estimator as it was.
    """

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_kinds(self)
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        fit(twin, *args, **kwargs)
        self.__dict__ = dict(vars(twin))
        return self

    return cast("Fit", whole)


SWITCHES = ("fit_intercept", "standardize", "warm_start")
NUMBERS = ("alpha", "sigma", "tau", "eta", "kappa", "tie", "L")  # or None, or these words
WORDS = {"alpha": "auto", "L": "backtracking"}


def _no_number(name: str, value: Any) -> bool:
    """Whether this is neither a number, nor several, nor the word that stands for one."""
    if isinstance(value, str):
        return value != WORDS.get(name)
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and not value)


def check_kinds(estimator: Any) -> None:
    """Refuse parameters of another type, before they are compared or counted with."""
    for name, value in vars(estimator).items():
        if name in SWITCHES:
            check_switch(name, value)
        elif name in NUMBERS and _no_number(name, value):
            auto = name == "alpha" and getattr(estimator, "_alpha_may_be_auto", False)
            allowed = "'auto' or a number between 0 and 1" if auto else "a number"
            raise ValueError(f"{name} must be {allowed}, got {value!r}")
        elif name == "grid" and not isinstance(value, Mapping | None):
            raise ValueError(
                f"grid must be a dict of lists of values, by names of parameters, got {value!r}"
            )
        elif name == "scoring" and not (value is None or callable(value) or isinstance(value, str)):
            raise ValueError(f"scoring must be a name, a function or None, got {value!r}")


def _refuse_dates(X: Any) -> None:
    """Dates and durations would be counted in nanoseconds, or fail in the middle of a fit."""
    of = "dtypes" if hasattr(type(X), "dtypes") else "dtype"  # a Dask Delayed claims to have both
    types = getattr(X, of, None) if hasattr(type(X), of) else None
    types = [types] if of == "dtype" else types
    for each in types if isinstance(types, Iterable) else []:
        if getattr(each, "kind", None) in ("m", "M") or str(each).startswith(
            ("period", "interval")
        ):
            raise ValueError(
                f"X must hold numbers, got {each}; give dates as days, or in another unit, from "
                "an origin of your choice"
            )


class LinearModel(Structured, ShownInNotebooks, SelectorMixin, BaseEstimator):
    """A sparse linear model: predicts, and selects features."""

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
        _refuse_dates(given)
        if reset:
            self.levels_ = categories_of(self.unpenalized, given)
        with words_for_text(given):
            X, y = self._real(self._numbers(given), fetched(y))
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
                self, _outline(X), y, dtype=None, ensure_all_finite=False,
                multi_output=multi_output, y_numeric=True, reset=reset,
            )  # fmt: skip
        else:
            with words_for_text(X, y), _naming_incomplete():
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
                "Complex data not supported with fit_intercept=True, which would take one number "
                "off real and imaginary parts alike: give fit_intercept=False"
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
        if self._complex and np.shape(fetched(sample_weight)) == (n // 2,):
            sample_weight = np.tile(fetched(sample_weight), 2)
        return Weights.checked(sample_weight, n, self.weights)

    def _weights_for(self, y: Floats, sample_weight: ArrayLike | None) -> Weights:
        """How much each row counts, given its response."""
        return self._weights(sample_weight, len(y))

    def _check_counts(self, *names: str) -> None:
        for name in names:
            check_count(name, getattr(self, name))

    def _linear(self, X: Any) -> Any:
        """X w + intercept."""
        check_is_fitted(self)
        measured = self._numbers(X)
        if is_complex(measured):
            return unstacked(self._predict(stacked(measured)))
        features = self._predict(measured)
        if not self.levels_:
            return features
        coef = np.array([self.adjustment_[name] for name in level_names(self.levels_)])
        targets = self.coef_.shape[:-1]  # of two classes (1,), whose adjustments are numbers
        return features + encoded(unwrapped(X), self.levels_) @ coef.reshape(-1, *targets)

    def _predict(self, X: Any) -> Any:
        """The same without what categories add."""
        if is_dask(X):
            X = self._known_features(X, reset=False)
            used = np.flatnonzero(np.atleast_2d(self.coef_).any(axis=0))
            used = used if used.size else np.zeros(1, np.intp)  # Dask takes no empty selection
            return X[:, used] @ self.coef_[..., used].T + self.intercept_
        if isinstance(X, LinearOperator):
            self._check_width(X)
            return np.asarray(X @ self.coef_.T) + self.intercept_
        if isinstance(X, Incomplete):
            X = X.filled(self._means_for(X))
        if by_blocks(X):
            # Where the model is sparse only its columns are read.
            validate_data(self, _outline(X), dtype=None, ensure_all_finite=False, reset=False)
            design, coef = Design.of(X), self.coef_.astype(np.float64)
            products = np.stack([design.matvec(w) for w in np.atleast_2d(coef)], axis=-1)
            return np.asarray(products.reshape(-1, *coef.shape[:-1]) + self.intercept_)
        with words_for_text(X), _naming_incomplete():
            X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _means_for(self, X: Incomplete) -> Floats:
        """What stands for missing entries of new rows: the means of the rows of the fit."""
        if self._fill is None:
            raise ValueError(
                "X has missing entries, but the model was fitted on an X without: fit on a "
                "ksupport.design.Incomplete, or fill in those of new rows"
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

    @tells
    def certify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RecoveryReport:
        """Check conditions under which a method would find this model, were it the truth.

        Evaluates the recovery conditions of the theory at ``coef_``, on X and y centred, scaled
        and weighted as the paths saw them.  They are sufficient, not necessary, and rarely met
        with noise: where they fail the model may be good or bad.  To tell which, look at its
        error on rows held out (``sklearn.model_selection.cross_val_score``) and at how often
        half-samples choose its features (`stability_selection`).

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements of the fit.
        y : array of shape (n,)
            The response of the fit.
        sample_weight : array of shape (n,), optional
            The weights of the fit.

        Returns
        -------
        ksupport.theory.RecoveryReport
            Print it, show it in a notebook, or take ``to_dict()``.

        Notes
        -----
        All rows count, those that a stopping rule held out too.  For paths of IRKSN, the error is
        predicted at the model's own alpha.

        Examples
        --------
        >>> from ksupport import IRKSN
        >>> from ksupport.datasets import make_example1
        >>> X, y, w = make_example1()
        >>> model = IRKSN(k=3, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
        >>> report = model.certify(X, y)
        >>> print(report.words[0])
        If this vector is the truth, IRKSN with k=3 recovers it: ...
        >>> [row.method for row in report.methods if row.status == "met"]
        ['IRKSN']
        """
        check_is_fitted(self)
        if self._loss.name != "squared":
            raise ValueError(
                f"certify is for loss='squared', got loss={self._loss.name!r}: the theory's "
                "conditions are about squares"
            )
        if self._labels is not None:
            raise ValueError(
                f"certify is for single features, got feature_groups of {max(self._labels) + 1} "
                "groups: the recovery conditions are about features one by one; certify a model "
                "fitted without feature_groups"
            )
        if len(np.atleast_2d(self.coef_)) > 1:
            raise ValueError(
                f"certify takes a model of one target, got {len(self.coef_)}: fit and certify "
                "the columns of y one at a time"
            )
        if self.coef_.ndim > 1:
            return self._of_one_column().certify(X, np.ravel(fetched(y)), sample_weight)
        if not self.support_.any():
            raise ValueError(f"there is nothing to certify: {self._why_empty()}")
        given = X
        X, y = self._validated(X, y, reset=False)
        if isinstance(X, np.ndarray) and not by_blocks(X):
            X = X.astype(np.float64, copy=False)  # conditions are about small differences
        weights = self._weights(sample_weight, len(y))
        rows = np.arange(len(y))
        problem = Problem(
            X, y[:, None], weights, rows, self.fit_intercept, self.standardize,
            unpenalized=self._set_aside(given),
        )  # fmt: skip
        return report_on(
            problem.view, problem.scaled(self.coef_.astype(np.float64)), problem.targets[0],
            alpha=self._selection.irksn[1], names=names_seen(self),
            remarks=tuple(self._remarks(problem)),
        )  # fmt: skip

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
            raise ValueError("X and y are looked at together, and with all=True only")
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

    def _of_one_column(self) -> Self:
        """A model of one column of y, as that of the vector."""
        flat = copy(self)
        flat.coef_, flat.intercept_ = self.coef_[0], float(self.intercept_[0])
        flat.adjustment_ = {name: values[0] for name, values in self.adjustment_.items()}
        flat._selection = replace(self._selection, coef=self._selection.coef[0], shared=False)
        for name in ("n_iter_", "stop_reason_", "history_"):
            if isinstance(values := getattr(self, name, None), list):
                setattr(flat, name, values[0])
        return flat

    def _walked_rows(self, n: int) -> Ints:
        return np.arange(n)

    def _why_empty(self) -> str:
        """Why a model without a feature has none, and what to do."""
        return "coef_ is all zero where the path was stopped; walk further (max_iter or stopping)"

    def _remarks(self, problem: Problem) -> Iterator[str]:
        """What to know when reading a certificate of this model on these data."""
        k, size = self._selection.irksn[0], int(self.support_.sum())
        if self.positive:
            yield (
                "The conditions are for coefficients of either sign. A non-negative model that "
                "meets them is recovered with positive=True, too: it has the least R of all that "
                "fit, and so of those that are non-negative."
            )
        if k is not None and k != size:
            yield (
                f"The path was walked with k={k} and the support has {size} features; the "
                f"condition of IRKSN is for k={size}."
            )
        off = abs(problem.finished(self.coef_)[2] - self.intercept_)
        if self.fit_intercept and off > 1e-4 * float(np.std(problem.Y)):
            yield (
                f"On these rows predictions are off by {off:.3g} on average, so the model was "
                "fitted on other rows or weights (a rule that holds out rows does that too). "
                "The conditions are those of the rows given here."
            )

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        """Store what was chosen, and what users see of it, in their units."""
        coef = problem.unscaled(chosen.coef)
        self.support_ = np.asarray(np.atleast_2d(coef != 0).any(axis=0))
        self.coef_, adjustment, self.intercept_ = problem.finished(
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
                f"unpenalized: {shown(name)!r} separates the rows of y: its coefficient of the "
                "largest likelihood is infinite, and predictions depend on where the search ended, "
                f"{sizes[np.abs(sizes).argmax()]:.3g}; leave it out, merge rare levels, or let "
                "it be penalised like the other features",
                ConvergenceWarning,
            )

    def _finding(self) -> Finding:
        return finding_of(self)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_


@contextmanager
def _naming_incomplete() -> Iterator[None]:
    """Where X has missing entries, name the X that may have some; scikit-learn names its own."""
    try:
        yield
    except ValueError as error:
        first = str(error).partition("\n")[0]
        if not first.startswith("Input X contains NaN"):
            raise
        raise ValueError(
            f"{first} Give ksupport.design.Incomplete(X) instead of X: missing entries are then "
            "filled in with the means of their columns, within folds with those of the rows "
            "learned from; or impute or remove them"
        ) from None


def _outline(X: Any) -> Any:
    """An array of the shape and type of X that takes no memory.

    It stands for an X whose entries are checked by the first pass over them.
    """
    return np.broadcast_to(np.zeros((), X.dtype), X.shape)


class LinearRegressor(RegressorMixin, LinearModel):
    """A linear model of numbers."""

    @tells
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
        eta = self._linear(X)
        return self._loss.mean(eta)


@with_parameters
class RegressorByLoss(LinearRegressor):
    """A linear model of numbers, by a loss that is a parameter."""

    _: KW_ONLY
    step: StepRule | float = "adaptive"
    loss: str | Loss = "squared"
    feature_groups: Any = None
    positive: bool = False
    shared_support: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._of_counts
        return tags

    @property
    def _of_counts(self) -> bool:
        return getattr(self.loss, "name", self.loss) == "poisson"

    def _asked_loss(self) -> Loss:
        return loss_of(self.loss, ("squared", "huber", "poisson"))


@with_parameters
class SelectingModel(LinearModel):
    """Base of the classes that choose among the models of many paths."""

    _columns_of_y = 1
    _for_squares: ClassVar[tuple[str, ...]] = ("feature_groups", "positive", "shared_support")

    _: KW_ONLY
    max_iter: int = 100
    every: int | None = 1
    fit_intercept: bool = True
    standardize: bool = True
    unpenalized: Any = None
    weights: str = "relative"
    n_jobs: int | None = None
    verbose: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = bool(self.shared_support)
        return tags

    def _asked_loss(self) -> Loss:
        """The loss that the parameters stand for."""
        return type(self)._loss

    def _settings_by_loss(self, settings: list[Setting]) -> list[Setting]:
        """Parameters of paths, by the loss of the model."""
        return [setting | by_loss(self._loss) for setting in settings]

    def _why_empty(self) -> str:
        return "no feature was chosen, as a model without any was preferred to all others"

    def _problem(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        method: str = "irksn",
        splits: Callable[[Problem], list[Split]] = lambda problem: [],
    ) -> Problem:
        """The data, as paths of this method see them on all rows and on splits."""
        self._check_counts("max_iter", *(["every"] if self.every is not None else []))
        given = X
        several = self._columns_of_y > 1 or self.shared_support
        if not several:
            self._check_one(getattr(y, "shape", ()))
        X, y = self._validated(X, y, multi_output=several)
        weights, loss = self._weights_for(y, sample_weight), self._loss
        rows = weights.positive(np.arange(len(y)))
        if not isinstance(loss, Squared):
            self._check_plain(loss)
            loss.check_rows(loss.checked(y)[rows])
        return Problem(
            X, y.reshape(len(y), -1), weights, np.arange(len(y)), self.fit_intercept,
            self.standardize, known_method(method).compressible, splits,
            self._set_aside(given), loss, shared=self.shared_support and y.ndim > 1,
            alike=not self._units_count, merge_copies=self._merges_copies,
        )  # fmt: skip

    def _check_one(self, shape: tuple[int, ...]) -> None:
        """Refuse several responses where they could be one, with one support."""
        if len(shape) > 1 and shape[1] > 1 and "shared_support" in self.get_params(deep=False):
            raise ValueError(
                f"y should be a 1d array, got an array of shape {shape} instead: give "
                "shared_support=True if its columns share their features, or fit them one at a time"
            )

    def _check_plain(self, loss: Loss) -> None:
        for name in self._for_squares:
            if (asked := getattr(self, name)) is not None and asked is not False:
                given = f"{name}=True" if asked is True else name
                raise ValueError(
                    f"{given} is chosen for by squares alone, got loss={loss.name!r}: fit "
                    "IRKSN or IRKSNClassifier with k of your own, or take loss='squared'"
                )

    def _search(self, n: int, d: int) -> Search:
        """How a criterion chooses, where the choice is left to one."""
        raise NotImplementedError

    def _searched(self, method: str, stages: list[list[Setting]], **options: Any) -> Search:
        """A search by a criterion on paths of these stages, until they no longer change."""
        return Search(
            method, stages, max_iter=self.max_iter, stopping=NoChange(), n_jobs=self.n_jobs,
            **options,
        )  # fmt: skip

    def _by_criterion(self, problem: Problem) -> Selection:
        design = problem.design
        count, _ = self._n_groups(design.d)
        search = self._search(round(design.n_samples), count)
        structure = self._structure(problem.n_shared)
        return select_by_criterion(problem, replace(search, structure=structure))

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        self.path_ = dict(chosen.table)
        self.alternatives_ = list(chosen.alternatives)
