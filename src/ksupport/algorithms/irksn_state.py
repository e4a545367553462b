"""What all walks of IRKSN share, whatever their steps and their loss."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .._kernels import S_W
from ..design import Floats
from ..walking.structure import Structure
from ..walking.working_set import DualState


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
