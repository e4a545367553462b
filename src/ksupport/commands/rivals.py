"""What ``ksupport compare`` compares, and how predictions are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_args

import numpy as np
from scipy.sparse import issparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import ElasticNetCV

from ..algorithms import METHODS
from ..estimators import IRKSNCV, IRKSNIC, AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival, PathCV
from ..explain.cross_validation import Kind, coef_of
from ..explain.standard_methods import lasso_and_ridge, scaled
from ..losses import Cox
from ..metrics import concordance
from .fitting.options import AUTO, CV, IC

Make = Callable[[Any, Any], Any]  # an estimator, given the inner folds or their number, and X
L1_RATIOS = (0.1, 0.5, 0.9)
MEAN, LARGEST_CLASS, NO_RISK = "mean of y", "largest class", "no risk"
BASELINES = (MEAN, LARGEST_CLASS, NO_RISK)


def size_of(model: Any, unpenalized: Sequence[int] = ()) -> int:
    """How many features a fitted model uses, besides those that are to be adjusted for."""
    if isinstance(model, DummyRegressor | DummyClassifier | _NoRisk):
        return 0
    used = np.any(np.atleast_2d(coef_of(model)) != 0, axis=0)
    used[list(unpenalized)] = False
    return int(used.sum())


def candidates(
    seed: int, kind: Kind = "numbers", unpenalized: Sequence[int] = ()
) -> dict[str, Make]:
    """An estimator of each kind, by name; all of them tune themselves on inner folds."""
    how: dict[str, Any] = {"random_state": seed}
    if len(unpenalized):
        how["unpenalized"] = list(unpenalized)
    if kind == "numbers":
        return _of_numbers(how)
    if kind == "classes":
        made = {"AutoIRKSNClassifier": _ours(AutoIRKSNClassifier, how)}
        made["l1 logistic"] = _standard("classes", "Lasso")
        made["ridge logistic"] = _standard("classes", "ridge")
        made |= _abess("LogisticRegression")
        return made | {LARGEST_CLASS: lambda cv, X: DummyClassifier(strategy="most_frequent")}
    made = {"AutoIRKSNSurvival": _ours(AutoIRKSNSurvival, how)}
    if find_spec("sksurv") is not None:
        made["coxnet"] = _standard("survival", "Lasso")
    return made | {NO_RISK: lambda cv, X: _NoRisk()}


def names() -> list[str]:
    """Of all that can be compared, whatever the response."""
    return list(dict.fromkeys(name for kind in get_args(Kind) for name in candidates(0, kind)))


def as_in_fit(name: str, known: Iterable[str]) -> str:
    """What is meant by a name of ``ksupport fit --method``, among what is known of a response."""
    if name == AUTO:
        return next(each for each in known if each.startswith("AutoIRKSN"))
    return {CV: "IRKSNCV", IC: "IRKSNIC"}.get(name, name)


def _of_numbers(how: dict[str, Any]) -> dict[str, Make]:
    made = {"AutoIRKSN": _ours(AutoIRKSN, how), "IRKSNCV": _ours(IRKSNCV, how)}
    made["IRKSNIC"] = lambda cv, X: IRKSNIC(unpenalized=how.get("unpenalized"))
    made |= {name: _ours(partial(PathCV, name), how) for name in METHODS if name != "irksn"}
    made |= {"LassoCV": _standard("numbers", "Lasso"), "RidgeCV": _standard("numbers", "ridge")}
    made["ElasticNetCV"] = lambda cv, X: scaled(
        ElasticNetCV(cv=cv, l1_ratio=list(L1_RATIOS)), centred=not issparse(X)
    )
    return made | _abess("LinearRegression") | {MEAN: lambda cv, X: DummyRegressor()}


class _NoRisk:
    """Predicts one risk for all rows."""

    def fit(self, X: Any, y: Any) -> _NoRisk:
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(X.shape[0])


def _ours(estimator: Any, how: dict[str, Any]) -> Make:
    return lambda cv, X: estimator(cv=cv, **how)


def _standard(kind: Kind, name: str) -> Make:
    """The Lasso or the ridge that ``ksupport fit`` compares with, too."""
    return lambda cv, X: lasso_and_ridge(X, lambda rows: cv, kind)[name](np.arange(X.shape[0]))


def _abess(name: str) -> dict[str, Make]:
    """By its own criterion: it is meant to be used so."""
    if find_spec("abess") is None:
        return {}
    return {"abess": lambda cv, X: getattr(import_module("abess"), name)(ic_type="ebic")}


@dataclass(frozen=True)
class ErrorMeasure:
    """An error on held-out rows, smaller is better; and what folds are stratified by."""

    of: Callable[[Any, Any, Any, Any], float]  # model, rows, their response, that of the fit
    words: str
    sorts: Callable[[Any], Any] = lambda y: None


def _squares(model: Any, X: Any, y: Any, fitted: Any) -> float:
    baseline = max(float(np.mean((y - fitted.mean()) ** 2)), 1e-300)
    return float(np.mean((y - model.predict(X)) ** 2)) / baseline


ERRORS = {
    "numbers": ErrorMeasure(
        _squares, "mean squared error, relative to predicting the mean of the training rows"
    ),
    "classes": ErrorMeasure(
        lambda model, X, y, fitted: float(np.mean(np.asarray(model.predict(X)) != y)),
        "share of rows whose class is predicted wrongly",
        lambda y: np.unique(y, return_inverse=True)[1],
    ),
    "survival": ErrorMeasure(
        lambda model, X, y, fitted: 1.0 - concordance(Cox().checked(y), model.predict(X)),
        "share of pairs of rows that are ordered wrongly (1 minus Harrell's concordance)",
        lambda y: y["event"].astype(float),
    ),
}
