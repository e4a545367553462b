"""The reader for each kind of data file, and joins with a second file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._common.errors import InputError
from .._common.names import listed, shown, title
from .._common.phases import Update, phase
from . import matrices, size
from .cells import labels, without
from .data import check_distinct
from .matrices import Variants, from_h5ad, from_plink, without_codes
from .options import Columns, Reading
from .problems import option
from .size import Budget
from .source import ON_DISK, Source, open_source
from .spreadsheets import from_spreadsheet, sheets_with
from .table import Frame, Table, transposed
from .text import ROW_NAMES, from_text

ARROW_FILE = b"ARROW1\0\0"
BATCH = 1024  # rows of a Parquet file that are unpacked together
ARRAY_FILE_KINDS = ("npz", "npy", "libsvm", *ON_DISK)  # kinds of files that hold a matrix


def table_of(source: Source, reading: Reading, columns: Columns) -> Table:
    """The table of a file; errors of parsers become an InputError."""
    try:
        if source.kind in ARRAY_FILE_KINDS:
            return _matrix(source, reading, columns)
        frame = _frame(source, reading)
        return transposed(frame) if reading.transpose else frame
    except (InputError, MemoryError, ImportError):
        raise
    except Exception as error:  # parsers raise what they please on bytes that make no sense
        raise InputError(
            f"{source.name} cannot be read as {source.kind}: "
            f"{shown(str(error).strip().rstrip('.') or type(error).__name__, 300)}. Get or write "
            "the file again"
        ) from error


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
        return matrices.from_libsvm(source, columns.target or "y", reading.budget)
    if source.kind == "npy":
        return matrices.from_npy(source, [name for _, name in columns.parts], reading.budget)
    return matrices.from_npz(source, _array_names(columns, source, reading), reading.budget)


def _array_names(columns: Columns, source: Source, reading: Reading) -> list[str]:
    """Return the names of the arrays to read; with another file, those that exist."""
    held = matrices.held_by_npz(source)
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
    ids = None
    if not reading.transpose and frame.shape[1] and frame.columns[0] == ROW_NAMES:  # as R has it
        ids = np.array([each or "" for each in labels(frame.iloc[:, 0])], object)
        frame = frame.iloc[:, 1:]
    others = partial(sheets_with, source) if source.kind == "spreadsheet" else None
    return Frame(
        source.path, frame, ids=ids, remarks=remarks, other_sheets=others, sheet=reading.sheet
    )


def from_parquet(source: Source, budget: Budget) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = parquet.ParquetFile(pa.BufferReader(source.data))
    columns = len(file.schema_arrow)
    budget.check(source.name, size.of_table(file.metadata.num_rows, columns))
    with phase("unpacking", file.metadata.num_rows) as update:
        batches = _read_within_budget(file.iter_batches(BATCH), source.name, budget, update)
    return _pandas(pa.Table.from_batches(batches, file.schema_arrow))


def _read_within_budget(
    batches: Iterable[Any], name: str, budget: Budget, update: Update
) -> list[Any]:
    """Read batches as long as they fit into the budget: headers may understate their size."""
    held, needed, rows = [], 0, 0
    for batch in batches:
        needed += batch.nbytes
        budget.check(name, needed, "at least")
        held.append(batch)
        rows += batch.num_rows
        update(rows)
    return held


def from_arrow(source: Source, budget: Budget) -> Any:
    """An Arrow stream, or an Arrow IPC file (Feather), which is a stream between two marks."""
    import pyarrow as pa

    stream = pa.py_buffer(source.data)
    if source.data.startswith(ARROW_FILE):
        stream = stream[len(ARROW_FILE) :]
    budget.check(source.name, size.of_arrow(stream))
    return _pandas(pa.ipc.open_stream(stream).read_all())


def _pandas(table: Any) -> Any:
    names = table.column_names
    renamed = table.rename_columns([str(j) for j in range(len(names))])  # names may occur twice
    return renamed.replace_schema_metadata().to_pandas().set_axis(names, axis=1)


def joined(table: Table, reading: Reading, id_column: str | None) -> Table:
    """Join a table with that of ``reading.phenotypes``, if there is one."""
    if reading.phenotypes is None:
        return table
    path = reading.phenotypes
    source = open_source(path, reading.budget)
    if source.kind == "npy":
        return _with_vector(table, source, reading)
    if source.kind in ARRAY_FILE_KINDS:
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

    y = matrices.vector_or_matrix(source, reading.budget)
    n = len(table.about)
    if y.shape != (n,):
        raise InputError(
            f"{option('phenotypes')} {source.name} must have one entry for each of the {n} rows of "
            f"{table.name}, got shape {y.shape}"
        )
    return replace(table, joined=pd.DataFrame({"y": y}), beside=source.name)


# -- another file's rows, found by their names ------------------------------------------------


PLINK = ("IID", "#IID")  # what its files call the names of samples


def join(table: Table, other: Table, id_column: str | None) -> Table:
    """The rows that both tables have, with the columns of both."""
    known = [str(name) for name in other.about.columns]
    key = next((name for name in (id_column, *PLINK) if name in known), known[0])
    theirs = labels(other.about[key])
    twice = [name for name, count in Counter(theirs).items() if count > 1 and name is not None]
    if twice:
        raise InputError(
            f"{other.name}: {len(twice)} name(s) occur more than once in column {shown(key)}: "
            f"{listed(twice)}. Keep one row of each, or name another column with {option('id')}"
        )
    ours = labels(_our_ids(table, other, id_column, key))
    place = {name: at for at, name in enumerate(theirs) if name is not None}
    found = np.array([place.get(name, -1) if name is not None else -1 for name in ours], np.intp)
    kept = found >= 0
    if not kept.any():
        raise InputError(
            f"no row of {table.name} is found in {other.name}: the former has names such as "
            f"{_list_names(ours)}, and column {shown(key)} of the latter "
            f"{_list_names(theirs)}. Name the columns to match with "
            f"{option('id')}, which both files must have, or spell the names "
            f"alike{_in_columns(table, theirs)}"
        )
    joined = other.about.drop(columns=key).iloc[found[kept]].reset_index(drop=True)
    narrowed = table.rows(kept)
    return replace(
        narrowed,
        about=narrowed.about.drop(columns=key, errors="ignore").reset_index(drop=True),
        joined=joined,
        beside=other.name,
        ids=np.array(ours, object)[kept] if narrowed.ids is None else narrowed.ids,
        remarks=[*table.remarks, *other.remarks, _describe_matches(table, other, ours, theirs)],
    )


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
    """Return a hint to transpose if names of samples are found among the columns."""
    found = len(set(table.names) & {name for name in theirs if name is not None})
    if not found:
        return ""
    return (
        f". But {found} of these names are names of columns: if samples are in columns and "
        f"features in rows, give {option('transpose')}"
    )


def _describe_matches(
    table: Table, other: Table, ours: list[str | None], theirs: list[str | None]
) -> str:
    """Say how many rows were found, and which were not."""
    here, there = set(ours), {name for name in theirs if name is not None}
    lost = [name for name in ours if name not in there]
    unused = [name for name in theirs if name not in here]
    found = len(ours) - len(lost)
    words = f"{found} of {len(ours)} rows of {table.name} were found in {other.name}"
    if lost:
        words += f"; {len(lost)} were not and are left out ({_list_names(lost)})"
    if unused:
        words += f"; {len(unused)} rows of {other.name} match none ({_list_names(unused)})"
    return f"{words}."


def _list_names(names: list[str | None]) -> str:
    return listed(["no name" if name is None else name for name in names], 3)
