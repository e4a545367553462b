"""Rows that are far off what all others have in common, and are better left out (Huber-skip).

A response that is off by many standard deviations says nothing of features, and least squares on
the other rows lose next to nothing (Johansen and Nielsen 2013, "Huber-skip").
"""

from __future__ import annotations

import numpy as np

from ..design import Floats, Ints
from ..losses.separable import robust_scale

FAR = 4.0  # robust standard deviations: of normal errors one in 16 000 is as far off


def far_off(left: Floats, weights: Floats | None = None, freedom: float = 0.0) -> Ints:
    """The rows of which a model of so many degrees of freedom leaves far more than of others.

    Of several responses, those of which it does of any.
    """
    if left.ndim > 1:
        found = [far_off(np.ascontiguousarray(each), weights, freedom) for each in left.T]
        return np.unique(np.concatenate(found))
    counted = np.arange(left.size) if weights is None else np.flatnonzero(weights)
    own = None if weights is None else weights[counted]
    centre, scale = robust_scale(left[counted], own)
    scale /= np.sqrt(max(1.0 - freedom / counted.size, 0.1))
    return np.asarray(counted[np.abs(left[counted] - centre) > FAR * scale])
