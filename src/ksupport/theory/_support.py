"""Recovery conditions, and all that they ask of the columns on a support, factored once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError, svd

from ..design import Design, Floats, Ints

FEASIBLE_RTOL = 1e-8  # relative size below which a residual counts as zero
TIE_RTOL = 1e-10  # two sides closer than this are equal: a strict inequality then fails
TIGHT_RTOL = 1e-6  # features this close to the extreme value are listed as tight


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

    @cached_property
    def pinv_T(self) -> Floats:
        """(X_S†)ᵀ, n x k."""
        return (self.U / self.s) @ self.Vt

    def dual(self, u: Floats) -> Floats:
        """(X_Sᵀ)† u, the smallest λ with X_Sᵀ λ as near to u as can be."""
        return self.U @ ((self.Vt @ u) / self.s)

    def row_projection(self, u: Floats) -> Floats:
        """X_S† X_S u, the part of u that X_S can see."""
        return self.Vt.T @ (self.Vt @ u)

    def sees(self, u: Floats) -> bool:
        """Whether u lies in the row space of X_S, so that X_Sᵀ λ = u has a solution."""
        return bool(np.linalg.norm(u - self.row_projection(u)) <= FEASIBLE_RTOL * np.linalg.norm(u))

    def project_out(self, A: Floats) -> Floats:
        """The part of the columns of A orthogonal to those of X_S."""
        return A - self.U @ (self.U.T @ A)


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
