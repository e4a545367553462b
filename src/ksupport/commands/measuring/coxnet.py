"""scikit-survival's l1 path with the penalty that folds prefer, as its users tune it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from ...losses import Cox
from ...metrics import concordance

SHORTEST = 0.05  # the least penalty over the largest: beyond, it does not converge
PENALTIES = 40


class CoxnetCV(BaseEstimator):
    """Cox regression with an l1 penalty of the best concordance on folds.

    Parameters
    ----------
    cv : int or iterable of (train, test)
        Folds; of an int with a share of the events each.
    """

    def __init__(self, cv: Any = 5) -> None:
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the path on all rows and on folds."""
        Y = Cox().checked(y)
        whole = _path().fit(X, _structured(Y))
        scores = np.zeros(len(whole.alphas_))
        for train, test in self._splits(X, Y):
            part = _path(alphas=whole.alphas_).fit(X[train], _structured(Y[train]))
            scores += [concordance(Y[test], X[test] @ w) for w in part.coef_.T]
        self.coef_ = whole.coef_[:, int(np.argmax(scores))]
        return self

    def _splits(self, X: Any, Y: Any) -> Any:
        if not isinstance(self.cv, int):
            return self.cv
        return StratifiedKFold(self.cv, shuffle=True, random_state=0).split(X, Y[:, 1])

    def predict(self, X: Any) -> Any:
        """The risk of rows."""
        return np.asarray(X @ self.coef_)


def _path(**how: Any) -> Any:
    path = import_module("sksurv.linear_model").CoxnetSurvivalAnalysis
    return path(l1_ratio=1.0, alpha_min_ratio=SHORTEST, n_alphas=PENALTIES, **how)


def _structured(Y: Any) -> Any:
    return np.array([(bool(e), t) for t, e in Y], [("event", bool), ("time", float)])
