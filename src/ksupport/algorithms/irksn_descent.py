"""Algorithm 1 for data that are dear to multiply with: two products a step, and warm starts."""

from __future__ import annotations

from typing import Self

import numpy as np

from .._kernels.objectives import Objective
from ..design import Floats, Ints
from .irksn import BySquares
from .irksn_state import Trial

# Of 1.1, 1.3 and 1.5 on 16 images (seeds 1 and 2 of `benchmarks.imaging`): with 1.1, momentum is so
# strong that some images come out with twice the error; 1.5 takes more steps for the same.
GROWTH = 1.3
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of values of the dual function


class Descent(BySquares):
    """Steps are checked by the value of the dual function D alone, which takes no product.

    R* is homogeneous of degree 2, so D(z) = ⟨y, z⟩ - ½⟨Xᵀz, w⟩ with w = ∇R*(-Xᵀz), and a step needs
    Xr and Xᵀ(Xr - y) alone.  `BySquares` compares gradients, too, and needs Xw for that.
    """

    resumed = False

    def trial(self, objective: Objective, v: Floats, gamma: float) -> Trial:
        """The step from v, halved until D falls as a step so long must make it.

        A shorter step from the same v takes no product either.  theta⁺ stays that of the step tried
        first, which is smaller than theory allows a shorter one.
        """
        q, pace = self.ahead(self.F, gamma), self.pace
        r = self.find_r(q)
        (Xr,), p = yield self._round([r], v, gamma)
        g, _ = objective.gradient(Xr)
        tried, change, before = gamma, p - q, self._value(v, q, r)
        pace.curvature, pace.late_growth = 1.0, GROWTH
        while gamma > 0:
            z, p = self.moved(v, gamma, g), q + (gamma / tried) * change
            after = self._value(z, p, self.find_w(p))
            if after <= before - 0.5 * gamma * (g @ g) + ROUNDING * abs(before):
                self.Xw = None
                return z, p, gamma
            gamma *= 0.5
            pace.refuse(gamma)
        return None

    def _value(self, z: Floats, p: Floats, w: Floats) -> float:
        """D(z), where p = Xᵀz and w = ∇R*(-p)."""
        return float(self.y @ z - 0.5 * (p @ w))

    def resume(self, before: Self) -> None:
        """Begin where a path of another norm ended: at the multiple of its z that is best by D."""
        z, p = before.Z[0], before.F[0]
        twice = -float(p @ self.find_w(p))  # 2 R*(-p)
        scale = -float(self.y @ z) / twice
        self.Z, self.F = np.tile(scale * z, (2, 1)), np.tile(scale * p, (2, 1))
        self.pace.gamma = scale * before.pace.gamma
        self.clock.now = self.clock.recorded = before.t
        self.resumed = True

    def gain(self, t: Ints) -> Floats | None:
        return None if self.resumed else super().gain(t)
