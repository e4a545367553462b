"""How well new rows are predicted: the whole procedure on each fold, judged on its other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..choosing.average import SHARES, Average
from ..design import Floats, Unseen
from ..losses import Loss


@dataclass(frozen=True)
class Performance:
    """How well held-out rows are predicted, by cross-validation: ``AutoIRKSN.performance_``.

    Parameters
    ----------
    score : float
        Share of the variance (R²) or, with other losses than squares, of the deviance (D²) that is
        explained: 1 is all, 0 a model without features.
    standard_error : float
        Of the score.
    baseline : float
        The score of a model without features.
    loss : float
        Mean loss on held-out rows.
    baseline_loss : float
        Mean loss of a model without features.

    Examples
    --------
    >>> from ksupport import Performance
    >>> print(Performance(0.8, 0.05, 0.0, 1.0, 5.0))
    0.80 ± 0.05 (without features: 0.00)
    """

    score: float
    standard_error: float
    baseline: float
    loss: float
    baseline_loss: float

    def __str__(self) -> str:
        score = round(self.score, 2) + 0.0  # no minus before zero
        return f"{score:.2f} ± {self.standard_error:.2f} (without features: {self.baseline:.2f})"


def performance_of(
    unseen: Sequence[Unseen], models: Sequence[Average], loss: Loss
) -> tuple[Performance, float]:
    """Of one model, or average of models, a fold, on the rows that it has not seen.

    Also the share of ridge regression, as these rows tell: the performance is that with it.
    """
    pairs = [_errors(rows, each, loss) for rows, each in zip(unseen, models, strict=True)]
    every = np.hstack([losses for losses, _ in pairs])
    mass = np.concatenate([each for _, each in pairs])
    best = _expected(np.average(every[:-1], axis=1, weights=mass), float(mass.sum()), loss)
    errors, share = every[[best, -1]], float(SHARES[best])
    error, baseline = (float(np.average(each, weights=mass)) for each in errors)
    if baseline <= 0.0:
        return Performance(0.0, 0.0, 0.0, error, baseline), share
    ratio = error / baseline
    off = mass * (errors[0] / baseline - ratio * (errors[1] / baseline))  # linearised
    spread = float(np.linalg.norm(off)) / float(mass.sum())  # the standard error of a ratio
    return Performance(1.0 - ratio, spread, 0.0, error, baseline), share


def _expected(errors: Floats, n: float, loss: Loss) -> int:
    """The share that is expected, all being as probable before these rows had such errors.

    The best one varies much where there are few rows.
    """
    floor = np.finfo(float).tiny
    log = n * (np.log(np.maximum(errors, floor)) if loss.in_units_of_y else errors) / 2
    weights = np.exp(log.min() - log)
    return round(float(np.arange(errors.size) @ weights / weights.sum()))


def _errors(rows: Unseen, model: Average, loss: Loss) -> tuple[Floats, Floats]:
    """For each share of ridge regression, and last of no feature; and weights of the rows."""
    shares, d = SHARES if model.ridge is not None else SHARES[:1], rows.design.d
    if model.ridge is None or loss.averages_eta:
        (found,) = zip(*(model.counting(each).models(loss) for each in shares), strict=True)
        whole = np.array([model.whole(each, d).ravel() for each in found])
        return rows.row_errors(np.vstack([whole, np.zeros_like(whole[:1])]))
    both = np.array([model.whole(each, d).ravel() for each in model.models(loss)])
    nothing, weights = rows.row_errors(np.zeros_like(both[:1]))
    averages = rows.average_errors(both, model.features, model.spread, shares)
    return np.vstack([averages, nothing]), weights
