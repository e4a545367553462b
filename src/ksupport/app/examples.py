"""Data to begin with, made or taken from scikit-learn when they are asked for."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Rows = tuple[list[str], list[list[Any]]]


def _numbers() -> Rows:
    X, y = _genes(80, 120, seed=1)
    rows = [[f"plant{i + 1}", round(float(y[i]), 3), *_round_row(X[i])] for i in range(len(X))]
    return ["plant", "yield", *_names(X)], rows


def _labelled_example(load: str, target: str) -> Rows:
    """A data set of scikit-learn."""
    from sklearn import datasets

    data = getattr(datasets, load)()
    names = [str(name).replace("/", " or ") for name in data.feature_names]
    labels = [str(data.target_names[each]).replace("class_", "grower ") for each in data.target]
    return [target, *names], [
        [label, *map(float, row)] for label, row in zip(labels, data.data, strict=True)
    ]


def _survival() -> Rows:
    import numpy as np

    X, signal = _genes(120, 60, seed=2)
    rng = np.random.default_rng(2)
    age = rng.integers(40, 80, len(X))
    risk = 1.2 * signal / signal.std() + 0.03 * (age - 60)
    until, followed = rng.exponential(60 * np.exp(-risk)), rng.uniform(20, 120, len(X))
    time, event = np.minimum(until, followed) + 0.1, until <= followed
    sex = rng.choice(["f", "m"], len(X))
    rows = [
        [f"P{i + 1:03d}", round(float(time[i]), 1), int(event[i]), int(age[i]), str(sex[i]),
         *_round_row(X[i])]
        for i in range(len(X))
    ]  # fmt: skip
    return ["patient", "time", "event", "age", "sex", *_names(X)], rows


def _example_with_errors() -> Rows:
    header, rows = _numbers()
    header = ["no", "batch", *header]
    rows = [[i + 1, "AB"[i % 2], *row] for i, row in enumerate(rows)]
    rows[2][6] = rows[11][6] = "n.d."
    rows[4][7] = "<0.1"
    for at in (3, 20, 21):
        rows[at][8] = ""
    return header, rows


def _genes(n: int, d: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Simulated expression of genes in blocks of ten that are switched on together."""
    from ..datasets import make_block_data

    X, y, _ = make_block_data(n, d, block_size=10, n_active_blocks=2, snr=4, random_state=seed)
    return X, y


def _round_row(row: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 3) for value in row]


def _names(X: NDArray[np.float64]) -> list[str]:
    return [f"gene{j + 1}" for j in range(X.shape[1])]


class Example(NamedTuple):
    """A file that can be made, and what the page says of it."""

    title: str
    words: str
    file: str
    make: Callable[[], Rows]


EXAMPLES = {
    "numbers": Example(
        "A number", "80 plants, 120 simulated genes: which explain the yield?", "yield.csv",
        _numbers,
    ),
    "classes": Example(
        "Two classes", "569 tumours, 30 measurements: benign or malignant?", "tumours.csv",
        partial(_labelled_example, "load_breast_cancer", "diagnosis"),
    ),
    "three": Example(
        "Three classes", "178 wines from three growers: which one?", "wines.csv",
        partial(_labelled_example, "load_wine", "class"),
    ),
    "survival": Example(
        "Survival", "120 simulated patients: who lives longer, given age and sex?", "survival.csv",
        _survival,
    ),
    "broken": Example(
        "A file with problems", "Missing values, remarks, an id: see how to resolve them.",
        "problems.csv", _example_with_errors,
    ),
}  # fmt: skip


def write_example(name: str, folder: Path) -> Path:
    """Write an example's file into a folder."""
    header, rows = EXAMPLES[name].make()
    path = folder / EXAMPLES[name].file
    with open(path, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path
