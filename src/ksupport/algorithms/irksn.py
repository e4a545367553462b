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

from .._common.groups import Groups, hashable, labels_of
from .._common.levels import check_k
from .._kernels.objectives import Objective, Pace, Profiled, Squares
from ..design import Design, Floats, Ints, NormKind, Round
from ..losses import Loss, Response, Squared, loss_of
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted, fitted_and_back
from ..walking.structure import PLAIN, Structure
from ..walking.working_set import WorkingSet, WorkingSetPath
from .base import Method
from .irksn_state import IRKSNState, Trial

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
            return WorkingSetPath(design, BySquares(y, self.k, self.alpha, structure))
        kind, given = _constant(self.step)
        norm = design.norm(kind)
        largest = self.alpha / norm**2 if norm > 0 else 1.0
        gamma = largest if given is None else given
        state = BySquares(y, self.k, self.alpha, structure, Pace(gamma), largest)
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
                "of zero over classes: give positive=False"
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


class BySquares(IRKSNState):
    """The paper's case: z⁺ = v + gamma (Xr - y), so that Xᵀz⁺ comes with Xr in one round."""

    def __init__(
        self,
        y: Floats,
        k: int,
        alpha: float,
        structure: Structure,
        pace: Pace | None = None,
        largest: float | None = None,
    ) -> None:
        super().__init__(y, k, alpha, structure, pace)
        self.strides = not self.pace.constant  # steps are few and long
        self.largest = largest  # the largest constant step that the theorem allows
        # Xr and Xᵀz of the next plain step, by its gamma
        self.foreseen: dict[float, tuple[Floats, Floats]] = {}
        self.Xw: Floats | None = np.zeros(y.size)  # of the iterate; None: not computed

    @property
    def objective(self) -> Objective:
        return Squares(self.y)

    def remedy(self) -> str:
        if not self.pace.constant:
            return super().remedy()
        return f"The step is {self.pace.gamma:.3g}; the largest stable one is {self.largest:.3g}."

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        self._make_room(end)
        self.foreseen, self.Xw = {}, None
        return super().walk(working, end, every, rows)

    def step(self) -> Step:
        finite = yield from super().step()
        if finite:
            self._make_room(self.t + 1)
            self.times[self.t + 1] = self.pace.gamma * self.pace.theta**2
        return finite

    def trial(self, objective: Objective, v: Floats, gamma: float) -> Trial:
        if gamma not in self.foreseen:
            r = self.find_r(self.ahead(self.F, gamma))
            (Xr,), p = yield self._round([r], v, gamma)
            self.foreseen[gamma] = Xr, p
        Xr, p = self.foreseen[gamma]
        g, _ = objective.gradient(Xr)
        z = self.moved(v, gamma, g)
        if self.pace.constant:
            self.foreseen, self.Xw = {}, None
            return z, p, gamma
        if not self.shares_passes:
            return (yield from self._checked(objective, z, p, v, gamma, Xr, g))
        # What the next step begins with comes along, in case that this one holds.
        following, beta = self._next_trial(gamma)
        w, r = self.find_w(p), self.find_r(p + beta * (p - self.F[0]))
        v_ahead = z + beta * (z - self.Z[0])
        (Xw, Xr_ahead), p_ahead = yield self._round([w, r], v_ahead, following)
        if not objective.holds(z, v, gamma, Xr, g, Xw, self.pace):
            return None
        self.foreseen, self.Xw = {following: (Xr_ahead, p_ahead)}, Xw
        return z, p, gamma

    def _checked(
        self, objective: Objective, z: Floats, p: Floats, v: Floats, gamma: float, Xr: Floats,
        g: Floats,
    ) -> Trial:  # fmt: skip
        """The step if it holds, at one product: nothing is taken in advance."""
        self.foreseen = {}
        Xw = yield fitted(self.find_w(p), self.targets)
        if not objective.holds(z, v, gamma, Xr, g, Xw, self.pace):
            return None
        self.Xw = Xw
        return z, p, gamma

    def fitted_iterate(self) -> Floats | None:
        return self.Xw

    def _round(self, ws: Sequence[Floats], v: Floats, gamma: float) -> Round:
        """Xw of each w, and Xᵀz for z = v + gamma (Xw - y) with the last."""
        return fitted_and_back(ws, v - gamma * self.y, gamma, self.targets)

    def _next_trial(self, gamma: float) -> tuple[float, float]:
        """Step and momentum of the first trial after a step that meets curvature, as most do."""
        pace = self.pace.copy()
        pace.accept(pace.next_theta(gamma), gamma)
        pace.curvature = 1.0
        following = pace.trial_step()
        return following, pace.momentum(following)

    def gain(self, t: Ints) -> Floats | None:
        return np.sqrt(self.times[t] / self.alpha)

    def _make_room(self, steps: int) -> None:
        """For the times of so many steps."""
        if steps >= len(self.times):
            self.times = np.append(self.times, np.zeros(max(steps + 1, 64)))


class OtherLoss(IRKSNState):
    """Losses other than squares: mirror descent with momentum.

    Without momentum, Algorithm 1 is mirror descent on ½‖Xw - y‖² with the mirror map R: from
    ``theta = ∇R(w) = -Xᵀv`` it goes to ``theta - gamma Xᵀ(Xw - y)``.  So the gradient of any smooth
    loss, at Xw, takes the place of the residual, with the same prox and the same working set. Steps
    are found by backtracking; ``y`` is minus the gradient of the loss at w = 0, which for squares
    is the response itself.
    """

    moving = (*IRKSNState.moving, "unpenalized_coef")

    def __init__(
        self, response: Response, k: int, alpha: float, structure: Structure = PLAIN
    ) -> None:
        free = len(response.unpenalized) * response.n_dual
        self.unpenalized_coef = np.zeros((2, free))  # at the last r, and the last w
        g, self.origin, _ = response.gradient(np.zeros(response.size), self.unpenalized_coef[0])
        self.unpenalized_coef[1] = self.unpenalized_coef[0]
        super().__init__(-g, k, alpha, structure)
        self.response = response

    @property
    def objective(self) -> Objective:
        return Profiled(self.response.profile(), self.y, self.origin, self.unpenalized_coef)

    def residual(self, fitted: Floats) -> Floats:
        return np.sqrt(np.maximum(self.response.deviance(fitted), 0.0))

    def trial(self, objective: Objective, v: Floats, gamma: float) -> Trial:
        Xr = yield fitted(self.find_r(self.ahead(self.F, gamma)), self.targets)
        g, finite = objective.gradient(Xr)
        if not finite:
            return None
        z = self.moved(v, gamma, g)
        p = yield correlations(z, self.targets)
        Xw = yield fitted(self.find_w(p), self.targets)
        return (z, p, gamma) if objective.holds(z, v, gamma, Xr, g, Xw, self.pace) else None
