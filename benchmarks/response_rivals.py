"""Classes, counts and survival times: what users would take instead, as they run it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.linear_model import LogisticRegressionCV

from ksupport import AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival
from ksupport.explain.standard_methods import CoxLasso, OneAgainstOthers

from .selection_designs import Array

OURS = "automatic"
TO_PREDICT = f"{OURS}, beta=2"


def l1_logistic() -> Any:
    return LogisticRegressionCV(
        Cs=10, cv=5, penalty="l1", solver="liblinear", scoring="neg_log_loss", random_state=0
    )


def l1_each_class() -> Any:
    """Of several classes, which liblinear takes one at a time."""
    return OneAgainstOthers(l1_logistic())


def l1_saga() -> Any:
    return LogisticRegressionCV(
        Cs=10, cv=5, penalty="l1", solver="saga", scoring="neg_log_loss", random_state=0
    )


def ridge_logistic() -> Any:
    return LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", max_iter=1000)


def _abess(name: str) -> Any:
    import abess

    return getattr(abess, name)(ic_type="ebic")


METHODS: dict[str, dict[str, Callable[[], Any]]] = {
    "logistic": {
        OURS: AutoIRKSNClassifier,
        "l1, folds": l1_logistic,
        "abess": lambda: _abess("LogisticRegression"),
    },
    "cox": {
        OURS: AutoIRKSNSurvival,
        "coxnet, folds": CoxLasso,
        "abess": lambda: _abess("CoxPHSurvivalAnalysis"),
    },
    "poisson": {
        OURS: lambda: AutoIRKSN(loss="poisson"),
        "abess": lambda: _abess("PoissonRegression"),
    },
}


PREDICTING: dict[str, Callable[[], Any]] = {
    "logistic": partial(AutoIRKSNClassifier, beta=2.0),
    "cox": partial(AutoIRKSNSurvival, beta=2.0),
}


def fitted(make: Callable[[], Any], X: Array, y: Array) -> Any:
    """A fit, whose warnings (of noise, of penalties at the end of a grid) say nothing here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y)
