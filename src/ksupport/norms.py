"""The k-support norm, its dual, and the box norm they are a case of.

The box norm (McDonald, Pontil and Stamos, JMLR 2016) is

    ‖w‖² = inf { Σ w_i²/theta_i : a <= theta_i <= b, Σ theta_i <= c },

and the k-support norm (Argyriou, Foygel and Srebro, NIPS 2012) is its case a=0, b=1, c=k, so
there is one implementation, ``BoxNorm``; the functions on the k-support norm only check k.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._common.groups import Groups, labels_of
from ._common.levels import check_k
from ._common.vectors import (
    FloatArray,
    Value,
    check_directions,
    check_strength,
    check_vectors,
    like,
    scaled_by_power_of_two,
)
from ._kernels.prox import all_finite, group_norms, norm_rows, prox_jvp, prox_rows

__all__ = [
    "BoxNorm",
    "ksupport_norm",
    "prox_ksupport",
    "topk_norm",
]


def _check_array(w: ArrayLike, name: str) -> FloatArray:
    """A C-ordered float32 or float64 array of one or two dimensions, all of it finite."""
    checked = check_vectors(w, name)
    if not all_finite(checked.reshape(-1)):
        bad = checked[~np.isfinite(checked)][0]
        raise ValueError(f"{name} must be finite, but it contains {bad}; remove or impute it")
    return checked


def _rows(w: FloatArray) -> NDArray[np.float64]:
    """A vector or a batch as rows of doubles, in which everything is computed."""
    return np.atleast_2d(w).astype(np.float64, copy=False)


# ----------------------------------------------------------------------------------------
# The box norm
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoxNorm:
    """Box norm: the least weighted l2 norm over weights in a box with a bounded sum.

    The weights ``theta`` range over ``a <= theta_i <= b``, ``sum(theta) <= c``, and the squared
    norm is the infimum of ``sum(w**2 / theta)``.  A small ``a > 0`` makes it a smoother relative
    of the k-support norm, which is ``BoxNorm(0, 1, k)``; ``a = b`` gives a multiple of the
    l2 norm, and so does ``c >= b * n_features``, where the bound on the sum is idle.

    Every method takes one vector or a batch of them in rows.  float32 and float64 are kept as
    given, anything else is computed in float64.

    Parameters
    ----------
    a, b : float
        Least and largest weight, ``0 <= a <= b``, ``b > 0``.
    c : float
        Bound on the sum of the weights, positive and at least ``a * n_features``.

    References
    ----------
    A. M. McDonald, M. Pontil, D. Stamos. New perspectives on k-support and cluster norms.
    Journal of Machine Learning Research 17 (155), 2016.

    Examples
    --------
    >>> from ksupport.norms import BoxNorm
    >>> box = BoxNorm(a=0.1, b=1.0, c=2.0)
    >>> round(float(box([3.0, 4.0, 0.0])), 4)
    5.099
    >>> print(box.prox([3.0, 4.0, 0.0], lam=1.0).round(4))
    [1.4211 2.     0.    ]
    """

    a: float
    b: float
    c: float

    def __post_init__(self) -> None:
        for name in ("a", "b", "c"):
            value = getattr(self, name)
            if not math.isfinite(value):
                raise ValueError(f"{name} must be finite, got {value!r}")
        if self.a < 0:
            raise ValueError(f"a must be non-negative, got {self.a!r}")
        if self.b <= 0 or self.b < self.a:
            raise ValueError(f"b must be positive and at least a={self.a!r}, got {self.b!r}")
        if self.c <= 0:
            raise ValueError(f"c must be positive, got {self.c!r}")

    def _search(self, n_features: int) -> tuple[float, float, float]:
        """Return ``(kappa, low, width)``: ``theta = low + width theta'``, ``Σ theta' = kappa``.

        That is what the kernels take: theta' is the k-support search with k = kappa.
        """
        room = self.c - self.a * n_features
        if room < 0:
            raise ValueError(
                f"c must be at least a * n_features = {self.a * n_features:g}, got {self.c!r}"
            )
        width = float(self.b - self.a)
        if room == 0 or width == 0:
            return 0.0, float(self.a), 0.0
        return min(room / width, float(n_features)), float(self.a), width

    def norm(self, w: ArrayLike) -> Value:
        """Value of the norm; also what calling the object returns.

        Parameters
        ----------
        w : array-like of shape (n_features,) or (n_rows, n_features)
            Vector, or batch of vectors in rows.

        Returns
        -------
        float or ndarray of shape (n_rows,)
            The norm of each vector.

        Examples
        --------
        >>> from ksupport.norms import BoxNorm
        >>> print(BoxNorm(0, 1, 2).norm([[3.0, 4.0, 0.0], [1.0, 1.0, 1.0]]).round(4))
        [5.     2.1213]
        """
        w = _check_array(w, "w")
        search = self._search(w.shape[-1])
        unit, exponents = scaled_by_power_of_two(w)
        squared = np.empty(len(unit))
        norm_rows(unit, *search, squared)
        return like(w, np.ldexp(np.sqrt(squared), exponents))

    __call__ = norm

    def dual(self, u: ArrayLike) -> Value:
        """Value of the dual norm, the largest inner product with a vector of norm at most 1.

        Its square is ``a * sum(u**2)`` plus ``b - a`` times the sum of the
        ``(c - a * n_features) / (b - a)`` largest squares, the last one counted in part.

        Parameters
        ----------
        u : array-like of shape (n_features,) or (n_rows, n_features)
            Vector, or batch of vectors in rows.

        Returns
        -------
        float or ndarray of shape (n_rows,)
            The dual norm of each vector.

        Examples
        --------
        >>> from ksupport.norms import BoxNorm
        >>> float(BoxNorm(0, 1, 2).dual([3.0, -1.0, 4.0]))
        5.0
        """
        u = _check_array(u, "u")
        kappa, low, width = self._search(u.shape[-1])
        unit, exponents = scaled_by_power_of_two(u)
        squares = unit * unit
        n_full = int(kappa)
        r = min(n_full + 1, unit.shape[1])  # the r largest, the least of them first
        top = np.partition(squares, unit.shape[1] - r, axis=1)[:, unit.shape[1] - r :]
        counts = np.ones(r)
        if r > n_full:
            counts[0] = kappa - n_full
        squared = low * squares.sum(axis=1) + width * (top * counts).sum(axis=1)
        return like(u, np.ldexp(np.sqrt(squared), exponents))

    def conjugate(self, u: ArrayLike, lam: float = 1.0) -> Value:
        """Value of the conjugate of ``lam/2 * norm**2``, which is ``dual**2 / (2 * lam)``.

        Parameters
        ----------
        u : array-like of shape (n_features,) or (n_rows, n_features)
            Vector, or batch of vectors in rows.
        lam : float, default=1
            Strength, positive.

        Returns
        -------
        float or ndarray of shape (n_rows,)
            The conjugate at each vector.

        Examples
        --------
        >>> from ksupport.norms import BoxNorm
        >>> float(BoxNorm(0, 1, 2).conjugate([3.0, -1.0, 4.0], lam=5.0))
        2.5
        """
        lam = check_strength(lam, positive=True)
        dual = self.dual(u)
        return (dual / lam) * (dual * dual.dtype.type(0.5))

    def prox(self, w: ArrayLike, lam: float) -> FloatArray:
        """Proximal operator of ``lam/2 * norm**2``.

        The minimiser over ``x`` of ``lam/2 * norm(x)**2 + 1/2 * sum((x - w)**2)``, found in a
        few scans of ``w``, without sorting; ``lam`` is not negative, and 0 returns a copy of ``w``.

        Parameters
        ----------
        w : array-like of shape (n_features,) or (n_rows, n_features)
            Vector, or batch of vectors in rows.
        lam : float
            Strength, non-negative; 0 returns a copy of ``w``.

        Returns
        -------
        ndarray of the shape of ``w``
            The prox of each vector.

        Examples
        --------
        >>> from ksupport.norms import BoxNorm
        >>> print(BoxNorm(0, 1, 1).prox([3.0, -2.0, 0.5], lam=1.0).round(4))
        [ 1.3333 -0.3333  0.    ]
        """
        w = _check_array(w, "w")
        lam = check_strength(lam)
        search = self._search(w.shape[-1])
        if lam == 0.0:
            return w.copy()
        x = np.empty(w.shape)
        prox_rows(_rows(w), lam, *search, np.atleast_2d(x))
        return x.astype(w.dtype, copy=False)

    def prox_jvp(self, w: ArrayLike, lam: float, u: ArrayLike) -> FloatArray:
        """Action on ``u`` of the Jacobian at ``w`` of the prox; the Jacobian is symmetric.

        The prox is piecewise smooth.  On a kink one element of the generalised (Clarke)
        Jacobian acts: an entry that just reaches the least or the largest weight counts as
        held there, and zero entries that tie for the weight that the others leave
        share it equally.  ``u`` has the shape of ``w``, or is a batch of directions at a vector.

        Parameters
        ----------
        w : array-like of shape (n_features,) or (n_rows, n_features)
            Where the Jacobian is taken.
        lam : float
            Strength, non-negative.
        u : array-like of the shape of ``w``, or (n_directions, n_features) at a vector ``w``
            Directions.

        Returns
        -------
        ndarray of the shape of ``u``
            The Jacobian times each direction.

        Examples
        --------
        >>> from ksupport.norms import BoxNorm
        >>> print(BoxNorm(0, 1, 1).prox_jvp([3.0, -2.0, 0.5], 1.0, [0.0, 3.0, 1.0]).round(4))
        [1. 2. 0.]
        """
        w, u = check_directions(_check_array(w, "w"), _check_array(u, "u"))
        lam = check_strength(lam)
        search = self._search(w.shape[-1])
        if lam == 0.0:
            return u.copy()
        points, directions, out = _rows(w), _rows(u), np.empty(np.atleast_2d(u).shape)
        if w.ndim == 1:
            prox_jvp(points[0], lam, *search, directions, out)
        else:
            for row, point in enumerate(points):
                here = slice(row, row + 1)
                prox_jvp(point, lam, *search, directions[here], out[here])
        return out.reshape(u.shape).astype(u.dtype, copy=False)


# ----------------------------------------------------------------------------------------
# The k-support norm
# ----------------------------------------------------------------------------------------


def _ksupport(w: ArrayLike, k: int, feature_groups: Groups = None) -> tuple[FloatArray, BoxNorm]:
    """w as an array, or the norms of its groups, and the box norm that is the k-support norm."""
    if feature_groups is not None:
        w, labels = _grouped(w, feature_groups)
        norms = _group_norms(w, labels)
        return norms, BoxNorm(0.0, 1.0, float(check_k(k, norms.shape[-1], of="n_groups")))
    w = np.asarray(w)
    n_features = w.shape[-1] if w.ndim else 1  # a bare number is reported by the method
    return w, BoxNorm(0.0, 1.0, float(check_k(k, n_features)))


def _grouped(w: ArrayLike, feature_groups: Groups) -> tuple[FloatArray, NDArray[np.intp]]:
    """w as an array, and the number of each entry's group."""
    checked = _check_array(w, "w")
    return checked, np.array(labels_of(feature_groups, checked.shape[-1]), np.intp)


