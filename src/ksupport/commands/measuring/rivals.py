"""What ``ksupport compare`` compares: every method of the package, and those of others."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import ElasticNetCV, LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ...algorithms import METHODS
from ...estimators import IRKSNCV, AutoIRKSN, PathCV

Make = Callable[[Any, bool], Any]  # of inner folds or their number, and whether X is sparse
RATIOS = (0.1, 0.5, 0.9)
MEAN = "mean of y"


def candidates(seed: int) -> dict[str, Make]:
    """An estimator of each kind, by name; all of them tune themselves on inner folds."""
    made: dict[str, Make] = {
        "AutoIRKSN": lambda cv, sparse: AutoIRKSN(cv=cv, random_state=seed),
        "IRKSNCV": lambda cv, sparse: IRKSNCV(cv=cv, random_state=seed),
    }
    for name in METHODS:
        if name != "irksn":
            made[name] = _path(name, seed)
    made["LassoCV"] = lambda cv, sparse: _scaled(LassoCV(cv=cv), sparse)
    made["ElasticNetCV"] = lambda cv, sparse: _scaled(
        ElasticNetCV(cv=cv, l1_ratio=list(RATIOS)), sparse
    )
    if find_spec("abess") is not None:
        made["abess"] = _abess
    made[MEAN] = lambda cv, sparse: DummyRegressor()
    return made


def _path(name: str, seed: int) -> Make:
    return lambda cv, sparse: PathCV(name, cv=cv, random_state=seed)


def _scaled(model: Any, sparse: bool) -> Any:
    return make_pipeline(StandardScaler(with_mean=not sparse), model)


def _abess(cv: Any, sparse: bool) -> Any:
    # By its own criterion: it is meant to be used so.
    return import_module("abess.linear").LinearRegression(ic_type="ebic")


def size_of(model: Any) -> int:
    """How many features a fitted model uses."""
    last = model[-1] if hasattr(model, "steps") else model
    return int(np.count_nonzero(getattr(last, "coef_", 0)))
