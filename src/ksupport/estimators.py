"""The scikit-learn classes: validate, prepare, walk, store."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin
from sklearn.utils import check_random_state

from .algorithms import Method, make_method
from .algorithms.base import at_most, warn_beyond
from .algorithms.irksn import IRKSNMethod
from .choosing.alpha import START, alpha_limit, tightened
from .design import Floats, Ints, NormKind, Problem
from .linear import LinearModel
from .stopping import StoppingCallback, rule_of
from .stopping.callbacks import CallbackSupportMixin, walk_with_callbacks, with_callbacks
from .walking import Metric, Path, Result, Rule, StoppingRule, Watch, run
from .walking.progress import Progress

Stopping = StoppingRule | str | None


class PathRegressor(MultiOutputMixin, CallbackSupportMixin, LinearModel):
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
        tags.target_tags.single_output = True  # MultiOutputMixin alone would say no
        return tags

    # -- fitting ---------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Walk the path on (X, y).

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : array of shape (n,) or (n, n_targets)
            The response; several targets are walked side by side.
        sample_weight : float or array of shape (n,), optional
            Weights of the rows, relative to each other.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._validated(X, y, multi_output=True)
        Y = y.reshape(len(y), -1)
        weights = self._weights(sample_weight, len(y))
        rule = rule_of(self.stopping)
        rows = weights.counted(np.arange(len(y)))
        train, held_out = self._split(rows, 0.0 if rule is None else rule.holds_out)
        warn_beyond(self._given, X.shape[1])
        method = self._method(X.shape[1])
        problem = Problem(
            X, Y, weights, train, self.fit_intercept, self.standardize, method.compressed
        )
        method, paths, results = self._solve(problem, method, rule, held_out)
        self.held_out_ = held_out
        self._store(problem, method, paths, results, flat=y.ndim == 1)
        return self

    def _check_parameters(self) -> None:
        self._check_counts("max_iter", "every")
        rule_of(self.stopping)

    def _split(self, rows: Ints, share: float) -> tuple[Ints, Ints | None]:
        """The rows to walk on, and the rows held out."""
        if share == 0:
            return rows, None
        count = round(share * rows.size)
        if not 1 <= count < rows.size:
            raise ValueError(
                f"stopping: holding out {share:g} of n_samples={rows.size} leaves nothing to "
                "hold out or to fit on; use more samples or another rule"
            )
        order = check_random_state(self.random_state).permutation(rows)
        return np.sort(order[count:]), np.sort(order[:count])

    def _walked_rows(self, n: int) -> Ints:
        if self.held_out_ is None:
            return np.arange(n)
        if self.held_out_.max() >= n:
            raise ValueError(
                f"X has {n} rows, but the fit held out row {self.held_out_.max()}: give the data "
                "of the fit"
            )
        return np.delete(np.arange(n), self.held_out_)

    @property
    def _method_behind(self) -> Method:
        return self._method(self.n_features_in_)

    def _method(self, d: int) -> Method:
        params = at_most(self._given, d)
        if "k" in params and params["k"] is None:
            params["k"] = min(10, d)
        return make_method(self._method_name, **params)

    @property
    def _given(self) -> dict[str, Any]:
        """The method's parameters as users gave them."""
        return {name: getattr(self, name) for name in self._method_params}

    def _solve(
        self, problem: Problem, method: Method, rule: Rule | None, held_out: Ints | None
    ) -> tuple[Method, list[Path], list[Result]]:
        """The method in the end, its paths on all targets, and what came of walking them."""
        paths = self._paths(problem, method)
        end = max(path.t for path in paths) + self.max_iter
        name, verbose = type(self).__name__, bool(self.verbose)
        progress = Progress(name, end, verbose, lambda: problem.raw.passes)
        with walk_with_callbacks(self, problem, progress) as watch:
            results = self._walk(problem, paths, end, rule, held_out, watch)
            while (better := self._better(problem, method, results)) is not None:
                method, paths = better, [better.start(problem.design, y) for y in problem.targets]
                results = self._walk(problem, paths, self.max_iter, rule, held_out, watch)
        return method, paths, results

    def _better(self, problem: Problem, method: Method, results: list[Result]) -> Method | None:
        """Another method to walk instead, given what came of this one; None: it is fine."""
        return None

    def _paths(self, problem: Problem, method: Method) -> list[Path]:
        saved = getattr(self, "_saved", None) if self.warm_start else None
        if saved is not None and saved.matches(method, problem):
            for path in saved.paths:
                path.attach(problem.design)
            return list(saved.paths)
        self.__dict__.pop("_saved", None)
        return [method.start(problem.design, y) for y in problem.targets]

    def _walk(
        self,
        problem: Problem,
        paths: list[Path],
        end: int,
        rule: Rule | None,
        held_out: Ints | None,
        watch: Watch,
    ) -> list[Result]:
        return run(
            paths, [problem.design] * len(paths), problem.targets,
            max_iter=end, every=self.every, stopping=rule, keep="last", watch=watch,
            metrics=[self._metrics(problem, j, held_out) for j in range(len(paths))],
            interruptible=True,
        )  # fmt: skip

    def _metrics(self, problem: Problem, target: int, held_out: Ints | None) -> dict[str, Metric]:
        """The error on rows held out, and what rules in callbacks ask for."""
        metrics: dict[str, Metric] = {}
        for callback in getattr(self, "_skl_callbacks", ()):
            if isinstance(callback, StoppingCallback):
                metrics |= callback.rule.metrics(problem.design, problem.targets[target])
        if held_out is not None:
            mean = float(problem.y_mean[target])
            metrics["validation"] = problem.unseen(held_out, problem.view, mean, target)
        return metrics

    def _store(
        self,
        problem: Problem,
        method: Method,
        paths: list[Path],
        results: list[Result],
        flat: bool,
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
            self._saved = _Saved(method, paths, problem.fingerprint)


def _one(flat: bool, values: list[Any]) -> Any:
    return values[0] if flat else values


class _Saved:
    """Paths to go on from, without the data."""

    def __init__(self, method: Method, paths: list[Path], fingerprint: Floats) -> None:
        self.method = method
        self.paths = paths
        self.fingerprint = fingerprint

    def matches(self, method: Method, problem: Problem) -> bool:
        mine, theirs = self.fingerprint, problem.fingerprint
        same = mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=1e-10, atol=0.0)
        same = same and self.method == method
        if not same:
            warnings.warn(
                "warm_start: X, y or the parameters differ from the last fit; starting afresh",
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
        How many features to look for; None takes ``min(10, n_features)``.  More than there are
        means all of them, with a warning.
    alpha : float or "auto", default=1e-2
        Weight of the squared l2 norm, strictly between 0 and 1.  Small values give iterates
        close to k-sparse and weaken the condition for recovery; large ones converge faster.
        "auto" starts at 0.01 and, as long as the model found violates the recovery theorem's
        limit (`ksupport.theory.alpha_max` at its k largest features), walks again with less.
    max_iter : int, default=1000
        Steps to walk at most (in one call of ``fit``).
    stopping : None, str or a rule of `ksupport.stopping.rules`
        When to stop before ``max_iter``; None walks all the way.  "held_out", "discrepancy",
        "settled" and "residual_ratio" stand for rules with their defaults.
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
    held_out_ : ndarray of int or None
        The rows that the stopping rule held out, if it does.
    alpha_ : float
        The alpha of the path: the parameter, or the one that "auto" arrived at.
    n_passes_ : int
        How many times the whole of X was read (small ones are copied, and their copy not counted).
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
        alpha: float | Literal["auto"] = 1e-2,
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

    @property
    def _method_behind(self) -> IRKSNMethod:
        return replace(self._method(self.n_features_in_), alpha=self.alpha_)

    @property
    def _irksn(self) -> tuple[int | None, float | None]:
        return self._method_behind.k, self.alpha_

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.alpha, str) and self.alpha != "auto":
            raise ValueError(
                f"alpha must be 'auto' or a number between 0 and 1, got {self.alpha!r}"
            )

    def _method(self, d: int) -> IRKSNMethod:
        method = super()._method(d)
        assert isinstance(method, IRKSNMethod)
        if self.alpha != "auto":
            return method
        saved = getattr(self, "_saved", None) if self.warm_start else None
        return replace(method, alpha=START if saved is None else saved.method.alpha)

    def _better(self, problem: Problem, method: Method, results: list[Result]) -> Method | None:
        assert isinstance(method, IRKSNMethod)
        self.alpha_ = method.alpha
        if self.alpha != "auto" or any(r.reason in ("interrupted", "diverged") for r in results):
            return None
        limits = [
            alpha_limit(problem.design, y, result.coef, method.k)
            for y, result in zip(problem.targets, results, strict=True)
        ]
        alpha = tightened(method.alpha, limits)
        return None if alpha is None else replace(method, alpha=alpha)


