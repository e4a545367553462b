"""Assumption 3, for methods based on the l1 norm, and the exact recovery condition of OMP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..design import Design, Floats
from ._support import (
    BLOCK,
    TIE_RTOL,
    Condition,
    Support,
    at_vector,
    largest_outside,
    outside,
    tight_outside,
)
from .certificates import MAX_ROUNDS, SourceCondition, source_condition


@dataclass(frozen=True)
class L1Condition(Condition):
    """Assumption 3 and the strong source condition, as returned by :func:`l1_condition`.

    Attributes
    ----------
    holds : bool
        Assumption 3: X_S is injective and ``lhs < 1``.
    lhs, rhs, margin : float
        ``max |⟨X_S† x_l, sgn(w_S)⟩|`` outside the support, 1, and ``rhs - lhs``.
    tight_out : tuple of int
        The features that attain `lhs`.
    injective : bool
        The columns on the support are independent.
    k, rank : int
        Size of the support, and rank of X_S.
    source : SourceCondition
        Grasmair's strong source condition, by the closed form or a linear programme.
    recovers : bool
        Injective and `source` holds: w is then the only minimiser of ‖·‖₁ under Xw = y, and
        only then.
    why : str
        One sentence.
    """

    injective: bool
    k: int
    rank: int
    source: SourceCondition = field(repr=False)
    recovers: bool
    why: str


@dataclass(frozen=True)
class OMPCondition(Condition):
    """Tropp's exact recovery condition, as returned by :func:`omp_condition`.

    Attributes
    ----------
    holds : bool
        X_S is injective and ``lhs < 1``.
    lhs, rhs, margin : float
        ``max ‖X_S† x_l‖₁`` outside the support, 1, and ``rhs - lhs``.
    tight_out : tuple of int
        The features that attain `lhs`.
    injective : bool
        The columns on the support are independent.
    why : str
        One sentence.
    """

    injective: bool
    why: str


def l1_condition(X: Any, w: Any) -> L1Condition:
    """Check Assumption 3: can methods based on the l1 norm recover w?

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design.
    w : array of shape (n_features,)
        The sparse vector; only its support and signs matter.

    Returns
    -------
    L1Condition

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import l1_condition
    >>> X = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.4]])
    >>> l1_condition(X, [3.0, 1.0, 0.0]).holds, l1_condition(X, [3.0, -1.0, 0.0]).holds
    (False, True)
    """
    X, w, support = at_vector(X, w)
    return l1_at(X, support, w)


def omp_condition(X: Any, w: Any) -> OMPCondition:
    """Check the exact recovery condition of orthogonal matching pursuit on the support of w.

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design, with the column scaling that OMP is run with.
    w : array of shape (n_features,)
        The sparse vector; only its support matters.

    Returns
    -------
    OMPCondition

    Notes
    -----
    ``max ‖X_S† x_l‖₁ < 1`` with X_S injective (Tropp 2004). It is also the irrepresentable
    condition that Table 1 gives for SRDI, and it implies Assumption 3 for every sign pattern.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import omp_condition
    >>> X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    >>> condition = omp_condition(X, [2.0, -1.0, 0.0])
    >>> condition.holds, round(condition.lhs, 3)
    (True, 0.7)
    """
    X, _, support = at_vector(X, w)
    return omp_at(X, support)


def l1_at(X: Design, support: Support, w: Floats, rounds: int = MAX_ROUNDS) -> L1Condition:
    """Assumption 3 and the strong source condition on a factored support."""
    S, sign = support.S, np.sign(w[support.S])
    c = X.rmatvec(support.dual(sign))
    lhs = largest_outside(c, S)
    strict = lhs < 1 - TIE_RTOL
    source = source_condition(X, support, sign, c, 1.0, rounds)
    if not support.injective:
        why = _dependent(support)
    elif strict:
        why = f"outside the support correlations stay at {lhs:.6g}, below 1 (Assumption 3)"
    else:
        why = f"a feature outside the support reaches {lhs:.6g}, not below 1 (Assumption 3)"
        why += f", but {source.why}" if source.holds else f", and {source.why}"
    return L1Condition(
        holds=support.injective and strict,
        lhs=lhs,
        rhs=1.0,
        margin=1.0 - lhs,
        tight_out=tight_outside(outside(c, S), lhs),
        injective=support.injective,
        k=support.k,
        rank=support.rank,
        source=source,
        recovers=support.injective and source.holds,
        why=why,
    )


def omp_at(X: Design, support: Support) -> OMPCondition:
    """The exact recovery condition on a factored support."""
    sums = np.zeros(X.shape[1])  # ‖X_S† x_l‖₁, added up over blocks of rows of X_S†
    pinv_T = (support.U / support.s) @ support.Vt  # (X_S†)ᵀ, n x k
    for start in range(0, support.k, BLOCK):
        sums += np.abs(X.rmatmat(pinv_T[:, start : start + BLOCK])).sum(axis=1)
    lhs = largest_outside(sums, support.S)
    strict = lhs < 1 - TIE_RTOL
    if not support.injective:
        why = _dependent(support)
    else:
        why = f"the largest ‖X_S† x_l‖₁ is {lhs:.6g}, {'below' if strict else 'not below'} 1"
    return OMPCondition(
        holds=support.injective and strict,
        lhs=lhs,
        rhs=1.0,
        margin=1.0 - lhs,
        tight_out=tight_outside(outside(sums, support.S), lhs),
        injective=support.injective,
        why=why,
    )


def _dependent(support: Support) -> str:
    return (
        f"the {support.k} columns on the support are dependent (rank {support.rank}): X_S is not "
        "injective, so w is not the only vector with this support and these predictions"
    )
