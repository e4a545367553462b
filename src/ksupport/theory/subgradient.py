"""Subgradients of half the squared k-support norm, at vectors of any size of support."""

from __future__ import annotations

import numpy as np

from ..design import Floats


def subgradient(w_S: Floats, k: int) -> tuple[Floats, float]:
    """The subgradients at a w with nonzero entries w_S: what they are on its support, and outside.

    They are the u with ``u_S = sgn(w_S) max(|w_S|, m)`` and ``|u_l| <= m`` outside.  With at least
    k nonzero entries, m is the level at which ``sum(min(1, |w_S| / m))`` is k (with exactly k, the
    least of them); with fewer, m = 0 and w itself is the only one.

    >>> u, m = subgradient(np.array([4.0, -1.0, 1.0]), k=2)
    >>> print(u, m)
    [ 4. -2.  2.] 2.0
    """
    magnitude = np.sort(np.abs(w_S))
    size = len(magnitude)
    if k > size:
        return w_S, 0.0
    lowered = np.arange(size - k + 1, size + 1)  # how many of the least entries lie below m
    levels = np.cumsum(magnitude)[lowered - 1] / (lowered - (size - k))
    following = np.append(magnitude, np.inf)[lowered]
    m = float(levels[np.argmax(levels <= following)])
    return np.sign(w_S) * np.maximum(np.abs(w_S), m), m
