"""Missing values: counted and named, and left out if asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, title
from .data import Data, Missing

POLICIES: tuple[Missing, ...] = get_args(Missing)
NAMED = 5  # columns listed


def without_missing(data: Data, policy: Missing) -> Data:
    """Refuse data with missing or infinite values, or drop rows or columns that hold some."""
    data = _with_targets(data, policy)
    in_rows, in_columns = _holes(data.X)
    if not in_rows.any():
        return data
    if policy == "refuse":
        raise InputError(_refusal(data, in_columns, int((in_rows > 0).sum())))
    return _full_rows(data, in_rows) if policy == "drop-rows" else _full_columns(data, in_columns)


def _with_targets(data: Data, policy: Missing) -> Data:
    if data.y is None or np.isfinite(data.y).all():
        return data
    bad = ~np.isfinite(data.y)
    if bad.all():
        raise InputError(f"the target of {title(data.path)} has no finite value")
    if policy == "refuse":
        raise InputError(
            f"the target has {bad.sum()} missing or infinite values, the first in row "
            f"{np.argmax(bad) + 1}; remove those rows, or give --missing drop-rows"
        )
    return _rows(data, ~bad, f"{bad.sum()} rows without a finite target were left out.")


def _holes(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """How many values are missing or infinite in each row and in each column."""
    if sp.issparse(X):
        entries = X.tocoo()
        at = np.flatnonzero(~np.isfinite(entries.data))
        n, d = X.shape
        return np.bincount(entries.row[at], minlength=n), np.bincount(entries.col[at], minlength=d)
    bad = ~np.isfinite(X)
    return bad.sum(axis=1), bad.sum(axis=0)


def _full_rows(data: Data, holes: NDArray[Any]) -> Data:
    keep = holes == 0
    if not keep.any():
        raise InputError(
            f"every row of {title(data.path)} has a missing value; try --missing drop-columns"
        )
    return _rows(data, keep, f"{(~keep).sum()} rows with missing values were left out.")


def _full_columns(data: Data, holes: NDArray[Any]) -> Data:
    kept = np.flatnonzero(holes == 0)
    if not kept.size:
        raise InputError(f"every column of {title(data.path)} has a missing value")
    words = f"{len(holes) - len(kept)} columns with missing values were left out."
    return replace(
        data, X=data.X[:, kept], names=tuple(data.names[j] for j in kept),
        remarks=[*data.remarks, words],
    )  # fmt: skip


def _rows(data: Data, keep: NDArray[Any], words: str) -> Data:
    return replace(
        data,
        X=data.X[keep],
        y=None if data.y is None else data.y[keep],
        groups=None if data.groups is None else data.groups[keep],
        remarks=[*data.remarks, words],
    )


def _refusal(data: Data, counts: NDArray[Any], rows: int) -> str:
    worst = np.argsort(-counts, kind="stable")[: min(NAMED, int((counts > 0).sum()))]
    named = ", ".join(f"{listed([data.names[j]])} ({counts[j]})" for j in worst)
    more = int((counts > 0).sum()) - len(worst)
    return (
        f"{title(data.path)} has {counts.sum()} missing or infinite values, in {rows} of "
        f"{data.shape[0]} rows and {(counts > 0).sum()} of {data.shape[1]} columns: {named}"
        f"{f' and {more} more columns' if more else ''}. Fill them in, or leave them out with "
        "--missing drop-rows or --missing drop-columns"
    )
