"""`ksupport.read`: a data file as what a fit needs; and new rows to predict for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.checks import dense
from .._common.errors import InputError
from .._common.extra import extra
from .._common.names import listed, shown, title
from .._common.phases import phase
from ..design import Floats, Genotypes
from .cells import Marks, labels, look_like_ids
from .data import Coding, Data, check_distinct, check_shape, check_squares
from .duplicates import DuplicatePolicy, Duplicates, describe_duplicates, resolve_duplicates
from .load import event_column, joined, table_of
from .matrices import held_by_npz
from .missing import fill_in, refuse_missing, without_missing
from .not_numbers import guessed_marks
from .options import DEFAULT_MEMORY, Columns, Missing, Reading, how_to_read
from .problems import Problems, in_python, option, spelling
from .response import Response, response_of
from .source import Source, open_source
from .spreadsheets import file_and_sheet
from .table import Frame, Table


def read(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    time: str | None = None,
    event: str | None = None,
    response: Literal["numbers", "classes"] | None = None,
    adjust_for: str | Sequence[str] = (),
    id: str | None = None,
    groups: str | None = None,
    ignore: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    transpose: bool = False,
    phenotypes: str | os.PathLike[str] | None = None,
    sheet: str | None = None,
    phenotypes_sheet: str | None = None,
    missing: Missing = "refuse",
    na: str | Sequence[str] = (),
    duplicates: DuplicatePolicy = "refuse",
    separator: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str | None = None,
    max_memory: float = DEFAULT_MEMORY,
) -> Data:
    """Read a data file: features, response, covariates and names.

    CSV, TSV and other text (also packed), Excel and LibreOffice, Parquet, Arrow and Feather, NPY
    (a matrix) and NPZ (arrays X and y), LIBSVM, genotypes of PLINK (``.bed``, left on disk) and
    AnnData (``.h5ad``).  The command ``ksupport fit`` reads files by the same rules.  All problems
    of a file are reported in one error.

    Parameters
    ----------
    path : path
        The file; the end of its name tells its kind.  ``book.xlsx:samples`` is a sheet of one.
    target : str, optional
        Column to explain.  NPZ takes the array y and LIBSVM the first entry; columns of an NPY
        are called x0, x1 and so on.  Text, truth values
        and two codes (0 and 1, -1 and 1, 1 and 2) are classes, other numbers are numbers.
    time, event : str, optional
        Instead of a target: the time until the event or censoring, and whether the event was
        observed (1) or the row is censored (0); ``"column=value"`` names the value of an event.
    response : "numbers" or "classes", optional
        How to treat the target; by default its values decide.
    adjust_for : str or sequence of str
        Columns that are in every model: age, sex, batch.  Text is encoded as columns of 0 and 1.
    id : str, optional
        Column with the names of the rows.
    groups : str, optional
        Column of labels; rows with the same label are held out together.
    ignore : str or sequence of str
        Columns to leave out.
    keep : str or sequence of str
        Columns that are features, though they look like ids: whole numbers in order.
    transpose : bool
        Whether features are in rows, with their names in the first column.
    phenotypes : path, optional
        Another file with a row for each sample, matched by the names in the column ``id``, or
        in the first one.  An NPY file holds the target, row by row, as y.
    sheet, phenotypes_sheet : str, optional
        Of a spreadsheet, and of that of ``phenotypes``; the first if left out.
    missing : "refuse", "drop-rows", "drop-columns" or "impute"
        How to treat missing values.  To impute is to replace them by the means of their
        columns; an estimator does so within its folds too.
    na : str or sequence of str
        Texts that stand for a missing value, such as "n.d.", besides NA, NaN and the like.
    duplicates : "refuse", "mean", "max-variance" or "suffix"
        How to treat features that share a name, as several probes of a gene do: take their
        mean, or the one of largest variance, or all with a number after the name.
    separator : str, optional
        Separator of columns in a text file; detected if left out.
    decimal : str
        Decimal mark of numbers.
    thousands : str, optional
        Thousands separator of numbers.
    encoding : str, optional
        Of a text file, such as "latin-1"; detected if left out.
    max_memory : float
        Files that would take more memory than this, in GB, are refused.

    Returns
    -------
    Data
        With X, y, ``kind`` ("numbers", "classes" or "survival"), ``feature_names``, ``ids``,
        ``groups``, ``covariates``, and ``remarks``: what was assumed, in words.  ``unpenalized``
        tells estimators which columns of X are to adjust for.

    Examples
    --------
    >>> import ksupport, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "samples.csv"
    >>> _ = file.write_text("name,g1,g2,sex,dose\\nA,1,4,f,2.5\\nB,2,5,m,3.5\\nC,3,7,f,4.5\\n")
    >>> data = ksupport.read(file, target="dose", id="name", adjust_for="sex")
    >>> data
    Data(samples.csv: 3 rows, 2 features, 1 to adjust for; response: numbers)
    >>> data.feature_names, data.ids.tolist(), data.y.tolist()
    (('g1', 'g2', 'sex=m'), ['A', 'B', 'C'], [2.5, 3.5, 4.5])
    """
    with spelling(in_python), extra("files", "reading files needs"):
        how = how_to_read(
            separator=separator, decimal=decimal, thousands=thousands, missing=missing,
            max_memory=max_memory, sheet=sheet, transpose=transpose,
            phenotypes=None if phenotypes is None else Path(phenotypes),
            phenotypes_sheet=phenotypes_sheet, na=_several(na), encoding=encoding,
            duplicates=duplicates,
        )  # fmt: skip
        columns = Columns(
            target=target, time=time, event=event, response=response, id=id, groups=groups,
            adjust_for=_several(adjust_for), ignore=_several(ignore), keep=_several(keep),
        )  # fmt: skip
        if response not in (None, "numbers", "classes"):
            raise InputError(f"response must be 'numbers' or 'classes', got {response!r}")
        return read_data(Path(path), columns, how, need_target=False)


def _several(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def read_data(path: Path, columns: Columns, reading: Reading, need_target: bool = True) -> Data:
    """Read a file, find the columns, and check that all is numbers."""
    path, reading = with_sheet(path, reading)
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        columns = with_default(columns, source, reading, need_target)
        table = joined(table_of(source, reading, columns), reading, columns.id)
        return data_of(table, columns, reading, source.sha256, need_target)


def data_of(
    table: Table, columns: Columns, reading: Reading, sha256: str, need_target: bool = True
) -> Data:
    """The checked data of a table; all its problems are one error."""
    problems = Problems(title(table.path))
    data = _data(table, columns, reading, sha256, need_target, problems)
    with problems.collect():
        check_shape(data)
        data = without_missing(data, reading.missing, reading.budget)
        check_shape(data)
        check_squares(data)
    problems.check()
    return data


def with_sheet(path: Path, reading: Reading) -> tuple[Path, Reading]:
    """A file, and the sheet to be read of it, of ``book.xlsx:sheet``."""
    file, sheet = file_and_sheet(path)
    if sheet is None:
        return file, reading
    if reading.sheet is not None:
        raise InputError(f"{option('sheet')} and {title(path)} both name a sheet: leave out one")
    return file, replace(reading, sheet=sheet)


def with_default(columns: Columns, source: Source, reading: Reading, need_target: bool) -> Columns:
    """The array y of an archive, and the first entry of LIBSVM's lines, need not be named."""
    if columns.target is not None or columns.survival:
        return columns
    in_archive = source.kind == "npz" and (need_target or "y" in held_by_npz(source))
    beside = reading.phenotypes is not None and reading.phenotypes.suffix == ".npy"
    named = in_archive or beside or source.kind == "libsvm"
    return replace(columns, target="y") if named else columns


