"""Assumptions 1 and 2: when IRKSN recovers a sparse vector, with any k.

Note on Assumption 2. With w the smallest solution on its support (Assumption 1), w_S lies in the
row space of X_S, hence ⟨X_S† x_j, w_S⟩ = w_j for j in S, injective or not: the right-hand side is
min |w_S|. The subgradients of the half-squared k-support norm at a w with exactly k nonzero
entries are the u with u_S = w_S and |u_l| ≤ min |w_S| elsewhere, so the certificate λ* of the
appendix proves that w minimises R as soon as max |⟨x_l, λ*⟩| ≤ (1-α) min |w_S|. The paper
asks for α < margin / max |w|; the argument only needs α < margin / min |w_S|, which is larger.

Any k. As R is finite and strongly convex, w is the limit of the noiseless walk if and only if some
λ has Xᵀλ in ∂R(w) = (1-α) ∂(½‖·‖²)(w) + α w. With the subgradients of `subgradient` that is

    X_Sᵀ λ = (1-α) u_S + α w_S,    |⟨x_l, λ⟩| ≤ (1-α) m outside S,        k ≤ |S|,
    Xᵀ λ = w, so that w is the solution of least l2 norm, whatever α,     k > |S|.

The proof is on the theory page of the manual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from .._common.checks import check_interval
from .._common.levels import check_k
from ..design import Design, Floats, Ints
from ._support import (
    FEASIBLE_RTOL,
    TIE_RTOL,
    TIGHT_RTOL,
    Condition,
    Support,
    as_vector,
    at_vector,
    largest_outside,
    outside,
    subgradient,
    tight_outside,
)
from .certificates import MAX_ROUNDS, SourceCondition, alpha_range, source_condition

ENDED_EARLY = 7  # status of lsmr at its iteration limit


@dataclass(frozen=True)
class IRKSNCondition(Condition):
    """Assumptions 1 and 2 at one w, as returned by :func:`irksn_condition`.

    Attributes
    ----------
    holds : bool
        Both assumptions hold; with a k other than the size of the support, what takes their place.
    lhs, rhs, margin : float
        ``max |⟨X_S† x_l, w_S⟩|`` outside the support, ``min |⟨X_S† x_j, w_S⟩|`` on it, and
        ``rhs - lhs``. For a smaller k, u_S (see `irksn_condition`) takes the place of w_S, and the
        right side is m.
    tight_out, tight_in : tuple of int
        The features that attain the two sides.
    feasible : bool
        Xw = y, to relative tolerance 1e-8 (true by definition if no y was given).
    min_norm : bool
        w_S is the smallest l2-norm solution on its support.
    k, size, rank : int
        The k of the norm, the size of the support, and the rank of X_S.
    alpha : float or None
        The alpha that was asked about; None: all of them.
    alpha_max : float
        The paper's limit on alpha, ``margin / max |w|``; 0 if the assumptions fail, and for other
        k than the size of the support, of which the paper says nothing.
    alpha_low, alpha_sharp : float
        w is the limit for every alpha strictly between them; both 0 if there is none. With k the
        size of the support these are 0 and ``1 - lhs / min |w|`` of the best certificate at hand;
        with a smaller k, two linear programmes. Where alpha was given, both are alpha, or 0.
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
    size: int
    rank: int
    alpha: float | None
    alpha_max: float
    alpha_low: float
    alpha_sharp: float
    source: SourceCondition = field(repr=False)
    why: str

    @property
    def recovers(self) -> bool:
        """Whether w is known to be the limit, for some alpha or for the one that was given."""
        return self.alpha_sharp > 0


