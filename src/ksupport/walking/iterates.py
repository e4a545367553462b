"""Iterates recorded in one go, dense on the features that were at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .. import limits
from .._kernels import RECORDED
from ..design import Design, Floats, Ints

SparseRows = tuple[Floats, Ints, Ints]


def stack_rows(parts: Sequence[SparseRows], d: int) -> sp.csr_array:
    """One sparse array of all rows."""
    values, index, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((values, index, indptr), shape=(len(counts), d))


@dataclass(frozen=True)
class Block:
    """Iterates recorded in one go, dense on the features that were at hand."""

    t: Ints  # step of each iterate
    rows: Floats  # one iterate a row, on ``features``
    design: Design  # where it was walked
    features: Ints | None = None  # None: all of them, in order
    columns: Floats | None = None  # those columns of the design as rows (m x n), if at hand
    diverged: bool = False
    gain: Floats | None = None  # how far noise can have been amplified, where the path knows

    def predict(self, design: Design) -> Floats:
        """X̃ w for every row w, an R x n array, on this design or another one."""
        if self.columns is not None and design is self.design:
            return self.rows @ self.columns
        used = np.flatnonzero(self.rows.any(axis=0))
        if used.size * design.n <= limits.BLOCK_NUMBERS and design.has_columns:
            index = used if self.features is None else self.features[used]
            return self.rows[:, used] @ design.columns(index)
        return design.matmat(self.dense(design.d).T).T

    def dense(self, d: int) -> Floats:
        """The iterates as rows of all d features."""
        if self.features is None:
            return self.rows
        out = np.zeros((len(self.rows), d))
        out[:, self.features] = self.rows
        return out

    def row(self, at: int) -> Floats:
        """One iterate on all features."""
        out = np.zeros(self.design.d)
        out[slice(None) if self.features is None else self.features] = self.rows[at]
        return out

    def sparse(self) -> SparseRows:
        """Values, features and number of nonzeros, row by row."""
        nonzero = self.rows != 0
        column = np.nonzero(nonzero)[1]
        index = column if self.features is None else self.features[column]
        return self.rows[nonzero], index, nonzero.sum(axis=1)

    def head(self, count: int) -> Block:
        """The first ``count`` records."""
        gain = None if self.gain is None else self.gain[:count]
        return replace(self, t=self.t[:count], rows=self.rows[:count], gain=gain)


def room_for(n_steps: int, every: int, width: int, most_numbers: int) -> int:
    """Rows for the iterates that so many steps record, if that is not too many numbers."""
    return max(1, min(n_steps // every + 2, most_numbers // max(width, 1)))


def together(parts: Sequence[tuple[Ints, Floats]], d: int) -> tuple[Ints, Floats]:
    """Rows on different features one below the other, on the features that some row uses."""
    features, rows = parts[0]
    if len(parts) > 1:
        at, features, rows = 0, np.arange(d), np.zeros((sum(len(part) for _, part in parts), d))
        for mine, part in parts:
            rows[at : at + len(part), mine] = part
            at += len(part)
    used = np.flatnonzero(rows.any(axis=0))
    return features[used], rows[:, used]


def recorded_steps(before: int, clock: Ints, every: int, n_rows: int) -> Ints:
    """The steps of the rows recorded since step ``before``."""
    t = (before // every + 1 + np.arange(n_rows)) * every
    t[-1:] = clock[RECORDED]  # the last one may be off the grid
    return t
