"""`unpenalized=`: which columns are meant, and what becomes of categories among them."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._common.names import listed, shown
from ..design import Floats, Ints, Unpenalized, is_dask, names_of

Levels = Mapping[str, Sequence[Any]]  # of each categorical column; the first has no coefficient


def columns_meant(unpenalized: Any, X: Any, d: int) -> Ints:
    """Those of X's d columns that names, indices, a mask or a selector stand for, ascending."""
    if callable(unpenalized):
        unpenalized = unpenalized(X)
    if unpenalized is None:
        return np.empty(0, np.intp)
    names = names_of(X)
    if isinstance(unpenalized, slice):
        return np.sort(np.arange(d)[unpenalized])
    one = isinstance(unpenalized, str | numbers.Integral)
    if not one and not hasattr(unpenalized, "__iter__"):
        raise _not_columns(unpenalized)
    given = [unpenalized] if one else list(unpenalized)
    if given and all(isinstance(each, bool | np.bool_) for each in given):
        if len(given) != d:
            raise ValueError(
                f"unpenalized is a mask of {len(given)} columns, but X has n_features={d}"
            )
        return np.flatnonzero(given)
    return np.unique(np.array([_column_index(each, names, d) for each in given], np.intp))


def _not_columns(given: Any) -> ValueError:
    return ValueError(
        "unpenalized must be None, names, indices, a mask or a function of X that gives "
        f"these, got {given!r} of type {type(given).__name__}"
    )


def _column_index(column: Any, names: list[str] | None, d: int) -> int:
    """Return the index of a column, given by name or by index."""
    if isinstance(column, numbers.Integral) and not isinstance(column, bool | np.bool_):
        if not -d <= int(column) < d:
            raise ValueError(f"unpenalized: column {column} is out of range for n_features={d}")
        return int(column) % d
    if not isinstance(column, str):
        raise _not_columns(column)
    if names is None:
        raise ValueError(
            f"unpenalized names the column {column!r}, but X has no column names; give a data "
            "frame, or the indices of columns"
        )
    if names.count(column) != 1:
        problem = f"has no column {column!r}" if column not in names else f"has {column!r} twice"
        raise ValueError(f"unpenalized: X {problem}; its columns are {listed(names)}")
    return names.index(column)


# -- categories --------------------------------------------------------------------------------


def categories_of(unpenalized: Any, X: Any) -> dict[str, list[Any]]:
    """Return the levels of unpenalised columns that hold text or categories."""
    names = None if unpenalized is None else names_of(X)
    if names is None:
        return {}
    text = np.intersect1d(_text_columns(X), columns_meant(unpenalized, X, len(names)))
    return {names[j]: _levels(X, j, names[j]) for j in text.astype(int).tolist()}


def _text_columns(X: Any) -> list[int]:
    """Return the columns of a data frame whose type is text, categories or objects."""
    types = getattr(X, "dtypes", getattr(getattr(X, "schema", None), "types", ()))
    return [j for j, each in enumerate(types) if _is_text(each)]


def _is_text(kind: Any) -> bool:
    """Whether a type of pandas, of polars or of pyarrow is one of text or categories."""
    if hasattr(kind, "kind"):
        return kind.kind in "OUS"
    return str(kind).lower().startswith(("str", "utf8", "cat", "enum", "obj", "dict", "large_str"))


