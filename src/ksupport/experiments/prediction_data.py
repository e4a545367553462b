"""The data of one run of the prediction experiment: three parts, prepared on the train part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..datasets import DatasetUnavailableError, dataset_path, fetch_dataset
from ..design import Design, Floats, Ints

SEED = 42
SHARE = 0.25  # of the rows, for the test part; then of the others, for the validation part
LARGEST_SEED = 2**31 - 1  # what scikit-learn's coordinate descent draws its seed below


@dataclass(frozen=True)
class Rows:
    """Which samples are in which part."""

    train: Ints
    valid: Ints
    test: Ints


def rows_of_run(n: int, run: int, draws: int = 0) -> Rows:
    """The parts of run ``run`` (from 0) of n samples.

    In the published code all runs share one random state, from which each run takes two
    permutations.  Its Lasso and ElasticNet hand that state on to scikit-learn, which draws a
    seed for every penalty, used or not: ``draws`` of them in each run.  So these two methods see
    other splits than the rest.
    """
    state = np.random.RandomState(SEED)
    for _ in range(run + 1):
        rest, test = train_test_split(np.arange(n), test_size=SHARE, random_state=state)
        train, valid = train_test_split(rest, test_size=SHARE, random_state=state)
        state.randint(0, LARGEST_SEED, size=draws)
    return Rows(train, valid, test)


@dataclass(frozen=True)
class Split:
    """One run's data; X without constant columns and standardised, both on the train part."""

    X_train: Floats
    X_valid: Floats
    X_test: Floats
    y_train: Floats  # as in the data; see ``centred``
    y_valid: Floats
    y_test: Floats
    n_columns: int  # before constant ones were dropped

    @property
    def d(self) -> int:
        return int(self.X_train.shape[1])

    @cached_property
    def y_mean(self) -> float:
        """The intercept, as the columns of ``X_train`` have mean zero."""
        return float(self.y_train.mean())

    def centred(self, y: Floats) -> Floats:
        return y - self.y_mean

    @cached_property
    def design(self) -> Design:
        return Design.of(self.X_train)

    def test_mse(self, w: Floats) -> float:
        return float(np.mean((self.X_test @ w - self.centred(self.y_test)) ** 2))


def split_of(dataset: str, run: int, draws: int = 0, most_columns: int | None = None) -> Split:
    """The data of one run; ``most_columns`` keeps only the first columns."""
    X, y = _data(dataset)
    X = X[:, :most_columns]
    rows = rows_of_run(len(y), run, draws)
    prepare: Any = make_pipeline(VarianceThreshold(), StandardScaler())
    # In column order: standardising, norms and blocks of columns all go by columns.
    prepare.fit(X[rows.train])
    X_train, X_valid, X_test = (
        np.asfortranarray(prepare.transform(X[part]))
        for part in (rows.train, rows.valid, rows.test)
    )
    y_train, y_valid, y_test = y[rows.train], y[rows.valid], y[rows.test]
    return Split(X_train, X_valid, X_test, y_train, y_valid, y_test, X.shape[1])


@cache
def _download_problem(path: Path) -> str:
    """Why a dataset cannot be put where it belongs; empty if it is there now."""
    try:
        fetch_dataset(path.stem, data_home=path.parents[1])
    except (DatasetUnavailableError, ImportError) as error:
        return str(error).splitlines()[0]
    return ""


def unavailable(dataset: str) -> str:
    """Why a dataset cannot be used and what to do, in one line; empty if it can be."""
    path = dataset_path(dataset)
    if path.exists() or not (problem := _download_problem(path)):
        return ""
    return f"{problem} `ksupport data fetch {dataset}` prints where to get it"


@lru_cache(maxsize=1)
def _data(dataset: str) -> tuple[Floats, Floats]:
    X, y = fetch_dataset(dataset, return_X_y=True)
    return X, y
