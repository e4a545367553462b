"""What all walks of IRKSN share, whatever their steps and their loss."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

import numpy as np

from .. import _kernels
from .._kernels import NOW, PACE, S_W
from ..design import Floats
from ..walking.structure import Structure
from ..walking.working_set import FOREVER, DualState, WorkingSet


class IRKSNState(DualState):
    """What all walks share: Z = (z_t, z_{t-1}), their correlations F, and the prox."""

    pace: Floats  # the numbers that a walk goes on with

    def __init__(self, y: Floats, k: int, alpha: float, structure: Structure) -> None:
        super().__init__(y, n_vectors=2, k=k, structure=structure)
        self.k = k
        self.alpha = alpha
        self.lam = (1 - alpha) / alpha  # alpha^-1 F = (lam/2) (‖·‖_k^sp)²
        self.sign = float(structure.positive)  # that coefficients must have; 0: any
        self.targets = structure.targets

    def iterate(self) -> Floats:
        """w_t = prox(-Xᵀz/alpha)."""
        return self.prox(self.F[0], S_W)

    def prox(self, p: Floats, scale: int) -> Floats:
        """prox(-p/alpha), searched for from the scale at this place of the pace on."""
        out = np.empty_like(p)
        self.pace[scale] = _kernels.prox_groups(
            p, self.lam, self.k, self.pace[scale], self.labels, -self.sign, out
        )
        return out / -self.alpha


class Backtracking(IRKSNState):
    """Steps found by backtracking: the pace has the last one, its momentum, and the next trial."""

    moving: ClassVar[tuple[str, ...]] = ("Z", "F", "pace", "clock", "at")  # what steps write on
    seen = np.empty((0, 2, 0))  # room for what steps look at, of a state that looks ahead

    def __init__(self, y: Floats, k: int, alpha: float, structure: Structure) -> None:
        super().__init__(y, k, alpha, structure)
        self.pace = np.zeros(PACE)
        self.at = -y  # the vector for which columns are needed

    def remedy(self) -> str:
        return "Backtracking keeps the step stable: X or y is too large to be squared."

    def query(self) -> Floats:
        if not self.t:
            return -self.y
        _, beta = _kernels.momentum_of(self.pace, _kernels.trial_step(self.pace))
        return self.Z[0] + beta * (self.Z[0] - self.Z[1])

    def look_ahead(self, working: WorkingSet, seen: Floats) -> int:
        """Compiled, all steps in one go."""
        state = copy(self)
        for name in self.moving:
            setattr(state, name, getattr(self, name).copy())
        state.seen = seen
        state.walk(working, self.t + len(seen), FOREVER, np.empty((2, self.F.shape[1])))
        return int(state.clock[NOW] - self.clock[NOW])
