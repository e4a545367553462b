"""The squared k-support norm as an operator of PyProximal."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from .._common.extra import extra
from .._common.levels import check_k
from ..norms import check_strength
from ._vectors import half_squared_norm, prox

with extra("neighbours"):
    from pyproximal import ProxOperator

__all__ = ["KSupport"]


class KSupport(ProxOperator):
    """The function ``sigma/2`` times the squared k-support norm, with its proximal operator.

    The prox of its conjugate follows by Moreau's identity, as everywhere in PyProximal.  Complex
    vectors keep their phases.  The norm does not separate over entries, so ``sigma`` and ``tau``
    are numbers, never vectors.

    Parameters
    ----------
    k : int
        Between 1 and the number of entries.
    sigma : float, default=1
        Strength, positive.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.neighbours.pyproximal import KSupport
    >>> f = KSupport(k=2)
    >>> x = np.array([4.0, -3.0, 0.5, 0.1])
    >>> print(f.prox(x, 1.0))
    [ 2.  -1.5  0.   0. ]
    >>> print(f.proxdual(x, 1.0))
    [ 2.  -1.5  0.5  0.1]
    """

    def __init__(self, k: int, sigma: float = 1.0) -> None:
        super().__init__(None, False)
        self.k = check_k(k)
        self.sigma = check_strength(sigma, "sigma", positive=True)

    def __call__(self, x: Any) -> float:
        """Value of the function."""
        return self.sigma * half_squared_norm(x, self.k)

    def prox(self, x: Any, tau: float) -> NDArray[Any]:
        """Prox of ``tau`` times the function."""
        return prox(x, self.sigma * check_strength(tau, "tau", positive=True), self.k)
