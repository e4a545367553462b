"""Rows that are exact copies of others: each is one observation, however often it is listed."""

from __future__ import annotations

import numpy as np

from .rows import marks_of
from .stores import Floats, Ints
from .view import Design

COMPARED = 64  # columns that are compared first: where rows differ there, X need not be read
FEWEST = 10  # distinct rows below which equal rows may well be a coincidence


def first_copies(raw: Design, Y: Floats) -> Ints | None:
    """For each row of (X, Y), the first row that equals it; None where there are no copies.

    Rows of few distinct values can be equal by coincidence.  They are copies if rows are equal in
    X only where they are equal in Y, or in Y only where they are equal in X.
    """
    in_y = _number_values(_combine_columns(Y.T))
    if _count(in_y) == len(Y):
        return None
    in_x = np.zeros(len(Y), np.intp)
    if raw.has_columns:
        some = np.unique(np.linspace(0, raw.d - 1, min(COMPARED, raw.d)).astype(np.intp))
        in_x = _number_values(_combine_columns(raw.columns(some)))
        if _count(_both(in_x, in_y)) == len(Y):
            return None
    if not raw.has_columns or raw.d > COMPARED:
        in_x = _both(in_x, _number_rounded_values(marks_of(raw)))
    both = _both(in_x, in_y)
    if _count(both) == len(Y) or not FEWEST <= _count(both) <= max(_count(in_x), _count(in_y)):
        return None
    return np.asarray(np.unique(both, return_index=True)[1][both])


def _combine_columns(columns: Floats) -> Floats:
    """A random combination of columns: rows that are equal to the last bit have equal numbers."""
    weights = np.random.default_rng(0).standard_normal(len(columns))
    out = np.zeros(columns.shape[1])
    for weight, column in zip(weights, columns, strict=True):
        out += weight / (np.abs(column).max() or 1.0) * column
    return out


def _number_values(values: Floats | Ints) -> Ints:
    return np.asarray(np.unique(values, return_inverse=True)[1].ravel())


def _number_rounded_values(values: Floats) -> Ints:
    order = np.argsort(values, kind="stable")
    steps = np.diff(values[order]) > 1e-10 * np.abs(values).max()
    out = np.zeros(len(values), np.intp)
    out[order[1:]] = np.cumsum(steps)
    return out


def _both(one: Ints, other: Ints) -> Ints:
    """Numbers of pairs of numbers."""
    return _number_values(one.astype(np.int64) * _count(other) + other)


def _count(numbers: Ints) -> int:
    return int(numbers.max()) + 1
