"""Scatter of rows: all that sums of squares say of them, gathered in one pass and pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyr, dsyrk
from scipy.linalg.lapack import dpstrf

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass
class Scatter:
    """Weight, mean and Σ w (x - mean)(x - mean)ᵀ of rows x, to which more can be added.

    Parts are pooled about their own means (Chan, Golub and LeVeque 1979): squares are added and
    never subtracted, so neither a large mean nor a wild row in another part costs digits.
    """

    total: float  # sum of the weights
    mean: Floats
    upper: Floats  # only the upper triangle is kept up to date

    @classmethod
    def empty(cls, width: int) -> Scatter:
        return cls(0.0, np.zeros(width), np.zeros((width, width), order="F"))

    @property
    def variance(self) -> Floats:
        return np.asarray(np.diag(self.upper) / self.total)

    def add(self, rows: Floats, weights: Floats | None) -> None:
        """Count rows, which are overwritten."""
        # Less one of them first: then constant columns are exactly zero.
        first = rows[0].copy()
        rows -= first
        total = float(len(rows) if weights is None else weights.sum())
        away = (rows.sum(axis=0) if weights is None else weights @ rows) / total
        rows -= away
        if weights is not None:
            rows *= np.sqrt(weights)[:, None]
        self.upper = dsyrk(1.0, rows.T, beta=1.0, c=self.upper, overwrite_c=1)
        self._join(total, first + away)

    def pool(self, other: Scatter, times: float = 1.0) -> None:
        """Count rows of which the scatter is known, so many times."""
        if times * other.total > 0:
            self.upper += times * other.upper
            self._join(times * other.total, other.mean)

    def _join(self, more: float, mean: Floats) -> None:
        """Move on to the common mean."""
        both, away = self.total + more, mean - self.mean
        if self.total > 0:
            self.upper = dsyr(self.total * more / both, away, a=self.upper, overwrite_a=1)
        self.mean = self.mean + away * (more / both) if self.total > 0 else mean
        self.total = both

    def about(self, centre: Floats | None) -> Floats:
        """Σ w (x - centre)(x - centre)ᵀ; None: about the mean."""
        full = np.triu(self.upper) + np.triu(self.upper, 1).T
        if centre is not None:
            away = self.mean - centre
            full += self.total * np.outer(away, away)
        return np.asarray(full)


def pooled(parts: Sequence[Scatter], times: Sequence[float]) -> Scatter:
    """The scatter of all rows of some parts, each counted so many times."""
    whole = Scatter.empty(len(parts[0].mean))
    for part, count in zip(parts, times, strict=True):
        whole.pool(part, count)
    return whole


def pool_each(several: Sequence[Sequence[Scatter]]) -> list[Scatter]:
    """The same for each class of rows, of which several blocks tell."""
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
        if there.size > most + 1:
            return None
        labels = np.searchsorted(there, count)
        times = np.vstack([times[:, there // base], there % base])
    used = times.any(axis=0)
    return np.where(used, np.cumsum(used) - 1, -1)[labels], times[:, used]


def square_root(gram: Floats) -> Floats:
    """An R with RᵀR = gram, which has as many rows as the rank that rounding leaves."""
    # Equilibrated, so that small columns are not lost beside large ones.
    size = np.sqrt(np.diag(gram))
    size[size == 0.0] = 1.0
    factor, order, rank, _ = dpstrf(gram / size / size[:, None], overwrite_a=1)
    root = np.zeros((max(rank, 1), len(gram)))
    root[:rank, order - 1] = np.triu(factor[:rank])
    return root * size
