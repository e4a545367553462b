"""A table as data: its columns by their parts, and what is left as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import shown, title
from .._common.phases import phase
from ..design import Floats, Genotypes
from . import formats
from .cells import labels
from .covariates import Coding
from .data import Columns, Data, Reading, check_distinct, check_shape, check_squares
from .guesses import remarks_on
from .missing import without_missing
from .response import response_of
from .source import Source, open_source
from .spelling import option
from .table import Table
from .tables import event_column, joined, table_of


def read_data(path: Path, columns: Columns, reading: Reading, need_target: bool = True) -> Data:
    """Read a file, find the columns, and check that all is numbers."""
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        columns = _with_default(columns, source, need_target)
        table = joined(table_of(source, reading, columns), reading, columns.id)
        data = _data(table, columns, reading, source.sha256, need_target)
        check_shape(data)
        check_distinct(data.feature_names, path)
        data = without_missing(data, reading.missing, reading.budget)
        check_shape(data)
        check_squares(data)
        return data


def _with_default(columns: Columns, source: Source, need_target: bool) -> Columns:
    """The array y of an archive, and the first entry of LIBSVM's lines, need not be named."""
    if columns.target is not None or columns.survival:
        return columns
    in_archive = source.kind == "npz" and (need_target or "y" in formats.held_by_npz(source))
    return replace(columns, target="y") if in_archive or source.kind == "libsvm" else columns


def _data(table: Table, columns: Columns, reading: Reading, sha256: str, need_target: bool) -> Data:
    if need_target and columns.target is None and not columns.survival:
        raise InputError(f"{option('target')} must name the column to explain; {table.there}")
    marks = reading.marks
    response = response_of(table, columns, marks)
    codings, beside = _covariates(table, columns.adjust_for, reading)
    ids, groups = ids_of(table, columns.id), _groups(table, columns.groups)
    names, X = table.features(_parts(table, columns), marks)
    return Data(
        table.path,
        (*names, *(name for coding in codings for name in coding.names)),
        _side_by_side(X, beside),
        response.y,
        groups,
        [*table.remarks, *response.remarks, *remarks_on(names, X)],
        sha256,
        response.kind,
        ids,
        codings,
    )


def _parts(table: Table, columns: Columns) -> set[str]:
    """The columns that are no features; those to ignore must be there."""
    known = {*table.names, *getattr(table, "feature_names", ())}
    parts = set()
    for part, name in columns.parts:
        if part == "ignore" and name not in known:
            table.column(part, name)
        parts.add(event_column(name, table.names) if part == "event" else name)
    return parts


def _covariates(
    table: Table, names: Sequence[str], reading: Reading
) -> tuple[tuple[Coding, ...], Floats]:
    columns = [table.column("adjust-for", name) for name in names]
    codings = tuple(Coding.of(column, reading.marks) for column in columns)
    return codings, coded(table, codings, reading)


def coded(table: Table, codings: Sequence[Coding], reading: Reading) -> Floats:
    parts = [
        coding.code(table.column("adjust-for", coding.name), table.name, reading.marks)
        for coding in codings
    ]
    return np.hstack([np.empty((len(table.about), 0)), *parts])


def _side_by_side(X: Any, beside: Floats) -> Any:
    if beside.shape[1] == 0:
        return X
    if isinstance(X, Genotypes):
        return X.with_beside(beside)
    return sp.hstack([X, beside], format="csr") if sp.issparse(X) else np.hstack([X, beside])


def ids_of(table: Table, name: str | None) -> NDArray[Any] | None:
    if name is None or table.joined is not None:
        return table.ids
    return np.array([each or "" for each in labels(table.column("id", name))], object)


def _groups(table: Table, name: str | None) -> NDArray[Any] | None:
    if name is None:
        return None
    column = table.column("groups", name)
    absent = column.isna().to_numpy()
    if absent.any():
        raise InputError(
            f"{table.name}: {option('groups')} {shown(name)!r} has no label in "
            f"{absent.sum()} row(s), the first of them row {np.argmax(absent) + 1}; fill them in"
        )
    return np.asarray(column.astype(str).to_numpy(object))
