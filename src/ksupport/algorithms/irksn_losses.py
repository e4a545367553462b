"""IRKSN with losses other than squares: mirror descent with momentum.

Without momentum, Algorithm 1 is mirror descent on ½‖Xw - y‖² with the mirror map R: from
``theta = ∇R(w) = -Xᵀv`` it goes to ``theta - gamma Xᵀ(Xw - y)``.  So the gradient of any smooth
loss, at Xw, takes the place of the residual, with the same prox and the same working set.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .._kernels import GAMMA, REFUSED, S_R, S_W, THETA, TRIAL
from ..design import Floats
from ..losses import Response
from ..walking.lockstep import Step, correlations, fitted
from ..walking.structure import PLAIN, Structure
from ..walking.working_set import WorkingSet
from .irksn_state import Backtracking


class OtherLoss(Backtracking):
    """Steps found by backtracking, and what is settled.

    ``y`` is minus the gradient of the loss at w = 0, which for squares is the response itself.
    """

    moving = (*Backtracking.moving, "settled")

    def __init__(
        self, response: Response, k: int, alpha: float, structure: Structure = PLAIN
    ) -> None:
        free = len(response.unpenalized) * response.n_dual
        self.settled = np.zeros((2, free))  # at the last r, and the last w
        g, self.origin, _ = response.gradient(np.zeros(response.size), self.settled[0])
        self.settled[1] = self.settled[0]
        super().__init__(-g, k, alpha, structure)
        self.response = response

    def residual(self, fitted: Floats) -> Floats:
        return np.sqrt(np.maximum(self.response.deviance(fitted), 0.0))

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status = _kernels.loss_walk(
            working.columns, self.y, self.origin, *self.response.walked, self.response.roots,
            self.settled, self.Z, self.F, self.pace, self.clock, self.k, self.alpha, self.labels,
            self.sign, working.refs, working.edges, working.reach, self.at, end, every, rows,
            self.seen,
        )  # fmt: skip
        return n_rows, status, self.at.copy() if status == _kernels.REFRESH else None

    def step(self) -> Step:
        if self.pace[GAMMA] == 0:
            p = np.array((yield correlations(-self.y, self.targets)))
            size = _kernels.to_unit_size(p)
            Xw = yield fitted(self.prox(p, S_R), self.targets)
            self.pace[GAMMA] = self._first_step(Xw) / size
        gamma = _kernels.trial_step(self.pace)
        while gamma > _kernels.SHORTEST:
            theta, beta = _kernels.momentum_of(self.pace, gamma)
            r = self.prox(self.F[0] + beta * (self.F[0] - self.F[1]), S_R)
            Xr = yield fitted(r, self.targets)
            gr, _, finite = self.response.gradient(Xr, self.settled[0])
            if finite:
                z = self.Z[0] + beta * (self.Z[0] - self.Z[1]) + gamma * gr
                if not np.isfinite(z).all():
                    return False
                p = yield correlations(z, self.targets)
                Xw = yield fitted(self.prox(p, S_W), self.targets)
                gw, _, _ = self.response.gradient(Xw, self.settled[1])
                if _kernels.loss_step_holds(Xw, Xr, gw, gr, self.pace):
                    break
            gamma *= 0.5
            self.pace[[REFUSED, TRIAL]] = 1, gamma
        else:
            return False
        self.Z, self.F = np.stack([z, self.Z[0]]), np.stack([p, self.F[0]])
        self.pace[[THETA, GAMMA, TRIAL]] = theta, gamma, 0
        return True

    def _first_step(self, Xw: Floats) -> float:
        kind, param, target, weights, layout, _ = self.response.walked
        roots = self.response.roots
        return float(
            _kernels.loss_first_step(
                self.y, kind, param, target, weights, layout, roots, self.origin, Xw
            )
        )
