"""Assumptions 1 and 2: when IRKSN recovers a sparse vector.

Note on Assumption 2. With w the smallest solution on its support (Assumption 1), w_S lies in the
row space of X_S, hence ⟨X_S† x_j, w_S⟩ = w_j for j in S, injective or not: the right-hand side is
min |w_S|. The subgradients of the half-squared k-support norm at a w with exactly k nonzero
entries are the u with u_S = w_S and |u_l| ≤ min |w_S| elsewhere, so the certificate λ* of the
appendix proves that w minimises R as soon as max |⟨x_l, λ*⟩| ≤ (1-α) min |w_S|. The paper
asks for α < margin / max |w|; the argument only needs α < margin / min |w_S|, which is larger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..design import Design, Floats
from ._checks import as_design, as_vector
from ._condition import Condition
from ._support import (
    FEASIBLE_RTOL,
    TIE_RTOL,
    TIGHT_RTOL,
    Support,
    largest_outside,
    outside,
    support_of,
    tight_outside,
)
from .certificates import MAX_ROUNDS, SourceCondition, source_condition


@dataclass(frozen=True)
class IRKSNCondition(Condition):
    """Assumptions 1 and 2 at one w, as returned by :func:`irksn_condition`.

    Attributes
    ----------
    holds : bool
        Both assumptions hold.
    lhs, rhs, margin : float
        ``max |⟨X_S† x_l, w_S⟩|`` outside the support, ``min |⟨X_S† x_j, w_S⟩|`` on it, and
        ``rhs - lhs``.
    tight_out, tight_in : tuple of int
        The features that attain the two sides.
    feasible : bool
        Xw = y, to relative tolerance 1e-8 (true by definition if no y was given).
    min_norm : bool
        w_S is the smallest l2-norm solution on its support.
    k, rank : int
        Size of the support, and rank of X_S.
    alpha_max : float
        The paper's limit on alpha, ``margin / max |w|``; 0 if the assumptions fail.
    alpha_sharp : float
        The limit that the proof needs, ``1 - lhs / min |w|`` with the best certificate at
        hand; 0 if there is none.
    source : SourceCondition
        The weaker condition that some dual certificate exists. It decides recovery in the limit
        where Assumption 2 is only sufficient.
    why : str
        One sentence.
    """

    tight_in: tuple[int, ...]
    feasible: bool
    min_norm: bool
    k: int
    rank: int
    alpha_max: float
    alpha_sharp: float
    source: SourceCondition = field(repr=False)
    why: str


def irksn_condition(X: Any, w: Any, y: Any = None) -> IRKSNCondition:
    """Check Assumptions 1 and 2: can IRKSN, run with k the size of the support, recover w?

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design, as the method sees it (centred and scaled if the method does that).
    w : array of shape (n_features,)
        The sparse vector; its nonzero entries are the support S.
    y : array of shape (n_samples,), optional
        The noiseless target. Without it, y = Xw.

    Returns
    -------
    IRKSNCondition

    Notes
    -----
    X_S may have dependent columns, and n < k is allowed. The condition is about ``k = |S|``: with a
    larger k the method has w as its limit only if every other feature has zero correlation with
    the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import irksn_condition
    >>> X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    >>> condition = irksn_condition(X, [2.0, -1.0, 0.0])
    >>> condition.holds, round(condition.lhs, 3), round(condition.rhs, 3)
    (True, 0.8, 1.0)
    """
    X = as_design(X)
    w = as_vector("w", w, X.shape[1], "feature (column)")
    y = None if y is None else as_vector("y", y, X.shape[0], "sample (row)")
    return irksn_at(X, Support.of(X, support_of(w)), w, y)


def irksn_at(
    X: Design, support: Support, w: Floats, y: Floats | None, rounds: int = MAX_ROUNDS
) -> IRKSNCondition:
    """Assumptions 1 and 2 on a factored support."""
    S, w_S = support.S, w[support.S]
    feasible = y is None or bool(
        np.linalg.norm(support.X_S @ w_S - y) <= FEASIBLE_RTOL * np.linalg.norm(y)
    )
    min_norm = support.sees(w_S)
    # ⟨X_S† x_i, w_S⟩ = ⟨x_i, λ⟩ with λ = (X_Sᵀ)† w_S: one product with Xᵀ serves every feature.
    c = X.rmatvec(support.dual(w_S))
    lhs, rhs = largest_outside(c, S), float(np.abs(c[S]).min())
    strict = lhs < rhs * (1 - TIE_RTOL)
    holds = feasible and min_norm and strict
    source = source_condition(X, support, w_S, c, float(np.abs(w_S).min()), rounds)
    usable = feasible and source.holds
    return IRKSNCondition(
        holds=holds,
        lhs=lhs,
        rhs=rhs,
        margin=rhs - lhs,
        tight_out=tight_outside(outside(c, S), lhs),
        tight_in=tuple(int(j) for j in S[np.abs(c[S]) <= rhs * (1 + TIGHT_RTOL)]),
        feasible=feasible,
        min_norm=min_norm,
        k=support.k,
        rank=support.rank,
        alpha_max=(rhs - lhs) / float(np.abs(w_S).max()) if holds else 0.0,
        alpha_sharp=1 - source.lhs / source.rhs if usable else 0.0,
        source=source,
        why=_irksn_why(feasible, min_norm, strict, lhs, rhs, source),
    )


def _irksn_why(
    feasible: bool, min_norm: bool, strict: bool, lhs: float, rhs: float, source: SourceCondition
) -> str:
    if not feasible:
        return (
            "w does not solve Xw = y (Assumption 1): pass the noiseless y, or leave y out to "
            "check w against its own predictions"
        )
    if not min_norm:
        return (
            "the columns on the support are dependent and w is not the smallest solution there "
            "(Assumption 1): replace w on its support S by pinv(X_S) @ y"
        )
    if strict:
        return (
            f"outside the support correlations stay at {lhs:.6g}, below the smallest on it, "
            f"{rhs:.6g} (Assumption 2)"
        )
    reason = (
        f"a feature outside the support reaches {lhs:.6g}, not below the smallest on it, "
        f"{rhs:.6g} (Assumption 2)"
    )
    return f"{reason}, but {source.why}, so w is still the limit" if source.holds else reason
