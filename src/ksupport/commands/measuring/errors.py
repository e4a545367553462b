"""How ``ksupport compare`` judges predictions, for each kind of response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...losses import Cox
from ...metrics import concordance


@dataclass(frozen=True)
class ErrorOn:
    """An error on held-out rows, the less the better; and what rows folds should share out."""

    of: Callable[[Any, Any, Any, Any], float]  # model, rows, their response, that of the fit
    words: str
    sorts: Callable[[Any], Any] = lambda y: None


def _squares(model: Any, X: Any, y: Any, fitted: Any) -> float:
    nothing = max(float(np.mean((y - fitted.mean()) ** 2)), 1e-300)
    return float(np.mean((y - model.predict(X)) ** 2)) / nothing


def _wrong(model: Any, X: Any, y: Any, fitted: Any) -> float:
    return float(np.mean(np.asarray(model.predict(X)) != y))


def _discordance(model: Any, X: Any, y: Any, fitted: Any) -> float:
    return 1.0 - concordance(Cox().checked(y), np.asarray(model.predict(X)))


ERRORS = {
    "numbers": ErrorOn(
        _squares, "mean square over that of predicting the mean of the training rows"
    ),
    "classes": ErrorOn(
        _wrong,
        "share of rows whose class is predicted wrongly",
        lambda y: np.unique(y, return_inverse=True)[1],
    ),
    "survival": ErrorOn(
        _discordance,
        "share of pairs of rows that are ordered wrongly (1 minus Harrell's concordance)",
        lambda y: y["event"].astype(float),
    ),
}