def _data(
    table: Table,
    columns: Columns,
    reading: Reading,
    sha256: str,
    need_target: bool,
    problems: Problems,
) -> Data:
    reading = replace(reading, marks=_notation(table, reading.marks, problems))
    response, ids, groups = Response(), table.ids, None
    with problems.collect():
        if need_target and columns.target is None and not columns.survival:
            raise InputError(f"{option('target')} must name the column to explain; {table.listing}")
        response = response_of(table, columns, reading.marks)
    codings, beside = _covariates(table, columns.adjust_for, reading, problems)
    with problems.collect():
        ids = ids_of(table, columns.id)
    with problems.collect():
        groups = _groups(table, columns.groups)
    parts = _parts(table, columns, problems)
    names, X = table.features(parts, reading.marks, problems)
    if isinstance(table, Frame):
        for problem in look_like_ids(names, X, columns.keep):
            problems.add(problem)
    duplicates, remarks = Duplicates(), [*table.remarks, *response.remarks]
    with problems.collect():
        once, X, duplicates = resolve_duplicates(names, X, reading.duplicates, table.name)
        remarks += describe_duplicates(names, duplicates)
        names = once
        covariates = [name for coding in codings for name in coding.names]
        check_distinct([*names, *covariates], table.path)
    if isinstance(X, Genotypes):
        remarks.append("Missing genotypes are replaced by the mean of their column.")
        X = X.with_beside(beside) if codings else X
    elif codings:
        X = sp.hstack([X, beside], format="csr") if sp.issparse(X) else np.hstack([X, beside])
    return Data(
        table.path, (*names, *(name for coding in codings for name in coding.names)),
        X, response.y, groups, remarks, sha256, response.kind, ids, codings, duplicates,
    )  # fmt: skip


