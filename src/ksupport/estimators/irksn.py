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
    alpha : float or "auto", default=1e-2
        Weight of the squared l2 norm, strictly between 0 and 1.  Small values give iterates
        close to k-sparse and weaken the condition for recovery; large ones converge faster.
        "auto" starts at 0.01 and, as long as the model found violates the recovery theorem's
        limit (`ksupport.theory.alpha_max` at its k largest features), walks again with less.
    max_iter : int, default=100
        Steps to walk at most (in one call of ``fit``); constant steps need 10 to 100 times as many.

    Attributes
    ----------
    history_ : History
        ``t``, ``n_nonzero``, ``residual``, ``gain`` (and ``validation``) along the path; `gain`
        is what the error bound depends on (`ksupport.theory.ErrorBound.along`).
    alpha_ : float
        The alpha of the path: the parameter, or the one that "auto" arrived at.

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
