"""IRCR: iterative regularisation for convex regularisers, here the l1 norm.

C. Molinari, M. Massias, L. Rosasco, S. Villa, "Iterative regularization for convex regularizers",
AISTATS 2021: the dual-primal method (Chambolle and Pock 2011) on  min ‖β‖₁ s.t. Xβ = y,

    β_{t+1} = shrink(β_t - tau Xᵀ(2 theta_t - theta_{t-1}), tau)
    theta_{t+1} = theta_t + sigma (Xβ_{t+1} - y).

The theory is about the averages of the β; the β themselves converge too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._kernels.rivals import ircr_dual, ircr_primal, ircr_walk
from .._kernels.working_set import Status
from ..design import Design, Floats, NormKind
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted
from ..walking.working_set import State, WorkingSet, WorkingSetPath
from .base import Method

# √(sigma tau) ‖X‖: just inside the stable region, or what the published experiments have.
SAFETY: dict[NormKind, float] = {"spectral": 0.99, "nuclear": 0.9 / np.sqrt(2)}
FIRST = 8  # by default the first feature enters after about this many steps


@dataclass(frozen=True)
class IRCRMethod(Method):
    """The dual-primal method for the l1 norm.

    Parameters
    ----------
    sigma, tau : float, optional
        Dual and primal step, stable while ``sigma tau ‖X‖² <= 1``.  If one is given, the other is
        as large as that allows.  If none is, ``sigma = 1/(8 max|Xᵀy|)``: features enter one by
        one from about step 8 on, and scaling y only scales the path.
    norm : {"spectral", "nuclear"}
        Which ‖X‖ the default steps come from.  With the (much larger) nuclear norm they are those
        of the published experiments, sigma = tau = 0.9/√(2‖X‖²) whatever y.
    average : bool
        Whether the path is that of the averages of β_1, …, β_t, or of the β_t themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import path
    >>> y = [3.0, 0.0, 2.0, 0.0]
    >>> result = path("ircr", np.eye(4), y, average=False, max_iter=200)
    >>> np.round(result.coef, 3)
    array([3., 0., 2., 0.])
    """

    name: ClassVar[str] = "ircr"
    title: ClassVar[str] = "IRCR"
    citation: ClassVar[str] = "Molinari et al. 2021"
    condition: ClassVar[str] = "max_{l∉S} |⟨X_S†x_l, sgn(w*_S)⟩| < 1, X_S injective"
    bound: ClassVar[str] = "O(δ)"
    complexity: ClassVar[str] = "O(T)"

    sigma: float | None = None
    tau: float | None = None
    norm: NormKind = "spectral"
    average: bool = True

    def start(self, design: Design, y: Floats) -> Path:
        for name, step in (("sigma", self.sigma), ("tau", self.tau)):
            if step is not None and not 0 < step < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {step}")
        sigma, tau = self._steps(design, y)
        norm = design.norm("spectral")
        step_bound = 1 / norm if norm > 0 else 1.0
        max_nonzeros = min(design.shape)  # basis pursuit has solutions with at most min(n, d)
        state = _State(y, sigma, tau, step_bound, max_nonzeros, self.average)
        return WorkingSetPath(design, state)

    def _steps(self, design: Design, y: Floats) -> tuple[float, float]:
        if self.sigma is not None and self.tau is not None:
            return self.sigma, self.tau
        norm = design.norm(self.norm) or 1.0
        root = SAFETY[self.norm] / norm  # √(sigma tau)
        if self.tau is not None:
            return root / self.tau * root, self.tau
        sigma = self.sigma
        if sigma is None and self.norm == "spectral":
            # From zero, Xᵀu_t = -(t+1) sigma Xᵀy until an entry exceeds 1.
            top = float(np.abs(design.rmatvec(y)).max())
            sigma = 1 / (FIRST * top) if top > 0 else None
        if sigma is None:
            return root, root
        return sigma, root / sigma * root


class _State(State):
    """theta_t and theta_{t-1}; on the working set β_t and, for averages, the sum of the β."""

    def __init__(
        self,
        y: Floats,
        sigma: float,
        tau: float,
        step_bound: float,
        max_nonzeros: int,
        average: bool,
    ) -> None:
        super().__init__(y, n_vectors=1 + average, size=max_nonzeros)
        self.sigma = sigma  # dual step
        self.tau = tau  # primal step
        self.step_bound = step_bound  # √(sigma tau) must not exceed it
        self.T = np.zeros((2, y.size))  # theta_t and theta_{t-1}

    def remedy(self) -> str:
        return (
            f"sigma * tau is {self.sigma * self.tau:.3g}; the largest stable value is 1/‖X‖² = "
            f"{self.step_bound**2:.3g}, for example sigma = tau = {0.99 * self.step_bound:.3g}."
        )

    @property
    def u(self) -> Floats:
        return 2 * self.T[0] - self.T[1]

    def query(self) -> Floats:
        return self.u if self.t else self.y  # u_0 = 0 says nothing, u_1 is along y

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status = ircr_walk(
            working.columns, self.y, self.T, self.F, self.clock, self.sigma, self.tau,
            working.refs, working.edges, working.reach, end, every, rows,
        )  # fmt: skip
        return n_rows, status, self.u if status == Status.REFRESH else None

    def iterate(self) -> Floats:
        return self.F[1] / max(self.t, 1) if len(self.F) > 1 else super().iterate()

    def step(self) -> Step:
        ircr_primal((yield correlations(self.u)), self.tau, self.F)
        return bool(ircr_dual(self.T, (yield fitted(self.F[0])), self.y, self.sigma))
