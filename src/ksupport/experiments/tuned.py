"""Support recovery without the truth: estimators that choose everything from the data."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV

from ..estimators import IRKSNCV, IRKSNIC, AutoIRKSN
from ..metrics import support_f1
from ..posterior.judgement import NoSignalWarning
from .experiment import quiet
from .synthetic import draw


def _abess(seed: int) -> Any:
    return import_module("abess").LinearRegression(ic_type="ebic")


# By tuning: the method it tunes, and how to make the estimator.
TUNINGS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "AutoIRKSN": ("irksn", lambda seed: AutoIRKSN(random_state=seed)),
    "IRKSNIC": ("irksn", lambda seed: IRKSNIC()),
    "IRKSNCV": ("irksn", lambda seed: IRKSNCV(random_state=seed)),
    "LassoCV": ("lasso", lambda seed: LassoCV(cv=5)),
    "abess-EBIC": ("abess", _abess),
}


def available() -> tuple[str, ...]:
    """The tunings whose packages are installed."""
    return tuple(t for t in TUNINGS if t != "abess-EBIC" or find_spec("abess") is not None)


def tuned_f1(tuning: str, n: int, rho: float, snr: float, seed: int) -> float:
    """F1 of the model that an estimator chooses by itself."""
    X, y, w = draw(n, rho, snr, seed)
    with quiet(NoSignalWarning):  # it scores as the empty model
        model = TUNINGS[tuning][1](seed).fit(X, y)
    return float(support_f1(w, np.ravel(model.coef_)))
