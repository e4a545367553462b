"""How well new rows are predicted: the whole procedure on each fold, judged on its other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..design import Floats, Unseen


@dataclass(frozen=True)
class Performance:
    """What folds say of rows that the model has not seen, as in ``AutoIRKSN.performance_``.

    Parameters
    ----------
    score : float
        Share of the variation, or deviance, that is explained: 1 is all, 0 what the mean explains.
    standard_error : float
        Of the score.
    baseline : float
        The score of predicting the mean.
    loss : float
        Mean error.
    baseline_loss : float
        That of predicting the mean.

    Examples
    --------
    >>> from ksupport import Performance
    >>> print(Performance(0.8, 0.05, 0.0, 1.0, 5.0))
    0.80 ± 0.05 (predicting the mean: 0.00)
    """

    score: float
    standard_error: float
    baseline: float
    loss: float
    baseline_loss: float

    def __str__(self) -> str:
        score = round(self.score, 2) + 0.0  # no minus before zero
        return f"{score:.2f} ± {self.standard_error:.2f} (predicting the mean: {self.baseline:.2f})"


def performance_of(unseen: Sequence[Unseen], models: Sequence[Floats]) -> Performance:
    """Of one model a fold, on the rows that it has not seen."""
    pairs = [
        rows.row_errors(np.vstack([w, np.zeros_like(w)]))
        for rows, w in zip(unseen, models, strict=True)
    ]
    errors = np.hstack([losses for losses, _ in pairs])
    mass = np.concatenate([each for _, each in pairs])
    loss, baseline = (float(np.average(each, weights=mass)) for each in errors)
    if baseline <= 0.0:
        return Performance(0.0, 0.0, 0.0, loss, baseline)
    ratio = loss / baseline
    off = mass * (errors[0] - ratio * errors[1])  # linearised: the standard error of a ratio
    spread = float(np.sqrt(np.sum(off**2))) / (float(mass.sum()) * baseline)
    return Performance(1.0 - ratio, spread, 0.0, loss, baseline)
