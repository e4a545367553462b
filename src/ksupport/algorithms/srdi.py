"""SRDI: sparse recovery by the discretised inverse scale space, or linearised Bregman iteration.

S. Osher, F. Ruan, J. Xiong, Y. Yao, W. Yin, "Sparse recovery via differential inclusions",
Applied and Computational Harmonic Analysis 41 (2016):

    z⁺ = z + (α/n) Xᵀ(y - Xβ),   β = κ shrink(z, 1),   z_0 = β_0 = 0.

As z starts at zero, z = Xᵀu with u = (α/n) Σ (y - Xβ): the state lives in sample space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from .._kernels.rivals import residual_of, soft_threshold, srdi_walk
from .._kernels.working_set import Status
from ..design import Design, Floats, NormKind
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted
from ..walking.working_set import State, WorkingSet, WorkingSetPath
from .base import Method


@dataclass(frozen=True)
class SRDIMethod(Method):
    """Linearised Bregman iteration: an l1 regularisation path whose time is the step.

    Early iterates are zero; features enter as |x_iᵀu| reaches 1, the strongest first.  On
    noiseless data the iterates tend to the minimiser of ‖β‖_1 + ‖β‖²/(2κ) over Xβ = y.

    While no feature enters or leaves the support S, a step moves β_S by gradient descent on
    ½‖Xβ - y‖² with the step κα/n.  That is stable for every S if κα‖X‖²/n < 2.  A larger alpha is
    allowed, since small supports may bear it.  Where they do not, β swings about the solution for
    ever; where β/κ is large, the swings grow, and the path ends as ``diverged`` and names the
    limit 2n/(κ‖X‖²).

    Parameters
    ----------
    kappa : float
        Damping κ, in the units of β.  Large: closer to pure l1, but κ‖X‖²/‖Xᵀy‖_∞ default steps
        pass before the first feature enters.
    alpha : float, optional
        Step α, stable for κα‖X‖²/n < 2; by default half of that limit.
    scale : {"n", "d"}
        What divides alpha: the number of samples, as in the paper, or of features, as in the
        code published with IRKSN.
    norm : {"spectral", "nuclear"}
        Which ‖X‖ sets the default alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import path
    >>> path("srdi", np.eye(3), [3.0, 0.5, 0.0], kappa=1.0, max_iter=2).coef.round(3)
    array([3., 0., 0.])
    >>> path("srdi", np.eye(3), [3.0, 0.5, 0.0], kappa=1.0, max_iter=4).coef.round(3)
    array([3. , 0.5, 0. ])
    """

    name: ClassVar[str] = "srdi"
    title: ClassVar[str] = "SRDI"
    citation: ClassVar[str] = "Osher et al. 2016"
    condition: ClassVar[str] = "∃γ∈(0,1]: X_SᵀX_S ≥ nγI  and  ∃η∈(0,1): ‖X_S̄ᵀ(X_S†)ᵀ‖_∞ ≤ 1-η"
    bound: ClassVar[str] = "O(σ√(k log d / n)) for noise N(0, σ²), with high probability"
    complexity: ClassVar[str] = "O(T)"

    kappa: float = 10.0
    alpha: float | None = None
    scale: Literal["n", "d"] = "n"
    norm: NormKind = "spectral"

    def start(self, design: Design, y: Floats) -> Path:
        if not self.kappa > 0:
            raise ValueError(f"kappa must be positive, got {self.kappa}")
        if self.alpha is not None and not self.alpha > 0:
            raise ValueError(f"alpha must be positive or None, got {self.alpha}")
        if self.scale not in ("n", "d"):
            raise ValueError(f"scale must be 'n' or 'd', got {self.scale!r}")
        divisor = design.n_samples if self.scale == "n" else design.d
        norm, spectral = design.norm(self.norm), design.norm("spectral")
        alpha = self.alpha
        if alpha is None:
            alpha = divisor / (self.kappa * norm**2) if norm > 0 else 1.0
        largest = 2 * divisor / (self.kappa * spectral**2) if spectral > 0 else np.inf
        return WorkingSetPath(design, _State(y, float(self.kappa), alpha, divisor, largest))


class _State(State):
    """β on the working set (F), the residual r = Xβ - y, and u with z = Xᵀu."""

    def __init__(
        self, y: Floats, kappa: float, alpha: float, divisor: float, largest: float
    ) -> None:
        super().__init__(y, n_vectors=1, size=16)
        self.kappa = kappa
        self.alpha = alpha
        self.delta = alpha / divisor
        self.largest = largest  # the limit of alpha
        self.r = -y  # Xβ - y, at β = 0
        self.u = np.zeros(y.size)

    def remedy(self) -> str:
        return (
            f"alpha is {self.alpha:.3g}; for kappa={self.kappa:.3g} the iteration is always "
            f"stable below {self.largest:.3g}."
        )

    def query(self) -> Floats:
        """The next u."""
        return self.u - self.delta * self.r

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status = srdi_walk(
            working.columns, self.y, self.F[0], self.r, self.u, self.clock,
            self.kappa, self.delta, working.refs, working.edges, working.reach, end, every, rows,
        )  # fmt: skip
        return n_rows, status, self.query() if status == Status.REFRESH else None

    def step(self) -> Step:
        self.u = self.query()
        z = yield correlations(self.u)
        beta = np.empty_like(z)
        soft_threshold(z, 1.0, self.kappa, beta)
        self.F = beta[None]
        return bool(residual_of((yield fitted(beta)), self.y, self.r))