def irksn_condition(
    X: Any, w: Any, y: Any = None, *, k: int | None = None, alpha: float | None = None
) -> IRKSNCondition:
    """Check Assumptions 1 and 2, or what takes their place for other k: can IRKSN recover w?

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design, as the method sees it (centred and scaled if the method does that).
    w : array of shape (n_features,)
        The sparse vector; its nonzero entries are the support S.
    y : array of shape (n_samples,), optional
        The noiseless target. Without it, y = Xw.
    k : int, optional
        The k that IRKSN is run with; by default the size of the support, as in the paper.
    alpha : float, optional
        The alpha that it is run with; by default small ones are asked about, and the range of
        those that do is found.

    Returns
    -------
    IRKSNCondition

    Notes
    -----
    X_S may have dependent columns, and n < k is allowed. With k at most the size of the support,
    and ties apart, w is the limit of IRKSN if and only if `source` holds: some λ has
    ``X_Sᵀ λ = (1-alpha) u_S + alpha w_S`` and ``|⟨x_l, λ⟩| < (1-alpha) m`` outside S, where
    ``u_S = sgn(w_S) max(|w_S|, m)`` and ``sum(min(1, |w_S| / m)) = k``. With a larger k, it is the
    limit if and only if it is the solution of least l2 norm, whatever alpha. The proof is on the
    theory page of the manual.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import irksn_condition
    >>> X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    >>> condition = irksn_condition(X, [2.0, -1.0, 0.0])
    >>> condition.holds, round(condition.lhs, 3), round(condition.rhs, 3)
    (True, 0.8, 1.0)
    >>> condition = irksn_condition(X, [2.0, -1.0, 0.0], k=1)
    >>> condition.recovers, round(condition.alpha_sharp, 3)
    (True, 0.724)
    """
    X, w, support = at_vector(X, w)
    y = None if y is None else as_vector("y", y, X.shape[0], "sample (row)")
    if k is not None:
        check_k(k, X.shape[1])
    if alpha is not None:
        check_interval("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    return irksn_at(X, support, w, y, k=k, alpha=alpha)


def irksn_at(
    X: Design,
    support: Support,
    w: Floats,
    y: Floats | None,
    rounds: int = MAX_ROUNDS,
    k: int | None = None,
    alpha: float | None = None,
) -> IRKSNCondition:
    """The condition on a factored support."""
    S, w_S = support.S, w[support.S]
    k = support.k if k is None else int(k)
    feasible = y is None or bool(
        np.linalg.norm(support.X_S @ w_S - y) <= FEASIBLE_RTOL * np.linalg.norm(y)
    )
    u, m = subgradient(w_S, k)
    share = 0.0 if alpha is None else alpha
    target, bound = (1 - share) * u + share * w_S, (1 - share) * m
    min_norm = support.sees(target)
    # ⟨X_S† x_i, u_S⟩ = ⟨x_i, λ⟩ with λ = (X_Sᵀ)† u_S: one product with Xᵀ serves every feature.
    c = X.rmatvec(support.dual(target))
    if k > support.k:
        source = _least_norm(X, w, S)
        lhs, rhs, strict = source.lhs, 0.0, source.holds
    else:
        source = source_condition(X, support, target, c, bound, rounds)
        lhs, rhs = largest_outside(c, S), float(np.abs(c[S]).min()) if alpha is None else bound
        strict = lhs < rhs * (1 - TIE_RTOL)
    holds = feasible and min_norm and strict
    low, sharp = 0.0, 0.0
    if feasible and alpha is not None:
        low = sharp = alpha if source.holds else 0.0
    elif feasible:
        low, sharp = _alphas(X, support, w_S, u, m, k, source, rounds)
    return IRKSNCondition(
        holds=holds,
        lhs=lhs,
        rhs=rhs,
        margin=rhs - lhs,
        tight_out=tight_outside(outside(c, S), lhs),
        tight_in=tuple(int(j) for j in S[np.abs(c[S]) <= rhs * (1 + TIGHT_RTOL)]),
        feasible=feasible,
        min_norm=min_norm,
        k=k,
        size=support.k,
        rank=support.rank,
        alpha=alpha,
        alpha_max=(rhs - lhs) / float(np.abs(w_S).max()) if holds and k == support.k else 0.0,
        alpha_low=low,
        alpha_sharp=sharp,
        source=source,
        why=_irksn_why(feasible, min_norm, strict, lhs, rhs, source, k, support.k),
    )


def _alphas(
    X: Design,
    support: Support,
    w_S: Floats,
    u: Floats,
    m: float,
    k: int,
    source: SourceCondition,
    rounds: int,
) -> tuple[float, float]:
    """The range of alphas for which w is known to be the limit; zeros if there is none."""
    if k > support.k:
        return 0.0, float(source.holds)
    if k == support.k:
        return 0.0, 1 - source.lhs / source.rhs if source.holds else 0.0
    found = alpha_range(X, support, u, w_S, m, rounds)
    if found is not None or not source.holds or not support.sees(w_S):
        return found or (0.0, 0.0)
    # Not decided, but the certificate at alpha -> 0 has some room.
    assert source.certificate is not None
    c = X.rmatmat(np.stack([source.certificate, support.dual(w_S - u)], axis=1))
    room = (m - np.abs(c[:, 0])) / (m + np.abs(c[:, 1]))
    return 0.0, float(np.delete(room, support.S).min(initial=1.0))


def _least_norm(X: Design, w: Floats, S: Ints) -> SourceCondition:
    """Whether w is the solution of least l2 norm: whether Xᵀλ = w for some λ."""
    n, d = X.shape
    back = LinearOperator((d, n), matvec=X.rmatvec, rmatvec=X.matvec, dtype=np.float64)
    lam, reason, *_ = lsmr(back, w, atol=1e-13, btol=1e-13, conlim=0.0, maxiter=10 * min(n, d))
    c = X.rmatvec(lam)
    lhs, apart = largest_outside(c, S), float(np.linalg.norm(c - w) / np.linalg.norm(w))
    holds = apart <= FEASIBLE_RTOL
    why = (
        f"w {'is' if holds else 'is not'} the solution of least l2 norm, which is required if k "
        "exceeds the size of the support"
    )
    decided = holds or reason != ENDED_EARLY
    return SourceCondition(holds, decided, lhs, 0.0, -lhs, 0.0, "least squares", lam, why)


def _irksn_why(
    feasible: bool,
    min_norm: bool,
    strict: bool,
    lhs: float,
    rhs: float,
    source: SourceCondition,
    k: int,
    size: int,
) -> str:
    if not feasible:
        return (
            "w does not solve Xw = y (Assumption 1): pass the noiseless y, or leave y out to "
            "check w against its own predictions"
        )
    if k > size:
        return source.why
    if k < size:
        return f"with k={k} on a support of {size}, {source.why}"
    if not min_norm:
        return (
            "the columns on the support are dependent and w is not the smallest solution there "
            "(Assumption 1): replace w on its support S by pinv(X_S) @ y"
        )
    if strict:
        return (
            f"Assumption 2 holds: |⟨X_S† x_l, w_S⟩| is at most {lhs:.6g} outside the support, and "
            f"at least {rhs:.6g} on it"
        )
    reason = (
        f"Assumption 2 fails: |⟨X_S† x_l, w_S⟩| reaches {lhs:.6g} outside the support, and its "
        f"least value on it is {rhs:.6g}"
    )
    return f"{reason}, but {source.why}, so w is still the limit" if source.holds else reason
