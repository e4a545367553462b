"""Probabilities of features: by a criterion alone, and by folds alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Floats
from ..walking import Result
from .policy import POLICY
from .supports import visited_by
from .tables import FoldTable


def by_scores(supports: Sequence[Sequence[int]] | NDArray[Any], scores: Floats, d: int) -> Floats:
    """For each feature, the weight of the supports that have it, which is exp(-score/2)."""
    weights = np.exp(-(scores - scores.min()) / 2)
    p = np.zeros(d)
    for support, weight in zip(supports, weights / weights.sum(), strict=True):
        p[list(support)] += weight
    return np.minimum(p, 1.0)


def by_folds(table: FoldTable, walked: Sequence[Sequence[Result]], d: int) -> Floats:
    """For each feature, how often the best records have it, under random weights of the folds."""
    folds, paths, records = table.errors.shape
    drawn = np.random.default_rng(0).gamma(1.0, size=(POLICY.draws, folds))
    errors = np.where(np.isfinite(table.errors), table.errors, np.finfo(float).max / 1e3)
    best = np.argmin((drawn / drawn.sum(axis=1, keepdims=True)) @ errors.reshape(folds, -1), axis=1)
    elected = np.bincount(best, minlength=paths * records) / POLICY.draws
    p = np.zeros(d)
    visited = [visited_by(results) for results in walked]
    for at in np.flatnonzero(elected).tolist():
        path, record = divmod(at, records)
        for supports in visited:
            mine = supports[path]
            p[list(mine[min(record, len(mine) - 1)])] += elected[at] / folds
    return np.minimum(p, 1.0)
