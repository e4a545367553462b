"""Classes, counts and survival times: what users would take instead, as they run it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from ksupport import AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival
from ksupport.metrics import concordance

from .selection_designs import Array

OURS = "automatic"


def l1_logistic() -> Any:
    return LogisticRegressionCV(
        Cs=10, cv=5, penalty="l1", solver="liblinear", scoring="neg_log_loss", random_state=0
    )


def ridge_logistic() -> Any:
    return LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", max_iter=1000)


def _abess(name: str) -> Any:
    import abess

    return getattr(abess, name)(ic_type="ebic")


class Coxnet:
    """scikit-survival's l1 path; the penalty of the best concordance on five folds."""

    def fit(self, X: Array, y: Array) -> Coxnet:
        whole = self._path().fit(X, _structured(y))
        scores = np.zeros(len(whole.alphas_))
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        for train, test in folds.split(X, y[:, 1]):
            part = self._path(alphas=whole.alphas_).fit(X[train], _structured(y[train]))
            scores += [concordance(y[test], X[test] @ w) for w in part.coef_.T]
        self.coef_ = whole.coef_[:, int(np.argmax(scores))]
        return self

    def _path(self, **how: Any) -> Any:
        from sksurv.linear_model import CoxnetSurvivalAnalysis

        return CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=0.05, n_alphas=40, **how)

    def predict(self, X: Array) -> Array:
        return np.asarray(X @ self.coef_)


def _structured(y: Array) -> Any:
    return np.array([(bool(e), t) for t, e in y], [("event", bool), ("time", float)])


METHODS: dict[str, dict[str, Callable[[], Any]]] = {
    "logistic": {
        OURS: AutoIRKSNClassifier,
        "l1, folds": l1_logistic,
        "abess": lambda: _abess("LogisticRegression"),
    },
    "cox": {
        OURS: AutoIRKSNSurvival,
        "coxnet, folds": Coxnet,
        "abess": lambda: _abess("CoxPHSurvivalAnalysis"),
    },
    "poisson": {
        OURS: lambda: AutoIRKSN(loss="poisson"),
        "abess": lambda: _abess("PoissonRegression"),
    },
}


def fitted(make: Callable[[], Any], X: Array, y: Array) -> Any:
    """A fit, whose warnings (of noise, of penalties at the end of a grid) say nothing here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y)
