"""How well are rows predicted that were not seen?  Real responses, tuning included.

The data of ``ksupport reproduce table-prediction`` and colon; a quarter of the rows is kept for the
test, the 2000 most variable columns of the others are used.  Errors are shares of the mean's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split

from ksupport.datasets import fetch_dataset
from ksupport.experiments.experiment import Cell, Experiment, Row

from .selection_designs import Array, first_seed
from .selection_rivals import METHODS as SELECTING
from .selection_rivals import RELEASES, asked_for
from .selection_scores import Scores, heading, line, told

DATASETS = (
    "leukemia", "california_housing", "scheetz2006", "rhee2006", "riboflavin", "colon",
)  # fmt: skip
METHODS: dict[str, Callable[[], Any]] = {
    **{m: SELECTING[m] for m in ("AutoIRKSN", "IRKSNIC", "IRKSNCV", "LassoCV", "ElasticNetCV")},
    "RidgeCV": lambda: RidgeCV(alphas=np.geomspace(1e-2, 1e6, 25)),
}
RUNS, COLUMNS, SHARE = 10, 2000, 0.25


def compute(method: str, release: int, seed: int, dataset: str) -> list[Row]:
    """The test error of one method on one split."""
    X, X_test, y, y_test = _split(dataset, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals warn of their own convergence
        model = METHODS[method]().fit(X, y)
    error = np.mean((model.predict(X_test) - y_test) ** 2)
    row = {
        "method": method,
        "seed": seed,
        "kind": "prediction",
        "setting": dataset,
        "problem": dataset,
        "error": float(error / np.mean((y_test - y.mean()) ** 2)),
        "size": int(np.count_nonzero(model.coef_)),
    }
    return [row]


def _split(dataset: str, seed: int) -> list[Array]:
    """Two designs and two responses; columns are chosen and standardised by the rows of the fit."""
    X, y = fetch_dataset(dataset, return_X_y=True)
    X = np.log2(X) if dataset == "colon" else X
    X, X_test, y, y_test = train_test_split(X, y, test_size=SHARE, random_state=seed)
    spread = X.std(axis=0)
    kept = np.argsort(-spread, kind="stable")[: min(COLUMNS, np.count_nonzero(spread))]
    mean, scale = X[:, kept].mean(axis=0), spread[kept]
    return [(X[:, kept] - mean) / scale, (X_test[:, kept] - mean) / scale, y, y_test]


def cells(protocol: str, quick: bool, among: tuple[str, ...] = tuple(METHODS)) -> list[Cell]:
    return [
        {
            "method": method,
            "release": RELEASES.get(method, 1),
            "seed": first_seed() + i,
            "dataset": dataset,
        }
        for i in range(1 if quick else RUNS)
        for dataset in DATASETS
        for method in asked_for(among)
    ]


def report(rows: Sequence[Row]) -> Iterator[str]:
    """Errors by data set, and mean ranks over these."""
    if not rows:
        return
    scores = Scores(rows)
    yield heading("test error, share of the mean's", scores.methods)
    for s in scores.settings:
        yield line(s, [scores.mean(s, m, "error") for m in scores.methods])
    yield line("mean", [scores.overall(m, "error") for m in scores.methods])
    ranks = told(scores.mean_ranks(scores.ranked, "error", -1))
    yield f"mean rank in test error (target: AutoIRKSN first or second): {ranks}"


EXPERIMENT = Experiment(
    "selection-prediction",
    __doc__.splitlines()[0],
    1,
    cells,
    compute,
    lambda rows, out: None,
    protocols=("fair",),
)
