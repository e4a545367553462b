"""Parts of a sweep over X: what is read ahead, added up and remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import limits
from .stores import Floats, Ints

LOST = 1e-10  # variance, as a share of a squared mean, below which their difference is rounding
Key = TypeVar("Key")
Value = TypeVar("Value")
Number = TypeVar("Number", np.int8, np.float64)


def read_ahead(read: Callable[[Key], Value], keys: Iterable[Key]) -> Iterator[tuple[Key, Value]]:
    """Every key in order with what was read for it; the next is read meanwhile, in a thread."""
    keys = list(keys)
    if len(keys) == 1:
        yield keys[0], read(keys[0])
        return
    reader = ThreadPoolExecutor(1, "ksupport-read-ahead")
    try:
        waiting = reader.submit(read, keys[0])
        for key, following in zip(keys, [*keys[1:], None], strict=True):
            value = waiting.result()
            if following is not None:
                waiting = reader.submit(read, following)
            yield key, value
            del value
    finally:
        reader.shutdown(cancel_futures=True)


def steps_of(length: int, step: int) -> list[slice]:
    return [slice(at, min(length, at + step)) for at in range(0, length, step)]


class Moments:
    """Weighted sums of columns, from which means and variances follow, block by block.

    Shifting every column by an entry that counts keeps one-pass variances accurate under large
    means, and exactly zero for constant columns.  Several weights share the shift.
    """

    def __init__(self, weights: Sequence[Floats], d: int) -> None:
        self.weights = np.stack(weights)
        self.has_weight = np.asarray(self.weights.any(axis=0))
        self.shift = np.zeros(d)
        self.first, self.second = np.zeros((2, len(weights), d))
        self._shifted: set[int] = set()

    def add(self, rows: slice, columns: slice, block: Floats) -> None:
        """Count a rectangle; rectangles of other rows must have the same columns."""
        W = self.weights[:, rows]
        if not W.any():
            return
        if columns.start not in self._shifted:
            self._shifted.add(columns.start)
            self.shift[columns] = block[int(np.argmax(self.has_weight[rows]))]
        moved = block - self.shift[columns]
        self.first[:, columns] += W @ moved
        self.second[:, columns] += W @ np.square(moved, out=moved)

    def result(self, read: Callable[[Ints], Floats]) -> list[tuple[Floats, Floats]]:
        """Means and variances by each of the weights, given how columns are read.

        An entry that others count says little of columns that are nearly constant besides: these
        are looked at again.
        """
        sums = zip(self.weights, self.first, self.second, strict=True)
        return [self._of(*each, read) for each in sums]

    def _of(
        self, w: Floats, first: Floats, second: Floats, read: Callable[[Ints], Floats]
    ) -> tuple[Floats, Floats]:
        total = w.sum()
        moved = first / total
        mean, variance = self.shift + moved, np.maximum(second / total - moved**2, 0.0)
        lost = np.flatnonzero(variance < LOST * moved**2)
        for part in steps_of(lost.size, max(1, limits.CHUNK // w.size)):
            some = lost[part]
            block = read(some)
            entry = block[int(np.argmax(w > 0))]
            moved = (w @ (block - entry)) / total
            mean[some] = entry + moved
            variance[some] = np.maximum((w @ (block - entry) ** 2) / total - moved**2, 0.0)
        return mean, variance


class RecentColumns:
    """Columns that were read lately, so that paths and folds do not read them again."""

    def __init__(self, most: int) -> None:
        self.most = most  # columns to remember
        self._columns: dict[int, NDArray[Any]] = {}
        self._lock = Lock()

    def get(self, index: Ints, read: Callable[[Ints], NDArray[Number]]) -> NDArray[Number]:
        """The columns at ``index``; those not at hand are read, in one go."""
        if index.size > self.most or not index.size:
            return read(index)
        with self._lock:
            wanted = np.unique(index)
            missing = np.array([j for j in wanted if int(j) not in self._columns], np.intp)
            if missing.size:
                found = np.ascontiguousarray(read(missing).T)
                self._columns |= dict(zip(missing.tolist(), found, strict=True))
            block = np.stack([self._columns[int(j)] for j in index]).T
            for j in list(self._columns)[: max(len(self._columns) - self.most, 0)]:
                del self._columns[j]
            return block


def strip_of(length: int, unit: int) -> tuple[int, int]:
    """How wide a strip of this length is, and how often a stored chunk is read for that."""
    if length * unit <= limits.STRIP:
        return unit * max(1, limits.CHUNK // (length * unit)), 1
    width = max(1, limits.STRIP // length)
    return width, -(-unit // width)


def named(where: str, read: Callable[[], Value]) -> Value:
    """What was read; an error says where."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception as error:  # whatever a file system or a codec raises
        raise OSError(f"X: {where} could not be read: {error}") from error
