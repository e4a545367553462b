"""IRKSN with losses other than squares: mirror descent with momentum.

Without momentum, Algorithm 1 is mirror descent on ½‖Xw - y‖² with the mirror map R: from
``theta = ∇R(w) = -Xᵀv`` it goes to ``theta - gamma Xᵀ(Xw - y)``.  So the gradient of any smooth
loss, at Xw, takes the place of the residual, with the same prox and the same working set.
"""

from __future__ import annotations

import numpy as np

from .._kernels.objectives import Objective, Profiled
from ..design import Floats
from ..losses import Response
from ..walking.lockstep import correlations, fitted
from ..walking.structure import PLAIN, Structure
from .irksn_state import IRKSNState, Trial


class OtherLoss(IRKSNState):
    """Steps found by backtracking, and the coefficients of unpenalised columns.

    ``y`` is minus the gradient of the loss at w = 0, which for squares is the response itself.
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
