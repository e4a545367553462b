"""The squared k-support norm as a penalty of skglm."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.extra import extra
from .._common.levels import check_k
from .._common.vectors import check_strength
from ..norms import ksupport_norm, prox_ksupport

with extra("neighbours"):
    from numba import float64, int64, objmode  # skglm compiles penalties with it
    from skglm.penalties.base import BasePenalty

__all__ = ["KSupport"]


class KSupport(BasePenalty):
    """Penalty ``alpha/2`` times the squared k-support norm, for the solvers of skglm.

    It does not separate over features, so of skglm's solvers it suits those that take the prox
    of whole vectors: ``FISTA(opt_strategy="fixpoint")``.

    Parameters
    ----------
    alpha : float
        Strength, non-negative.  The loss of skglm is a mean over the samples, so this is ``1/n``
        times the ``lam`` that would stand next to a sum.
    k : int
        Between 1 and the number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from skglm import GeneralizedLinearEstimator
    >>> from skglm.datafits import Quadratic
    >>> from skglm.solvers import FISTA
    >>> from ksupport.neighbours.skglm import KSupport
    >>> X = 2 * np.eye(4)
    >>> solver = FISTA(opt_strategy="fixpoint", tol=1e-10)
    >>> model = GeneralizedLinearEstimator(Quadratic(), KSupport(alpha=1.0, k=2), solver)
    >>> print(model.fit(X, [4.0, 0.0, 2.0, 0.0]).coef_.round(3))
    [1.  0.  0.5 0. ]
    """

    def __init__(self, alpha: float, k: int) -> None:
        self.alpha = alpha
        self.k = k

    def get_spec(self) -> tuple[tuple[str, Any], ...]:
        """Types of the attributes, for numba."""
        return ("alpha", float64), ("k", int64)

    def params_to_dict(self) -> dict[str, Any]:
        """The parameters, checked, for numba's copy of this object."""
        return dict(alpha=check_strength(self.alpha, "alpha"), k=check_k(self.k))

    def value(self, w: Any) -> Any:
        """Value of the penalty."""
        k = self._checked_k(w.size)
        norm = np.empty(1)
        with objmode():  # numba leaves what is in here to Python
            norm[0] = ksupport_norm(w, k)
        return 0.5 * self.alpha * norm[0] ** 2

    def prox_vec(self, x: Any, stepsize: float) -> Any:
        """Prox of ``stepsize`` times the penalty."""
        k, lam = self._checked_k(x.size), self.alpha * stepsize
        out = np.empty_like(x)
        with objmode():
            out[:] = prox_ksupport(x, lam, k)
        return out

    def _checked_k(self, n_features: int) -> int:
        # Compiled as well, where `check_k` is not.
        if self.k > n_features:
            raise ValueError(f"k must be between 1 and n_features={n_features}, got {self.k}")
        return self.k
