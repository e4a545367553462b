"""IROSR: implicit regularisation for optimal sparse recovery.

T. Vaskevicius, V. Kanade, P. Rebeschini, "Implicit regularization for optimal sparse recovery",
NeurIPS 2019: gradient descent on  ‖X(u² - v²) - y‖²/(2n)  from a small u = v = alpha 1,

    u ← u - (2 eta/n) (Xᵀr) ⊙ u,   v ← v + (2 eta/n) (Xᵀr) ⊙ v,   r = X(u² - v²) - y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from .. import limits
from .._kernels.rivals import irosr_move, irosr_walk
from .._kernels.working_set import Clock, Status
from ..design import Design, Floats
from ..walking import Block, BySquares, Path
from ..walking.iterates import recorded_steps, room_for
from ..walking.lockstep import PlainSteps, Step, correlations, fitted
from .base import Method


@dataclass(frozen=True)
class IROSRMethod(Method):
    """Gradient descent on u and v, with w = u² - v².

    Every coordinate moves in every step: iterates are dense, a step costs two products with X,
    and w_t is sparse only in that most of its entries have not yet left the order of alpha².

    Parameters
    ----------
    alpha : float
        Size of the start; alpha² should be small next to the coefficients sought.
    eta : float, optional
        The step.  Near a solution w, gradient descent is stable up to
        ``n / (2 ‖X diag(u²+v²) Xᵀ‖)``, and ``u²+v² <= |w| + 2 alpha²`` as long as uv keeps close
        to alpha².  So it takes a guess at ``C = ‖X diag(|w|) Xᵀ‖``.  If the feature x most
        correlated with y were the whole model, C would be ``|xᵀy|``; if every coefficient were
        as large as that one, ``|xᵀy| ‖X‖²/‖x‖²``.  The default takes the geometric mean of the
        two, ``C = |xᵀy| ‖X‖/‖x‖``, and half the step that this allows:
        ``n / (4 (C + 2 alpha² ‖X‖²))``.  It is a heuristic: no design tried made it diverge
        (Gaussian, autoregressive up to .99, uncentred, genetic), but where noise is fitted by
        strongly correlated features that cancel each other, C grows beyond that guess and the
        residual wavers; then give a smaller eta, or stop earlier.
    init : {"symmetric", "published"}
        "symmetric" starts from u = v = alpha, so that w_0 = 0 and all models can be reached.
        "published" starts from u = alpha, v = 0, as the code published with the IRKSN paper
        does: v then stays 0 and *only non-negative models* can be reached.
    """

    name: ClassVar[str] = "irosr"
    title: ClassVar[str] = "IROSR"
    citation: ClassVar[str] = "Vaskevicius et al. 2019"
    condition: ClassVar[str] = "RIP"
    bound: ClassVar[str] = "O(σ √(k log d / n)) for ε ~ N(0, σ²)"
    complexity: ClassVar[str] = "O(T)"

    alpha: float = 1e-3
    eta: float | None = None
    init: Literal["symmetric", "published"] = "symmetric"

    def start(self, design: Design, y: Floats) -> Path:
        if not 0 < self.alpha < np.inf:
            raise ValueError(f"alpha must be positive and finite, got {self.alpha}")
        if self.eta is not None and not 0 < self.eta < np.inf:
            raise ValueError(f"eta must be positive and finite, or None, got {self.eta}")
        if self.init not in ("symmetric", "published"):
            raise ValueError(f"init must be 'symmetric' or 'published', got {self.init!r}")
        largest = _largest_step(design, y, self.alpha)
        eta = largest / 2 if self.eta is None else self.eta
        U = np.full((2, design.d), float(self.alpha))
        if self.init == "published":
            U[1] = 0.0
        return _IROSRPath(design, y, U, eta, largest)


def _largest_step(design: Design, y: Floats, alpha: float) -> float:
    """n / (2 (C + 2 alpha² ‖X‖²)) as explained above, from products alone: for any kind of X."""
    norm = design.norm("spectral")
    if norm == 0.0:
        return 1.0  # X = 0: nothing ever moves
    correlations = design.rmatvec(y)
    at = int(np.argmax(np.abs(correlations)))
    C = 0.0
    if correlations[at] != 0.0:
        x = design.matvec(np.eye(1, design.d, at)[0])
        C = abs(correlations[at]) * norm / float(np.linalg.norm(x))
    return float(design.n_samples / (2 * (C + 2 * alpha**2 * norm**2)))


class _IROSRPath(BySquares, PlainSteps):
    """u_t and v_t; small problems walk in compiled code, large ones by two products a step."""

    exhausted = False

    def __init__(self, design: Design, y: Floats, U: Floats, eta: float, largest: float) -> None:
        self.y = y
        self.U = U  # u_t and v_t
        self.w = (U[0] - U[1]) * (U[0] + U[1])
        self.eta = eta
        self.largest = largest  # the largest step that is stable, as far as can be told
        self.clock = Clock()
        self.attach(design)

    def attach(self, design: Design | None) -> None:
        """Go on with this design; None lets go of the data, so that the path can be stored."""
        self.stretch = None
        self.columns: Floats | None = None  # X by columns (d x n) and by rows, if small
        self.rows: Floats | None = None
        if design is None:
            del self.design
            return
        self.design = design
        if design.copyable(limits.COMPILED):
            self.columns = design.columns(np.arange(design.d))
            self.rows = np.ascontiguousarray(self.columns.T)

    @property
    def t(self) -> int:
        return int(self.clock.now)

    def remedy(self) -> str:
        return (
            f"The step eta is {self.eta:.3g}; the largest stable one is about {self.largest:.3g}."
        )

    @property
    def scaled_step(self) -> float:
        return 2 * self.eta / self.design.n_samples

    def advance(self, end: int, every: int, most_numbers: int) -> Block:
        if self.columns is None:
            return self.walk_plainly(self, end, every, most_numbers)
        count = room_for(end - self.t, every, self.design.d, most_numbers)
        rows = np.empty((count, self.design.d))
        before = self.clock.recorded
        n_rows, status = irosr_walk(
            self.columns, self.rows, self.y, self.U, self.w, self.clock, self.scaled_step,
            end, every, rows,
        )  # fmt: skip
        t = recorded_steps(before, self.clock, every, n_rows)
        diverged = status == Status.NONFINITE
        return Block(t, rows[:n_rows], self.design, None, self.columns, diverged)

    def iterate(self) -> Floats:
        return self.w

    def step(self) -> Step:
        g = yield correlations((yield fitted(self.w)) - self.y)
        return bool(irosr_move(self.U, g, self.scaled_step, self.w))
