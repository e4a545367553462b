"""Newton's method for the coefficients of a few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .base import Response

Floats = NDArray[np.float64]

STEPS = 60  # Newton needs about ten, unless there is no least
LONGEST = 10.0  # change of eta, in units of the loss, in one step
CLOSE = 1e-9  # relative to eta; the next step would be its square
SMALL_RIDGE = 1e-4  # of the mean weighted square of the columns, where there is no least


@dataclass(frozen=True)
class Refit:
    """Coefficients of columns, of what is not penalised, and the deviance on the rows of the fit.

    ``ridge`` is the strength asked for, or the small one that was needed.
    """

    coef: Floats
    unpenalized: Floats
    deviance: float
    ridge: float


def refit(response: Response, columns: Floats, ridge: float = 0.0) -> Refit:
    """The least of Σ weights value + ridge/2 ‖w‖² over coefficients w of columns (as rows)."""
    found = _newton(response, columns, ridge)
    if found is None:
        small = SMALL_RIDGE * float(np.mean((columns**2) @ response.weights))
        found = _newton(response, columns, max(ridge, small), patient=True)
        assert found is not None
    return found


def _newton(
    response: Response, columns: Floats, ridge: float, patient: bool = False
) -> Refit | None:
    """None where steps do not end: coefficients grow without bound."""
    loss, y, weights = response.loss, response.y, response.weights
    q = len(response.unpenalized)
    A = np.vstack([response.unpenalized, columns])
    penalty = np.append(np.zeros(q), np.full(len(columns), ridge))
    b = np.append(response.settled(np.zeros(response.n)), np.zeros(len(columns)))
    longest = LONGEST * _unit(loss, y)

    def total(b: Floats) -> float:
        value = loss.value(b @ A, y, weights) @ weights
        return float(value + 0.5 * penalty @ b**2)

    now = total(b)
    for _ in range(10 * STEPS if patient else STEPS):
        eta = b @ A
        slope = A @ loss.gradient(eta, y, weights) + penalty * b
        H = loss.hessian(A, eta, y, weights) + np.diag(penalty)
        step = -np.linalg.lstsq(H, slope, rcond=1e-13)[0]
        change = float(np.abs(step @ A).max(initial=0.0))
        if change <= CLOSE * max(float(np.abs(eta).max()), _unit(loss, y)):
            return _refit(response, A, b + step, q, ridge)
        part, rounding = min(1.0, longest / change), 1e-13 * abs(now)
        while not (after := total(b + part * step)) <= now + 0.1 * part * (slope @ step) + rounding:
            part *= 0.5
        b, now = b + part * step, after
    return _refit(response, A, b, q, ridge) if patient else None


def _unit(loss: Any, y: Floats) -> float:
    """The scale of eta: one, or that of y where eta is in its units."""
    return (float(np.ptp(y)) or 1.0) if loss.in_units_of_y else 1.0


def _refit(response: Response, A: Floats, b: Floats, q: int, ridge: float) -> Refit:
    deviance = response.loss.deviance(b @ A, response.y, response.weights) @ response.weights
    return Refit(b[q:], b[:q], float(deviance), ridge)