def _group_norms(w: FloatArray, labels: NDArray[np.intp]) -> FloatArray:
    """The l2 norms of the groups of each row."""
    rows = _rows(w)
    norms = np.empty((len(rows), int(labels.max(initial=-1)) + 1))
    for row, out in zip(rows, norms, strict=True):
        group_norms(row, labels, 0.0, out)
    return norms.reshape(*w.shape[:-1], norms.shape[1]).astype(w.dtype, copy=False)


def ksupport_norm(w: ArrayLike, k: int, feature_groups: Groups = None) -> Value:
    """k-support norm.

    Its unit ball is the convex hull of the vectors with at most ``k`` nonzeros and l2 norm at
    most 1.  Between the l1 norm (``k=1``) and the l2 norm (``k=n_features``).  In closed form
    its square is the sum of the squares of the largest entries, ``m`` of them, plus the squared
    sum of the other magnitudes over ``k - m``.

    Parameters
    ----------
    w : array-like of shape (n_features,) or (n_rows, n_features)
        Vector, or batch of vectors in rows.
    k : int
        Between 1 and ``n_features``, or the number of groups.
    feature_groups : sequence of n_features labels, or of lists of indices, optional
        Entries that count together: the norm is that of the l2 norms of groups, and ``k`` counts
        groups; an entry in no list is a group of its own.

    Returns
    -------
    float or ndarray of shape (n_rows,)
        The norm of each vector.

    References
    ----------
    A. Argyriou, R. Foygel, N. Srebro. Sparse prediction with the k-support norm. NIPS 2012.

    Examples
    --------
    >>> from ksupport import ksupport_norm
    >>> [round(float(ksupport_norm([3.0, -4.0, 1.0], k)), 4) for k in (1, 2, 3)]
    [8.0, 5.6569, 5.099]
    >>> float(ksupport_norm([3.0, -4.0, 1.0], k=1, feature_groups=[[0, 1]]))
    6.0
    """
    w, box = _ksupport(w, k, feature_groups)
    return box.norm(w)


