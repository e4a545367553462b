"""IRKSN, one path with a stopping rule."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, Literal

from ..algorithms import Method
from ..algorithms.irksn import IRKSNMethod
from ..choosing.alpha import START, alpha_limit, tightened
from ..choosing.selection import Selection
from ..design import Problem
from ..walking import Result
from .checks import with_parameters
from .paths import PathRegressor
from .selecting import RegressorByLoss


@with_parameters
class IRKSN(RegressorByLoss, PathRegressor):
    """Sparse recovery by iterative regularisation with the k-support norm.

    Walks one accelerated dual path (Algorithm 1 of [1]_) towards the solution of
    ``min (1-alpha)/2 (‖w‖_k^sp)² + alpha/2 ‖w‖²  s.t.  Xw = y`` and stops early.  With another loss
    it is mirror descent on that loss, with momentum, of which less is proved (see the theory page).

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
    step : {"adaptive", "spectral", "nuclear"} or float, default="adaptive"
        The step size of the dual path.  "adaptive" finds it by backtracking on the dual function:
        10 to 100 times fewer steps are needed, and no norm of X.
        "spectral" takes the constant step ``alpha/‖X‖²`` of Algorithm 1, "nuclear" the same with
        the nuclear norm, as the paper's code does, which makes steps smaller by the square of the
        ratio of the two; a number is taken as it is.  Losses other than "squared" take "adaptive".
    loss : {"squared", "huber", "poisson"} or a loss of `ksupport.losses`, default="squared"
        The loss of fitted values.  "huber" counts errors beyond 0.2 robust standard deviations of y
        linearly, which reduces the influence of outliers (``Huber(delta)`` has another threshold);
        "poisson" is the negative log-likelihood of counts with a log-linear mean, for one target.
    feature_groups : sequence, optional
        Groups of features that are selected together (pathways, regions, the levels of a category):
        a label for each feature, lists of their names or numbers, disjoint, or a mapping from such
        to labels; a feature in none is a group of its own.  The norm is then the k-support norm of
        the l2 norms of groups, and k counts groups.  Larger groups have larger norms by chance:
        scale columns by the root of the size of their group where that matters.
    positive : bool, default=False
        Whether coefficients must not be negative (those of unpenalised columns may be).
    shared_support : bool, default=False
        Whether the columns of a 2-D y share one support; False fits each on its own.  For
        ``loss="squared"``; columns of larger variance have more weight.
    max_iter : int, default=100
        Steps to walk at most (in one call of ``fit``); constant steps need 10 to 100 times as many.
    stopping : None, str or a rule of `ksupport.stopping`
        When to stop before ``max_iter``; None walks all the way.  "held_out", "discrepancy",
        "no_change" and "residual_ratio" stand for rules with their defaults.
    every : int, default=1
        The history holds every so many steps, and stopping rules look that often.
    fit_intercept : bool, default=True
        Whether to centre X and y, and fit an intercept.
    standardize : bool, default=False
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
    warm_start : bool, default=False
        Go on from where the last fit stopped, if X and y are the same.
    random_state : int, RandomState or None
        Chooses held-out rows.
    verbose : bool, default=False
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
    n_iter_ : int
        The step of the iterate that was kept (a list for 2-D y without ``shared_support``, as the
        next two).
    stop_reason_ : {"stopped", "max_iter", "diverged", "interrupted"}
        Why the walk ended.
    history_ : History
        ``t``, ``n_nonzero``, ``residual``, ``gain`` (and ``validation``) along the path; `gain`
        is what the error bound depends on (`ksupport.theory.ErrorBound.along`).
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
    _method_params = ("k", "alpha", "step", "loss")

    k: int | None = None
    alpha: float | Literal["auto"] = 1e-2
    _: KW_ONLY
    max_iter: int = 100
    every: int = 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several
        return tags

    _alpha_may_be_auto = True

    @property
    def _several(self) -> bool:  # type: ignore[override]
        return not self._of_counts

    def _check_parameters(self) -> None:
        super()._check_parameters()
        loss = self._asked_loss()
        if self.alpha == "auto" and loss.name != "squared":
            raise ValueError(
                f"alpha must be a number with loss={loss.name!r}, got 'auto', which is "
                "derived for squares only"
            )
        if self.alpha == "auto" and (self.feature_groups is not None or self.shared_support):
            what = "feature_groups" if self.feature_groups is not None else "shared_support=True"
            raise ValueError(
                f"alpha must be a number with {what}, got 'auto', which is derived for single "
                "features of one response only"
            )
        if self.shared_support and loss.name != "squared":
            raise ValueError(
                f"shared_support=True requires loss='squared', got loss={loss.name!r}: fit the "
                "columns of y one at a time, or use loss='squared'"
            )

    def _method(self, d: int) -> IRKSNMethod:
        method = super()._method(d)
        assert isinstance(method, IRKSNMethod)
        if self.alpha != "auto":
            return method
        saved = self._saved if self.warm_start else None
        return replace(method, alpha=START if saved is None else self.alpha_)

    def _better(self, problem: Problem, method: Method, results: list[Result]) -> Method | None:
        assert isinstance(method, IRKSNMethod)
        if self.alpha != "auto" or any(r.reason in ("interrupted", "diverged") for r in results):
            return None
        limits = [
            alpha_limit(problem.design, y, result.coef, method.k)
            for y, result in zip(problem.targets, results, strict=True)
        ]
        alpha = tightened(method.alpha, limits)
        return None if alpha is None else replace(method, alpha=alpha)

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        super()._keep(problem, chosen)
        self.alpha_ = float(chosen.settings[0]["alpha"])
