"""Algorithm 1 as a state that walks, whatever its steps and its loss."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from copy import copy
from typing import Any, ClassVar

import numpy as np

from .._kernels.irksn import Walk
from .._kernels.objectives import Objective, Pace
from .._kernels.prox import prox_groups
from .._kernels.working_set import Status
from ..design import Floats, Round
from ..walking.lockstep import Step, correlations, fitted
from ..walking.structure import Structure
from ..walking.working_set import FOREVER, DualState, WorkingSet

# What a trial of a step asks for, and what comes of it: z, Xᵀz and the length of the step, or None
# if it is too long.
Moved = tuple[Floats, Floats, float]
Trial = Generator[Round, Any, Moved | None]


class IRKSNState(DualState):
    """Z = (z_t, z_{t-1}), their correlations F, the prox, and the pace of steps.

    On a working set steps are compiled (`_kernels.irksn`).  A plain step is the same with products
    of all of X, which a subclass asks for in `trial`, as few as its loss allows.
    """

    moving: ClassVar[tuple[str, ...]] = ("Z", "F", "pace", "clock", "at", "times")
    seen = np.empty((0, 2, 0))  # room for what steps look at, of a state that looks ahead

    def __init__(
        self, y: Floats, k: int, alpha: float, structure: Structure, pace: Pace | None = None
    ) -> None:
        super().__init__(y, n_vectors=2, k=k, structure=structure)
        self.k = k
        self.alpha = alpha
        self.lam = (1 - alpha) / alpha  # alpha^-1 F = (lam/2) (‖·‖_k^sp)²
        self.sign = float(structure.positive)  # that coefficients must have; 0: any
        self.targets = structure.targets
        self.pace = Pace() if pace is None else pace
        self.at = -y  # the vector for which columns are needed
        self.times = np.zeros(1)  # tau_t = gamma theta² after step t, as far as there is room

    @property
    @abstractmethod
    def objective(self) -> Objective:
        """What steps follow, made anew: it may hold scratch space."""

    @abstractmethod
    def trial(self, objective: Objective, v: Floats, gamma: float) -> Trial:
        """A plain step of length gamma from v, if it holds."""

    def remedy(self) -> str:
        return "Backtracking keeps the step stable: X or y is too large to be squared."

    # -- steps on a working set ----------------------------------------------------------------

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status = Walk(self, working).run(end, every, rows, self.seen)
        return n_rows, status, self.at.copy() if status == Status.REFRESH else None

    def look_ahead(self, working: WorkingSet, seen: Floats) -> int:
        """Compiled, all steps in one go."""
        state = copy(self)
        for name in self.moving:
            setattr(state, name, getattr(self, name).copy())
        state.seen = seen
        state.walk(working, self.t + len(seen), FOREVER, np.empty((2, self.F.shape[1])))
        return state.t - self.t

    def query(self) -> Floats:
        """The next v; v_0 = 0 says nothing, v_1 is along -y."""
        return self.ahead(self.Z, self.pace.trial_step()) if self.t else -self.y

    def ahead(self, A: Floats, gamma: float) -> Floats:
        """a + beta (a - a_before), where beta is the momentum of a step gamma."""
        return np.asarray(A[0] + self.pace.momentum(gamma) * (A[0] - A[1]))

    # -- plain steps ---------------------------------------------------------------------------

    def step(self) -> Step:
        pace, objective = self.pace, self.objective
        if pace.gamma == 0:
            p = yield correlations(-self.y, self.targets)
            size = float(np.abs(p).max(initial=0.0)) or 1.0  # the prox of c p is c times that of p
            Xw = yield fitted(self.prox(p / size, 0.0)[0], self.targets)
            pace.gamma = objective.first_step(Xw) / size
        gamma = pace.trial_step()
        while gamma > objective.shortest_step:
            theta = pace.next_theta(gamma)
            try:
                moved = yield from self.trial(objective, self.ahead(self.Z, gamma), gamma)
            except FloatingPointError:
                return False
            if moved is not None:
                z, p, gamma = moved
                self.Z, self.F = np.stack([z, self.Z[0]]), np.stack([p, self.F[0]])
                pace.accept(theta, gamma)
                return True
            gamma *= 0.5
            pace.refuse(gamma)
        return False

    def moved(self, v: Floats, gamma: float, g: Floats) -> Floats:
        """z = v + gamma g, which must be finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = v + gamma * g
        if not np.isfinite(z).all():
            raise FloatingPointError
        return np.asarray(z)

    def iterate(self) -> Floats:
        """w_t = prox(-Xᵀz/alpha)."""
        return self.find_w(self.F[0])

    def find_w(self, p: Floats) -> Floats:
        """prox(-p/alpha), p = Xᵀz."""
        w, self.pace.scale_w = self.prox(p, self.pace.scale_w)
        return w

    def find_r(self, q: Floats) -> Floats:
        """prox(-q/alpha), q = Xᵀv."""
        r, self.pace.scale_r = self.prox(q, self.pace.scale_r)
        return r

    def prox(self, p: Floats, scale: float) -> tuple[Floats, float]:
        """prox(-p/alpha), searched for from a scale on, and the scale at which it is."""
        out = np.empty_like(p)
        scale = prox_groups(p, self.lam, self.k, scale, self.labels, -self.sign, out)
        return out / -self.alpha, scale
