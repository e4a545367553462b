"""The squared k-support norm as an operator of PyProximal."""

from __future__ import annotations

from typing import Any

from pyproximal import ProxOperator

from ..norms import FloatArray, ksupport_norm, prox_ksupport

__all__ = ["KSupport"]


class KSupport(ProxOperator):
    """The function ``sigma/2`` times the squared k-support norm, with its proximal operator.

    The prox of its conjugate follows by Moreau's identity, as everywhere in PyProximal.

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
        self.k = k
        self.sigma = sigma

    def __call__(self, x: Any) -> float:
        """Value of the function."""
        return 0.5 * self.sigma * float(ksupport_norm(x, self.k)) ** 2

    def prox(self, x: Any, tau: float) -> FloatArray:
        """Prox of ``tau`` times the function."""
        return prox_ksupport(x, self.sigma * tau, self.k)
