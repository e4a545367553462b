"""The k-support prox as one would first write it in NumPy: the side to compare with."""

from __future__ import annotations

import numpy as np

from ...design import Floats


def prox_by_sorting(q: Floats, lam: float, k: int) -> Floats:
    """prox of (lam/2)(‖·‖_k^sp)²: sort the kinks of Σ clip(s|q_i| - lam, 0, 1), interpolate."""
    a = np.abs(q)
    a = a[a > 0]
    if a.size <= k:
        return q / (1 + lam)
    kinks = np.concatenate([lam / a, (lam + 1) / a])
    order = np.argsort(kinks)
    kinks = kinks[order]
    slopes = np.cumsum(np.concatenate([a, -a])[order])[:-1]
    sums = np.concatenate([[0.0], np.cumsum(slopes * np.diff(kinks))])
    at = int(np.searchsorted(sums, k))
    s = kinks[at - 1] + (k - sums[at - 1]) / slopes[at - 1]
    theta = np.clip(s * np.abs(q) - lam, 0, 1)
    return theta * q / (theta + lam)
