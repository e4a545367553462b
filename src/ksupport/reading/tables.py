"""Data files of every kind as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .._common.errors import InputError
from .._common.names import shown, title
from . import formats
from .annotated import from_h5ad
from .data import Columns, Reading, check_distinct
from .phenotypes import join
from .plink import Variants, from_plink, without_codes
from .source import ON_DISK, Source, open_source
from .spelling import option
from .spreadsheets import from_spreadsheet
from .table import Frame, Table
from .turning import turned

ARRAYS = ("npz", "libsvm", *ON_DISK)  # kinds of files that hold a matrix


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
    if reading.transpose:
        raise InputError(
            f"{option('transpose')} is for tables; {source.name} holds a matrix with samples in "
            "rows: leave it out"
        )
    if source.kind == "plink":
        return from_plink(source)
    if source.kind == "h5ad":
        return from_h5ad(source, reading.budget)
    if source.kind == "libsvm":
        return formats.from_libsvm(source, columns.target or "y", reading.budget)
    return formats.from_npz(source, _named(columns, source, reading), reading.budget)


def _named(columns: Columns, source: Source, reading: Reading) -> list[str]:
    """The arrays of an archive that have a part; with another file, those that are there."""
    held = formats.held_by_npz(source)
    names = [
        event_column(name, held) if part == "event" else name
        for part, name in columns.parts
        if part != "ignore"
    ]
    return names if reading.phenotypes is None else [name for name in names if name in held]


def event_column(event: str, names: Sequence[str]) -> str:
    """The column of ``COLUMN`` or ``COLUMN=VALUE``."""
    return event if event in names else event.rpartition("=")[0] or event


def _frame(source: Source, reading: Reading) -> Frame:
    remarks: list[str] = []
    if source.kind == "csv":
        frame = formats.from_csv(source, reading.separator, reading.marks, reading.budget)
    elif source.kind == "spreadsheet":
        frame, remarks = from_spreadsheet(source, reading.sheet, reading.budget)
    else:
        reader = formats.from_parquet if source.kind == "parquet" else formats.from_arrow
        frame = reader(source, reading.budget)
    names = [str(name) for name in frame.columns]
    if not reading.transpose:
        check_distinct(names, source.path)
    frame.columns = names
    return Frame(source.path, frame, remarks=remarks)


def joined(table: Table, reading: Reading, id_column: str | None) -> Table:
    if reading.phenotypes is None:
        return table
    path = reading.phenotypes
    source = open_source(path, reading.budget)
    if source.kind in ARRAYS:
        raise InputError(
            f"{option('phenotypes')} must be a table with a row for each sample, such as a CSV; "
            f"{title(path)} holds a matrix"
        )
    separator = formats.sniffed(source) if source.kind == "csv" else None
    how = replace(reading, separator=separator, transpose=False, phenotypes=None)
    other = table_of(source, how, Columns())
    if isinstance(table, Variants):
        other = without_codes(other)
    return join(table, other, id_column)
