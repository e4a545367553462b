"""The squared k-support norm as a proximity operator of ModOpt."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

from ..norms import FloatArray, ksupport_norm, prox_ksupport

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    from modopt.opt.proximity import ProximityParent  # says on import what it could not find

__all__ = ["KSupportNorm"]


class KSupportNorm(ProximityParent):
    """Prox of ``beta/2`` times the squared k-support norm, in the place of ModOpt's own.

    The parameters, ``op`` and ``cost`` are those of ``modopt.opt.proximity.KSupportNorm``.

    Parameters
    ----------
    beta : float
        Strength, non-negative.
    k_value : int
        Between 1 and the number of entries.

    Notes
    -----
    Where results differ, ModOpt 1.7 misses the minimiser: for steps other than 1 (its ``op`` drops
    ``extra_factor`` in one of three places), now and then at step 1 too, and in ``cost``, which
    lacks the half before the squared sum of the smaller entries.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.neighbours.modopt import KSupportNorm
    >>> prox = KSupportNorm(beta=3.0, k_value=1)
    >>> print(prox.op(np.array([0.0, 5.0, 10.0, 15.0, 20.0])))
    [0. 0. 0. 0. 5.]
    >>> prox.cost(np.array([0.0, 0.0, 0.0, 0.0, 5.0]))
    37.5
    """

    def __init__(self, beta: float, k_value: int) -> None:
        self.beta = beta
        self.k_value = k_value
        super().__init__(self._op_method, self._cost_method)

    def _op_method(self, input_data: Any, extra_factor: float = 1.0) -> FloatArray:
        flat = prox_ksupport(np.ravel(input_data), self.beta * extra_factor, self.k_value)
        return flat.reshape(np.shape(input_data))

    def _cost_method(self, input_data: Any, *args: Any, verbose: bool = False) -> float:
        value = 0.5 * self.beta * float(ksupport_norm(np.ravel(input_data), self.k_value)) ** 2
        if verbose:
            print(" - K-SUPPORT NORM (X):", value)
        return value
