"""What ``ksupport compare`` compares, and how predictions are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegressionCV, RidgeCV

from ..algorithms import METHODS
from ..estimators import IRKSNCV, IRKSNIC, AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival, PathCV
from ..explain.standard_methods import STRENGTHS, CoxLasso, OneAgainstOthers, scaled
from ..losses import Cox
from ..metrics import concordance
from .fitting.options import AUTO, CV, IC

# -- every method by name ----------------------------------------------------------------


Make = Callable[[Any, bool], Any]  # of inner folds or their number, and whether X is sparse
RATIOS = (0.1, 0.5, 0.9)
PENALTIES = 10  # of logistic regressions
MEAN, LARGEST, NO_RISK = "mean of y", "largest class", "no risk"
BASELINES = (MEAN, LARGEST, NO_RISK)


@dataclass(frozen=True)
class Rival:
    """How to make an estimator, and where it has its coefficients once it is fitted."""

    make: Make
    coef: Callable[[Any], Any] = attrgetter("coef_")

    def size(self, model: Any, unpenalized: Sequence[int] = ()) -> int:
        """How many features a fitted model uses, besides those that are to be adjusted for."""
        used = np.any(np.atleast_2d(self.coef(model)) != 0, axis=0)
        if used.size > 1:
            used[list(unpenalized)] = False
        return int(used.sum())


def candidates(
    seed: int, kind: str = "numbers", unpenalized: Sequence[int] = ()
) -> dict[str, Rival]:
    """An estimator of each kind, by name; all of them tune themselves on inner folds."""
    how: dict[str, Any] = {"random_state": seed}
    if len(unpenalized):
        how["unpenalized"] = list(unpenalized)
    return {"numbers": _of_numbers, "classes": _of_classes, "survival": _of_survival}[kind](how)


def names() -> list[str]:
    """Of all that can be compared, whatever the response."""
    return list(dict.fromkeys(name for kind in KINDS for name in candidates(0, kind)))


def as_in_fit(name: str, known: Iterable[str]) -> str:
    """What is meant by a name of ``ksupport fit --method``, among what is known of a response."""
    if name == AUTO:
        return next(each for each in known if each.startswith("AutoIRKSN"))
    return {CV: "IRKSNCV", IC: "IRKSNIC"}.get(name, name)


KINDS = ("numbers", "classes", "survival")


def _of_numbers(how: dict[str, Any]) -> dict[str, Rival]:
    made = {"AutoIRKSN": _ours(AutoIRKSN, how), "IRKSNCV": _ours(IRKSNCV, how)}
    made["IRKSNIC"] = Rival(lambda cv, sparse: IRKSNIC(unpenalized=how.get("unpenalized")))
    made |= {name: _path(name, how) for name in METHODS if name != "irksn"}
    made["LassoCV"] = _scaled(lambda cv: LassoCV(cv=cv))
    made["RidgeCV"] = _scaled(lambda cv: RidgeCV(alphas=STRENGTHS))
    made["ElasticNetCV"] = _scaled(lambda cv: ElasticNetCV(cv=cv, l1_ratio=list(RATIOS)))
    return made | _abess("LinearRegression") | {MEAN: _nothing(DummyRegressor())}


def _of_classes(how: dict[str, Any]) -> dict[str, Rival]:
    common = {"Cs": PENALTIES, "scoring": "neg_log_loss"}

    def l1(cv: Any) -> Any:
        given = common | {"penalty": "l1", "solver": "liblinear"}
        model = LogisticRegressionCV(cv=cv, random_state=how["random_state"], **given)
        return OneAgainstOthers(model)

    def ridge(cv: Any) -> Any:
        return LogisticRegressionCV(cv=cv, max_iter=1000, **common)

    made = {"AutoIRKSNClassifier": _ours(AutoIRKSNClassifier, how)}
    made |= {"l1 logistic": _scaled(l1), "ridge logistic": _scaled(ridge)}
    made |= _abess("LogisticRegression")
    return made | {LARGEST: _nothing(DummyClassifier(strategy="most_frequent"))}


def _of_survival(how: dict[str, Any]) -> dict[str, Rival]:
    made = {"AutoIRKSNSurvival": _ours(AutoIRKSNSurvival, how)}
    if find_spec("sksurv") is not None:
        made["coxnet"] = Rival(lambda cv, sparse: CoxLasso(cv))
    return made | {NO_RISK: _nothing(_NoRisk())}


class _NoRisk:
    """The same risk of all rows, whatever is known of them."""

    def fit(self, X: Any, y: Any) -> _NoRisk:
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(X.shape[0])


def _ours(estimator: Any, how: dict[str, Any]) -> Rival:
    return Rival(lambda cv, sparse: estimator(cv=cv, **how))


def _path(name: str, how: dict[str, Any]) -> Rival:
    return Rival(lambda cv, sparse: PathCV(name, cv=cv, **how))


def _scaled(model: Callable[[Any], Any]) -> Rival:
    """A model on columns of unit variance, which scikit-learn's do not see to."""

    def make(cv: Any, sparse: bool) -> Any:
        return scaled(model(cv), centred=not sparse)

    return Rival(make, coef=lambda pipeline: pipeline[-1].coef_)


def _abess(name: str) -> dict[str, Rival]:
    """By its own criterion: it is meant to be used so."""
    if find_spec("abess") is None:
        return {}
    return {
        "abess": Rival(lambda cv, sparse: getattr(import_module("abess"), name)(ic_type="ebic"))
    }


def _nothing(model: Any) -> Rival:
    return Rival(lambda cv, sparse: model, coef=lambda model: 0)


# -- errors ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorMeasure:
    """An error on held-out rows, the less the better; and what rows folds should share out."""

    of: Callable[[Any, Any, Any, Any], float]  # model, rows, their response, that of the fit
    words: str
    sorts: Callable[[Any], Any] = lambda y: None


def _squares(model: Any, X: Any, y: Any, fitted: Any) -> float:
    baseline = max(float(np.mean((y - fitted.mean()) ** 2)), 1e-300)
    return float(np.mean((y - model.predict(X)) ** 2)) / baseline


def _wrong(model: Any, X: Any, y: Any, fitted: Any) -> float:
    return float(np.mean(np.asarray(model.predict(X)) != y))


def _discordance(model: Any, X: Any, y: Any, fitted: Any) -> float:
    return 1.0 - concordance(Cox().checked(y), np.asarray(model.predict(X)))


ERRORS = {
    "numbers": ErrorMeasure(
        _squares, "mean square over that of predicting the mean of the training rows"
    ),
    "classes": ErrorMeasure(
        _wrong,
        "share of rows whose class is predicted wrongly",
        lambda y: np.unique(y, return_inverse=True)[1],
    ),
    "survival": ErrorMeasure(
        _discordance,
        "share of pairs of rows that are ordered wrongly (1 minus Harrell's concordance)",
        lambda y: y["event"].astype(float),
    ),
}
