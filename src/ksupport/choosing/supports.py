"""Supports: which were visited, and how large one may be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ..design import Design, Floats
from ..walking import Result

Support = tuple[int, ...]


def supports_of(iterates: sp.csr_array) -> list[Support]:
    """The support of every row."""
    index = (iterates if iterates.has_sorted_indices else iterates.sorted_indices()).indices
    known: dict[bytes, Support] = {}
    out: list[Support] = []
    for start, stop in pairwise(iterates.indptr.tolist()):
        row = index[start:stop]
        key = row.tobytes()
        if key not in known:
            known[key] = tuple(row.tolist())
        out.append(known[key])
    return out


def largest_support(n: float) -> int:
    """The most features worth refitting on n rows: half of them, and one row to spare."""
    return max(min(int(n) // 2, int(n) - 2), 0)


def different_rows(design: Design, y: Floats) -> int:
    """How many rows of (X̃, y) differ: one that is repeated, or has weight, says the same as once.

    Where values of y recur, which those of measurements hardly ever do, one product of X̃ with a
    random vector tells rows apart.
    """
    if design.compact:
        return round(design.n_samples)
    root = np.ones(design.n) if design.sqrt_weights is None else design.sqrt_weights
    values = _to_unit_size(y / root)
    if _distinct(values) < design.n:
        g = np.random.default_rng(0).standard_normal(design.d)
        values += _to_unit_size(design.matvec(g) / root)
    return _distinct(values)


def _to_unit_size(values: Floats) -> Floats:
    return values / (np.abs(values).max() or 1.0)


def _distinct(values: Floats) -> int:
    """How many values of about unit size differ by more than rounding."""
    return 1 + int(np.count_nonzero(np.diff(np.sort(values)) > 1e-10))


def visited_by(results: Sequence[Result]) -> list[list[Support]]:
    """The supports on each path, record by record."""
    return [supports_of(result.iterates) for result in results]
