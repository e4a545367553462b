"""Several responses that share a support: what is left of them, and how much that counts.

Their noise may be of any size, and correlated: what counts is the determinant of what is left of
them, and units, or other combinations of the same responses, change nothing but for a little.
As few rows know correlations badly, T - 1 more are believed to have said that responses are
independent; of one response these are none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..design import Floats
from .criteria import ZERO


def log_left(left: Any, totals: Floats, n: float) -> Any:
    """n log of what is left (... x T x T) of T responses with these squares, over n."""
    left, count = np.asarray(left), totals.size
    if count == 1:
        floor = max(ZERO * float(totals[0]), np.finfo(float).tiny)
        return n * np.log(np.maximum(left[..., 0, 0], floor) / n)
    at, constant = np.arange(count), totals == 0  # which have no noise, and nothing to explain
    noise = left.copy()
    believed = (count - 1) / n * totals + constant
    noise[..., at, at] = np.maximum(left[..., at, at], 0.0) + believed
    return (n + count - 1) * (np.linalg.slogdet(noise)[1] - count * np.log(n))


def log_nothing(Y: Floats, n: float, alike: bool = False) -> float:
    """The same of no feature; where noise is alike, by the sum of all squares."""
    if alike:
        samples = len(Y) * n
        return float(samples * np.log(np.sum(Y**2) / samples))
    return float(log_left(Y @ Y.T, np.einsum("ij,ij->i", Y, Y), n))
