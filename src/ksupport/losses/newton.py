"""Newton's method for the coefficients of a few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

if TYPE_CHECKING:
    from .base import Response

Floats = NDArray[np.float64]

STEPS = 60  # Newton needs about ten, unless there is no least
LONGEST = 10.0  # change of eta, in units of the loss, in one step
CLOSE = 1e-9  # relative to eta; the next step would be its square
FLAT = 1e-12  # a pivot below this share of the largest counts as none
SMALL_RIDGE = 1e-4  # of the mean weighted square of the columns, where there is no least


@dataclass(frozen=True)
class Refit:
    """Coefficients of columns, of what is not penalised, and the deviance on the rows of the fit.

    ``ridge`` is the strength asked for, or the small one that was needed; ``eta`` what is fitted.
    """

    coef: Floats
    unpenalized: Floats
    deviance: float
    ridge: float
    eta: Floats


class Model(Protocol):
    """Coefficients as one vector b, and what they mean."""

    A: Floats  # all columns, as rows; first those that are not penalised

    def __init__(self, response: Response, columns: Floats) -> None: ...
    def start(self) -> Floats: ...
    def eta(self, b: Floats) -> Floats: ...
    def gradient(self, g: Floats) -> Floats: ...
    def penalty(self, ridge: float) -> Floats: ...
    def split(self, b: Floats) -> tuple[Floats, Floats]: ...


class OneNumber:
    """The model of losses with one fitted value a row: a coefficient for each column."""

    def __init__(self, response: Response, columns: Floats) -> None:
        self.response, self.A = response, np.vstack([response.unpenalized, columns])
        self.q = len(response.unpenalized)

    def start(self) -> Floats:
        b = np.zeros(len(self.A))
        b[: self.q] = self.response.settled_at_nothing
        return b

    def eta(self, b: Floats) -> Floats:
        return b @ self.A

    def gradient(self, g: Floats) -> Floats:
        return self.A @ g

    def penalty(self, ridge: float) -> Floats:
        return np.where(np.arange(len(self.A)) < self.q, 0.0, ridge)

    def split(self, b: Floats) -> tuple[Floats, Floats]:
        return b[self.q :], b[: self.q]


def least(response: Response, columns: Floats, ridge: float) -> Refit:
    """The least of Σ weights value + ridge/2 ‖w‖² over coefficients w of columns (as rows)."""
    model = response.loss.model(response, columns)
    b = _newton(response, model, ridge, STEPS)
    if b is None:
        ridge = max(ridge, SMALL_RIDGE * float(np.mean((columns**2) @ response.weights)))
        b = _newton(response, model, ridge, 10 * STEPS)
        if b is None:
            raise RuntimeError("Newton's method did not end; scale the columns")
    eta = model.eta(b)
    deviance = response.loss.deviance(eta, response.y, response.weights)
    coef, free = model.split(b)
    return Refit(coef, free, float(deviance @ response.weights), ridge, eta)


def _newton(response: Response, model: Model, ridge: float, steps: int) -> Floats | None:
    """None where steps do not end: coefficients grow without bound."""
    loss, y, weights = response.loss, response.y, response.weights
    penalty, b = model.penalty(ridge), model.start()
    unit = (float(np.ptp(y)) or 1.0) if loss.in_units_of_y else 1.0
    # Of what values are differences of: where the fit is almost perfect they are far smaller.
    terms = 0.0 if loss.in_units_of_y else float(weights @ (1.0 + np.abs(loss.target(y))))

    def total(b: Floats, eta: Floats) -> float:
        return float(loss.value(eta, y, weights) @ weights + 0.5 * penalty @ b**2)

    eta = model.eta(b)
    now = total(b, eta)
    for _ in range(steps):
        slope = model.gradient(loss.gradient(eta, y, weights)) + penalty * b
        H = loss.bent(model.A, eta, y, weights)
        H.ravel()[:: len(H) + 1] += penalty
        step = -_solved(H, slope)
        along = model.eta(step)
        change = float(np.abs(along).max(initial=0.0))
        if change <= CLOSE * max(float(np.abs(eta).max()), unit):
            return b + step
        part, rounding = min(1.0, LONGEST * unit / change), 1e-13 * max(abs(now), terms)
        fall = 0.1 * (slope @ step)
        while True:
            ahead = b + part * step, eta + part * along
            after = total(*ahead)
            if after <= now + part * fall + rounding:
                break
            part *= 0.5
        (b, eta), now = ahead, after
    return None


def _solved(H: Floats, slope: Floats) -> Floats:
    """H⁻¹ slope; where H is flat in some direction, the shortest of all solutions."""
    if not slope.size:
        return slope
    factor, step, info = dposv(H, slope)
    pivots = factor.diagonal() ** 2
    if info == 0 and pivots.min() > FLAT * pivots.max():
        return np.asarray(step)
    return np.asarray(np.linalg.lstsq(H, slope, rcond=1e-13)[0], np.float64)
