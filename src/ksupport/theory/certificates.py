"""Dual certificates: the weakest form of a source condition, found by a linear programme.

Both conditions of the paper have one shape. A target u on the support (sgn(w_S) for the l1
norm, w_S for the k-support norm) and a bound (1, and min |w_S|) are given, and one asks for λ with

    X_Sᵀ λ = u,    max over l outside S of |⟨x_l, λ⟩| < bound.

The closed forms of Assumptions 2 and 3 try the smallest such λ, (X_Sᵀ)† u; another may do where
that one fails.  For a k below the size of the support the target moves with alpha: see
`alpha_range`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from ..design import Design, Floats, Ints
from ._support import TIE_RTOL, Support, largest_outside, outside

LP_TOL = 1e-7  # feasibility tolerance of the linear programme, after scaling the bound to 1
MAX_ROUNDS = 20  # programmes solved before giving up: undecided
STEPS = np.array([1.0, 0.3, 0.1])  # how far to go from the best λ to the programme's


@dataclass(frozen=True)
class SourceCondition:
    """Whether some dual certificate exists (the strong source condition).

    Attributes
    ----------
    holds : bool
        A certificate was found.
    decided : bool
        Either one was found or none exists; otherwise the search gave up between `lower` and `lhs`.
    lhs : float
        Largest correlation outside the support of the best certificate found.
    rhs : float
        What it must stay below.
    margin : float
        ``rhs - lhs``.
    lower : float
        No certificate can go below this; equal to `lhs`, to solver tolerance, if the programme
        was solved to the end. The search stops as soon as the answer is known.
    method : {"closed form", "linear programme", "infeasible", "least squares"}
        Where `lhs` comes from.
    certificate : ndarray of shape (n_samples,) or None
        The λ that attains `lhs`.
    why : str
        One sentence.
    """

    holds: bool
    decided: bool
    lhs: float
    rhs: float
    margin: float
    lower: float
    method: str
    certificate: Floats | None = field(repr=False, compare=False)
    why: str


def source_condition(
    X: Design, support: Support, u: Floats, c: Floats, bound: float, rounds: int = MAX_ROUNDS
) -> SourceCondition:
    """Search for a certificate of `u` on the support, strictly below `bound` elsewhere.

    `c` is Xᵀλ for the smallest candidate, λ = (X_Sᵀ)† u.
    """
    if not support.sees(u):
        why = "no λ has Xᵀλ equal to the target on the support, whose columns are dependent"
        return SourceCondition(False, True, np.inf, bound, -np.inf, np.inf, "infeasible", None, why)
    lam = support.dual(u)
    lhs = largest_outside(c, support.S)
    if lhs < bound * (1 - TIE_RTOL):
        why = f"the smallest dual certificate stays at {lhs:.6g} outside the support"
        return SourceCondition(True, True, lhs, bound, bound - lhs, 0.0, "closed form", lam, why)
    lam, lhs, lower = _least_certificate(X, support, lam, c, bound, rounds)
    holds = lhs < bound * (1 - TIE_RTOL)
    decided = holds or lower >= bound * (1 - 2 * LP_TOL)
    if holds:
        why = f"a dual certificate other than the smallest one stays at {lhs:.6g}"
    elif decided:
        why = f"every dual certificate reaches {bound:.6g} outside the support"
    else:
        why = f"undecided: the best certificate lies between {lower:.6g} and {lhs:.6g}"
    margin = bound - lhs
    return SourceCondition(holds, decided, lhs, bound, margin, lower, "linear programme", lam, why)


def _least_certificate(
    X: Design, support: Support, lam0: Floats, c0: Floats, bound: float, rounds: int
) -> tuple[Floats, float, float]:
    """Minimise max |⟨x_l, λ⟩| outside S over λ0 + null(X_Sᵀ), until the answer is known.

    Constraint generation. The programme over a few features W gives a lower bound, and a λ that is
    too good on W and too bad elsewhere. Points on the way to it from the best λ so far give, by
    one product with Xᵀ, upper bounds and the features that W lacks; features slack in the
    programme leave W, which does not change its value. On W only the span of its columns
    matters, so the unknowns are coordinates in an orthonormal basis of those columns projected
    out of span(X_S): at most n - rank(X_S) of them, whatever d.
    """
    m = X.shape[0] - support.rank + 50  # features taken at a time: a few more than unknowns
    best_lam, best, lower = lam0, largest_outside(c0, support.S), 0.0
    W = _most_correlated(c0, support.S, 2 * m)
    for _ in range(rounds):
        direction, t = _solve(support, X.columns(W).T, c0[W], bound)
        lower = max(lower, t - LP_TOL * bound)
        lams = best_lam[:, None] + np.outer(lam0 + direction - best_lam, STEPS)
        C = X.rmatmat(lams)
        values = [largest_outside(c, support.S) for c in C.T]
        i = int(np.argmin(values))
        if values[i] < best:
            best_lam, best = lams[:, i].copy(), values[i]
        known = best < bound * (1 - TIE_RTOL) or lower >= bound * (1 - 2 * LP_TOL)
        if known or best - lower <= 2 * LP_TOL * bound:
            break
        tight = W[np.abs(C[W, 0]) >= t * (1 - 1e-6)]
        S_tight = np.concatenate([support.S, tight])
        missing = [q[np.abs(c[q]) > t] for c in C.T for q in [_most_correlated(c, S_tight, m)]]
        new = np.setdiff1d(np.concatenate(missing), W)
        if len(new) == 0:  # W already has every feature that matters
            break
        W = np.concatenate([tight, new])
    return best_lam, best, lower


def alpha_range(
    X: Design, support: Support, u: Floats, w_S: Floats, bound: float, rounds: int = MAX_ROUNDS
) -> tuple[float, float] | None:
    """The least and the largest alpha with a certificate, for a target that moves with alpha.

    For a k below the size of the support one asks for λ with ``X_Sᵀ λ = (1-alpha) u + alpha w_S``
    and ``|⟨x_l, λ⟩| <= (1-alpha) bound`` outside: linear in alpha and λ together, so that the
    alphas that do are an interval, and its ends two linear programmes.  None: there is no alpha,
    or constraint generation gave up.
    """
    if not (support.sees(u) and support.sees(w_S)):
        return None
    lam = np.stack([support.dual(u), support.dual(w_S)], axis=1)
    C = X.rmatmat(lam)
    m = X.shape[0] - support.rank + 50
    W = np.union1d(_most_correlated(C[:, 0], support.S, m), _most_correlated(C[:, 1], support.S, m))
    ends = []
    for sense in (1.0, -1.0):
        for _ in range(rounds):
            found = _extreme_alpha(support, X.columns(W).T, C[W], bound, sense)
            if found is None:
                return None
            direction, alpha = found
            c = X.rmatvec(lam @ [1 - alpha, alpha] + direction)
            limit = (1 - alpha) * bound + LP_TOL * bound
            new = np.setdiff1d(_most_correlated(c, support.S, m), W)
            new = new[np.abs(c[new]) > limit]
            if len(new) == 0:
                ends.append(alpha)
                break
            W = np.union1d(W, new)
        else:
            return None
    low, high = ends
    return (low, high) if high - low > LP_TOL else None


def _extreme_alpha(
    support: Support, X_W: Floats, C: Floats, bound: float, sense: float
) -> tuple[Floats, float] | None:
    """The least alpha (or the largest, sense -1) whose certificate does on W; None if none does."""
    Q, A, scale = _directions(support, X_W)
    c, slope = C[:, 0] / bound, (C[:, 1] - C[:, 0]) / bound
    p = A.shape[1]
    solution = linprog(
        np.r_[np.zeros(p), sense],
        A_ub=np.block([[A, (1 + slope)[:, None]], [-A, (1 - slope)[:, None]]]),
        b_ub=np.r_[1 - c, 1 + c],
        bounds=[(None, None)] * p + [(0, 1)],
        method="highs",
    )
    if solution.x is None:
        return None
    return Q @ solution.x[:p] * (bound / scale), float(solution.x[p])


def _most_correlated(c: Floats, excluded: Ints, m: int) -> Ints:
    """The m features with the largest |c| among those not excluded (fewer if fewer are left)."""
    magnitude = outside(c, excluded)
    order = np.argsort(-magnitude)[:m]
    return order[np.isfinite(magnitude[order])]


def _solve(support: Support, X_W: Floats, c: Floats, bound: float) -> tuple[Floats, float]:
    """Minimise max |c + X_Wᵀ direction| over directions orthogonal to X_S; minimiser and value."""
    Q, A, scale = _directions(support, X_W)
    p = A.shape[1]
    ones = np.ones((len(c), 1))
    solution = linprog(
        np.r_[np.zeros(p), 1.0],
        A_ub=np.block([[A, -ones], [-A, -ones]]),
        b_ub=np.r_[-c, c] / bound,
        bounds=[(None, None)] * p + [(0, None)],
        method="highs",
    )
    if solution.x is None:  # feasible and bounded by construction: a numerical failure
        return np.zeros(X_W.shape[0]), 0.0
    return Q @ solution.x[:p] * (bound / scale), float(solution.x[p]) * bound


def _directions(support: Support, X_W: Floats) -> tuple[Floats, Floats, float]:
    """A basis Q of the directions orthogonal to X_S that W sees, X_Wᵀ Q over a scale, the scale."""
    B = X_W - support.U @ (support.U.T @ X_W)
    scale = max(float(np.linalg.norm(X_W, axis=0).max(initial=0.0)), np.finfo(float).tiny)
    Q, R, _ = qr(B, mode="economic", pivoting=True)
    # Columns that lie in span(X_S) leave only rounding in B: no direction there.
    Q = Q[:, np.abs(np.diag(R)) > 1e-10 * scale]
    return Q, (B.T @ Q) / scale, scale
