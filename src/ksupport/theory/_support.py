"""X, w and y checked, and what recovery conditions ask of the columns on a support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, svd
from scipy.sparse.linalg import LinearOperator

from .. import limits
from .._common.checks import as_numbers
from ..design import Design, Floats, Ints, by_blocks, is_dask, unwrapped

BLOCK = 64  # columns handled at once: every temporary is at most d x BLOCK or n x BLOCK
FEASIBLE_RTOL = 1e-8  # relative size below which a residual counts as zero
TIE_RTOL = 1e-10  # two sides closer than this are equal: a strict inequality then fails
TIGHT_RTOL = 1e-6  # features this close to the extreme value are listed as tight


def as_design(X: Any) -> Design:
    """Check X and wrap it in double precision; a `Design` passes through as it is."""
    if isinstance(X, Design):  # before it is taken for an operator, as it has products
        return X
    X = unwrapped(X)
    # What is read by blocks, here or elsewhere, is checked in doing so.
    if isinstance(X, LinearOperator) or is_dask(X) or by_blocks(X):
        return Design.of(X)
    if not sp.issparse(X):
        X = as_numbers("X", X)
    elif X.format not in ("csr", "csc"):
        X = X.tocsc()
    if X.dtype.kind != "c":  # complex numbers are refused below
        X = X.astype(np.float64, copy=False)
        _check_size("X", X.data if sp.issparse(X) else X)
    return Design.of(X)


def as_vector(name: str, value: Any, length: int, what: str) -> Floats:
    """Check a vector against the side of X that it must match."""
    vector = as_numbers(name, value)
    if vector.dtype.kind == "c":
        raise ValueError(f"{name} must be real, got dtype {vector.dtype}")
    vector = vector.astype(np.float64, copy=False)
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must be a vector with one entry per {what} of X, shape ({length},), "
            f"got shape {vector.shape}"
        )
    _check_size(name, vector)
    return vector


def _check_size(name: str, values: Floats) -> None:
    """Refuse entries that are not finite or whose squares overflow or underflow."""
    # No n x d temporary: NaN and infinity show in the extremes.
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if not np.isfinite(largest):
        raise ValueError(f"{name} must be finite, got NaN or infinity; impute or drop those values")
    if largest and not limits.SMALLEST < largest < limits.LARGEST:
        raise ValueError(
            f"{name} must have entries that can be squared, between {limits.SMALLEST:g} and "
            f"{limits.LARGEST:g} in size, got {largest:.3g} for the largest; rescale it"
        )


@dataclass(frozen=True)
class Condition:
    """The recovery condition of a method: ``lhs < rhs``, and its further requirements."""

    decided: ClassVar[bool] = True  # in closed form
    holds: bool
    lhs: float
    rhs: float
    margin: float  # rhs - lhs
    tight_out: tuple[int, ...]  # the features that attain lhs


@dataclass(frozen=True)
class Support:
    """A support S with the thin singular value decomposition X_S = U diag(s) Vᵀ.

    Singular values below ``max(n, k) * eps * s[0]`` count as zero, so that X_S need not be
    injective and n < k is allowed.
    """

    S: Ints
    X_S: Floats
    U: Floats
    s: Floats
    Vt: Floats

    @classmethod
    def of(cls, X: Design, S: Ints) -> Support:
        """Gather and factor the columns S."""
        X_S = X.columns(S).T
        try:
            U, s, Vt = svd(X_S, full_matrices=False)
        except LinAlgError:  # the fast driver fails to converge on rare inputs; this one is slower
            U, s, Vt = svd(X_S, full_matrices=False, lapack_driver="gesvd")
        rank = int(np.sum(s > max(X_S.shape) * np.finfo(float).eps * s[0]))
        return cls(S, X_S, U[:, :rank], s[:rank], Vt[:rank])

    @property
    def k(self) -> int:
        """Number of features in the support."""
        return len(self.S)

    @property
    def rank(self) -> int:
        """Rank of X_S."""
        return len(self.s)

    @property
    def injective(self) -> bool:
        """Whether the columns are independent."""
        return self.rank == self.k

    def dual(self, u: Floats) -> Floats:
        """(X_Sᵀ)† u, the smallest λ with X_Sᵀ λ as near to u as can be."""
        return self.U @ ((self.Vt @ u) / self.s)

    def row_projection(self, u: Floats) -> Floats:
        """X_S† X_S u, the part of u that X_S can see."""
        return self.Vt.T @ (self.Vt @ u)

    def sees(self, u: Floats) -> bool:
        """Whether u lies in the row space of X_S, so that X_Sᵀ λ = u has a solution."""
        return bool(np.linalg.norm(u - self.row_projection(u)) <= FEASIBLE_RTOL * np.linalg.norm(u))


def at_vector(X: Any, w: Any) -> tuple[Design, Floats, Support]:
    """X and w, checked, and the support of w, factored."""
    X = as_design(X)
    w = as_vector("w", w, X.shape[1], "feature (column)")
    return X, w, Support.of(X, support_of(w))


def support_of(w: Floats) -> Ints:
    """The support of w, which must not be empty."""
    S = np.flatnonzero(w)
    if len(S) == 0:
        raise ValueError(
            "w must have at least one nonzero entry, got all zeros: the conditions are about "
            "its support; fit a model that selects a feature first"
        )
    return S


def outside(values: Floats, S: Ints) -> Floats:
    """|values| with the support blanked out (by -inf), for maxima over the complement of S."""
    magnitude = np.abs(values)
    magnitude[S] = -np.inf
    return magnitude


def largest_outside(values: Floats, S: Ints) -> float:
    """max over the complement of S of |values|; 0 if there is no other feature."""
    return max(0.0, float(outside(values, S).max()))


def tight_outside(magnitude: Floats, extreme: float) -> tuple[int, ...]:
    """The features that attain the maximum `extreme` of :func:`outside`."""
    tight: Ints = np.flatnonzero(magnitude >= extreme * (1 - TIGHT_RTOL))
    return tuple(int(j) for j in tight) if extreme > 0 else ()


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
