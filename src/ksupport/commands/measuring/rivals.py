"""What ``ksupport compare`` compares: every method of the package, and those of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNetCV, LassoCV, RidgeCV

from ...algorithms import METHODS
from ...estimators import IRKSNCV, AutoIRKSN, PathCV
from ...explain.usual import STRENGTHS, scaled

Make = Callable[[Any, bool], Any]  # of inner folds or their number, and whether X is sparse
RATIOS = (0.1, 0.5, 0.9)
MEAN = "mean of y"


@dataclass(frozen=True)
class Rival:
    """How to make an estimator, and where it has its coefficients once it is fitted."""

    make: Make
    coef: Callable[[Any], Any] = attrgetter("coef_")

    def size(self, model: Any) -> int:
        """How many features a fitted model uses."""
        return int(np.count_nonzero(self.coef(model)))


def candidates(seed: int) -> dict[str, Rival]:
    """An estimator of each kind, by name; all of them tune themselves on inner folds."""
    made = {
        "AutoIRKSN": Rival(lambda cv, sparse: AutoIRKSN(cv=cv, random_state=seed)),
        "IRKSNCV": Rival(lambda cv, sparse: IRKSNCV(cv=cv, random_state=seed)),
    }
    made |= {name: _path(name, seed) for name in METHODS if name != "irksn"}
    made["LassoCV"] = _scaled(lambda cv: LassoCV(cv=cv))
    made["RidgeCV"] = _scaled(lambda cv: RidgeCV(alphas=STRENGTHS))
    made["ElasticNetCV"] = _scaled(lambda cv: ElasticNetCV(cv=cv, l1_ratio=list(RATIOS)))
    if find_spec("abess") is not None:
        made["abess"] = Rival(_abess)
    made[MEAN] = Rival(_mean, coef=lambda model: 0)
    return made


def _path(name: str, seed: int) -> Rival:
    return Rival(lambda cv, sparse: PathCV(name, cv=cv, random_state=seed))


def _scaled(model: Callable[[Any], Any]) -> Rival:
    """A model on columns of unit variance, which scikit-learn's do not see to."""

    def make(cv: Any, sparse: bool) -> Any:
        return scaled(model(cv), centred=not sparse)

    return Rival(make, coef=lambda pipeline: pipeline[-1].coef_)


def _abess(cv: Any, sparse: bool) -> Any:
    # By its own criterion: it is meant to be used so.
    return import_module("abess.linear").LinearRegression(ic_type="ebic")


def _mean(cv: Any, sparse: bool) -> Any:
    from sklearn.dummy import DummyRegressor

    return DummyRegressor()