def topk_norm(w: ArrayLike, k: int, feature_groups: Groups = None) -> Value:
    """l2 norm of the ``k`` entries of largest magnitude, the dual of the k-support norm.

    Parameters
    ----------
    w : array-like of shape (n_features,) or (n_rows, n_features)
        Vector, or batch of vectors in rows.
    k : int
        Between 1 and ``n_features``, or the number of groups.
    feature_groups : sequence of n_features labels, or of lists of indices, optional
        Entries that count together: the norm is that of the l2 norms of groups, and ``k`` counts
        groups; an entry in no list is a group of its own.

    Returns
    -------
    float or ndarray of shape (n_rows,)
        The norm of each vector.

    Examples
    --------
    >>> from ksupport import topk_norm
    >>> float(topk_norm([3.0, -4.0, 1.0], k=2))
    5.0
    """
    w, box = _ksupport(w, k, feature_groups)
    return box.dual(w)


def prox_ksupport(
    w: ArrayLike, lam: float, k: int, feature_groups: Groups = None, positive: bool = False
) -> FloatArray:
    """Proximal operator of ``lam/2`` times the squared k-support norm.

    The minimiser over ``x`` of ``lam/2 * ksupport_norm(x, k)**2 + 1/2 * sum((x - w)**2)``, found
    in a few scans of ``w``, without sorting.

    Parameters
    ----------
    w : array-like of shape (n_features,) or (n_rows, n_features)
        Vector, or batch of vectors in rows.
    lam : float
        Strength, non-negative; 0 returns a copy of ``w``.
    k : int
        Between 1 and ``n_features``, or the number of groups.
    feature_groups : sequence of n_features labels, or of lists of indices, optional
        Entries that count together: the norm is that of the l2 norms of groups, and ``k`` counts
        groups; an entry in no list is a group of its own.
    positive : bool, default=False
        Whether ``x`` must not have negative entries.  Then those of ``w`` are cut first: the norm
        never gains by an entry of the wrong sign, and its prox keeps signs.

    Returns
    -------
    ndarray of the shape of ``w``
        The prox of each vector.

    Examples
    --------
    >>> from ksupport import prox_ksupport
    >>> print(prox_ksupport([4.0, -3.0, 0.5, 0.1], lam=1.0, k=2))
    [ 2.  -1.5  0.   0. ]
    >>> print(prox_ksupport([3.0, 4.0, 0.0, 1.0], lam=1.0, k=1, feature_groups=[0, 0, 1, 1]))
    [1.5 2.  0.  0. ]
    >>> print(prox_ksupport([4.0, -3.0, 0.5, 0.1], lam=1.0, k=1, positive=True))
    [2. 0. 0. 0.]
    """
    if positive:
        w = np.maximum(_check_array(w, "w"), 0)
    norms, box = _ksupport(w, k, feature_groups)
    shrunk = box.prox(norms, lam)
    if feature_groups is None:
        return shrunk
    w, labels = _grouped(w, feature_groups)
    share = np.divide(shrunk, norms, out=np.zeros_like(norms), where=norms > 0)
    return w * share[..., labels]