class KSN(PathRegressor):
    """Least squares with a squared k-support norm penalty [1]_, by FISTA.

    Parameters
    ----------
    k : int, optional
        How many features to look for; None takes ``min(10, n_features)``.  More than there are
        means all of them, with a warning.
    lam : float or decreasing sequence of floats
        Strength of the penalty ``(lam/2)(‖w‖_k^sp)²``; a sequence is walked with warm starts.
    L : float, "backtracking" or None
        Inverse of the step; None takes ‖X‖².
    norm : {"spectral", "nuclear"}
        Which ‖X‖ sets the default step.
    steps_per_lam : int
        Steps spent on each value of a sequence.
    max_iter, stopping, every, fit_intercept, standardize, warm_start, random_state, verbose
        As in `IRKSN`.

    Attributes
    ----------
    coef_, intercept_, support_, n_iter_, stop_reason_, history_, held_out_, n_passes_
        As in `IRKSN`.

    References
    ----------
    .. [1] A. Argyriou, R. Foygel, N. Srebro, "Sparse prediction with the k-support norm", NIPS
       2012.

    Examples
    --------
    >>> from ksupport import KSN
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = KSN(k=4).fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "ksn"
    _method_params = ("k", "lam", "L", "norm", "steps_per_lam")

    def __init__(
        self,
        k: int | None = None,
        lam: float | Sequence[float] = 1.0,
        L: float | Literal["backtracking"] | None = None,
        norm: NormKind = "spectral",
        steps_per_lam: int = 100,
        *,
        max_iter: int = 1000,
        stopping: Stopping = None,
        every: int = 5,
        fit_intercept: bool = True,
        standardize: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.lam = lam
        self.L = L
        self.norm = norm
        self.steps_per_lam = steps_per_lam
        self.max_iter = max_iter
        self.stopping = stopping
        self.every = every
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose


class IRCR(PathRegressor):
    """Iterative regularisation towards the least l1 norm, dual-primal [1]_.

    Parameters
    ----------
    sigma, tau : float, optional
        Dual and primal step, stable for sigma tau ‖X‖² <= 1; None takes steps from ‖X‖ and Xᵀy.
    average : bool
        Whether the estimate is the average of the iterates, or the last one.
    norm : {"spectral", "nuclear"}
        Which ‖X‖ sets the default step.
    max_iter, stopping, every, fit_intercept, standardize, warm_start, random_state, verbose
        As in `IRKSN`.

    Attributes
    ----------
    coef_, intercept_, support_, n_iter_, stop_reason_, history_, held_out_, n_passes_
        As in `IRKSN`.

    References
    ----------
    .. [1] C. Molinari, M. Massias, L. Rosasco, S. Villa, "Iterative regularization for convex
       regularizers", AISTATS 2021.

    Examples
    --------
    >>> from ksupport import IRCR
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = IRCR(average=False).fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "ircr"
    _method_params = ("sigma", "tau", "average", "norm")

    def __init__(
        self,
        sigma: float | None = None,
        tau: float | None = None,
        average: bool = True,
        norm: NormKind = "spectral",
        *,
        max_iter: int = 1000,
        stopping: Stopping = None,
        every: int = 5,
        fit_intercept: bool = True,
        standardize: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sigma = sigma
        self.tau = tau
        self.average = average
        self.norm = norm
        self.max_iter = max_iter
        self.stopping = stopping
        self.every = every
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose


class IROSR(PathRegressor):
    """Gradient descent on w = u² - v², implicitly sparse [1]_.

    Parameters
    ----------
    alpha : float
        Size of the start; its square should be small next to the coefficients.
    eta : float, optional
        The step; None estimates a stable one.
    init : {"symmetric", "published"}
        u = v = alpha; or u = alpha, v = 0, as in the code published with IRKSN, from which only
        non-negative models can be reached.
    max_iter, stopping, every, fit_intercept, standardize, warm_start, random_state, verbose
        As in `IRKSN`.

    Attributes
    ----------
    coef_, intercept_, support_, n_iter_, stop_reason_, history_, held_out_, n_passes_
        As in `IRKSN`.

    References
    ----------
    .. [1] T. Vaskevicius, V. Kanade, P. Rebeschini, "Implicit regularization for optimal sparse
       recovery", NeurIPS 2019.

    Examples
    --------
    >>> from ksupport import IROSR
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = IROSR().fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "irosr"
    _method_params = ("alpha", "eta", "init")

    def __init__(
        self,
        alpha: float = 1e-3,
        eta: float | None = None,
        init: Literal["symmetric", "published"] = "symmetric",
        *,
        max_iter: int = 1000,
        stopping: Stopping = None,
        every: int = 5,
        fit_intercept: bool = True,
        standardize: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.eta = eta
        self.init = init
        self.max_iter = max_iter
        self.stopping = stopping
        self.every = every
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose


class SRDI(PathRegressor):
    """Linearised Bregman iteration, a discretised inverse scale space [1]_.

    Parameters
    ----------
    kappa : float
        Damping; large values come closer to pure l1, in more steps.
    alpha : float, optional
        Step, stable for kappa alpha ‖X‖²/n < 2; None takes half of that.
    scale : {"n", "d"}
        What divides alpha: samples, as in [1]_, or features, as in the code published with IRKSN.
    norm : {"spectral", "nuclear"}
        Which ‖X‖ sets the default step.
    max_iter, stopping, every, fit_intercept, standardize, warm_start, random_state, verbose
        As in `IRKSN`.

    Attributes
    ----------
    coef_, intercept_, support_, n_iter_, stop_reason_, history_, held_out_, n_passes_
        As in `IRKSN`.

    References
    ----------
    .. [1] S. Osher, F. Ruan, J. Xiong, Y. Yao, W. Yin, "Sparse recovery via differential
       inclusions", Applied and Computational Harmonic Analysis 41, 2016.

    Examples
    --------
    >>> from ksupport import SRDI
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = SRDI().fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "srdi"
    _method_params = ("kappa", "alpha", "scale", "norm")

    def __init__(
        self,
        kappa: float = 10.0,
        alpha: float | None = None,
        scale: Literal["n", "d"] = "n",
        norm: NormKind = "spectral",
        *,
        max_iter: int = 1000,
        stopping: Stopping = None,
        every: int = 5,
        fit_intercept: bool = True,
        standardize: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kappa = kappa
        self.alpha = alpha
        self.scale = scale
        self.norm = norm
        self.max_iter = max_iter
        self.stopping = stopping
        self.every = every
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose


class IHT(PathRegressor):
    """Iterative hard thresholding [1]_.

    Parameters
    ----------
    k : int, optional
        How many features to look for; None takes ``min(10, n_features)``.  More than there are
        means all of them, with a warning.
    step : float, "normalised" or None
        Gradient step; None takes 1/‖X‖².
    norm : {"spectral", "nuclear"}
        Which ‖X‖ sets the default step.
    max_iter, stopping, every, fit_intercept, standardize, warm_start, random_state, verbose
        As in `IRKSN`.

    Attributes
    ----------
    coef_, intercept_, support_, n_iter_, stop_reason_, history_, held_out_, n_passes_
        As in `IRKSN`.

    References
    ----------
    .. [1] T. Blumensath, M. E. Davies, "Iterative hard thresholding for compressed sensing",
       Applied and Computational Harmonic Analysis 27, 2009.

    Examples
    --------
    >>> from ksupport import IHT
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(60, 20, rho=0.2, density=0.1, snr=20, random_state=0)
    >>> model = IHT(k=4).fit(X, y)
    >>> round(model.score(X, y), 2) > 0.9
    True
    """

    _method_name = "iht"
    _method_params = ("k", "step", "norm")

    def __init__(
        self,
        k: int | None = None,
        step: float | Literal["normalised"] | None = None,
        norm: NormKind = "spectral",
        *,
        max_iter: int = 1000,
        stopping: Stopping = None,
        every: int = 5,
        fit_intercept: bool = True,
        standardize: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.step = step
        self.norm = norm
        self.max_iter = max_iter
        self.stopping = stopping
        self.every = every
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
