"""Errors on folds, side by side, and the models that they prefer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Floats
from ..walking import Result
from .grids import STRUCTURE

EQUAL = 1e-12  # share of the largest error by which equal ones may differ


def standard_error(values: Floats) -> Floats:
    """Of the mean over folds, which are rows; 0 if there is one only."""
    folds = len(values)
    size = np.abs(values).max(initial=0.0) or 1.0  # errors are squares, and are squared again
    deviation = (values / size).std(axis=0, ddof=min(folds - 1, 1))
    return np.asarray(size * deviation / np.sqrt(folds))


def clearly_worse(errors: Floats, others: Floats, margin: float) -> Any:
    """Whether errors exceed others, fold by fold, by more than so many standard errors.

    ``errors`` holds one row a fold; the answer is for each of what a row holds.
    """
    finite = np.isfinite(errors).all(axis=0)
    excess = np.where(finite, errors, 0.0) - others.reshape(-1, *[1] * (errors.ndim - 1))
    allowed = margin * standard_error(excess) + EQUAL * abs(others.mean())
    return ~finite | (excess.mean(axis=0) > allowed)


@dataclass(frozen=True)
class FoldTable:
    """Errors on held-out folds: one entry for each fold, path and recorded step."""

    errors: Floats  # folds x paths x records; infinite where a support is too large to refit
    steps: NDArray[np.intp]  # of the records
    sizes: Floats  # paths x records: mean number of features

    @property
    def mean(self) -> Floats:
        return np.asarray(self.errors.mean(axis=0))

    @property
    def spread(self) -> Floats:
        """Standard error of the mean; infinite where an error is."""
        finite = np.isfinite(self.errors).all(axis=0)
        return np.where(finite, standard_error(np.where(finite, self.errors, 0.0)), np.inf)

    def best(self) -> tuple[int, int]:
        """Path and record of the least mean error; the sparsest where only rounding differs."""
        mean = self.mean
        return self._sparsest(mean.min() + EQUAL * mean.max(where=np.isfinite(mean), initial=0.0))

    def simplest(self) -> tuple[int, int]:
        """The sparsest model within one standard error of the best (Breiman et al. 1984)."""
        best = self.best()
        return self._sparsest(float(self.mean[best] + self.spread[best]))

    def _sparsest(self, limit: float) -> tuple[int, int]:
        """Path and record of the fewest features among those with mean errors up to a limit."""
        sizes = np.where(self.mean <= limit, self.sizes, np.inf)
        at = np.unravel_index(int(np.argmin(sizes)), sizes.shape)
        return int(at[0]), int(at[1])


def table_of(errors: list[list[Floats]], walked: list[list[Result]]) -> FoldTable:
    """Put the folds' histories side by side: errors and sizes of every path."""
    histories = [[result.history for result in results] for results in walked]
    longest = max(chain(*histories), key=lambda history: history.n_records)
    count = longest.n_records
    sizes = [aligned([history["n_nonzero"] for history in each], count) for each in histories]
    table = np.stack([aligned(each, count) for each in errors])
    return FoldTable(table, longest["t"], np.mean(sizes, axis=0))


def table_of_iterates(walked: list[list[Result]]) -> FoldTable:
    """Errors and sizes of the iterates themselves, measured along the walk."""
    errors = [[result.history["validation"] for result in results] for results in walked]
    return table_of(errors, walked)


def path_table(settings: list[dict[str, Any]], table: FoldTable) -> dict[str, Any]:
    """One row for every setting and step."""
    _, paths, records = table.errors.shape
    columns = {
        name: np.repeat([params[name] for params in settings], records)
        for name in settings[0]
        if name not in ("loss", *STRUCTURE)  # the same of all, and one the name of errors
    }
    return {
        **columns,
        "t": np.tile(table.steps, paths),
        "size": table.sizes.ravel(),
        "loss": table.mean.ravel(),
        "loss_se": table.spread.ravel(),
    }


def aligned(rows: Sequence[Floats], n_records: int) -> Floats:
    """Histories of different lengths side by side; one that ended keeps its last value."""
    return np.stack(
        [np.r_[row[:n_records], np.repeat(row[-1:], n_records - min(len(row), n_records))]
         for row in rows]
    )  # fmt: skip
