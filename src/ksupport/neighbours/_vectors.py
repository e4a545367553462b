"""Vectors as other packages hand them over: in any shape, real or complex.

The k-support norm of a complex vector is that of its moduli, so its prox keeps the phases.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..norms import ksupport_norm, prox_ksupport


def half_squared_norm(x: Any, k: int) -> float:
    """Half of the squared k-support norm of all entries together."""
    return 0.5 * float(ksupport_norm(np.abs(x).ravel(), k)) ** 2


def prox(x: Any, strength: float, k: int) -> NDArray[Any]:
    """Prox of ``strength`` times half of the squared k-support norm, in the shape of x."""
    x = np.asarray(x)
    if not np.iscomplexobj(x):
        return prox_ksupport(x.ravel(), strength, k).reshape(x.shape)
    size = np.abs(x)
    shrunk = prox(size, strength, k)
    return x * np.divide(shrunk, size, out=np.zeros_like(size), where=size > 0)
