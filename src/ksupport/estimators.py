"""The scikit-learn classes: validate, prepare, walk, store."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from ._callbacks import CallbackSupportMixin, walk_with_callbacks, with_callbacks
from ._progress import Progress
from .algorithms import Method, make_method
from .design import Design, Floats, Ints, NormKind
from .path import Block, Metric, Path, Result, run
from .stopping import HeldOut, Rule

Stopping = Rule | Literal["held_out"] | None


class PathRegressor(
    SelectorMixin, MultiOutputMixin, RegressorMixin, CallbackSupportMixin, BaseEstimator
):
    """Base of the estimators that walk one path of one method.

    A subclass names its method and lists in ``_method_params`` which of its own parameters are
    the method's.
    """

    _method_name: str
    _method_params: tuple[str, ...]

    # Declared here for the type checker; every subclass sets them in ``__init__``.
    max_iter: int
    stopping: Stopping
    every: int
    fit_intercept: bool
    standardize: bool
    warm_start: bool
    random_state: Any
    verbose: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags

    # -- fitting ---------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Walk the path on (X, y).

        Parameters
        ----------
        X : array, memmap, data frame, sparse matrix or LinearOperator, shape (n, d)
            The measurements.
        y : array of shape (n,) or (n, n_targets)
            The response; several targets are walked side by side.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._validated(X, y)
        Y = y.reshape(len(y), -1)
        weights = _checked_weights(sample_weight, len(y))
        rule, train, held_out = self._split(len(y))
        problem = _Problem(X, Y, weights, train, self.fit_intercept, self.standardize)
        paths = self._paths(problem)
        results = self._walk(problem, paths, rule, held_out)
        self._store(problem, paths, results, flat=y.ndim == 1)
        return self

    def _validated(self, X: Any, y: ArrayLike) -> tuple[Any, Floats]:
        if isinstance(X, LinearOperator):
            # An operator has no entries to check; its products are checked by a dot test.
            Y = np.asarray(y, np.float64)
            if Y.ndim not in (1, 2) or len(Y) != X.shape[0]:
                raise ValueError(f"y must have {X.shape[0]} rows to match X, got shape {Y.shape}")
            if not np.isfinite(Y).all():
                raise ValueError("Input y contains NaN or infinity.")
            self.n_features_in_ = X.shape[1]
        else:
            X, Y = validate_data(
                self, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32),
                multi_output=True, y_numeric=True,
                # A mapped file is checked in the same pass that finds the column means.
                ensure_all_finite=not isinstance(X, np.memmap) or not self.fit_intercept,
            )  # fmt: skip
        return X, np.asarray(Y, np.float64)

    def _check_parameters(self) -> None:
        for name, least in (("max_iter", 1), ("every", 1)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
        if not (self.stopping in (None, "held_out") or callable(self.stopping)):
            raise ValueError(
                "stopping must be None, 'held_out' or a rule of ksupport.stopping, got "
                f"{self.stopping!r}"
            )

    def _split(self, n: int) -> tuple[Rule | None, Ints, Ints | None]:
        """The stopping rule, the rows to walk on, and the rows it holds out."""
        rule = HeldOut() if self.stopping == "held_out" else self.stopping
        if not isinstance(rule, HeldOut):
            return rule, np.arange(n), None
        count = round(rule.fraction * n)
        if not 1 <= count < n:
            raise ValueError(
                f"stopping: holding out {rule.fraction:g} of n_samples={n} leaves nothing to "
                "hold out or to fit on; use more samples or another rule"
            )
        order = check_random_state(self.random_state).permutation(n)
        return rule, np.sort(order[count:]), np.sort(order[:count])

    def _method(self, d: int) -> Method:
        params = {name: getattr(self, name) for name in self._method_params}
        if "k" in params and params["k"] is None:
            params["k"] = min(10, d)
        return make_method(self._method_name, **params)

    def _paths(self, problem: _Problem) -> list[Path]:
        saved = getattr(self, "_saved", None) if self.warm_start else None
        if saved is not None and saved.matches(problem):
            for path in saved.paths:
                path.attach(problem.design)
            return list(saved.paths)
        self.__dict__.pop("_saved", None)
        method = self._method(problem.design.d)
        return [method.start(problem.design, y) for y in problem.targets]

    def _walk(
        self, problem: _Problem, paths: list[Path], rule: Rule | None, held_out: Ints | None
    ) -> list[Result]:
        end = max(path.t for path in paths) + self.max_iter
        metrics: list[dict[str, Metric]] = [{} for _ in paths]
        if held_out is not None:
            metrics = [{"validation": problem.error_on(held_out, j)} for j in range(len(paths))]
        progress = Progress(type(self).__name__, end, bool(self.verbose))
        with walk_with_callbacks(self, problem, progress) as watch:
            return run(
                paths, [problem.design] * len(paths), problem.targets,
                max_iter=end, every=self.every, metrics=metrics, stopping=rule,
                keep="all" if getattr(rule, "looks_back", False) else "last", watch=watch,
            )  # fmt: skip

    def _store(
        self, problem: _Problem, paths: list[Path], results: list[Result], flat: bool
    ) -> None:
        coef = np.stack([problem.unscaled(result.coef) for result in results])
        self.coef_ = (coef[0] if flat else coef).astype(problem.dtype, copy=False)
        self.intercept_ = problem.intercept(self.coef_)
        self.support_ = (coef != 0).any(axis=0)
        self.n_iter_ = _one(flat, [result.n_iter for result in results])
        self.stop_reason_ = _one(flat, [result.reason for result in results])
        self.history_ = _one(flat, [result.history for result in results])
        self.n_passes_ = problem.raw.passes
        if self.warm_start:
            for path in paths:
                path.attach(None)
            self._saved = _Saved(paths, problem.fingerprint)

    # -- using -----------------------------------------------------------------------------

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


def _one(flat: bool, values: list[Any]) -> Any:
    return values[0] if flat else values


def _checked_weights(sample_weight: ArrayLike | None, n: int) -> Floats | None:
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


class _Problem:
    """(X, Y) as the paths see it, and the way back to the user's units."""

    def __init__(
        self, X: Any, Y: Floats, weights: Floats | None, train: Ints, center: bool, scale: bool
    ) -> None:
        self.raw = Design.of(X)
        self.dtype = np.result_type(X.dtype, np.float32) if X.dtype is not None else np.float64
        self.Y = Y
        weights = None if weights is None else weights[train]
        design = self.raw if len(train) == len(Y) else self.raw.take(train)
        if weights is not None:
            design = design.weighted(weights)
        if center or scale:
            design = design.centred(standardize=scale)
        if not center and scale:
            design = design.uncentred()
        self.view = design
        self.y_mean = (
            np.average(Y[train], axis=0, weights=weights) if center else np.zeros(Y.shape[1])
        )
        targets = Y[train] - self.y_mean
        if weights is not None:
            targets = targets * np.sqrt(weights)[:, None]
        if design.compresses:
            design, targets = design.compressed(targets)
        self.design = design
        self.targets = [np.ascontiguousarray(t) for t in targets.T]

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


