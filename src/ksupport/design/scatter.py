"""Scatter of rows: all that sums of squares say of them, gathered in one pass and pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyr, dsyrk
from scipy.linalg.lapack import dpstrf, dtpttr, dtrttp

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass
class Scatter:
    """Weight, mean and Σ w (x - mean)(x - mean)ᵀ of rows x, to which more can be added.

    Parts are pooled about their own means (Chan, Golub and LeVeque 1979): squares are added and
    never subtracted, so neither a large mean nor a wild row in another part costs digits.
    """

    total: float  # sum of the weights
    origin: Floats  # one of the rows
    offset: Floats  # of the mean from there: so it keeps its digits, however large the mean
    upper: Floats  # triangle, by columns; zeros below

    @classmethod
    def empty(cls, width: int) -> Scatter:
        return cls(0.0, np.zeros(width), np.zeros(width), np.zeros((width, width), order="F"))

    def __getstate__(self) -> dict[str, Any]:
        """What is sent from worker to worker, and home: the triangle without its zeros."""
        return {**self.__dict__, "upper": dtrttp(self.upper)[0]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.upper = np.asfortranarray(np.triu(dtpttr(len(self.origin), state["upper"])[0]))

    @property
    def mean(self) -> Floats:
        return self.origin + self.offset

    @property
    def variance(self) -> Floats:
        return np.asarray(np.diag(self.upper) / self.total)

    def add(self, rows: Floats, weights: Floats | None) -> None:
        """Count rows, which are overwritten."""
        origin = rows[0].copy()
        rows -= origin
        total = float(len(rows) if weights is None else weights.sum())
        offset = (rows.sum(axis=0) if weights is None else weights @ rows) / total
        rows -= offset
        if weights is not None:
            rows *= np.sqrt(weights)[:, None]
        self.upper = dsyrk(1.0, rows.T, beta=1.0, c=self.upper, overwrite_c=1)
        self._join(total, origin, offset)

    def pool(self, other: Scatter, times: float = 1.0) -> None:
        """Count rows of which the scatter is known, so many times."""
        if times * other.total > 0:
            self.upper += times * other.upper
            self._join(times * other.total, other.origin, other.offset)

    def _join(self, more: float, origin: Floats, offset: Floats) -> None:
        """Move on to the common mean."""
        if self.total == 0:
            self.total, self.origin, self.offset = more, origin, offset
            return
        both, away = self.total + more, (origin - self.origin) + (offset - self.offset)
        self.upper = dsyr(self.total * more / both, away, a=self.upper, overwrite_a=1)
        self.offset = self.offset + away * (more / both)
        self.total = both

    def about(self, centre: Floats) -> Floats:
        """The upper triangle of Σ w (x - centre)(x - centre)ᵀ."""
        away = (self.origin - centre) + self.offset
        return np.asarray(dsyr(self.total, away, a=self.upper))


def pooled(parts: Sequence[Scatter], times: Sequence[float]) -> Scatter:
    """The scatter of all rows of some parts, each counted so many times."""
    whole = Scatter.empty(len(parts[0].origin))
    for part, count in zip(parts, times, strict=True):
        whole.pool(part, count)
    return whole


def pool_each(several: Sequence[Sequence[Scatter]]) -> list[Scatter]:
    """The pooled scatter of each class of rows, from those of several blocks."""
    return [pooled(parts, [1.0] * len(parts)) for parts in zip(*several, strict=True)]


def add_rows(
    found: Sequence[Scatter], raw: Floats, Y: Floats, labels: Ints, weights: Floats | None
) -> None:
    """Count the rows of a block of [X Y], each in the scatter that its label says; -1: in none."""
    d = raw.shape[1]
    for label in np.unique(labels[labels >= 0]).tolist():
        mine = np.flatnonzero(labels == label)
        rows = np.empty((mine.size, d + Y.shape[1]))
        rows[:, :d] = raw if mine.size == len(raw) else raw[mine]
        rows[:, d:] = Y[mine]
        found[label].add(rows, None if weights is None else weights[mine])


def classes_of(n: int, sets: Sequence[Ints], most: int) -> tuple[Ints, Ints] | None:
    """Rows told apart by how often each set has them; None if that makes too many classes.

    Returns a label for each row, -1 if no set has it, and sets x labels: how often.
    """
    labels, times = np.zeros(n, np.intp), np.zeros((0, 1), np.intp)
    for rows in sets:
        count = np.bincount(rows, minlength=n)
        base = int(count.max()) + 1
        count += base * labels
        there = np.flatnonzero(np.bincount(count))
        labels = np.searchsorted(there, count)
        times = np.vstack([times[:, there // base], there % base])
        if np.count_nonzero(times.any(axis=0)) > most:
            return None
    used = times.any(axis=0)
    return np.where(used, np.cumsum(used) - 1, -1)[labels], times[:, used]


def square_root(gram: Floats) -> Floats:
    """An R with RᵀR = gram, which has as many rows as the rank that rounding leaves.

    Of the matrix, which is overwritten, only the upper triangle is read.
    """
    # Equilibrated, so that small columns are not lost beside large ones.
    size = np.sqrt(np.diag(gram))
    size[size == 0.0] = 1.0
    gram /= size
    gram /= size[:, None]
    factor, order, rank, _ = dpstrf(gram, overwrite_a=1)
    root = np.zeros((max(rank, 1), len(gram)), order="F")
    root[:rank, order - 1] = np.triu(factor[:rank])
    root *= size
    return root
