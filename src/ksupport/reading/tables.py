"""Data files of every kind as one thing: names, a matrix, a response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, shown, title
from .._common.phases import phase
from ..design import Floats, Genotypes
from . import formats
from .annotated import from_h5ad
from .cells import labels
from .covariates import Coding
from .data import Columns, Data, Reading, check_distinct, check_shape, check_squares, dense
from .guesses import remarks_on
from .missing import fill_in, refuse_missing, without_missing
from .phenotypes import join
from .plink import Variants, from_plink, without_codes
from .response import response_of
from .source import ON_DISK, Source, open_source
from .spelling import option
from .spreadsheets import from_spreadsheet
from .table import Frame, Table
from .turning import turned

ARRAYS = ("npz", "libsvm", *ON_DISK)  # kinds of files that hold a matrix


def read_data(path: Path, columns: Columns, reading: Reading, need_target: bool = True) -> Data:
    """Read a file, find the columns, and check that all is numbers."""
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        columns = _with_default(columns, source, need_target)
        table = _joined(_table(source, reading, columns), reading, columns.id)
        data = _data(table, columns, reading, source.sha256)
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
    if source.kind == "libsvm" or (
        source.kind == "npz" and (need_target or "y" in formats.held_by_npz(source))
    ):
        return replace(columns, target="y")
    if need_target and source.kind not in ("npz", "libsvm"):
        return replace(columns, target="")  # for the table to say what there is
    return columns


# -- files as tables -------------------------------------------------------------------------


def _table(source: Source, reading: Reading, columns: Columns) -> Table:
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
    names = [
        _event_column(name, held) if part == "event" else name
        for part, name in columns.parts
        if part != "ignore"
        for held in [formats.held_by_npz(source)]
    ]
    if reading.phenotypes is None:
        return names
    held = formats.held_by_npz(source)
    return [name for name in names if name in held]


def _event_column(event: str, names: Sequence[str]) -> str:
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


def _joined(table: Table, reading: Reading, id_column: str | None) -> Table:
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
    other = _table(source, how, Columns())
    if isinstance(table, Variants):
        other = without_codes(other)
    return join(table, other, id_column)


# -- tables as data --------------------------------------------------------------------------


def _data(table: Table, columns: Columns, reading: Reading, sha256: str) -> Data:
    if columns.target == "":
        raise InputError(f"{option('target')} must name the column to explain; {table.there}")
    marks = reading.marks
    response = response_of(table, columns, marks)
    codings, beside = _covariates(table, columns.adjust_for, reading)
    ids, groups = _ids(table, columns.id), _groups(table, columns.groups)
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
        parts.add(_event_column(name, table.names) if part == "event" else name)
    return parts


def _covariates(
    table: Table, names: Sequence[str], reading: Reading
) -> tuple[tuple[Coding, ...], Floats]:
    columns = [table.column("adjust-for", name) for name in names]
    codings = tuple(Coding.of(column, reading.marks) for column in columns)
    return codings, _coded(table, codings, reading)


def _coded(table: Table, codings: Sequence[Coding], reading: Reading) -> Floats:
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


def _ids(table: Table, name: str | None) -> NDArray[Any] | None:
    if name is None or table.joined is not None:
        return table.ids
    return np.array(["" if each is None else each for each in _labels(table, name)], object)


def _labels(table: Table, name: str) -> list[str | None]:
    return labels(table.column("id", name))


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


# -- new rows --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows to predict for: the columns of a model, in its order."""

    X: Floats
    ids: NDArray[Any] | None
    id_name: str  # what the column is called that names rows
    remarks: Sequence[str] = ()


def read_rows(
    path: Path,
    names: Sequence[str],
    reading: Reading,
    codings: Sequence[Coding] = (),
    id_column: str | None = None,
    fill: Floats | None = None,
    likely_id: str | None = None,
) -> Rows:
    """The columns of these names, in this order; others may hold anything.

    In a LIBSVM file a feature that is always 0 does not appear: absent columns are zeros there.
    What is missing is taken to be ``fill``, if there is one.  Rows are named by a column that is
    likely to, if it is there and no other is given.
    """
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        table = _table(source, reading, Columns(id=id_column))
        if id_column is None and likely_id in table.about.columns:
            id_column = likely_id
        table = _joined(table, reading, id_column)
        needed = [each for each in codings if set(each.names) & set(names)]
        found, X = table.only(names, reading.marks)
        coded = _coded(table, needed, reading)
    there = [*found, *(name for coding in needed for name in coding.names)]
    values = _in_order(names, there, np.hstack([dense(X), coded]), path, source.kind == "libsvm")
    rows = Rows(values, _ids(table, id_column), id_column or "row", table.remarks)
    if not names:
        return rows
    if fill is None:
        refuse_missing(
            Data(path, tuple(names), values, None, kind=None),
            "Fill them in; or fit with --missing impute: then new rows are filled in, too",
        )
        return rows
    return _filled(rows, fill)


def _filled(rows: Rows, fill: Floats) -> Rows:
    """Rows without holes, and a remark on how many there were."""
    X, count = fill_in(rows.X, fill)
    words = f"{count} missing values were taken to be the means of the rows of the fit."
    return replace(rows, X=X, remarks=[*rows.remarks, *([words] if count else [])])


def _in_order(
    names: Sequence[str], there: Sequence[str], X: Floats, path: Path, zeros: bool
) -> Floats:
    place = {name: j for j, name in enumerate(there)}
    absent = [name for name in names if name not in place]
    if absent and not zeros:
        raise InputError(
            f"{title(path)} lacks {len(absent)} of the {len(names)} columns of the model: "
            f"{listed(absent)}"
        )
    out = np.zeros((X.shape[0], len(names)))
    known = [at for at, name in enumerate(names) if name in place]
    out[:, known] = X[:, [place[names[at]] for at in known]]
    return out
