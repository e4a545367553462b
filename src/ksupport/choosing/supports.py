"""Supports: which were visited, and how large one may be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..design import Design, Floats, count_different, marks_of
from ..losses import Response
from ..walking import Result

Support = tuple[int, ...]


def supports_of(iterates: sp.csr_array, targets: int = 1) -> list[Support]:
    """The support of every row; of several responses side by side, that of all of them."""
    if targets > 1:
        iterates = _features_of(iterates, targets)
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


def _features_of(iterates: sp.csr_array, targets: int) -> sp.csr_array:
    """How many responses have a coefficient, for each row and feature."""
    each, d = sp.coo_array(iterates), iterates.shape[1] // targets
    places = each.row, each.col % d
    counts = sp.coo_array((np.ones(each.nnz), places), shape=(iterates.shape[0], d))
    return sp.csr_array(counts)


def largest_support(n: float) -> int:
    """The most features worth refitting on n rows: a third of them.

    With half as many features as rows criteria prefer wrong supports to the true one.
    """
    return max(min(int(n) // 3, int(n) - 2), 0)


def different_rows(design: Design, y: Floats) -> int:
    """How many rows of (X̃, y) differ: a repeated one, or of more weight, says no more.

    As far as matters: more than twice as many as features need not be told apart.  Unpenalised
    columns account for as many as they are.
    """
    return max(_different_rows(design, y) - design.absorbed, 0)


def response_of(target: Any) -> Floats:
    """What features explain of a response: to first order, where its loss is not of squares."""
    return target.negative_gradient if isinstance(target, Response) else np.asarray(target)


def independent_rows(design: Design, y: Floats) -> float:
    """How many samples evidence counts: rows that differ, or all where these are many."""
    found = different_rows(design, y)
    many = found >= min(design.freedom, 2 * design.d + 4 - design.absorbed)
    return max(design.freedom if many else float(found), 1.0)


def _different_rows(design: Design, y: Floats) -> int:
    if design.different is not None:
        return design.different()
    if design.compact:
        return round(design.n_samples)
    y = y[: design.n]  # of several responses, the first
    y = y if design.sqrt_weights is None else y / design.sqrt_weights
    return count_different(y, design.d, partial(marks_of, design))


def first_met(visited: Sequence[Sequence[Support]]) -> dict[Support, tuple[int, int]]:
    """The path and the record where each support was first met; all begin at the empty one."""
    where: dict[Support, tuple[int, int]] = {(): (0, 0)}
    for path, supports in enumerate(visited):
        for record, support in enumerate(supports):
            where.setdefault(support, (path, record))
    return where


def visited_by(results: Sequence[Result]) -> list[list[Support]]:
    """The supports on each path, record by record."""
    return [supports_of(result.iterates, result.targets) for result in results]
