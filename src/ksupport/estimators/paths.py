"""The scikit-learn classes: validate, prepare, walk, store."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import MultiOutputMixin
from sklearn.utils import check_random_state

from .._common.errors import warn
from .._common.levels import ONE_PATH, clip_levels, warn_clipped, warn_default_level
from .._common.progress import shows_progress
from ..algorithms import Method, known_method, make_method
from ..choosing.selecting import select_on_path
from ..choosing.selection import Selection
from ..design import Floats, Ints, Problem
from ..losses import Loss
from ..stopping import StoppingCallback, rule_of
from ..stopping.callbacks import CallbackSupportMixin, walk_with_callbacks, with_callbacks
from ..walking import Metric, Path, Result, Rule, StoppingRule, Watch, run
from .base import LinearModel, LinearRegressor
from .checks import all_or_nothing, with_parameters
from .structured import STRUCTURE

Stopping = StoppingRule | str | None


@with_parameters
class PathModel(CallbackSupportMixin, LinearModel):
    """Base of the estimators that walk one path of one method.

    A subclass names its method, and declares its parameters.

    Parameters
    ----------
    k : int, optional
        How many features to look for; None takes ``min(10, n_features)``.  More than there are
        means all of them, with a warning.
    max_iter : int
        Steps to walk at most (in one call of ``fit``).
    stopping : None, str or a rule of `ksupport.stopping`
        When to stop before ``max_iter``; None walks all the way.  "held_out", "discrepancy",
        "no_change" and "residual_ratio" stand for rules with their defaults.
    every : int
        The history holds every so many steps, and stopping rules look that often.
    warm_start : bool
        Go on from where the last fit stopped, if X and y are the same.
    random_state : int, RandomState or None
        Chooses held-out rows.

    Attributes
    ----------
    n_iter_ : int
        The step of the iterate that was kept (a list for 2-D y without ``shared_support``, as the
        next two).
    stop_reason_ : {"stopped", "max_iter", "diverged", "interrupted"}
        Why the walk ended.
    history_ : History
        ``t``, ``n_nonzero``, ``residual`` (and ``validation``) along the path.
    held_out_ : ndarray of int or None
        The rows that the stopping rule held out, if it does.
    """

    _method_name: ClassVar[str]
    _several = True  # whether y may have several columns
    _saved = cast("_Saved | None", None)  # for a warm start

    _: KW_ONLY
    max_iter: int = 1000
    stopping: Stopping = None
    every: int = 5
    fit_intercept: bool = True
    standardize: bool = False
    unpenalized: Any = None
    warm_start: bool = False
    random_state: Any = None
    verbose: bool = False

    # -- fitting ---------------------------------------------------------------------------

    @all_or_nothing
    @with_callbacks
    @shows_progress
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Walk the path on (X, y).

        Parameters
        ----------
        X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
            The measurements.
        y : array of shape (n,) or (n, n_targets)
            The response; several targets are walked side by side, or, with
            ``shared_support=True``, as one.
        sample_weight : float or array of shape (n,), optional
            Weights of the rows, relative to each other.

        Returns
        -------
        self
        """
        self._check_parameters()
        given = X
        X, y = self._validated(X, y, multi_output=self._several)
        Y = y.reshape(len(y), -1)
        weights = self._weights_for(y, sample_weight)
        rule = rule_of(self.stopping)
        count, called = self._n_groups(X.shape[1])
        warn_clipped(self._given, count, called)
        method = self._method(count)
        for target in method.loss.one_by_one(Y):
            method.loss.checked(target)
        self._check_rules(rule, method.loss)
        self._loss = method.loss
        rows = weights.positive(np.arange(len(y)))
        share = 0.0 if rule is None else rule.holds_out
        train, held_out = self._split(rows, share, method.loss.sorts(Y[:, 0]))
        problem = Problem(
            X, Y, weights, train, self.fit_intercept, self.standardize, method.compressible,
            [] if held_out is None else [(train, held_out)], self._set_aside(given), method.loss,
            shared=self.shared_support and y.ndim > 1,
        )  # fmt: skip
        if isinstance(X, LinearOperator) and self._given.get("k", 1) is None:
            warn_default_level(X.shape[1])
        method, paths, results = self._solve(problem, method, rule)
        self.held_out_ = held_out
        self._store(problem, method, paths, results, flat=y.ndim == 1)
        return self

    def _check_parameters(self) -> None:
        self._check_counts("max_iter", "every")
        rule_of(self.stopping)

    def _check_rules(self, rule: Rule | None, loss: Loss) -> None:
        callbacks = getattr(self, "_skl_callbacks", ())
        rules = [each.rule for each in callbacks if isinstance(each, StoppingCallback)]
        for each in [*rules, *([] if rule is None else [rule])]:
            each.check_loss(loss.name)

    def _split(self, rows: Ints, share: float, strata: Floats) -> tuple[Ints, Ints | None]:
        """Return training rows and held-out rows: about this share of each stratum."""
        if share == 0:
            return rows, None
        rng, held_out = check_random_state(self.random_state), []
        for stratum in np.unique(strata[rows]):
            members = rows[strata[rows] == stratum]
            held_out.append(rng.permutation(members)[: round(share * members.size)])
        out = np.sort(np.concatenate(held_out))
        if not 1 <= out.size < rows.size:
            raise ValueError(
                f"stopping: holding out {share:g} of n_samples={rows.size} leaves nothing to "
                "hold out or to fit on; use more samples or another rule"
            )
        return np.setdiff1d(rows, out), out

    def _walked_rows(self, n: int) -> Ints:
        if self.held_out_ is None:
            return np.arange(n)
        if self.held_out_.max() >= n:
            raise ValueError(
                f"X has {n} rows, but the fit held out row {self.held_out_.max()}: give the data "
                "of the fit"
            )
        return np.delete(np.arange(n), self.held_out_)

    def _method(self, d: int) -> Method:
        params = clip_levels(self._given | self._asked_structure, d)
        if "k" in params and params["k"] is None:
            params["k"] = min(ONE_PATH, d)
        return make_method(self._method_name, **params)

    @property
    def _given(self) -> dict[str, Any]:
        """Parameters of the method as users gave them, except those of the structure."""
        known = known_method(self._method_name).describe().parameters
        given = self.get_params(deep=False)
        return {name: given[name] for name in known if name in given and name not in STRUCTURE}

    def _solve(
        self, problem: Problem, method: Method, rule: Rule | None
    ) -> tuple[Method, list[Path], list[Result]]:
        """Return the final method, its paths on all targets, and their results."""
        paths = self._start_or_resume_paths(problem, method)
        end = max(path.t for path in paths) + self.max_iter
        with walk_with_callbacks(self, problem) as watch:
            results = self._walk(problem, paths, end, rule, watch)
            while (better := self._better(problem, method, results)) is not None:
                method, paths = better, [better.start(problem.design, y) for y in problem.targets]
                results = self._walk(problem, paths, self.max_iter, rule, watch)
        return method, paths, results

    def _better(self, problem: Problem, method: Method, results: list[Result]) -> Method | None:
        """Return another method to use instead, given the results of this one; None to keep it."""
        return None

    def _start_or_resume_paths(self, problem: Problem, method: Method) -> list[Path]:
        """Return the paths of the last fit if a warm start may go on with them, else new ones."""
        saved = self._saved if self.warm_start else None
        if saved is not None and saved.matches(method, problem):
            paths = deepcopy(saved.paths)  # the saved paths stay as the last fit left them
            for path in paths:
                path.attach(problem.design)
            return paths
        self.__dict__.pop("_saved", None)  # those paths do not belong to this fit
        return [method.start(problem.design, y) for y in problem.targets]

    def _walk(
        self,
        problem: Problem,
        paths: list[Path],
        end: int,
        rule: Rule | None,
        watch: Watch,
    ) -> list[Result]:
        return run(
            paths, max_iter=end, every=self.every, stopping=rule, keep="last", watch=watch,
            metrics={path: self._metrics(problem, j) for j, path in enumerate(paths)},
            interruptible=True,
        )  # fmt: skip

    def _metrics(self, problem: Problem, target: int) -> dict[str, Metric]:
        """Return the error on held-out rows, and the metrics that rules in callbacks need."""
        metrics: dict[str, Metric] = {}
        for callback in getattr(self, "_skl_callbacks", ()):
            if isinstance(callback, StoppingCallback):
                metrics |= callback.rule.metrics(problem.design, problem.targets[target])
        if problem.splits:
            metrics["validation"] = problem.unseen(0, problem.whole, target)
        return metrics

    def _store(
        self,
        problem: Problem,
        method: Method,
        paths: list[Path],
        results: list[Result],
        flat: bool,
    ) -> None:
        rule = self.stopping
        if not (rule is None or isinstance(rule, str)):
            rule = type(rule).__name__
        chosen = select_on_path(method, results, rule, flat, problem.shared)
        self._keep(problem, chosen)
        if self.warm_start:
            for path in paths:
                path.attach(None)
            self._saved = _Saved(method, paths, problem.fingerprint)

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        reasons, histories = list(chosen.reasons), list(chosen.histories)
        self.stop_reason_ = reasons[0] if chosen.one_walk else reasons
        self.history_ = histories[0] if chosen.one_walk else histories


class PathRegressor(MultiOutputMixin, LinearRegressor, PathModel):
    """Base of the path estimators that predict numbers."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True  # MultiOutputMixin alone would say no
        return tags


class _Saved:
    """The paths of a fit, without the data, for a warm start."""

    def __init__(self, method: Method, paths: list[Path], fingerprint: Floats) -> None:
        self.method = method
        self.paths = paths
        self.fingerprint = fingerprint

    def matches(self, method: Method, problem: Problem) -> bool:
        ours, theirs = self.fingerprint, problem.fingerprint
        same = ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-10, atol=0.0)
        same = same and self.method == method
        if not same:
            warn("warm_start: X, y or the parameters differ from the last fit; starting afresh")
        return same
