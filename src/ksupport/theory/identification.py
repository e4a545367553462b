"""A rate of δ: the error once the support is identified.

Why it holds
------------
Let k = |S| and let the walk be *on S*: w_t, w_{t-1} and the extrapolated r_t all have the support
S. With k entries nonzero the prox divides by 1 + λ there (every θ_i is 1), and α (1 + λ) = 1, so
w_t = -X_Sᵀ z_t and r_t = -X_Sᵀ v_t on S, and a step of IRKSN is

    w_{t+1} = r_t - γ X_Sᵀ (X_S r_t - y),    r_t = w_t + β_t (w_t - w_{t-1}),    0 ≤ β_t ≤ 1:

Nesterov's method for least squares on S. Let y = X w* + ε, X_S injective, ŵ = X_S† y = w* + X_S† ε
and a_t a coordinate of w_t - ŵ in the right singular vectors of X_S, for a singular value σ. With
κ = 1 - γσ², which is in [0, 1) for γ ≤ α/‖X‖²,

    a_{t+1} = κ ((1 + β_t) a_t - β_t a_{t-1}).

Put a_t = κ^{t/2} b_t and Q_t = (b_t - √κ b_{t-1})² + (1 - κ) b_{t-1}². Then
b_{t+1} - √κ b_t = β_t (√κ b_t - b_{t-1}), hence

    Q_{t+1} = β_t² (√κ b_t - b_{t-1})² + (1 - κ) b_t² ≤ (√κ b_t - b_{t-1})² + (1 - κ) b_t² = Q_t,

whatever the momentum. So b_t² ≤ Q_{t+1} / (1 - κ) never grows beyond its start, and, added up over
coordinates, with σ the least singular value of X_S: if the walk is on S from step T on,

    ‖w_t - w*‖ ≤ ‖X_S† ε‖ + κ^{(t-T)/2} (‖w_T - ŵ‖ + ‖w_{T-1} - ŵ‖) / √(γ σ²).            (face)

The first term is at most δ/σ, and for noise without a direction δ √(tr (X_Sᵀ X_S)⁻¹ / n) or so:
linear in δ, where Theorem 1 has √δ; the second falls geometrically.

How long a walk stays on S
--------------------------
On S the part of z in the span of X_S converges, and the rest is pushed by what the noise has there,
ε⊥: it grows by at most ‖ε⊥‖ (τ_t - τ_T), where τ_t = α g_t² is of the order of t². The walk is on S
while max |⟨x_l, v⟩| ≤ (1-α) min |⟨x_j, v⟩|, l outside, j in S. So if the noiseless walk comes to
lie on S and its dual variable tends to a certificate that is strictly below the limit outside, then
for all noise of a norm δ ≤ δ₀ the walk is on S between a step T that does not depend on δ and a
step c δ^{-1/2}, and (face) gives an error of O(δ) from T + O(log 1/δ) on: at the stopping time of
Theorem 1, too.

Where the proof does not close: that a strictly better certificate *exists* does not make the
noiseless walk tend to it. Certificates are a convex set, and a path that comes from outside may
tend to a point of its boundary; then a feature outside S tends to zero without being zero. If X has
the rank of X_S (as in Example 1), there is one certificate only in the span of X, and nothing is
left open. For steps found by backtracking κ changes from step to step, and (face) is not proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.checks import as_numbers, check_interval
from ..design import Floats, NormKind
from ._checks import as_design, as_vector
from ._support import Support, support_of


@dataclass(frozen=True)
class FaceBound:
    """The bound on ‖w_t - w‖ once IRKSN is on the support, as :func:`face_bound` returns it.

    Attributes
    ----------
    floor : float
        What is left in the end: ‖X_S† ε‖, or the largest value it can have for noise of norm delta.
    rate : float
        By what share the rest falls with each step, ``sqrt(1 - gamma * sigma**2)``.
    factor : float
        What the distances at the start are multiplied by, ``1 / sqrt(gamma * sigma**2)``.
    """

    floor: float
    rate: float
    factor: float

    def after(self, steps: ArrayLike, start: float) -> Floats:
        """The bound so many steps after the support was identified.

        Parameters
        ----------
        steps : int or array of int
            Steps since the first one from which on the walk is on the support.
        start : float
            The distances of that iterate and of the one before from the least-squares fit on the
            support, added up.

        Returns
        -------
        ndarray
        """
        t = np.asarray(as_numbers("steps", steps), np.float64)
        return self.floor + self.factor * self.rate**t * start

    def steps_to(self, excess: float, start: float) -> int:
        """Steps after which the bound is at most `excess` above its floor.

        Parameters
        ----------
        excess : float
            Positive.
        start : float
            As in `after`.

        Returns
        -------
        int
        """
        check_interval("excess", excess, low=0, high=math.inf, open_low=True, open_high=True)
        if self.factor * start <= excess:
            return 0
        if self.rate == 0:
            return 1
        return math.ceil(math.log(self.factor * start / excess) / -math.log(self.rate))


def face_bound(
    X: Any,
    w: Any,
    alpha: float,
    delta: float,
    norm: NormKind = "spectral",
    *,
    noise: Any = None,
) -> FaceBound:
    """Bound the error of IRKSN with constant steps after the support is identified: O(delta).

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design.
    w : array of shape (n_features,)
        The true sparse vector, with independent columns on its support, and as many of them as
        the k of IRKSN.
    alpha : float
        The alpha of IRKSN.
    delta : float
        Norm of the noise, ‖y_observed - Xw‖.
    norm : {"spectral", "nuclear"}
        The ‖X‖ that the step of the method uses.
    noise : array of shape (n_samples,), optional
        The noise itself, where it is known, in simulations: its own floor instead of the largest.

    Returns
    -------
    FaceBound

    Notes
    -----
    It holds from the step on from which the iterates and their extrapolations have the support of
    w, and as long as they do.  `error_bound` needs no such thing, and is of the order of √delta.
    The proof, when a walk comes to the support and how long it stays, is on the theory page.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import face_bound
    >>> X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    >>> bound = face_bound(X, [2.0, -1.0, 0.0], alpha=0.1, delta=0.01)
    >>> round(bound.floor, 3), round(bound.rate, 3), bound.steps_to(0.01, start=1.0)
    (0.01, 0.96, 146)
    """
    check_interval("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    check_interval("delta", delta, low=0, high=math.inf, open_high=True)
    X = as_design(X)
    w = as_vector("w", w, X.shape[1], "feature (column)")
    support = Support.of(X, support_of(w))
    if not support.injective:
        raise ValueError(
            f"w must have independent columns on its support, got {support.k} of rank "
            f"{support.rank}: least squares has no single solution there; take error_bound"
        )
    least = float(support.s[-1])
    if noise is None:
        floor = delta / least
    else:
        noise = as_vector("noise", noise, X.shape[0], "sample (row)")
        floor = float(np.linalg.norm((support.U.T @ noise) / support.s))
    share = alpha * (least / X.norm(norm)) ** 2
    return FaceBound(floor, math.sqrt(1 - share), 1 / math.sqrt(share))
