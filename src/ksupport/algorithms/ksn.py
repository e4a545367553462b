"""KSN: least squares with the squared k-support norm as penalty.

A. Argyriou, R. Foygel, N. Srebro, "Sparse prediction with the k-support norm", NIPS 2012:

    min ½‖Xβ - y‖² + (lam/2) (‖β‖_k^sp)²,

by FISTA (Beck and Teboulle 2009): with a = β_t + momentum (β_t - β_{t-1}),

    β_{t+1} = prox_{(lam/L) ½(‖·‖_k^sp)²}(a - Xᵀ(Xa - y)/L).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from .._common.checks import as_numbers, check_count
from .._common.levels import check_k
from .._kernels.prox import prox_warm
from .._kernels.rivals import Fista, ksn_walk
from .._kernels.working_set import Status
from ..design import Design, Floats, NormKind
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted
from ..walking.working_set import State, WorkingSet, WorkingSetPath
from .base import Method


@dataclass(frozen=True)
class KSNMethod(Method):
    """FISTA on the k-support penalty, for one penalty or along a decreasing sequence of them.

    Parameters
    ----------
    k : int
        Sparsity level of the k-support norm.
    lam : float or decreasing sequence of floats
        Strength of the penalty ``(lam/2)(‖w‖_k^sp)²``.  A sequence is a path: ``steps_per_lam``
        steps with each value, from the result of the one before, and the last value from then on.
        Record every ``steps_per_lam`` steps to get one model per value.
    steps_per_lam : int
        Steps taken with each value of a sequence.
    L : float, "backtracking" or None
        Inverse of the step.  None: ‖X‖².  "backtracking": start below ‖X‖² and double where a
        step proves too long.  The published code has 1e6.
    norm : {"spectral", "nuclear"}
        Which ‖X‖ gives L when it is None.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import path
    >>> y = [3.0, 0.0, 2.0, 0.0]
    >>> np.round(path("ksn", np.eye(4), y, k=4, lam=1.0, max_iter=20).coef, 3)
    array([1.5, 0. , 1. , 0. ])
    """

    name: ClassVar[str] = "ksn"
    title: ClassVar[str] = "KSN penalty"
    citation: ClassVar[str] = "Argyriou et al. 2012"
    complexity: ClassVar[str] = "O(ΛT)"

    k: int = 10
    lam: float | Sequence[float] = 1.0
    steps_per_lam: int = 100
    L: float | Literal["backtracking"] | None = None
    norm: NormKind = "spectral"

    def start(self, design: Design, y: Floats) -> Path:
        check_k(self.k, design.d)
        check_count("steps_per_lam", self.steps_per_lam)
        lams = _check_lam(self.lam)
        L, smallest = self._inverse_step(design, y)
        return WorkingSetPath(design, _State(y, self.k, lams, self.steps_per_lam, L, smallest))

    def _inverse_step(self, design: Design, y: Floats) -> tuple[float, float | None]:
        """L, and the smallest stable one; None if L is only where a search for it starts."""
        if isinstance(self.L, str):
            if self.L != "backtracking":
                raise ValueError(f"L must be a number, None or 'backtracking', got {self.L!r}")
            return _curvature(design, y), None
        if self.L is not None and not 0 < self.L < np.inf:
            raise ValueError(f"L must be positive and finite, got {self.L}")
        smallest = design.norm("spectral") ** 2 or 1.0
        if self.L is not None:
            return float(self.L), smallest
        return design.norm(self.norm) ** 2 or 1.0, smallest


def _check_lam(lam: float | Sequence[float]) -> Floats:
    lams = np.atleast_1d(as_numbers("lam", lam))
    if (
        lams.dtype.kind not in "iuf"
        or lams.ndim != 1
        or lams.size == 0
        or not ((lams > 0) & (lams < np.inf)).all()
    ):
        raise ValueError(f"lam must be a positive number or a sequence of such, got {lam!r}")
    if (np.diff(lams) >= 0).any():
        raise ValueError(f"lam must decrease along a sequence (warm starts), got {lam!r}")
    return lams.astype(np.float64)


def _curvature(design: Design, y: Floats) -> float:
    """‖Xp‖²/‖p‖² along the first gradient p = Xᵀy: at most ‖X‖², and cheap for every X."""
    p = design.rmatvec(y)
    size = float(np.linalg.norm(p))
    return float(np.linalg.norm(design.matvec(p / size))) ** 2 if size > 0 else 1.0


class _State(State):
    """β_t and β_{t-1} on the working set (F), Xβ of both, and where FISTA stands."""

    def __init__(
        self, y: Floats, k: int, lams: Floats, steps: int, L: float, smallest: float | None
    ) -> None:
        super().__init__(y, n_vectors=2, size=k)
        self.k = k
        self.lams = lams
        self.steps = steps  # per value of lam
        self.smallest = smallest  # stable L; None: found by backtracking
        self.XB = np.zeros((2, y.size))  # Xβ_t and Xβ_{t-1}
        self.fista = Fista(L)

    @property
    def L(self) -> float:
        """The inverse of the step, at present."""
        return float(self.fista.inverse_step)

    def remedy(self) -> str:
        if self.smallest is None:
            return "Backtracking keeps the step stable: X or y is too large to be squared."
        return (
            f"The step 1/L is {1 / self.L:.3g}; the largest stable one is "
            f"{1 / self.smallest:.3g}, L = {self.smallest:.3g}."
        )

    def query(self) -> Floats:
        """U = Xa - y, whose correlations are the gradient at the momentum point a."""
        return self.XB[0] + self.fista.momentum * (self.XB[0] - self.XB[1]) - self.y

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status = ksn_walk(
            working.columns, self.y, self.XB, self.F, self.fista, self.clock,
            self.k, self.lams, self.steps, self.smallest is None,
            working.refs, working.edges, working.reach, end, every, rows,
        )  # fmt: skip
        return n_rows, status, self.query() if status == Status.REFRESH else None

    def step(self) -> Step:
        t = self.t
        lam = self.lams[min(t // self.steps, self.lams.size - 1)]
        a = self.F[0] + self.fista.momentum * (self.F[0] - self.F[1])
        gradient, b = (yield correlations(self.query())), np.empty_like(a)
        while True:
            L = self.L
            q = a - gradient / L
            self.fista.scale = prox_warm(q, lam / L, self.k, self.fista.scale, b)
            if not (self.smallest is None and (yield from _too_bold(b - a, L))):
                break
            self.fista.inverse_step = 2 * L
        self.F = np.stack([b, self.F[0]])
        restart = (t + 1) % self.steps == 0 and (t + 1) // self.steps < self.lams.size
        return bool(self.fista.move_on(self.XB, (yield fitted(b)), restart))


def _too_bold(delta: Floats, L: float) -> Step:
    """Whether the step leaves the quadratic bound: ‖X delta‖² > L ‖delta‖²."""
    Xdelta = yield fitted(delta)
    return float(Xdelta @ Xdelta) > L * float(delta @ delta) * (1 + 1e-12)