def _column(X: Any, j: int) -> Any:
    """Return a column of a data frame of pandas or polars, or of a table of pyarrow."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.to_series(j) if hasattr(X, "to_series") else X.column(j)


def _values(X: Any, j: int, name: str) -> list[Any]:
    """Return the values of a categorical column; reject missing ones."""
    values = np.asarray(_column(X, j), object).tolist()
    missing = [i for i, value in enumerate(values) if value is None or value != value]
    if missing:
        raise ValueError(
            f"unpenalized: column {name!r} has no value in row {missing[0]}; remove or impute "
            "such entries"
        )
    return values


def _levels(X: Any, j: int, name: str) -> list[Any]:
    """The levels that occur, in the order of the categories if they have one."""
    if is_dask(X):
        raise ValueError(
            f"unpenalized: column {name!r} of a Dask data frame holds categories, which are "
            "encoded in data frames in memory only; encode it first (dask.dataframe.get_dummies)"
        )
    there = set(_values(X, j, name))
    if len(there) == 1:
        raise ValueError(
            f"unpenalized: column {name!r} is constant, {there.pop()!r} in every row; leave it out"
        )
    column = _column(X, j)
    if hasattr(column, "cat") and hasattr(column.cat, "categories"):
        return [level for level in column.cat.categories if level in there]
    return sorted(there, key=lambda level: (str(type(level)), level))


def level_names(levels: Levels) -> list[str]:
    """The names of the columns that stand for categories: all levels but the first of each."""
    return [f"{name}={level}" for name, each in levels.items() for level in each[1:]]


def encode_levels(X: Any, levels: Levels) -> Floats:
    """A column of zeros and ones for every level but the first."""
    columns = []
    for name, each in levels.items():
        values = _values(X, _found(X, name), name)
        unknown = sorted({str(value) for value in values if value not in each})
        if unknown:
            raise ValueError(
                f"column {name!r} has the unknown level {shown(unknown[0])!r}; the model was "
                f"fitted on {listed(map(str, each))}"
            )
        columns += [[value == level for value in values] for level in each[1:]]
    return np.array(columns, np.float64).reshape(len(columns), -1).T


def _found(X: Any, name: str) -> int:
    names = names_of(X)
    if names is None or name not in names:
        raise ValueError(
            f"X must be a data frame with the columns of the fit, for the levels of {name!r}"
        )
    return names.index(name)


def with_numbers(X: Any, levels: Levels) -> Any:
    """The data frame with zeros for categories, whose levels are columns of their own."""
    for name in levels:
        j = _found(X, name)
        if hasattr(X, "isetitem"):
            X = X.copy(deep=False)
            X.isetitem(j, 0.0)
        elif hasattr(X, "with_columns"):
            X = X.with_columns(**{name: 0.0})
        else:
            X = X.set_column(j, name, [np.zeros(len(X))])
    return X


def check_numbers(X: Any) -> None:
    """Reject text in a data frame, by its column's name; text that is a number is one."""
    names = None if is_dask(X) else names_of(X)
    if names is not None:
        for j in _text_columns(X):
            for value in np.asarray(_column(X, j), object).tolist():
                _check_number(value, names[j])


def _check_number(value: Any, name: str) -> None:
    if isinstance(value, str) and not _is_number(value):
        raise ValueError(
            f"column {name!r} of X holds text, such as {shown(value)!r}; encode it or leave "
            "it out, or, if the model is to be adjusted for it, name it in unpenalized"
        )


@contextmanager
def words_for_text(X: Any, y: Any = None) -> Iterator[None]:
    """Say what of X or y is no number, where scikit-learn finds that something is not.

    Entries that are neither numbers nor text are left to its own words.
    """
    try:
        yield
    except (TypeError, ValueError):
        _refuse_text(X, y)
        raise
    except OverflowError as error:  # of whole numbers, in arrays of objects
        raise ValueError(f"X or y has an entry beyond 1.8e308: {error}; rescale it") from None


def _refuse_text(X: Any, y: Any) -> None:
    kind = type(X).__name__
    if isinstance(X, Mapping | Set | Iterator | str | bytes | None):
        raise ValueError(
            f"X must be a 2-D array of numbers, a data frame or a sparse matrix, got {kind}"
        )
    if fields := getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError(
            f"X must be a 2-D array of numbers, got a structured array of {listed(fields)}; give "
            "pandas.DataFrame(X), or numpy.lib.recfunctions.structured_to_unstructured(X)"
        )
    if isinstance(X, list | tuple) and len(widths := {np.size(row) for row in X}) > 1:
        raise ValueError(
            f"rows of X must have as many entries each, got from {min(widths)} to {max(widths)}"
        )
    if where := _text_in(X):
        raise ValueError(
            f"X holds text, {where}; encode it or leave it out, or give a data frame and, if the "
            "model is to be adjusted for the column, name it in unpenalized"
        )
    if where := _text_in(y):
        raise ValueError(
            f"y holds text, {where}; for classes use a classifier, such as AutoIRKSNClassifier"
        )


def _text_in(values: Any) -> str:
    """The first text that is no number, and where it stands; "" if there is none."""
    series = getattr(values, "ndim", 2) == 1
    if not series and not isinstance(values, np.ndarray | list | tuple):
        return ""  # columns of data frames are checked by name
    for place, value in np.ndenumerate(np.asarray(values, object)):
        if isinstance(value, str | bytes) and not _is_number(value):
            at = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), place, strict=False))
            text = value if isinstance(value, str) else value.decode(errors="replace")
            return f"such as {shown(text)!r} in {at}"
    return ""


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# -- both ----------------------------------------------------------------------------------


def set_aside(X: Any, d: int, index: Ints, levels: Levels) -> Unpenalized | None:
    """The unpenalised columns: numeric ones by their numbers, categories as they are encoded."""
    if not index.size:
        return None
    names = names_of(X)
    if index.size == d:
        raise ValueError(
            f"unpenalized names all columns of X, n_features={d}, and leaves none to choose from"
        )
    called = [f"x{j}" for j in index.tolist()] if names is None else [names[j] for j in index]
    numeric = np.array([name not in levels for name in called])
    kept = [name for name in called if name not in levels]
    extra = encode_levels(X, levels) if levels else None
    return Unpenalized(index[numeric], (*kept, *level_names(levels)), extra)
