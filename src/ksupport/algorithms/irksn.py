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
from .._common.groups import Groups, hashable, labels_of
from .._common.levels import check_k, doubling
from .._kernels import CURVATURE, GAMMA, MOMENTUM, REFUSED, S_R, S_W, THETA, TRIAL
from ..design import Design, Floats, Ints, NormKind, Round
from ..losses import Loss, Response, Squared, loss_of
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted, fitted_and_back
from ..walking.structure import Structure
from ..walking.working_set import WorkingSet, WorkingSetPath
from .base import Method
from .irksn_losses import OtherLoss
from .irksn_state import Backtracking, IRKSNState

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
    feature_groups : sequence, optional
        A label for each feature, or lists of their numbers: groups of features that come in and
        stay out together.  k then counts groups, and the norm is that of the norms of groups.
    positive : bool
        Whether coefficients must not be negative.
    """

    name: ClassVar[str] = "irksn"
    title: ClassVar[str] = "IRKSN"
    citation: ClassVar[str] = "de Vazelhes et al. 2024"
    condition: ClassVar[str] = "max_{l∉S} |⟨X_S†x_l, w*_S⟩| < min_{j∈S} |⟨X_S†x_j, w*_S⟩|"
    bound: ClassVar[str] = "O(√δ) by Theorem 1; the paper's Table 1 and abstract say O(δ)"
    complexity: ClassVar[str] = "O(T)"
    every: ClassVar[int] = 2  # steps are long

    k: int = 10
    alpha: float = 1e-2
    step: StepRule | float = "adaptive"
    loss: Loss = SQUARES
    feature_groups: Groups = None
    positive: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "loss", loss_of(self.loss))  # a name will do
        if self.feature_groups is not None:  # so that methods can be compared
            object.__setattr__(self, "feature_groups", hashable(self.feature_groups))

    @classmethod
    def grid(cls, n: int, d: int) -> dict[str, Any]:
        return {"k": doubling(n, d)}

    @property
    def squared(self) -> bool:
        """Whether the loss is that of the paper."""
        return isinstance(self.loss, Squared)

    def compressed(self, design: Design, Y: Floats) -> tuple[Design, list[Floats]]:
        return super().compressed(design, Y) if self.squared else (design, [Y])

    def checked(self, y: Any) -> Floats:
        if not self.squared or np.ndim(y) != 2:
            return super().checked(y)
        return np.column_stack([self.loss.checked(each) for each in np.asarray(y).T])

    def structure(self, d: int, targets: int = 1) -> Structure:
        """Of the models of so many features and responses."""
        groups = self.feature_groups
        labels = None if groups is None else np.array(labels_of(groups, d), np.intp)
        return Structure(labels, bool(self.positive), targets)

    def start(self, design: Design, y: Floats | Response) -> Path:
        structure = self.structure(design.d, self._targets(design, y))
        if structure.labels is None:
            check_k(self.k, design.d)
        else:
            check_k(self.k, structure.count(design.d), of="n_groups")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must lie strictly between 0 and 1, got {self.alpha}")
        if not self.squared:
            return self._start_other(design, y, structure)
        assert not isinstance(y, Response)
        if self.step == "adaptive":
            design.check_magnitude()
            return WorkingSetPath(design, _Adaptive(y, self.k, self.alpha, structure))
        kind, given = _constant(self.step)
        norm = design.norm(kind)
        largest = self.alpha / norm**2 if norm > 0 else 1.0
        gamma = largest if given is None else given
        state = _Constant(y, self.k, self.alpha, structure, gamma, largest)
        return WorkingSetPath(design, state)

    def _targets(self, design: Design, y: Floats | Response) -> int:
        """How many responses stand side by side in y."""
        if self.squared:
            assert not isinstance(y, Response)
            return y.size // design.n
        return (y.loss if isinstance(y, Response) else self.loss.fixed(np.asarray(y))).n_dual

    def _start_other(self, design: Design, y: Floats | Response, structure: Structure) -> Path:
        if self.step != "adaptive":
            raise ValueError(
                f"step must be 'adaptive' with loss={self.loss.name!r}, got {self.step!r}: "
                "constant steps are for squares"
            )
        if structure.positive and structure.targets > 1:
            raise ValueError(
                f"positive=True is not for loss={self.loss.name!r}, whose coefficients have a sum "
                "of zero over classes: take positive=False"
            )
        design.check_magnitude()
        if not isinstance(y, Response):
            weights = None if design.sqrt_weights is None else design.sqrt_weights**2
            y = self.loss.on(self.loss.checked(y), weights)
        return WorkingSetPath(design, OtherLoss(y, self.k, self.alpha, structure))


def _constant(step: Any) -> tuple[NormKind, float | None]:
    """The norm that a constant step is made of, and the step itself if it was given."""
    if isinstance(step, str) and step in ("spectral", "nuclear"):
        return step, None  # type: ignore[return-value]
    if isinstance(step, Real) and not isinstance(step, bool) and 0 < float(step) < np.inf:
        return "spectral", float(step)
    raise ValueError(
        f"step must be 'adaptive', 'spectral', 'nuclear' or a positive number, got {step!r}"
    )


class _Constant(IRKSNState):
    """Constant steps: the pace is theta_t, and the momentum."""

    def __init__(
        self,
        y: Floats,
        k: int,
        alpha: float,
        structure: Structure,
        gamma: float,
        largest: float,
    ) -> None:
        super().__init__(y, k, alpha, structure)
        self.gamma = gamma  # dual step
        self.largest = largest  # the largest step that the theorem allows
        self.pace = np.array([1.0, 0.0, 0.0, 0.0])  # THETA, MOMENTUM, S_W, S_R

    def remedy(self) -> str:
        return f"The step is {self.gamma:.3g}; the largest stable one is {self.largest:.3g}."

    def query(self) -> Floats:
        return self.v if self.t else -self.y  # v_0 = 0 says nothing, v_1 is along -y

    @property
    def v(self) -> Floats:
        return self.Z[0] + self.pace[MOMENTUM] * (self.Z[0] - self.Z[1])

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status, at_z = _kernels.irksn_walk(
            working.columns, self.y, self.Z, self.F, self.pace, self.clock,
            self.k, self.alpha, self.gamma, self.labels, self.sign, working.refs, working.edges,
            working.reach, end, every, rows,
        )  # fmt: skip
        if status != _kernels.REFRESH:
            return n_rows, status, None
        return n_rows, status, self.Z[0].copy() if at_z else self.v

    def step(self) -> Step:
        r = self.prox(self.F[0] + self.pace[MOMENTUM] * (self.F[0] - self.F[1]), S_R)
        Xr = yield fitted(r, self.targets)
        finite = _kernels.irksn_dual(self.Z, self.v, Xr, self.y, self.gamma, self.pace)
        self.F = np.stack([(yield correlations(self.Z[0], self.targets)), self.F[0]])
        return bool(finite)

    def gain(self, t: Ints) -> Floats:
        return _kernels.thetas(int(t.max(initial=0)))[t] * np.sqrt(self.gamma / self.alpha)


class _Adaptive(Backtracking):
    """The same with steps found by backtracking."""

    strides = True
    moving = (*Backtracking.moving, "times")

    def __init__(self, y: Floats, k: int, alpha: float, structure: Structure) -> None:
        super().__init__(y, k, alpha, structure)
        self.times = np.zeros(1)  # tau_t = gamma theta² after step t
        # Xr and Xᵀz of the next plain step, by its gamma
        self.foreseen: dict[float, tuple[Floats, Floats]] = {}

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        self._make_room(end)
        self.foreseen = {}
        n_rows, status = _kernels.adaptive_walk(
            working.columns, self.y, self.Z, self.F, self.pace, self.clock, self.times, self.k,
            self.alpha, self.labels, self.sign, working.refs, working.edges, working.reach, self.at,
            end, every, rows, self.seen,
        )  # fmt: skip
        return n_rows, status, self.at.copy() if status == _kernels.REFRESH else None

    def step(self) -> Step:
        if self.pace[GAMMA] == 0:
            p = np.array((yield correlations(-self.y, self.targets)))
            size = _kernels.to_unit_size(p)
            Xw = yield fitted(self.prox(p, S_R), self.targets)
            self.pace[GAMMA] = _kernels.first_step(self.y, Xw) / size
        gamma = _kernels.trial_step(self.pace)
        while True:
            theta, beta = _kernels.momentum_of(self.pace, gamma)
            v = self.Z[0] + beta * (self.Z[0] - self.Z[1])
            if gamma not in self.foreseen:
                r = self.prox(self.F[0] + beta * (self.F[0] - self.F[1]), S_R)
                (Xr,), p = yield self._gradient_step([r], v, gamma)
                self.foreseen[gamma] = Xr, p
            Xr, p = self.foreseen[gamma]
            z = np.empty_like(v)
            if not _kernels.along_gradient(v, Xr, self.y, gamma, z):
                return False
            # What the next step begins with comes along, in case that this one holds.
            following, ahead = self._next_trial(theta, gamma)
            w, r = self.prox(p, S_W), self.prox(p + ahead * (p - self.F[0]), S_R)
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
        return fitted_and_back(ws, v - gamma * self.y, gamma, self.targets)

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
