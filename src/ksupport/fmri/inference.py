"""From weights to maps that can be read: z-values, and a threshold for all voxels at once.

As in Chevalier et al., "Decoding with confidence: statistical control on decoder maps",
NeuroImage 234 (2021), Section 3.2: the weights of a decoder that has no inference of its own are
taken to be Gaussian with the same scale for all voxels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..design import Floats
from .images import optional

P_VALUES = "hidimstat.statistical_tools.p_values"


def z_map(w: ArrayLike) -> Floats:
    """z-values of weights taken as Gaussian with scale ‖w‖/√d.

    Parameters
    ----------
    w : array of shape (d,)
        The weights of all voxels, zeros included.

    Returns
    -------
    ndarray of shape (d,)
        0 where the weight is 0; the sign is that of the weight.

    Examples
    --------
    >>> from ksupport.fmri import z_map
    >>> z_map([3.0, 0.0, 0.0, -4.0])  # doctest: +SKIP
    array([ 1.2,  0. ,  0. , -1.6])
    """
    weights = np.asarray(w, np.float64)
    if weights.ndim != 1:
        raise ValueError(f"w must have one dimension, got shape {weights.shape}")
    if not weights.any():
        return np.zeros_like(weights)
    statistics = optional(P_VALUES)
    scale = np.full(weights.shape, np.linalg.norm(weights) / np.sqrt(weights.size))
    p, _, one_minus_p, _ = statistics.pval_from_scale(weights, scale)
    z = np.asarray(statistics.zscore_from_pval(p, one_minus_p), np.float64)
    return np.where(weights == 0, 0.0, z)


def z_threshold(fwer: float, n_tests: int) -> float:
    """The ``|z|`` beyond which a voxel counts, by Bonferroni's correction of two-sided tests.

    Parameters
    ----------
    fwer : float
        Chance to accept, of all voxels, a single one in error.
    n_tests : int
        Voxels, or clusters of them, that are tested.

    Returns
    -------
    float

    Examples
    --------
    >>> from ksupport.fmri import z_threshold
    >>> round(z_threshold(0.1, 39912), 2)  # doctest: +SKIP
    4.71
    """
    if not 0 < fwer < 1:
        raise ValueError(f"fwer must lie strictly between 0 and 1, got {fwer}")
    if n_tests < 1:
        raise ValueError(f"n_tests must be at least 1, got {n_tests}")
    p: Any = np.array([fwer / 2 / n_tests])
    return float(optional(P_VALUES).zscore_from_pval(p)[0])


def beyond(z: ArrayLike, threshold: float) -> Floats:
    """The z-values with an absolute value above the threshold; 0 for the others.

    Parameters
    ----------
    z : array
        The z-values.
    threshold : float
        As `z_threshold` gives it.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from ksupport.fmri import beyond
    >>> beyond([5.0, 1.0, -6.0], 4.7)
    array([ 5.,  0., -6.])
    """
    values = np.asarray(z, np.float64)
    return np.where(np.abs(values) > threshold, values, 0.0)