class _Saved:
    """Paths to go on from, without the data."""

    def __init__(self, paths: list[Path], fingerprint: Floats) -> None:
        self.paths = paths
        self.fingerprint = fingerprint

    def matches(self, problem: _Problem) -> bool:
        mine, theirs = self.fingerprint, problem.fingerprint
        same = mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=1e-10, atol=0.0)
        if not same:
            warnings.warn(
                "warm_start: X or y differ from the last fit; starting afresh",
                UserWarning,
                stacklevel=4,
            )
        return same


class IRKSN(PathRegressor):
    """Sparse recovery by iterative regularisation with the k-support norm.

    Walks one accelerated dual path (Algorithm 1 of [1]_) towards the solution of
    ``min (1-alpha)/2 (‖w‖_k^sp)² + alpha/2 ‖w‖²  s.t.  Xw = y`` and stops early.

    Parameters
    ----------
    k : int, optional
        How many features to look for; None takes ``min(10, n_features)``.
    alpha : float, default=1e-2
        Weight of the squared l2 norm, strictly between 0 and 1.  Small values give iterates
        close to k-sparse and weaken the condition for recovery; large ones converge faster.
    max_iter : int, default=1000
        Steps to walk at most (in one call of ``fit``).
    stopping : None, "held_out" or a rule of `ksupport.stopping`
        When to stop before ``max_iter``; None walks all the way.
    every : int, default=5
        The history holds every so many steps, and stopping rules look that often.
    norm : {"spectral", "nuclear"}
        Which norm of X sets the step ``alpha/‖X‖²``.  The paper's code uses the nuclear norm,
        which makes steps smaller by the square of the ratio of the two.
    fit_intercept : bool, default=True
        Whether to centre X and y, and fit an intercept.
    standardize : bool, default=False
        Whether to scale the columns to unit variance while fitting; ``coef_`` is always in the
        units of X.
    warm_start : bool, default=False
        Go on from where the last fit stopped, if X and y are the same.
    random_state : int, RandomState or None
        Chooses held-out rows.
    verbose : bool, default=False
        Show progress on fits of more than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    support_ : ndarray of bool, shape (n_features,)
        Which features have a nonzero coefficient.
    n_iter_ : int
        The step of the iterate that was kept (a list for 2-D y, as the next two).
    stop_reason_ : {"stopped", "max_iter", "diverged", "interrupted"}
        Why the walk ended.
    history_ : History
        ``t``, ``n_nonzero``, ``residual`` (and ``validation``) along the path.
    n_passes_ : int
        How many times the whole of X was read.
    n_features_in_, feature_names_in_
        As in all scikit-learn estimators.

    References
    ----------
    .. [1] W. de Vazelhes, B. Mukhoty, X.-T. Yuan, B. Gu, "Iterative regularization with
       k-support norm: an important complement to sparse recovery", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import IRKSN
    >>> from ksupport.datasets import make_example1
    >>> X, y, w = make_example1()
    >>> model = IRKSN(k=3, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
    >>> np.round(model.coef_, 4)
    array([ 1.,  1., -4.,  0.,  0.])
    >>> model.support_
    array([ True,  True,  True, False, False])
    """

    _method_name = "irksn"
    _method_params = ("k", "alpha", "norm")

    def __init__(
        self,
        k: int | None = None,
        alpha: float = 1e-2,
        *,
        max_iter: int = 1000,
        stopping: Stopping = None,
        every: int = 5,
        norm: NormKind = "spectral",
        fit_intercept: bool = True,
        standardize: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.max_iter = max_iter
        self.stopping = stopping
        self.every = every
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