def _notation(table: Table, marks: Marks, problems: Problems) -> Marks:
    """The notation of the numbers, so that reading can go on if the options are wrong."""
    for frame, name in ((table.about, table.name), (table.joined, table.beside)):
        if frame is not None:
            marks, problem = guessed_marks(frame, name, marks)
            if problem is not None:
                problems.add(problem)
    return marks


def _parts(table: Table, columns: Columns, problems: Problems) -> set[str]:
    """The columns that are no features.

    Those to ignore or to keep must be there.  What is spelled like a column that is not there is
    probably meant by it, so nothing else is said of it.
    """
    known = {*table.names, *getattr(table, "feature_names", ())}
    parts = set()
    for part, name in columns.parts:
        column = event_column(name, table.names) if part == "event" else name
        if part in ("ignore", "keep") and name not in known:
            with problems.collect():
                table.column(part, name)
        if part != "keep":
            parts |= {column} if column in known else set(table.near(column)[:1])
    return parts


def _covariates(
    table: Table, names: Sequence[str], reading: Reading, problems: Problems
) -> tuple[tuple[Coding, ...], Floats]:
    codings: list[Coding] = []
    parts: list[Floats] = [np.empty((len(table.about), 0))]
    for name in names:
        with problems.collect():
            coding = Coding.of(table.column("adjust-for", name), reading.marks)
            parts.append(coded(table, [coding], reading))
            codings.append(coding)
    return tuple(codings), np.hstack(parts)


def coded(table: Table, codings: Sequence[Coding], reading: Reading) -> Floats:
    parts = [
        coding.code(table.column("adjust-for", coding.name), table.name, reading.marks)
        for coding in codings
    ]
    return np.hstack([np.empty((len(table.about), 0)), *parts])


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


# -- new rows ----------------------------------------------------------------------------


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
    duplicates: Duplicates = Duplicates(),  # noqa: B008 (it is frozen)
) -> Rows:
    """The columns of these names, in this order; others may hold anything.

    In a LIBSVM file a feature that is always 0 does not appear: absent columns are zeros there.
    What is missing is taken to be ``fill``, if there is one.  Rows are named by a column that is
    likely to, if it is there and no other is given.  Columns that share a name are merged as in
    the fit, which ``duplicates`` tells.
    """
    path, reading = with_sheet(path, reading)
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        table = table_of(source, reading, Columns(id=id_column))
        if id_column is None and likely_id in table.about.columns:
            id_column = likely_id
        table = joined(table, reading, id_column)
        needed = [each for each in codings if set(each.names) & set(names)]
        found, X = table.only(names, reading.marks, duplicates)
        beside = coded(table, needed, reading)
    there = [*found, *(name for coding in needed for name in coding.names)]
    values = _in_order(names, there, np.hstack([dense(X), beside]), path, source.kind == "libsvm")
    rows = Rows(values, ids_of(table, id_column), id_column or "row", table.remarks)
    if not names:
        return rows
    if fill is None:
        refuse_missing(
            Data(path, tuple(names), values, None, kind=None),
            "Fill them in; or fit with --missing impute: then new rows are filled in, too",
        )
        return rows
    X, count = fill_in(rows.X, fill)
    words = f"{count} missing values were replaced by the means of the training rows."
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
