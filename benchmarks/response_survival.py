"""Survival data that come with scikit-survival: concordance on rows held out, beside coxnet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ksupport.losses import Cox
from ksupport.metrics import concordance

from .measure import Row, at_most, once
from .response_rivals import METHODS, OURS, PREDICTING, TO_PREDICT, fitted
from .selection_designs import Array, standardised

DATA = ("breast_cancer", "gbsg2", "whas500", "veterans_lung_cancer")
BEHIND = 0.01  # concordance that may be lost against coxnet


def data(name: str) -> tuple[Array, Array]:
    """Columns as numbers, categories as dummies, and times with events."""
    import pandas as pd
    import sksurv.datasets

    frame, y = getattr(sksurv.datasets, f"load_{name}")()
    X = pd.get_dummies(frame, drop_first=True).to_numpy(float)
    return standardised(X[:, X.std(axis=0) > 0]), Cox().checked(y)


def predicted(X: Array, y: Array, seed: int) -> Iterator[tuple[str, float, float]]:
    """Method, concordance and number of features, on the folds of one repeat."""
    ways: dict[str, Any] = {way: METHODS["cox"][way] for way in (OURS, "coxnet, folds")}
    ways[TO_PREDICT] = PREDICTING["cox"]
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y[:, 1]):
        for way, make in ways.items():
            model = fitted(make, X[train], y[train])
            score = concordance(y[test], np.asarray(model.predict(X[test])))
            yield way, score, float(np.count_nonzero(model.coef_))


def study_survival(seeds: Iterable[int]) -> Iterator[Row]:
    seeds = list(seeds)
    for name in DATA:
        X, y = data(name)
        found = [each for seed in seeds for each in predicted(X, y, seed)]
        ways = dict.fromkeys(each[0] for each in found)
        means = {way: np.mean([e[1:] for e in found if e[0] == way], axis=0) for way in ways}
        for way, (score, features) in means.items():
            yield Row(f"survival, {name}: concordance, {way}", once(float(score)), unit="")
            yield Row(f"survival, {name}: features, {way}", once(float(features)), unit="")
        for ours in (OURS, TO_PREDICT):
            lost = float(means["coxnet, folds"][0] - means[ours][0])
            row = f"survival, {name}: concordance lost, {ours}"
            yield Row(row, once(lost), target=at_most(BEHIND), unit="")
