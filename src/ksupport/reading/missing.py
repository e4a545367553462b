"""Missing values: reported, dropped or imputed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, title
from ..design import Floats, Genotypes, Incomplete
from .data import Data
from .options import Missing
from .problems import Problem, Problems, option
from .size import Budget, of_table

COLUMNS_NAMED = 5  # columns listed
WAYS_OUT = tuple([("missing", policy)] for policy in ("impute", "drop-rows", "drop-columns"))


def without_missing(data: Data, policy: Missing, budget: Budget) -> Data:
    problems = Problems(title(data.path))
    with problems.collect():
        data = _with_responses(data, policy)
    with problems.collect():
        data = _full(data, policy, budget)
    problems.check()
    return data


def _full(data: Data, policy: Missing, budget: Budget) -> Data:
    if isinstance(data.X, Genotypes):
        return _full_covariates(data, policy)
    in_rows, in_columns = _holes(data.X)
    if not in_rows.any():
        return data
    if policy == "refuse":
        ways = [option("missing", way) for way in ("drop-rows", "drop-columns", "impute")]
        refuse_missing(
            data,
            f"Fill them in, or leave them out with {ways[0]} or {ways[1]}, or have them replaced "
            f"by means with {ways[2]}",
        )
    if policy == "impute":
        return _incomplete(data, in_rows, in_columns, budget)
    if policy == "drop-rows":
        return _full_rows(data, in_rows)
    return _full_columns(data, in_columns)


def refuse_missing(data: Data, remedy: str) -> None:
    """Refuse missing or infinite values of X, with what to do."""
    in_rows, in_columns = _holes(data.X)
    if in_rows.any():
        raise Problem(
            f"{_where(data, in_columns, int((in_rows > 0).sum()))}. {remedy}",
            *WAYS_OUT,
            columns=[data.feature_names[j] for j in np.flatnonzero(in_columns)],
            row=int(np.argmax(in_rows > 0)),
        )


def fill_in(X: Floats, fill: Floats) -> tuple[Floats, int]:
    """Values with missing ones replaced, column by column, and their number."""
    missing = ~np.isfinite(X)
    return np.where(missing, fill, X), int(missing.sum())


def _with_responses(data: Data, policy: Missing) -> Data:
    """Only rows with a response, if others may be left out."""
    if data.y is None:
        return data
    if data.kind == "classes":
        bad = np.array([each is None for each in data.y], bool)
    else:
        bad = ~np.isfinite(data.y["time"] if data.kind == "survival" else data.y)
    if not bad.any():
        return data
    if bad.all():
        raise InputError(f"the target of {title(data.path)} has no finite value")
    if policy == "refuse":
        raise Problem(
            f"the target has {bad.sum()} missing or infinite values, the first in row "
            f"{np.argmax(bad) + 1}; remove those rows, or give {option('missing', 'drop-rows')}, "
            f"or {option('missing', 'impute')}, which also leaves them out, and fills in features",
            [("missing", "impute")], [("missing", "drop-rows")],
            row=int(np.argmax(bad)),
        )  # fmt: skip
    return _rows(data, ~bad, _left(bad.sum(), "row", "without a finite target"))


def _full_covariates(data: Data, policy: Missing) -> Data:
    """Genotypes fill in what they lack; the columns beside them are as those of a table."""
    beside = data.X.beside
    bad = ~np.isfinite(beside)
    if not bad.any():
        return data
    if policy == "impute":
        means = np.nanmean(np.where(bad, np.nan, beside), axis=0)
        X = data.X.select(np.arange(data.X.variants.size)).with_beside(np.where(bad, means, beside))
        words = f"{bad.sum()} missing values of columns to adjust for were replaced by means."
        return replace(data, X=X, remarks=[*data.remarks, words])
    if policy == "drop-rows":
        return _full_rows(data, bad.sum(axis=1))
    name = data.covariates[int(np.argmax(bad.any(axis=0)))]
    raise InputError(
        f"{listed([name])}, to adjust for, is missing in {bad.any(axis=1).sum()} rows; give "
        f"{option('missing', 'drop-rows')} or {option('missing', 'impute')}"
    )


def _incomplete(
    data: Data, in_rows: NDArray[Any], in_columns: NDArray[Any], budget: Budget
) -> Data:
    """Data whose missing values are filled in once it is known which rows are learned from."""
    n, d = data.shape
    X = data.X
    if sp.issparse(X):
        budget.check(f"{title(data.path)} with its missing values filled in", of_table(n, d))
        X = X.toarray()
    X = np.where(np.isfinite(X), X, np.nan)
    empty = np.flatnonzero(in_columns == n)
    _check_covariates(data, empty)
    holes = int(in_columns.sum())
    value, were, their = (
        ("value", "was", "its column") if holes == 1 else ("values", "were", "their columns")
    )
    words = (
        f"{holes} missing or infinite {value} ({100 * holes / (n * d):.2g}% of all), in "
        f"{(in_rows > 0).sum()} of {n} rows and {(in_columns > 0).sum()} of {d} columns, {were} "
        f"replaced by the mean{'s' * (holes > 1)} of {their}; within folds, by the means of the "
        "training rows."
    )
    data = replace(data, X=Incomplete(X), remarks=[*data.remarks, words])
    return _without_columns(data, empty, "without any value") if empty.size else data


def _check_covariates(data: Data, lost: NDArray[Any]) -> None:
    """Refuse to lose a column to adjust for."""
    for j in lost:
        if j in data.unpenalized:
            raise InputError(
                f"{listed([data.feature_names[j]])}, to adjust for, would be left out, as values "
                f"of it are missing; give {option('missing', 'drop-rows')} or adjust for others"
            )


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
            f"every row of {title(data.path)} has a missing value; try "
            f"{option('missing', 'impute')} or {option('missing', 'drop-columns')}"
        )
    return _rows(data, keep, _left((~keep).sum(), "row", "with missing values"))


def _full_columns(data: Data, holes: NDArray[Any]) -> Data:
    lost = np.flatnonzero(holes)
    if lost.size == len(holes):
        raise InputError(
            f"every column of {title(data.path)} has a missing value; try "
            f"{option('missing', 'impute')}"
        )
    _check_covariates(data, lost)
    return _without_columns(data, lost, "with missing values")


def _without_columns(data: Data, lost: NDArray[Any], which: str) -> Data:
    kept = np.setdiff1d(np.arange(data.shape[1]), lost)
    X = data.X.select(kept) if isinstance(data.X, Incomplete) else data.X[:, kept]
    names = tuple(data.feature_names[j] for j in kept)
    words = _left(lost.size, "column", which)
    return replace(data, X=X, feature_names=names, remarks=[*data.remarks, words])


def _rows(data: Data, keep: NDArray[Any], words: str) -> Data:
    return replace(
        data,
        X=data.X[keep],
        y=None if data.y is None else data.y[keep],
        groups=None if data.groups is None else data.groups[keep],
        ids=None if data.ids is None else data.ids[keep],
        remarks=[*data.remarks, words],
    )


def _left(count: int, what: str, which: str) -> str:
    """What was left out, in words."""
    those = f"1 {what} {which} was" if count == 1 else f"{count} {what}s {which} were"
    return f"{those} left out."


def _where(data: Data, counts: NDArray[Any], rows: int) -> str:
    worst = np.argsort(-counts, kind="stable")[: min(COLUMNS_NAMED, int((counts > 0).sum()))]
    named = ", ".join(f"{listed([data.feature_names[j]])} ({counts[j]})" for j in worst)
    more = int((counts > 0).sum()) - len(worst)
    return (
        f"{title(data.path)} has {counts.sum()} missing or infinite values, in {rows} of "
        f"{data.shape[0]} rows and {(counts > 0).sum()} of {data.shape[1]} columns: {named}"
        f"{f' and {more} more columns' if more else ''}"
    )
