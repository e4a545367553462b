"""Missing values: counted and named, and left out if asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .errors import InputError
from .names import listed, title

if TYPE_CHECKING:
    from .reading import Data

Missing = Literal["refuse", "drop-rows", "drop-columns"]
POLICIES: tuple[Missing, ...] = get_args(Missing)
NAMED = 5  # columns listed


def without_missing(data: Data, policy: Missing) -> Data:
    """Refuse data with missing or infinite values, or drop rows or columns that hold some."""
    X, y = data.X, data.y
    if y is not None and not np.isfinite(y).all():
        bad = ~np.isfinite(y)
        if policy == "refuse":
            raise InputError(
                f"the target has {bad.sum()} missing or infinite values, the first in row "
                f"{np.argmax(bad) + 1}; remove those rows, or give --missing drop-rows"
            )
        data = _rows(data, ~bad, f"{bad.sum()} rows without a finite target were left out.")
        X = data.X
    if sp.issparse(X):
        if not np.isfinite(X.data).all():
            raise InputError(f"{title(data.path)} holds missing or infinite values")
        return data
    bad = ~np.isfinite(X)
    counts = bad.sum(axis=0)
    if not counts.any():
        return data
    if policy == "drop-rows":
        keep = ~bad.any(axis=1)
        if not keep.any():
            raise InputError(
                f"every row of {title(data.path)} has a missing value; try --missing drop-columns"
            )
        return _rows(data, keep, f"{(~keep).sum()} rows with missing values were left out.")
    if policy == "drop-columns":
        keep = counts == 0
        if not keep.any():
            raise InputError(f"every column of {title(data.path)} has a missing value")
        kept = np.flatnonzero(keep)
        words = f"{(~keep).sum()} columns with missing values were left out."
        return replace(
            data, X=X[:, kept], names=tuple(data.names[j] for j in kept),
            remarks=[*data.remarks, words],
        )  # fmt: skip
    raise InputError(_refusal(data, counts, int(bad.any(axis=1).sum())))


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
