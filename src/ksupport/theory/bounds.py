"""The early stopping bound: Theorem 1 of the paper, for all its steps, and when to stop.

Why it holds
------------
IRKSN is Nesterov's accelerated gradient on the dual D(v) = R*(-Xᵀv) + ⟨y, v⟩, with steps γ_t for
which D falls as its tangent promises: constant ones, α/N² with a norm N of X not below the spectral
one, or those that backtracking accepts. Noise y + ε adds the constant ε, of norm δ, to every
gradient. (What backtracking accepts is tested on the noisy D; the two differ by the linear ⟨ε, v⟩,
so the test is the same.) Let v* be a minimiser of D, u_t = θ_{t-1} z_t - (θ_{t-1}-1) z_{t-1} - v*,
Δ_t = D(z_t) - D(v*), and τ_t = γ_{t-1} θ_{t-1}². The usual step inequality at (1-1/θ) z + v*/θ,
times γθ², gives, since the momentum keeps γ_t (θ_t² - θ_t) = τ_t,

    τ_{t+1} Δ_{t+1} + ½ ‖u_{t+1}‖² ≤ τ_t Δ_t + ½ ‖u_t‖² + δ γ_t θ_t ‖u_{t+1}‖.

Summing, with Σ_{i<t} γ_i θ_i = τ_t and A = δ τ_t, one finds ‖u_i‖ ≤ A + √(‖v*‖² + A²) and
Δ_t ≤ (A + √(‖v*‖² + A²))² / (2 τ_t). As R* is 1/α-smooth, ‖w_t - w*‖² ≤ 2Δ_t/α, so with the
*gain* g_t = √(τ_t/α),

    ‖w_t - w*‖ ≤ δ g_t + √((δ g_t)² + (‖v*‖ / (α g_t))²),        t ≥ 1.                   (gain)

The norm of X is nowhere in it: steps matter by the gain that they add up to, and the best gain,
√(‖v*‖/(√3 α δ)), leaves √(3√3 ‖v*‖ δ/α) whatever the steps. Backtracking that halves never comes
below half of α/‖X‖²; it starts at no less than a sixteenth and grows by half, so it is there after
six steps: g_t ≥ (t-5)/(2√2 ‖X‖), and mostly far above.

For constant steps g_t = θ_{t-1}/N, and (t+1)/2 ≤ θ_{t-1} ≤ t turns the bound into
(2/N) t δ + (2 N ‖v*‖/α) / (t+1). The paper's
a = 4/‖X‖ is thus twice what is needed, its b is right, t ≥ 1 is enough, and δ ≤ 1 is needed only
for the rate of the stopping time. One norm must be used throughout: the proof says nothing about
the paper's "nuclear" ‖X‖ in the bound of a method that steps with the spectral one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.checks import as_numbers, check_interval
from .._kernels.irksn import thetas
from ..design import Floats, NormKind
from ._support import as_design, as_vector
from .irksn import IRKSNCondition, irksn_condition


def alpha_max(X: Any, w: Any) -> float:
    """Largest alpha that Theorem 1 allows, ``margin / max |w|``; 0 if its assumptions fail.

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design.
    w : array of shape (n_features,)
        The sparse vector.

    Returns
    -------
    float
        Any 0 < alpha below this will do. ``irksn_condition(X, w).alpha_sharp`` is the larger
        limit that the proof really needs.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import alpha_max
    >>> X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    >>> round(alpha_max(X, [2.0, -1.0, 0.0]), 6)
    0.1
    """
    return irksn_condition(X, w).alpha_max


@dataclass(frozen=True)
class ErrorBound:
    """The bound on ‖w_t - w‖ along a path of IRKSN, whatever its steps.

    Attributes
    ----------
    alpha, delta : float
        The regularisation and the noise norm it was computed for.
    dual_norm : float
        ‖λ*‖, the size of the dual certificate.
    """

    alpha: float
    delta: float
    dual_norm: float

    def along(self, gain: ArrayLike) -> Floats:
        """The bound at each gain, the column ``gain`` of a path's history.

        The noise enters it with twice the gain, and what stopping early costs falls with it.
        """
        gain = np.asarray(as_numbers("gain", gain), np.float64)
        with np.errstate(divide="ignore"):
            early = self.dual_norm / (self.alpha * gain)
        return self.delta * gain + np.hypot(self.delta * gain, early)

    @property
    def best_gain(self) -> float:
        """The gain at which the bound is least; infinite without noise."""
        if self.delta == 0:
            return math.inf
        return math.sqrt(self.dual_norm / (math.sqrt(3) * self.alpha * self.delta))

    @property
    def best(self) -> float:
        """The bound if the path is stopped at the best moment."""
        return math.sqrt(3 * math.sqrt(3) * self.dual_norm * self.delta / self.alpha)


@dataclass(frozen=True)
class StepBound(ErrorBound):
    """The bound ``a * t * delta + b / t`` for constant steps, as :func:`error_bound` returns it.

    Attributes
    ----------
    alpha, delta, dual_norm : float
        As in `ErrorBound`.
    norm : float
        ‖X‖, as used in the step of the method.
    """

    norm: float

    @property
    def a(self) -> float:
        """What noise costs per step."""
        return 4 / self.norm

    @property
    def b(self) -> float:
        """What stopping early costs."""
        return 2 * self.norm * self.dual_norm / self.alpha

    def curve(self, t: ArrayLike) -> Floats:
        """The bound after each number of steps t ≥ 1."""
        t = _steps(t)
        return self.a * self.delta * t + self.b / t

    def tight(self, t: ArrayLike) -> Floats:
        """The sharper bound from which `curve` follows: `along` the gains of constant steps.

        It is at most about half of `curve` where noise dominates.
        """
        t = _steps(t).astype(int)
        return self.along(thetas(int(t.max(initial=1)))[t] / self.norm)

    @cached_property
    def best_t(self) -> int | float:
        """The number of steps t ≥ 1 at which `curve` is least; infinite without noise."""
        if self.delta == 0 or self.b == 0:
            return math.inf if self.delta == 0 else 1
        t = max(1, math.floor(math.sqrt(self.b / (self.a * self.delta))))
        return t if self.curve(t) <= self.curve(t + 1) else t + 1

    @property
    def best(self) -> float:
        """The least value of `curve`."""
        return 0.0 if math.isinf(self.best_t) else float(self.curve(self.best_t))


def error_bound(
    X: Any,
    w: Any,
    alpha: float,
    delta: float,
    norm: NormKind = "spectral",
    *,
    k: int | None = None,
) -> StepBound:
    """Bound the error of every iterate of IRKSN with constant steps: Theorem 1.

    Parameters
    ----------
    X : array, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design.
    w : array of shape (n_features,)
        The true sparse vector, or the estimate that stands for it.
    alpha : float
        The alpha of IRKSN, below ``irksn_condition(X, w).alpha_sharp``; with another k than the
        size of the support, one of its range.
    delta : float
        Norm of the noise, ‖y_observed - Xw‖.
    norm : {"spectral", "nuclear"}
        The ‖X‖ that the step of the method uses.
    k : int, optional
        The k of IRKSN; by default the size of the support.

    Returns
    -------
    StepBound

    Notes
    -----
    Steps that change have the same bound `along` their gains.
    ``a = 4 / ‖X‖`` and ``b = 2 ‖X‖ ‖λ*‖ / alpha``, as in the paper. The bound was proved again for
    this function: it holds for every t ≥ 1 and every delta ≥ 0, in the norm that the step
    uses, and with half of `a`; the argument heads the source of this module.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import error_bound
    >>> X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    >>> bound = error_bound(X, [2.0, -1.0, 0.0], alpha=0.05, delta=0.1)
    >>> bound.best_t, round(bound.best, 2)
    (17, 11.96)
    """
    check_interval("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    check_interval("delta", delta, low=0, high=math.inf, open_high=True)
    X = as_design(X)
    size = np.count_nonzero(as_vector("w", w, X.shape[1], "feature (column)"))
    # With k the size of the support the certificate is the same for every alpha.
    asked = None if k is None or k == size else alpha
    bound = bound_at(irksn_condition(X, w, k=k, alpha=asked), alpha, delta)
    return StepBound(bound.alpha, bound.delta, bound.dual_norm, X.norm(norm))


def bound_at(condition: IRKSNCondition, alpha: float, delta: float) -> ErrorBound:
    """Theorem 1 from a condition already checked."""
    lam = condition.source.certificate
    if condition.alpha_sharp <= 0 or lam is None:
        raise ValueError(f"w has no error bound, because {condition.why}")
    if condition.alpha is None and alpha >= condition.alpha_sharp:
        raise ValueError(
            f"alpha must be below {condition.alpha_sharp:.6g} for this X and w, got {alpha}: "
            "with a larger alpha w is not known to be the limit of IRKSN"
        )
    return ErrorBound(float(alpha), float(delta), float(np.linalg.norm(lam)))


def stopping_time(delta: float, c: float = 1.0) -> int:
    """The stopping time of Theorem 1, ``ceil(c / sqrt(delta))``.

    Parameters
    ----------
    delta : float
        Norm of the noise, positive.
    c : float
        Any positive constant; ``sqrt(b / a)`` of an :class:`ErrorBound` makes it the best.

    Returns
    -------
    int

    Notes
    -----
    For delta ≤ 1 the error there is at most ``(a (c + 1) + b / c) * sqrt(delta)``.

    Examples
    --------
    >>> from ksupport.theory import stopping_time
    >>> stopping_time(0.01, c=2.0)
    20
    """
    if isinstance(delta, Real) and delta == 0:
        raise ValueError("delta must be positive, got 0; without noise, iterate to convergence")
    for name, value in (("delta", delta), ("c", c)):
        check_interval(name, value, low=0, high=math.inf, open_low=True, open_high=True)
    return math.ceil(c / math.sqrt(delta))


def _steps(t: ArrayLike) -> Floats:
    steps = np.asarray(as_numbers("t", t), np.float64)
    if not np.all((steps >= 1) & (steps < math.inf) & (steps == np.floor(steps))):
        raise ValueError(f"t must be whole numbers of at least 1, got {t!r}")
    return steps
