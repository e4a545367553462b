"""Newton's method for the coefficients of a few columns.

Where a row has one fitted value it is compiled (`_kernels.newton`), for many models in one
call; of several classes it goes through matrices of contrasts, whose products BLAS takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from .._kernels.linalg import FLAT
from .._kernels.losses import FITTED
from .._kernels.newton import (
    CLOSE,
    LEAST_GAIN,
    LONGEST,
    NEWTON_STEPS,
    SMALL_RIDGE,
    refit_models,
)

if TYPE_CHECKING:
    from .response import Response

Floats = NDArray[np.float64]
Columns = Sequence[int]  # of a model, by their places among those given


@dataclass(frozen=True)
class Refit:
    """Coefficients of columns, of what is not penalised, and the deviance on the rows of the fit.

    ``ridge`` is the strength asked for, or the small one that was needed; ``eta`` what is fitted.
    With K the second derivatives in the coefficients, ``volume`` is log det(I + K / ridge) and
    ``freedom``, the effective degrees of freedom, the trace of K (K + ridge I)⁻¹, both of the ridge
    asked for; infinite and one a coefficient where that is none.
    """

    coef: Floats
    unpenalized: Floats
    deviance: float
    ridge: float
    eta: Floats
    volume: float
    freedom: float


class Model(Protocol):
    """Coefficients as one vector b, and what they mean, where a row has several fitted values."""

    A: Floats  # all columns, as rows; first those that are not penalised

    def __init__(self, response: Response, columns: Floats) -> None: ...
    def start(self) -> Floats: ...
    def from_unpenalized(self, c: Floats) -> Floats: ...
    def eta(self, b: Floats) -> Floats: ...
    def gradient(self, g: Floats) -> Floats: ...
    def penalty(self, ridge: float) -> Floats: ...
    def split(self, b: Floats) -> tuple[Floats, Floats]: ...


def refits(
    response: Response,
    columns: Floats,
    ridges: Sequence[float],
    models: Sequence[Columns] | None = None,
) -> list[Refit]:
    """The least of Σ weights value + ridge/2 ‖w‖² for each ridge, over coefficients w of columns.

    Columns are rows; each ridge may have a model of its own, of some of them.
    """
    if models is not None:
        return _each(response, columns, ridges, models)
    if len(columns) <= response.n or min(ridges) <= 0:
        return _each(response, columns, ridges, [range(len(columns))] * len(ridges))
    # With a ridge, coefficients lie in the span of the rows, of which there are fewer.
    turn, fewer = np.linalg.qr(columns)
    found = refits(response, fewer, ridges)
    return [replace(each, coef=each.coef @ turn.T) for each in found]


def _each(
    response: Response, columns: Floats, ridges: Sequence[float], models: Sequence[Columns]
) -> list[Refit]:
    kind = response.loss.model
    if kind is None:
        return _compiled(response, columns, ridges, models)
    pairs = zip(models, ridges, strict=True)
    each = ((kind(response, columns[list(model)]), ridge) for model, ridge in pairs)
    return [_of_classes(response, model, ridge) for model, ridge in each]


def _compiled(
    response: Response, columns: Floats, ridges: Sequence[float], models: Sequence[Columns]
) -> list[Refit]:
    ends = np.cumsum([0, *map(len, models)])
    features = np.fromiter(chain.from_iterable(models), np.intp, ends[-1])
    coef, free, E, told = refit_models(
        response.compiled, response.unpenalized, response.null_coef,
        np.ascontiguousarray(columns, np.float64), ends, features, np.array(ridges, np.float64),
        *response.scales,
    )  # fmt: skip
    if not told[:, 0].all():
        raise RuntimeError("Newton's method did not converge; rescale the columns of X")
    deviances = response.loss.deviance(E, response.y, response.weights) @ response.weights
    parts = [coef[first:end] for first, end in pairwise(ends.tolist())]
    each = zip(parts, free, deviances.tolist(), E, told.tolist(), strict=True)
    return [
        Refit(w, c, deviance, ridge, eta, volume, freedom)
        for w, c, deviance, eta, (_, ridge, volume, freedom) in each
    ]


def _of_classes(response: Response, model: Model, asked: float) -> Refit:
    b, ridge = _newton(response, model, model.start(), asked, NEWTON_STEPS), asked
    if b is None:
        squares = (model.A[len(response.unpenalized) :] ** 2) @ response.weights
        ridge = max(ridge, SMALL_RIDGE * float(squares.sum()) / max(squares.size, 1))
        start = model.from_unpenalized(response.null_coef)
        b = _newton(response, model, start, ridge, 10 * NEWTON_STEPS)
        if b is None:
            raise RuntimeError("Newton's method did not converge; rescale the columns of X")
    eta, (coef, free) = model.eta(b), model.split(b)
    deviance = response.loss.deviance(eta, response.y, response.weights) @ response.weights
    left = _prior_left(response, model, eta, asked)
    return Refit(coef, free, float(deviance), ridge, eta, *left)


def _prior_left(response: Response, model: Model, eta: Floats, ridge: float) -> tuple[float, float]:
    """Volume and freedom."""
    columns = model.A[len(response.unpenalized) :]
    H = response.loss.reduced_hessian(columns, eta, response.y, response.weights)
    if not ridge > 0:
        return np.inf if len(H) else 0.0, float(len(H))
    eigenvalues = np.maximum(np.linalg.eigvalsh(H), 0.0)
    return float(np.log1p(eigenvalues / ridge).sum()), float(
        (eigenvalues / (eigenvalues + ridge)).sum()
    )


def _newton(response: Response, model: Model, b: Floats, ridge: float, steps: int) -> Floats | None:
    """From b on; None where steps do not end: coefficients grow without bound."""
    loss, y, weights = response.loss, response.y, response.weights
    penalty, (unit, terms) = model.penalty(ridge), response.scales
    ends = ridge > 0 or len(model.A) == len(response.unpenalized)  # as there is a least, or all but

    def total(b: Floats, eta: Floats) -> float:
        return float(loss.value(eta, y, weights) @ weights + 0.5 * penalty @ b**2)

    eta = model.eta(b)
    now = total(b, eta)
    for at in range(steps):
        g = loss.gradient(eta, y, weights)
        # What separates classes and is not penalised leaves nothing but rounding to explain.
        if at == 0 and np.abs(g).sum() <= FITTED * weights.sum():
            return b
        slope = model.gradient(g) + penalty * b
        H = loss.reduced_hessian(model.A, eta, y, weights)
        H.ravel()[:: len(H) + 1] += penalty
        step = -_solved(H, slope)
        along = model.eta(step)
        change = float(np.abs(along).max(initial=0.0))
        size, fall = max(abs(now), terms), 0.1 * (slope @ step)
        if change <= CLOSE * max(float(np.abs(eta).max()), unit):
            return b + step
        part, rounding = min(1.0, LONGEST * unit / change), 1e-13 * size
        while True:
            ahead = b + part * step, eta + part * along
            after = total(*ahead)
            if after <= now + part * fall + rounding:
                break
            part *= 0.5
        (b, eta), now = ahead, after
        if ends and -10.0 * fall <= LEAST_GAIN * size:
            return b
    return None


def _solved(H: Floats, slope: Floats) -> Floats:
    """H⁻¹ slope; where H is flat in some direction, the shortest of all solutions."""
    if not slope.size:
        return slope
    sizes = H.diagonal()
    factor, step, info = dposv(H, slope)
    if info == 0 and (factor.diagonal() ** 2 > FLAT * sizes).all():
        return np.asarray(step)
    unit = np.sqrt(np.where(sizes > 0, sizes, 1.0))  # columns may be in any units
    scaled = np.linalg.lstsq(H / unit / unit[:, None], slope / unit, rcond=1e-13)[0]
    return np.asarray(scaled / unit, np.float64)
