"""IRKSN: iterative regularisation with the k-support norm.

W. de Vazelhes, B. Mukhoty, X.-T. Yuan, B. Gu, "Iterative regularization with k-support norm: an
important complement to sparse recovery", AAAI 2024, Algorithm 1: accelerated dual gradient
descent (Matet et al. 2017) on  min R(w) s.t. Xw = y,  with

    R(w) = (1-alpha)/2 (‖w‖_k^sp)² + alpha/2 ‖w‖²,   0 < alpha < 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _kernels
from .._common.levels import check_k, doubling
from ..design import Design, Floats, NormKind
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted
from ..walking.working_set import DualState, Kept, WorkingSetPath
from .base import Method


@dataclass(frozen=True)
class IRKSNMethod(Method):
    """Algorithm 1 of the paper.

    Parameters
    ----------
    k : int
        Sparsity level of the k-support norm.
    alpha : float
        Weight of the squared l2 norm, in (0, 1).  Small: iterates close to k-sparse.
    norm : {"spectral", "nuclear"}
        Which ‖X‖ sets the step; the published code uses the (much larger) nuclear norm.
    step : float, optional
        The dual step gamma; by default alpha/‖X‖².
    """

    name: ClassVar[str] = "irksn"
    title: ClassVar[str] = "IRKSN"
    citation: ClassVar[str] = "de Vazelhes et al. 2024"
    condition: ClassVar[str] = "max_{l∉S} |⟨X_S†x_l, w*_S⟩| < min_{j∈S} |⟨X_S†x_j, w*_S⟩|"
    bound: ClassVar[str] = "O(δ)"
    complexity: ClassVar[str] = "O(T)"

    k: int = 10
    alpha: float = 1e-3
    norm: NormKind = "spectral"
    step: float | None = None

    @classmethod
    def grid(cls, n: int, d: int) -> dict[str, Any]:
        return {"k": doubling(n, d)}

    def start(self, design: Design, y: Floats) -> Path:
        check_k(self.k, design.d)
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must lie strictly between 0 and 1, got {self.alpha}")
        if self.step is not None and not 0 < self.step < np.inf:
            raise ValueError(f"step must be positive, got {self.step}")
        norm = design.norm(self.norm)
        largest = self.alpha / norm**2 if norm > 0 else 1.0
        gamma = largest if self.step is None else self.step
        return WorkingSetPath(design, _State(y, self.k, self.alpha, gamma, largest))


class _State(DualState):
    """Z = (z_t, z_{t-1}), their correlations F with the kept columns, theta_t, the momentum."""

    def __init__(self, y: Floats, k: int, alpha: float, gamma: float, largest: float) -> None:
        super().__init__(y, n_vectors=2, size=k)
        self.k = k
        self.alpha = alpha
        self.lam = (1 - alpha) / alpha  # alpha^-1 F = (lam/2) (‖·‖_k^sp)²
        self.gamma = gamma  # dual step
        self.largest = largest  # the largest step that the theorem allows
        self.scalars = np.array([1.0, 0.0, 0.0, 0.0])  # theta, momentum, s of w, s of r

    def remedy(self) -> str:
        return f"The step is {self.gamma:.3g}; the largest stable one is {self.largest:.3g}."

    def query(self) -> Floats:
        return self.v if self.clock[0] else self.y  # v_0 = 0 says nothing, v_1 is along y

    @property
    def v(self) -> Floats:
        return self.Z[0] + self.scalars[1] * (self.Z[0] - self.Z[1])

    def walk(
        self, kept: Kept, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status, at_z = _kernels.irksn_walk(
            kept.columns, self.y, self.Z, self.F, self.scalars, self.clock,
            self.k, self.alpha, self.gamma, kept.ref, kept.edge, kept.reach,
            end, every, rows,
        )  # fmt: skip
        if status != _kernels.REFRESH:
            return n_rows, status, None
        return n_rows, status, self.Z[0].copy() if at_z else self.v

    def iterate(self) -> Floats:
        """w_t = prox(-Xᵀz/alpha)."""
        return self._prox(self.F[0], 2)

    def step(self) -> Step:
        r = self._prox(self.F[0] + self.scalars[1] * (self.F[0] - self.F[1]), 3)
        Xr = yield fitted(r)
        finite = _kernels.irksn_dual(self.Z, self.v, Xr, self.y, self.gamma, self.scalars)
        self.F = np.stack([(yield correlations(self.Z[0])), self.F[0]])
        return bool(finite)

    def _prox(self, p: Floats, warm: int) -> Floats:
        out = np.empty_like(p)
        self.scalars[warm] = _kernels.prox_warm(p, self.lam, self.k, self.scalars[warm], out)
        return out / -self.alpha
