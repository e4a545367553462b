"""Iterates recorded in one go, dense on the features that were at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .. import limits
from .._kernels.working_set import Clock
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
    # Those columns of the design as rows (m x n), if at hand; of others once the path goes on.
    columns: Floats | None = None
    diverged: bool = False
    gain: Floats | None = None  # how far noise can have been amplified, where the path knows
    targets: int = 1  # responses; a row has the coefficients of each side by side
    known_fitted: Floats | None = None  # X̃w of each, where the walk has computed it

    @property
    def by_response(self) -> Floats:
        """The coefficients, iterates x responses x features."""
        return _by_response(self.rows, self.targets)

    @property
    def n_nonzero(self) -> Ints:
        """How many features each iterate has."""
        used = self.rows if self.targets == 1 else self.by_response.any(axis=1)
        return np.count_nonzero(used, axis=1)

    def predict(self, design: Design) -> Floats:
        """X̃ w for every row w, an R x n array, on this design or another one.

        Of several responses, fitted values stand side by side, too.
        """
        return self.fitted if design is self.design else self._predicted(design)

    @cached_property
    def fitted(self) -> Floats:
        """X̃ w for every row w on the design of the walk, which several measures ask for."""
        return self._predicted(self.design) if self.known_fitted is None else self.known_fitted

    def _predicted(self, design: Design) -> Floats:
        each = self.by_response
        rows = each.reshape(len(each) * self.targets, each.shape[-1])
        return self._predict(rows, design).reshape(len(self.rows), self.targets * design.n)

    def _predict(self, rows: Floats, design: Design) -> Floats:
        if self.columns is not None and design is self.design:
            return rows @ self.columns
        used = np.flatnonzero(rows.any(axis=0))
        if used.size * design.n <= limits.BLOCK_NUMBERS and design.has_columns:
            index = used if self.features is None else self.features[used]
            return rows[:, used] @ design.columns(index)
        return design.matmat(self.dense(design.d).reshape(len(rows), design.d).T).T

    def dense(self, d: int) -> Floats:
        """The iterates as rows of all d features."""
        if self.features is None:
            return self.rows
        return _spread(self.rows, self.features, d, self.targets)

    def row(self, at: int) -> Floats:
        """One iterate on all features."""
        return replace(self, rows=self.rows[[at]]).dense(self.design.d)[0].copy()

    def sparse(self) -> SparseRows:
        """Values, places and number of nonzeros, row by row."""
        nonzero = self.rows != 0
        column = np.nonzero(nonzero)[1]
        if self.features is not None:
            response, column = np.divmod(column, max(self.features.size, 1))
            column = response * self.design.d + self.features[column]
        return self.rows[nonzero], column, nonzero.sum(axis=1)

    def head(self, count: int) -> Block:
        """The first ``count`` records."""
        gain = None if self.gain is None else self.gain[:count]
        fitted = None if self.known_fitted is None else self.known_fitted[:count]
        return replace(
            self, t=self.t[:count], rows=self.rows[:count], gain=gain, known_fitted=fitted
        )


def room_for(n_steps: int, every: int, width: int, most_numbers: int) -> int:
    """Rows for the iterates that so many steps record, if that is not too many numbers."""
    return max(1, min(n_steps // every + 2, most_numbers // max(width, 1)))


def together(parts: Sequence[tuple[Ints, Floats]], d: int, targets: int = 1) -> tuple[Ints, Floats]:
    """Rows on different features one below the other, on the features that some row uses."""
    kept, inside = [], np.zeros(d, bool)
    for features, rows in parts:
        used = np.flatnonzero(rows.any(axis=0).reshape(targets, -1).any(axis=0))
        inside[features[used]] = True
        own = _by_response(rows, targets)[..., used].reshape(len(rows), targets * used.size)
        kept.append((own, features[used]))
    found = np.flatnonzero(inside)
    at = [(rows, np.searchsorted(found, features)) for rows, features in kept]
    return found, np.vstack([_spread(*each, found.size, targets) for each in at])


def _by_response(rows: Floats, targets: int) -> Floats:
    return rows.reshape(len(rows), targets, rows.shape[1] // targets)


def _spread(rows: Floats, features: Ints, d: int, targets: int) -> Floats:
    """Rows on some features as rows on all of them."""
    out = np.zeros((len(rows), targets, d))
    out[..., features] = _by_response(rows, targets)
    return out.reshape(len(rows), targets * d)


def recorded_steps(before: int, clock: Clock, every: int, n_rows: int) -> Ints:
    """The steps of the rows recorded since step ``before``."""
    t = (before // every + 1 + np.arange(n_rows)) * every
    t[-1:] = clock.recorded  # the last one may be off the grid
    return t
