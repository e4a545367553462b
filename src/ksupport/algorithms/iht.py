"""IHT: iterative hard thresholding, with a fixed or a normalised step.

T. Blumensath, M. E. Davies, "Iterative hard thresholding for compressed sensing", Applied and
Computational Harmonic Analysis 27 (2009): projected gradient descent on

    min ½‖Xβ - y‖²  s.t.  ‖β‖_0 <= k,     β⁺ = H_k(β - η Xᵀ(Xβ - y)).

The normalised step is that of T. Blumensath, M. E. Davies, "Normalized iterative hard
thresholding: guaranteed stability and performance", IEEE J. Sel. Top. Signal Process. 4 (2010).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from .._common.levels import check_k
from .._kernels.iht import NIHT_C, iht_proposal, iht_support, iht_walk, same_support
from .._kernels.rivals import residual_of
from .._kernels.working_set import Status
from ..design import Design, Floats, NormKind, Round
from ..walking import Path
from ..walking.lockstep import Step, correlations, fitted
from ..walking.working_set import State, WorkingSet, WorkingSetPath
from .base import Method


@dataclass(frozen=True)
class IHTMethod(Method):
    """Gradient step, then keep the k largest entries (of tied ones, those that come first).

    Parameters
    ----------
    k : int
        Nonzero entries to keep.
    step : float, "normalised" or None
        The step η.  None: 1/‖X‖², for which the error ‖Xβ - y‖ never grows.  ``"normalised"``:
        in each step ‖g_S‖²/‖X g_S‖² on the current support S, for the gradient g = Xᵀ(Xβ - y);
        where the support is about to change, it is halved until the error cannot grow.  That is
        faster where ‖X‖ is large only because of directions that k-sparse models do not use.
        Once g_S is zero but for rounding, the step is 1/‖X‖² again.
    norm : {"spectral", "nuclear"}
        Which ‖X‖ sets the default step.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import path
    >>> path("iht", np.eye(4), [3.0, -1.0, 2.0, 1.0], k=3, max_iter=20).coef.round(3)
    array([ 3., -1.,  2.,  0.])
    """

    name: ClassVar[str] = "iht"
    title: ClassVar[str] = "IHT"
    citation: ClassVar[str] = "Blumensath and Davies 2009"
    condition: ClassVar[str] = "RIP"
    bound: ClassVar[str] = "O(δ)"
    complexity: ClassVar[str] = "O(T)"

    k: int = 10
    step: float | Literal["normalised"] | None = None
    norm: NormKind = "spectral"

    def start(self, design: Design, y: Floats) -> Path:
        check_k(self.k, design.d)
        default, safe = _step(design.norm(self.norm)), _step(design.norm("spectral"))
        if self.step == "normalised":
            return WorkingSetPath(design, _State(y, self.k, safe, True, safe))
        if self.step is not None and not (isinstance(self.step, Real) and self.step > 0):
            raise ValueError(
                f"step must be a positive number, 'normalised' or None, got {self.step!r}"
            )
        eta = default if self.step is None else float(self.step)
        return WorkingSetPath(design, _State(y, self.k, eta, False, safe))


def _step(norm: float) -> float:
    return 1.0 / norm**2 if norm > 0 else 1.0


class _State(State):
    """β on the working set (F), and the residual u = Xβ - y."""

    def __init__(self, y: Floats, k: int, eta: float, normalised: bool, safe: float) -> None:
        super().__init__(y, n_vectors=1, size=k)
        self.k = k
        self.eta = eta  # the step, unless normalised
        self.normalised = normalised
        self.safe = safe  # 1/‖X‖²: up to here no step raises the error
        # Once ‖g_S‖² has shrunk to about rounding, a ratio of rounding errors would set the
        # normalised step, and the support might jump at random: take the safe step there.
        self.floor = (1e-9) ** 2 * float(y @ y) / safe
        self.u = -y  # Xβ - y, at β = 0

    def remedy(self) -> str:
        return f"The step is {self.eta:.3g}; the largest that is always stable is {self.safe:.3g}."

    def query(self) -> Floats:
        return self.u

    def walk(
        self, working: WorkingSet, end: int, every: int, rows: Floats
    ) -> tuple[int, int, Floats | None]:
        n_rows, status = iht_walk(
            working.columns, self.y, self.F[0], self.u, self.clock,
            self.k, self.eta, self.normalised, self.safe, self.floor,
            working.refs, working.edges, working.reach, end, every, rows,
        )  # fmt: skip
        return n_rows, status, self.u if status == Status.REFRESH else None

    def step(self) -> Step:
        beta, g = self.F[0], (yield correlations(self.u))
        new = np.empty_like(beta)
        if self.normalised:
            yield from self._normalised(beta, g, new)
        else:
            iht_proposal(beta, g, self.eta, self.k, new)
        self.F = new[None]
        return bool(residual_of((yield fitted(new)), self.y, self.u))

    def _normalised(self, beta: Floats, g: Floats, new: Floats) -> Generator[Round, Floats, None]:
        """The proposal with the normalised step, as in `iht_walk`."""
        support = np.empty_like(beta)
        iht_support(beta, g, self.k, support)
        least = (1.0 - NIHT_C) * self.safe
        g_S = np.where(support != 0.0, g, 0.0)
        eta = (yield from _stretch(g_S)) if g_S @ g_S > self.floor else self.safe
        while True:
            iht_proposal(beta, g, eta, self.k, new)
            if not eta > least or same_support(new, support):
                return
            if not eta > (1.0 - NIHT_C) * (yield from _stretch(new - beta)):
                return
            eta *= 0.5


def _stretch(a: Floats) -> Generator[Round, Floats, float]:
    """‖a‖²/‖X a‖², infinite where X a = 0."""
    Xa = yield fitted(a)
    bottom = float(Xa @ Xa)
    return float(a @ a) / bottom if bottom > 0.0 else np.inf
