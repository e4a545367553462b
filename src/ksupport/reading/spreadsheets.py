"""Sheets of Excel and LibreOffice files as data frames; calamine does the work."""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections.abc import Iterable
from typing import Any

from .._common.errors import InputError
from .._common.extra import extra
from .._common.names import listed, shown
from .._common.phases import phase
from .size import Budget
from .source import Source
from .spelling import option

UNPACKED = 4  # bytes in memory for each of the XML that cells come from: 2.2 to 2.9 as measured


def from_spreadsheet(source: Source, sheet: str | None, budget: Budget) -> tuple[Any, list[str]]:
    """The table of a sheet, the first if none is named, and what to know about it."""
    import pandas as pd

    _check_size(source, budget)
    with extra("excel", "reading spreadsheets needs"):
        import python_calamine  # noqa: F401 (pandas asks for it)
    with warnings.catch_warnings(), phase("parsing"):
        warnings.simplefilter("ignore")  # on styles and the like
        book = pd.ExcelFile(io.BytesIO(source.data), engine="calamine")
        names = [str(name) for name in book.sheet_names]
        cells = book.parse(_wanted(sheet, names, source.name), header=None)
    return _table(cells, source.name), _remarks(sheet, names, cells, source.name)


def _check_size(source: Source, budget: Budget) -> None:
    """Refuse what unpacks to more than there may be: these files are archives."""
    if not zipfile.is_zipfile(io.BytesIO(source.data)):
        raise InputError(
            f"{source.name} cannot be read as a spreadsheet: it is no .xlsx or .ods file, or only "
            "a part of one. Save it again, or save the sheet as CSV"
        )
    with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        budget.check(source.name, UNPACKED * sum(each.file_size for each in archive.infolist()))


def _wanted(sheet: str | None, names: list[str], file: str) -> str:
    if sheet is None:
        return names[0]
    if sheet not in names:
        raise InputError(
            f"{option('sheet')} {shown(sheet)!r} is no sheet of {file}; there are {listed(names)}"
        )
    return sheet


def _table(cells: Any, file: str) -> Any:
    """A data frame of a sheet whose first row holds the names."""
    cells = cells.dropna(axis="index", how="all").dropna(axis="columns", how="all")
    if len(cells) == 0:
        raise InputError(f"{file} has nothing on this sheet; name another with {option('sheet')}")
    named = int(cells.iloc[0].notna().sum())
    if 2 * named < cells.shape[1]:
        raise InputError(
            f"{file}: the first row of the sheet has {named} cells and the table {cells.shape[1]} "
            "columns; the names of the columns must be in the first row: remove titles above it"
        )
    names = ["" if cell is None or cell != cell else _name(cell) for cell in cells.iloc[0]]
    return cells.iloc[1:].reset_index(drop=True).infer_objects().set_axis(names, axis=1)


def _name(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell.date() if isinstance(cell, datetime.datetime) else cell)


def _remarks(sheet: str | None, names: list[str], cells: Any, file: str) -> list[str]:
    told = []
    if sheet is None and len(names) > 1:
        told.append(
            f"{file} has {len(names)} sheets ({listed(names, 4)}): {shown(names[0])} was read; "
            f"{option('sheet')} names another."
        )
    dates = _dates(cells.iloc[0] if len(cells) else ())
    if dates:
        told.append(
            f"{len(dates)} column names of {file} are dates ({listed(dates, 3)}): spreadsheets "
            "make dates of gene names such as SEPT2; check them."
        )
    return told


def _dates(row: Iterable[Any]) -> list[str]:
    return [_name(cell) for cell in row if isinstance(cell, datetime.date) and cell == cell]
