"""A rate of δ: the error once the support is identified.

Why it holds
------------
Let k ≤ |S|, and w* with the level m of its subgradients (see `subgradient`). A part A of S has
entries above m (all of S if k = |S|), the rest B has not. A walk is *on the face* of w* if w_t,
w_{t-1} and the extrapolated r_t are zero outside S and have the signs of w* on it, and the θ_i of
the prox are 1 on A and below 1 on B. There the prox is linear: with λ = (1-α)/α, e the signs on B,
p = X_Sᵀ z and 1/s = Σ_B |q_i| / (k - |A| + λ|B|) for q = -p/α, entries are q_i / (1 + λ) on A and
q_i - λ e_i / s on B, so that w_t = -H X_Sᵀ z_t on S with

    H = I on A,    H = (I - c e eᵀ)/α on B,    c = (1-α) / (α (k - |A|) + (1-α) |B|).

H is positive definite: its eigenvalues are 1 on A, h = (k - |A|) / (α (k - |A|) + (1-α) |B|) along
e, and 1/α across. With k = |S| it is the identity. So a step of IRKSN is

    w_{t+1} = r_t - γ H X_Sᵀ (X_S r_t - y),    r_t = w_t + β_t (w_t - w_{t-1}),    0 ≤ β_t ≤ 1:

Nesterov's method for least squares on S, in the metric of H⁻¹. With y = X w* + ε, X_S injective (if
k = |S|, it is enough that w* lies in its row space: Assumption 1), ŵ = X_S† y, σ the least singular
value of X_S H^{1/2}, κ = 1 - γσ², and q the square root of the ratio of the extreme eigenvalues of
H, the argument on the theory page (there for k = |S|, where H is the identity) gives, if the walk
is on the face from step T on,

    ‖w_t - w*‖ ≤ ‖X_S† ε‖ + q κ^{(t-T)/2} (‖w_T - ŵ‖ + ‖w_{T-1} - ŵ‖) / √(γ σ²).          (face)

The first term is at most δ over the least singular value of X_S: linear in δ, where Theorem 1 has
√δ; the second falls geometrically. How long a walk stays on the face is on the theory page, too;
for k < |S| no |w*_i| may be m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.checks import as_numbers, check_interval
from .._common.levels import check_k
from ..design import Floats, NormKind
from ._support import as_vector, at_vector, subgradient


@dataclass(frozen=True)
class FaceBound:
    """The bound on ‖w_t - w‖ once IRKSN is on the support, as :func:`face_bound` returns it.

    Attributes
    ----------
    floor : float
        What is left in the end: ‖X_S† ε‖, or the largest value it can have for noise of norm delta.
    share : float
        ``gamma * sigma**2``: by what share the square of the rest falls with each step, at least.
    stretch : float
        What the change of metric costs; 1 if k is the size of the support.
    """

    floor: float
    share: float
    stretch: float = 1.0

    @property
    def rate(self) -> float:
        """What the rest is multiplied by with each step, ``sqrt(1 - share)``."""
        return math.sqrt(1 - self.share)

    @property
    def factor(self) -> float:
        """What the distances at the start are multiplied by, ``stretch / sqrt(share)``."""
        return self.stretch / math.sqrt(self.share)

    def after(self, steps: ArrayLike, start: float) -> Floats:
        """The bound a number of steps after the first one on the support, from which on it stays.

        ``start`` is the distances of that iterate and of the one before from the least-squares fit
        on the support, added up.

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
        return math.ceil(2 * math.log(self.factor * start / excess) / -math.log1p(-self.share))


def face_bound(
    X: Any,
    w: Any,
    alpha: float,
    delta: float,
    norm: NormKind = "spectral",
    *,
    k: int | None = None,
    noise: Any = None,
) -> FaceBound:
    """Bound the error of IRKSN with constant steps after the support is identified: O(delta).

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design.
    w : array of shape (n_features,)
        The true sparse vector, with independent columns on its support; with k the size of the
        support it is enough that it is the smallest solution there (Assumption 1).
    alpha : float
        The alpha of IRKSN.
    delta : float
        Norm of the noise, ‖y_observed - Xw‖.
    norm : {"spectral", "nuclear"}
        The ‖X‖ that the step of the method uses.
    k : int, optional
        The k of IRKSN, at most the size of the support, which is the default.
    noise : array of shape (n_samples,), optional
        The noise itself, where it is known, in simulations: its own floor instead of the largest.

    Returns
    -------
    FaceBound

    Notes
    -----
    It holds from the step on from which the iterates and their extrapolations have the support and
    the signs of w, and as long as they do; for a k below the size of the support, the entries that
    the norm treats as large must also be those of w. `error_bound` needs no such thing, and is
    of the order of √delta. The proof, when a walk comes to the support and how long it stays, is on
    the theory page.

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
    X, w, support = at_vector(X, w)
    k = support.k if k is None else check_k(k, support.k, of="the size of the support")
    w_S = w[support.S]
    if not support.injective and (k < support.k or not support.sees(w_S)):
        raise ValueError(
            f"w must have independent columns on its support, or be the smallest solution there "
            f"and k its size, got {support.k} columns of rank {support.rank}, k={k}: use "
            "error_bound"
        )
    if noise is None:
        floor = delta / float(support.s[-1])
    else:
        noise = as_vector("noise", noise, X.shape[0], "sample (row)")
        floor = float(np.linalg.norm((support.U.T @ noise) / support.s))
    root, stretch = _metric(w_S, k, alpha)
    least = float(np.linalg.svd(support.X_S @ root, compute_uv=False)[support.rank - 1])
    return FaceBound(floor, alpha * (least / X.norm(norm)) ** 2, stretch)


def _metric(w_S: Floats, k: int, alpha: float) -> tuple[Floats, float]:
    """H^{1/2} of the module's proof, and the root of the ratio of H's extreme eigenvalues."""
    size = len(w_S)
    root = np.eye(size)
    if k == size:
        return root, 1.0
    _, m = subgradient(w_S, k)
    B = np.flatnonzero(np.abs(w_S) <= m)
    above = size - len(B)
    along = (k - above) / (alpha * (k - above) + (1 - alpha) * len(B))
    e = np.sign(w_S[B]) / math.sqrt(len(B))
    root[B, B] = 1 / math.sqrt(alpha)
    root[np.ix_(B, B)] += (math.sqrt(along) - 1 / math.sqrt(alpha)) * np.outer(e, e)
    values = [along, 1 / alpha, *([1.0] if above else [])]
    return root, math.sqrt(max(values) / min(values))
