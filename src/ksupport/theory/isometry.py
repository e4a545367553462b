"""Mutual coherence and restricted isometry constants: the conditions on X alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np

from .._common.levels import check_k
from ..design import Design, Floats, Ints
from ._support import BLOCK, as_design

MAX_SUBSETS = 50_000  # enumerate every support up to here, bound the constant beyond
N_CANDIDATES = 64  # supports examined for the lower bound
IHT_RIP = 32**-0.5  # delta_3k below 1/sqrt(32) suffices for IHT (Blumensath and Davies, 2009)


@dataclass(frozen=True)
class RestrictedIsometry:
    """Restricted isometry constant of order k, as returned by :func:`restricted_isometry`.

    Attributes
    ----------
    k : int
        The order: supports of k features.
    exact : bool
        `lower` equals `upper`, because every support was examined.
    eig_min, eig_max : tuple of (float, float)
        Bounds (below, above) on the least and on the largest eigenvalue of X_Tᵀ X_T over all
        supports T of k features.
    lower, upper : float
        Bounds on delta_k, the least delta with (1-delta)‖w‖² ≤ ‖Xw‖² ≤ (1+delta)‖w‖² for
        k-sparse w.
    scaled_lower, scaled_upper : float
        The constant of the best rescaling cX, for methods whose step absorbs the scale.
    why : str
        One sentence.
    """

    k: int
    exact: bool
    eig_min: tuple[float, float]
    eig_max: tuple[float, float]
    lower: float
    upper: float
    scaled_lower: float
    scaled_upper: float
    why: str


def mutual_coherence(X: Any) -> float:
    """Largest absolute cosine between two different columns of X.

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design.  Columns of zeros are left out.

    Returns
    -------
    float
        In [0, 1]; supports smaller than ``(1 + 1 / coherence) / 2`` are recovered by OMP and
        basis pursuit, whatever the coefficients (for columns of equal norm).

    Notes
    -----
    Takes O(n d²) time in blocks of columns, and never forms the d x d Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import mutual_coherence
    >>> round(mutual_coherence(np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 4.0]])), 3)
    0.8
    """
    X = as_design(X)
    norms = X.column_norms
    safe = np.where(norms > 0, norms, np.inf)
    coherence = 0.0
    for S, X_S in _blocks(X):
        C = np.abs(X.rmatmat(X_S / safe[S])) / safe[:, None]
        C[S, np.arange(len(S))] = 0.0
        coherence = max(coherence, float(C.max()))
    return min(coherence, 1.0)


def restricted_isometry(X: Any, k: int) -> RestrictedIsometry:
    """Restricted isometry constant of order k: exact if few supports, bounds otherwise.

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design.
    k : int
        The order, between 1 and n_features.

    Returns
    -------
    RestrictedIsometry

    Notes
    -----
    With at most 50 000 supports each one is examined. Otherwise eigenvalues are bounded from
    outside by Gershgorin's discs (each feature with its k-1 largest correlations) and, for the
    largest, by the squared spectral norm; and from inside by the supports made of a feature and its
    k-1 most correlated ones. With k > n_samples some support is singular, and the bounds say so.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import restricted_isometry
    >>> X = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    >>> rip = restricted_isometry(X, 2)
    >>> rip.exact, round(rip.lower, 3)
    (True, 0.8)
    """
    X = as_design(X)
    n, d = X.shape
    check_k(k, d)
    count = comb(d, k)
    if count <= MAX_SUBSETS or k == 1:
        low, high = extreme_eigenvalues(X, combinations(range(d), k))
        low = 0.0 if k > n else low
        return _constants(k, (low, low), (high, high), f"all {count} supports were examined")
    return _bounded(X, int(k))


def extreme_eigenvalues(X: Design, supports: Iterable[Any]) -> tuple[float, float]:
    """Least and largest eigenvalue of X_Tᵀ X_T over some supports of one size."""
    low, high = np.inf, 0.0
    supports = iter(supports)
    while batch := list(islice(supports, 1024)):
        T = np.asarray(batch, dtype=np.intp)
        used, place = np.unique(T, return_inverse=True)
        place = place.reshape(T.shape)
        columns = X.columns(used)
        gram = columns @ columns.T
        eigenvalues = np.linalg.eigvalsh(gram[place[:, :, None], place[:, None, :]])
        low = min(low, float(eigenvalues[:, 0].min()))
        high = max(high, float(eigenvalues[:, -1].max()))
    return max(low, 0.0), high


def _blocks(X: Design) -> Iterator[tuple[Ints, Floats]]:
    """All the columns, in consecutive dense blocks."""
    for start in range(0, X.d, BLOCK):
        S = np.arange(start, min(start + BLOCK, X.d))
        yield S, X.columns(S).T


def scaled_delta(low: float, high: float) -> float:
    """The least delta_k over all rescalings, from the two extreme eigenvalues."""
    return (high - low) / (high + low) if high > 0 else 1.0


def _bounded(X: Design, k: int) -> RestrictedIsometry:
    n, d = X.shape
    squared_norms = X.column_norms**2
    radius = np.empty(d)  # Gershgorin: sum of the k-1 largest correlations of each feature
    neighbours = np.empty((d, k - 1), dtype=np.intp)
    for S, X_S in _blocks(X):
        radius[S], neighbours[S] = _nearest(np.abs(X.rmatmat(X_S)), S, k - 1)
    worst = np.argsort(-radius)[:N_CANDIDATES]
    candidates = [np.r_[i, neighbours[i]] for i in worst]
    low, high = _inside(X, candidates)
    floor = max(0.0, float((squared_norms - radius).min()))
    ceiling = min(float((squared_norms + radius).max()), X.norm("spectral") ** 2)
    if k > n:
        low = floor = 0.0
    why = (
        f"{comb(d, k):.3g} supports are too many to examine: Gershgorin's discs from outside, "
        f"{len(candidates)} supports of correlated features from inside"
    )
    return _constants(k, (floor, low), (high, max(high, ceiling)), why)


def _nearest(correlations: Floats, S: Ints, m: int) -> tuple[Floats, Ints]:
    """For each feature of the block S, its m most correlated others and their sum."""
    correlations[S, np.arange(len(S))] = -1.0
    nearest = np.argpartition(-correlations, m - 1, axis=0)[:m]
    return np.take_along_axis(correlations, nearest, axis=0).sum(axis=0), nearest.T


def _inside(X: Design, candidates: list[Ints]) -> tuple[float, float]:
    """Extreme eigenvalues over a few supports, one at a time: they may be large."""
    low, high = np.inf, 0.0
    for T in candidates:
        s = np.linalg.svd(X.columns(T), compute_uv=False)
        low = min(low, float(s[-1]) ** 2 if len(s) == len(T) else 0.0)
        high = max(high, float(s[0]) ** 2)
    return low, high


def _constants(
    k: int, low: tuple[float, float], high: tuple[float, float], why: str
) -> RestrictedIsometry:
    return RestrictedIsometry(
        k=k,
        exact=low[0] == low[1] and high[0] == high[1],
        eig_min=low,
        eig_max=high,
        lower=max(1 - low[1], high[0] - 1, 0.0),
        upper=max(1 - low[0], high[1] - 1, 0.0),
        scaled_lower=scaled_delta(low[1], high[0]),
        scaled_upper=scaled_delta(low[0], high[1]),
        why=why,
    )


def refutes_iht(X: Design, S: Ints, nearness: Floats) -> float:
    """A lower bound on the rescaled delta_3k: that of S with its 2k nearest other features."""
    n, d = X.shape
    size = min(3 * len(S), d)
    if size > n:
        return 1.0  # more columns than samples: some vector on them is sent to zero
    extra = nearness.copy()
    extra[S] = -np.inf
    T = np.r_[S, np.argsort(-extra)[: size - len(S)]]
    s = np.linalg.svd(X.columns(T), compute_uv=False)
    return scaled_delta(float(s[-1]) ** 2, float(s[0]) ** 2)
