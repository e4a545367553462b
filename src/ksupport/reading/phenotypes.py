"""What another file tells of the rows, found by their names."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, shown
from .cells import labels
from .spelling import option
from .table import Table

PLINK = ("IID", "#IID")  # what its files call the names of samples


def join(table: Table, other: Table, id_column: str | None) -> Table:
    """The rows of a table that another one knows, with what it tells of them."""
    key = _key(other, id_column)
    theirs = labels(other.about[key])
    _check_once(theirs, other, key)
    ours = labels(_our_ids(table, other, id_column, key))
    place = {name: at for at, name in enumerate(theirs) if name is not None}
    found = np.array([place.get(name, -1) if name is not None else -1 for name in ours], np.intp)
    if not (found >= 0).any():
        raise _no_match(table, other, key, ours, theirs)
    kept = found >= 0
    joined = other.about.drop(columns=key).iloc[found[kept]].reset_index(drop=True)
    narrowed = table.rows(kept)
    return replace(
        narrowed,
        about=narrowed.about.drop(columns=key, errors="ignore").reset_index(drop=True),
        joined=joined,
        beside=other.name,
        ids=np.array(ours, object)[kept] if narrowed.ids is None else narrowed.ids,
        remarks=[*table.remarks, *other.remarks, _count(table, other, ours, theirs, kept)],
    )


def _key(other: Table, id_column: str | None) -> str:
    """The column that holds the names: the one that is given, PLINK's, or the first."""
    known = [str(name) for name in other.about.columns]
    return next((name for name in (id_column, *PLINK) if name in known), known[0])


def _our_ids(table: Table, other: Table, id_column: str | None, key: str) -> Any:
    import pandas as pd

    if id_column is not None and id_column in table.about.columns:
        return table.about[id_column]
    if table.ids is not None:
        return pd.Series(table.ids)
    if key in table.about.columns:
        return table.about[key]
    if id_column is not None:
        return table.column("id", id_column)
    raise InputError(
        f"{option('id')} must name the column of {table.name} that holds the names of the rows, as "
        f"{shown(key)!r} does in {other.name}; there are {listed(table.names)}"
        f"{_in_columns(table, labels(other.about[key]))}"
    )


def _in_columns(table: Table, theirs: list[str | None]) -> str:
    """Whether the names of samples stand where those of features should."""
    found = len(set(table.names) & {name for name in theirs if name is not None})
    if not found:
        return ""
    return (
        f". But {found} of these names are names of columns: if samples are in columns and "
        f"features in rows, give {option('transpose')}"
    )


def _check_once(theirs: list[str | None], other: Table, key: str) -> None:
    twice = [name for name, count in Counter(theirs).items() if count > 1 and name is not None]
    if twice:
        raise InputError(
            f"{other.name}: {len(twice)} name(s) occur more than once in column {shown(key)}: "
            f"{listed(twice)}. Keep one row of each, or name another column with {option('id')}"
        )


def _no_match(
    table: Table, other: Table, key: str, ours: list[str | None], theirs: list[str | None]
) -> InputError:
    return InputError(
        f"no row of {table.name} is found in {other.name}: the former has names such as "
        f"{_some(ours)}, and column {shown(key)} of the latter {_some(theirs)}. Name the columns "
        f"to match with {option('id')}, which both files must have, or spell the names alike"
        f"{_in_columns(table, theirs)}"
    )


def _count(
    table: Table,
    other: Table,
    ours: list[str | None],
    theirs: list[str | None],
    kept: NDArray[np.bool_],
) -> str:
    lost = [name for name, here in zip(ours, kept, strict=True) if not here]
    known = set(ours)
    unused = [name for name in theirs if name not in known]
    words = f"{int(kept.sum())} of {len(ours)} rows of {table.name} were found in {other.name}"
    if lost:
        words += f"; {len(lost)} were not and are left out ({_some(lost)})"
    if unused:
        words += f"; {len(unused)} rows of {other.name} match none ({_some(unused)})"
    return f"{words}."


def _some(names: list[str | None]) -> str:
    return listed(["no name" if name is None else name for name in names], 3)
