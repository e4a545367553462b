"""IRKSN: iterative regularisation with the k-support norm.

W. de Vazelhes, B. Mukhoty, X.-T. Yuan, B. Gu, "Iterative regularization with k-support norm: an
important complement to sparse recovery", AAAI 2024, Algorithm 1: accelerated dual gradient
descent (Matet et al. 2017) on  min R(w) s.t. Xw = y,  with

    R(w) = (1-alpha)/2 (‖w‖_k^sp)² + alpha/2 ‖w‖²,   0 < alpha < 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from .. import _kernels
from .._common.levels import check_k, doubling
from .._kernels import CURVATURE, GAMMA, MOMENTUM, PACE, REFUSED, S_R, S_W, THETA, TRIAL
from ..design import Design, Floats, Ints, NormKind, Round
from ..losses import Loss, Response, Squared, loss_of
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted, fitted_and_back
from ..walking.working_set import DualState, WorkingSet, WorkingSetPath
from .base import Method
from .irksn_losses import OtherLoss

StepRule = Literal["adaptive", "spectral", "nuclear"]
SQUARES = Squared()


@dataclass(frozen=True)
class IRKSNMethod(Method):
    """Algorithm 1 of the paper.

    Parameters
    ----------
    k : int
        Sparsity level of the k-support norm.
    alpha : float
        Weight of the squared l2 norm, in (0, 1).  Small: iterates close to k-sparse.
    step : {"adaptive", "spectral", "nuclear"} or float
        The dual step gamma.  "adaptive" finds steps by backtracking on the dual function, with
        momentum that knows that they change (Scheinberg, Goldfarb and Bai 2014): far fewer of
        them, and no norm of X.  "spectral" is the paper's alpha/‖X‖², constant; "nuclear" the same
        with the (much larger) nuclear norm, as in the published code; a number is taken as it is.
        Losses other than squares take "adaptive" alone.
    loss : Loss or str
        What takes the place of the squared residual: z⁺ = v + gamma ∇loss(Xr).
    """

    name: ClassVar[str] = "irksn"
    title: ClassVar[str] = "IRKSN"
    citation: ClassVar[str] = "de Vazelhes et al. 2024"
    condition: ClassVar[str] = "max_{l∉S} |⟨X_S†x_l, w*_S⟩| < min_{j∈S} |⟨X_S†x_j, w*_S⟩|"
    bound: ClassVar[str] = "O(δ)"
    complexity: ClassVar[str] = "O(T)"
    every: ClassVar[int] = 2  # steps are long

    k: int = 10
    alpha: float = 1e-2
    step: StepRule | float = "adaptive"
    loss: Loss = SQUARES

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", loss_of(self.loss))  # a name will do

    @classmethod
    def grid(cls, n: int, d: int) -> dict[str, Any]:
        return {"k": doubling(n, d)}

    @property
    def squared(self) -> bool:
        """Whether the loss is that of the paper."""
        return isinstance(self.loss, Squared)

    def compressed(self, design: Design, Y: Floats) -> tuple[Design, list[Floats]]:
        return super().compressed(design, Y) if self.squared else (design, [Y])

    def start(self, design: Design, y: Floats | Response) -> Path:
        check_k(self.k, design.d)
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must lie strictly between 0 and 1, got {self.alpha}")
        if not self.squared:
            return self._start_other(design, y)
        assert not isinstance(y, Response)
        if self.step == "adaptive":
            design.check_magnitude()
            return WorkingSetPath(design, _Adaptive(y, self.k, self.alpha))
        kind, given = _constant(self.step)
        norm = design.norm(kind)
        largest = self.alpha / norm**2 if norm > 0 else 1.0
        gamma = largest if given is None else given
        return WorkingSetPath(design, _Constant(y, self.k, self.alpha, gamma, largest))

    def _start_other(self, design: Design, y: Floats | Response) -> Path:
        if self.step != "adaptive":
            raise ValueError(
                f"step must be 'adaptive' with loss={self.loss.name!r}, got {self.step!r}: "
                "constant steps are for squares"
            )
        if self.loss.kind < 0:
            raise ValueError(f"loss={self.loss.name!r} can be refitted, but not be walked on yet")
        design.check_magnitude()
        if not isinstance(y, Response):
            weights = None if design.sqrt_weights is None else design.sqrt_weights**2
            y = self.loss.on(self.loss.checked(y), weights)
        return WorkingSetPath(design, OtherLoss(y, self.k, self.alpha))


def _constant(step: Any) -> tuple[NormKind, float | None]:
    """The norm that a constant step is made of, and the step itself if it was given."""
    if isinstance(step, str) and step in ("spectral", "nuclear"):
        return step, None  # type: ignore[return-value]
    if isinstance(step, Real) and not isinstance(step, bool) and 0 < float(step) < np.inf:
        return "spectral", float(step)
    raise ValueError(
        f"step must be 'adaptive', 'spectral', 'nuclear' or a positive number, got {step!r}"
    )


class _Constant(DualState):
    """Constant steps: Z = (z_t, z_{t-1}), their correlations F, theta_t, the momentum."""

    def __init__(self, y: Floats, k: int, alpha: float, gamma: float, largest: float) -> None:
        super().__init__(y, n_vectors=2, size=k)
        self.k = k
        self.alpha = alpha
        self.lam = (1 - alpha) / alpha  # alpha^-1 F = (lam/2) (‖·‖_k^sp)²
        self.gamma = gamma  # dual step
        self.largest = largest  # the largest step that the theorem allows
        self.scalars = np.array([1.0, 0.0, 0.0, 0.0])  # THETA, MOMENTUM, S_W, S_R

    def remedy(self) -> str:
        return f"The step is {self.gamma:.3g}; the largest stable one is {self.largest:.3g}."

    def query(self) -> Floats:
        return self.v if self.t else self.y  # v_0 = 0 says nothing, v_1 is along y

    @property
    def v(self) -> Floats:
        return self.Z[0] + self.scalars[MOMENTUM] * (self.Z[0] - self.Z[1])

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status, at_z = _kernels.irksn_walk(
            working.columns, self.y, self.Z, self.F, self.scalars, self.clock,
            self.k, self.alpha, self.gamma, working.refs, working.edges, working.reach,
            end, every, rows,
        )  # fmt: skip
        if status != _kernels.REFRESH:
            return n_rows, status, None
        return n_rows, status, self.Z[0].copy() if at_z else self.v

    def iterate(self) -> Floats:
        """w_t = prox(-Xᵀz/alpha)."""
        return self._prox(self.F[0], S_W)

    def step(self) -> Step:
        r = self._prox(self.F[0] + self.scalars[MOMENTUM] * (self.F[0] - self.F[1]), S_R)
        Xr = yield fitted(r)
        finite = _kernels.irksn_dual(self.Z, self.v, Xr, self.y, self.gamma, self.scalars)
        self.F = np.stack([(yield correlations(self.Z[0])), self.F[0]])
        return bool(finite)

    def gain(self, t: Ints) -> Floats:
        return _kernels.thetas(int(t.max(initial=0)))[t] * np.sqrt(self.gamma / self.alpha)

    def _prox(self, p: Floats, warm: int) -> Floats:
        out = np.empty_like(p)
        self.scalars[warm] = _kernels.prox_warm(p, self.lam, self.k, self.scalars[warm], out)
        return out / -self.alpha


class _Adaptive(DualState):
    """The same with steps found by backtracking: Z, F and the pace of the walk."""

    strides = True

    def __init__(self, y: Floats, k: int, alpha: float) -> None:
        super().__init__(y, n_vectors=2, size=k)
        self.k = k
        self.alpha = alpha
        self.lam = (1 - alpha) / alpha
        self.pace = np.zeros(PACE)
        self.times = np.zeros(1)  # tau_t = gamma theta² after step t
        self.at = y.copy()  # the vector for which columns are needed
        # Xr and Xᵀz of the next plain step, by its gamma
        self.foreseen: dict[float, tuple[Floats, Floats]] = {}

    def remedy(self) -> str:
        return "Backtracking keeps the step stable: X or y is too large to be squared."

    def query(self) -> Floats:
        if not self.t:
            return self.y
        _, beta = _kernels.momentum_of(self.pace, _kernels.trial_step(self.pace))
        return self.Z[0] + beta * (self.Z[0] - self.Z[1])

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        self._make_room(end)
        self.foreseen.clear()
        n_rows, status = _kernels.adaptive_walk(
            working.columns, self.y, self.Z, self.F, self.pace, self.clock, self.times, self.k,
             self.alpha, working.refs, working.edges, working.reach, self.at,
            end, every, rows,
        )  # fmt: skip
        return n_rows, status, self.at.copy() if status == _kernels.REFRESH else None

    def iterate(self) -> Floats:
        return self._prox(self.F[0], S_W)

    def step(self) -> Step:
        if self.pace[GAMMA] == 0:
            p = np.array((yield correlations(self.y)))
            size = _kernels.to_unit_size(p)
            w = self._prox(-p, S_R)
            self.pace[GAMMA] = _kernels.first_step(self.y, (yield fitted(w))) / size
        gamma = _kernels.trial_step(self.pace)
        while True:
            theta, beta = _kernels.momentum_of(self.pace, gamma)
            v = self.Z[0] + beta * (self.Z[0] - self.Z[1])
            if gamma not in self.foreseen:
                r = self._prox(self.F[0] + beta * (self.F[0] - self.F[1]), S_R)
                (Xr,), p = yield self._gradient_step([r], v, gamma)
                self.foreseen[gamma] = Xr, p
            Xr, p = self.foreseen[gamma]
            z = np.empty_like(v)
            if not _kernels.along_gradient(v, Xr, self.y, gamma, z):
                return False
            # What the next step begins with comes along, in case that this one holds.
            following, ahead = self._next_trial(theta, gamma)
            w, r = self._prox(p, S_W), self._prox(p + ahead * (p - self.F[0]), S_R)
            v_ahead = z + ahead * (z - self.Z[0])
            (Xw, Xr_ahead), p_ahead = yield self._gradient_step([w, r], v_ahead, following)
            if _kernels.step_holds(z, v, Xw, Xr, gamma, self.pace):
                self.foreseen = {following: (Xr_ahead, p_ahead)}
                break
            gamma *= 0.5
            self.pace[[REFUSED, TRIAL]] = 1, gamma
        self.Z, self.F = np.stack([z, self.Z[0]]), np.stack([p, self.F[0]])
        self.pace[[THETA, GAMMA, TRIAL]] = theta, gamma, 0
        self._make_room(self.t + 1)
        self.times[self.t + 1] = gamma * theta**2
        return True

    def _gradient_step(self, ws: Sequence[Floats], v: Floats, gamma: float) -> Round:
        """Xw of each w, and Xᵀz for z = v + gamma (Xw - y) with the last."""
        return fitted_and_back(ws, v - gamma * self.y, gamma)

    def _next_trial(self, theta: float, gamma: float) -> tuple[float, float]:
        """Step and momentum of the first trial after a step that meets curvature, as most do."""
        pace = self.pace.copy()
        pace[[THETA, GAMMA, CURVATURE, TRIAL]] = theta, gamma, 1, 0
        following = _kernels.trial_step(pace)
        return following, _kernels.momentum_of(pace, following)[1]

    def gain(self, t: Ints) -> Floats:
        return np.sqrt(self.times[t] / self.alpha)

    def _make_room(self, steps: int) -> None:
        """For the times of so many steps."""
        if steps >= len(self.times):
            self.times = np.append(self.times, np.zeros(max(steps + 1, 64)))

    def _prox(self, p: Floats, scale: int) -> Floats:
        out = np.empty_like(p)
        self.pace[scale] = _kernels.prox_warm(p, self.lam, self.k, self.pace[scale], out)
        return out / -self.alpha
