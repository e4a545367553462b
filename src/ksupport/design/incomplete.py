"""A matrix with holes: they are filled with the means of the rows that are learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import limits
from .blocks import ArrayStore, Readable
from .stores import Floats, Ints
from .sweeps import steps_of


class Incomplete(Readable):
    """An array of which some entries are missing, as an X to fit on.

    A fit fills the holes of each column with its mean, and a fold with the mean of the rows that
    are walked on there: what is held out tells nothing.  Rows of it (``X[rows]``) are again
    incomplete; columns (``X[:, j]``), and what NumPy makes of it, are filled with the means of
    its own rows.

    Parameters
    ----------
    values : array of shape (n, d)
        The entries, NaN where they are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.design import Incomplete
    >>> X = Incomplete([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0]])
    >>> np.asarray(X)
    array([[1., 5.],
           [3., 4.],
           [2., 6.]])
    """

    def __init__(self, values: ArrayLike) -> None:
        self.values: Floats = np.asarray(values, np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.values.shape
        return n, d

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which entries are."""
        return np.isnan(self.values)

    def store(self) -> IncompleteStore:
        return IncompleteStore(self.values, _means(self.values, np.ones(self.shape[0])))

    def select(self, columns: ArrayLike) -> Incomplete:
        """Only these columns."""
        return Incomplete(self.values[:, np.asarray(columns)])

    def filled(self, means: Floats | None = None) -> Floats:
        """The entries, with these in place of those missing in each column; or its means."""
        means = _means(self.values, np.ones(self.shape[0])) if means is None else means
        return np.where(self.missing, means, self.values)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows, columns = key
            return self.select(columns).filled()[rows]
        return Incomplete(self.values[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.filled(), dtype)


def _means(values: Floats, weights: Floats) -> Floats:
    """Of the entries that are there; zero for columns without any."""
    n, d = values.shape
    means = np.zeros(d)
    for part in steps_of(d, max(1, limits.CHUNK // max(n, 1))):
        block = values[:, part]
        there = ~np.isnan(block)
        total = weights @ there
        first = values[np.argmax(there & (weights > 0)[:, None], axis=0), np.arange(d)[part]]
        first = np.where(total > 0, first, 0.0)  # beside it, the mean of a constant is exact
        away = np.where(there, block - first, 0.0)
        means[part] = first + (weights @ away) / np.where(total > 0, total, 1.0)
    return means


class IncompleteStore(ArrayStore):
    """An array with holes, and what to fill those of each column with."""

    fixed = False
    fill: Floats

    def __init__(self, values: Floats, fill: Floats, counts: list[int] | None = None) -> None:
        self.counts = [0] if counts is None else counts  # passes, of all that read these values
        super().__init__(values)
        self.fill = fill
        self.finite = True  # but for the holes

    @property
    def passes(self) -> int:
        return self.counts[0]

    @passes.setter
    def passes(self, count: int) -> None:
        self.counts[0] = max(count, self.counts[0])

    def learned_from(self, weights: Floats) -> IncompleteStore:
        return IncompleteStore(self.X, _means(self.X, weights), self.counts)

    def _read(self, rows: slice, columns: slice) -> Floats:
        return _fill_missing(super()._read(rows, columns), self.fill[columns])

    def _read_columns(self, index: Ints) -> Floats:
        return _fill_missing(super()._read_columns(index), self.fill[index])


def _fill_missing(block: Floats, fill: Floats) -> Floats:
    np.copyto(block, fill, where=np.isnan(block))
    return block
