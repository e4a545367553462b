"""Data files of every kind as tables: the reader for each, and what another file tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from .._common.errors import InputError
from .._common.names import shown, title
from . import arrays
from .annotated import from_h5ad
from .cells import labels, without
from .columnar import from_arrow, from_parquet
from .data import check_distinct
from .options import Columns, Reading
from .phenotypes import join
from .plink import Variants, from_plink, without_codes
from .source import ON_DISK, Source, open_source
from .spelling import option
from .spreadsheets import from_spreadsheet, sheets_with
from .table import Frame, Table, turned
from .text import ROW_NAMES, from_text

ARRAYS = ("npz", "npy", "libsvm", *ON_DISK)  # kinds of files that hold a matrix


def table_of(source: Source, reading: Reading, columns: Columns) -> Table:
    """What a file holds; what goes wrong is told in words."""
    try:
        if source.kind in ARRAYS:
            return _matrix(source, reading, columns)
        frame = _frame(source, reading)
        return turned(frame) if reading.transpose else frame
    except (InputError, MemoryError, ImportError):
        raise
    except Exception as error:  # parsers raise what they please on bytes that make no sense
        raise InputError(
            f"{source.name} cannot be read as {source.kind}: {_brief(error)}. Get or write the "
            "file again"
        ) from error


def _brief(error: Exception) -> str:
    return shown(str(error).strip().rstrip(".") or type(error).__name__, 300)


def _matrix(source: Source, reading: Reading, columns: Columns) -> Table:
    for name, given in (("transpose", reading.transpose), ("na", reading.na)):
        if given:
            raise InputError(
                f"{option(name)} is for tables; {source.name} holds a matrix of numbers with "
                "samples in rows: leave it out"
            )
    if source.kind == "plink":
        return from_plink(source)
    if source.kind == "h5ad":
        return from_h5ad(source, reading.budget)
    if source.kind == "libsvm":
        return arrays.from_libsvm(source, columns.target or "y", reading.budget)
    if source.kind == "npy":
        return arrays.from_npy(source, [name for _, name in columns.parts], reading.budget)
    return arrays.from_npz(source, _named(columns, source, reading), reading.budget)


def _named(columns: Columns, source: Source, reading: Reading) -> list[str]:
    """The arrays of an archive that have a part; with another file, those that are there."""
    held = arrays.held_by_npz(source)
    names = [
        event_column(name, held) if part == "event" else name
        for part, name in columns.parts
        if part not in ("ignore", "keep")
    ]
    return names if reading.phenotypes is None else [name for name in names if name in held]


def event_column(event: str, names: Sequence[str]) -> str:
    """The column of ``COLUMN`` or ``COLUMN=VALUE``."""
    return event if event in names else event.rpartition("=")[0] or event


def _frame(source: Source, reading: Reading) -> Frame:
    remarks: list[str] = []
    if source.kind == "csv":
        frame, remarks = from_text(source, reading)
    elif source.kind == "spreadsheet":
        frame, remarks = from_spreadsheet(source, reading.sheet, reading.budget)
    else:
        frame = (from_parquet if source.kind == "parquet" else from_arrow)(source, reading.budget)
    if source.kind != "csv":
        frame = without(frame, reading.na)
    frame.columns = [str(name) for name in frame.columns]
    others = partial(sheets_with, source) if source.kind == "spreadsheet" else None
    table = Frame(source.path, frame, remarks=remarks, other_sheets=others, sheet=reading.sheet)
    return table if reading.transpose else _with_row_names(table)


def _with_row_names(table: Frame) -> Frame:
    """The names of rows that R writes in a column without a name."""
    frame = table.about
    if frame.shape[1] == 0 or frame.columns[0] != ROW_NAMES:
        return table
    ids = np.array([each or "" for each in labels(frame.iloc[:, 0])], object)
    return replace(table, about=frame.iloc[:, 1:], ids=ids)


def joined(table: Table, reading: Reading, id_column: str | None) -> Table:
    """A table with what the file of ``reading.phenotypes`` tells of its rows, if there is one."""
    if reading.phenotypes is None:
        return table
    path = reading.phenotypes
    source = open_source(path, reading.budget)
    if source.kind == "npy":
        return _with_vector(table, source, reading)
    if source.kind in ARRAYS:
        raise InputError(
            f"{option('phenotypes')} must be a table with a row for each sample, such as a CSV; "
            f"{title(path)} holds a matrix"
        )
    how = replace(
        reading, separator=None, transpose=False, phenotypes=None, sheet=reading.phenotypes_sheet
    )
    other = table_of(source, how, Columns())
    check_distinct(other.names, path)
    if isinstance(table, Variants):
        other = without_codes(other)
    return join(table, other, id_column)


def _with_vector(table: Table, source: Source, reading: Reading) -> Table:
    """A table with the entries of an ``.npy`` as its column y, row by row."""
    import pandas as pd

    y = arrays.vector_or_matrix(source, reading.budget)
    n = len(table.about)
    if y.shape != (n,):
        raise InputError(
            f"{option('phenotypes')} {source.name} must have one entry for each of the {n} rows of "
            f"{table.name}, got shape {y.shape}"
        )
    return replace(table, joined=pd.DataFrame({"y": y}), beside=source.name)
