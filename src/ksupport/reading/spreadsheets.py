"""Sheets of Excel and LibreOffice files as data frames; calamine does the work."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.extra import extra
from .._common.names import listed, shown
from .._common.phases import phase
from .cells import NA
from .problems import option
from .size import Budget
from .source import Source

BYTES_PER_XML_BYTE = 4  # memory of cells per byte of their XML: 2.2 to 2.9 as measured
EMPTY_BYTES = 40  # memory of an empty cell between others; an estimate, not measured
REPEATED_BYTES = 100  # memory of a cell that LibreOffice stores once for many: as measured
PLACE = re.compile(rb'<c\s(?:[^>]*\s)?r="([A-Z]{1,3})([0-9]{1,7})"')  # of a cell of a worksheet
NAMED_SHEET = re.compile(r"(?s)(.+\.(?:xlsx|xlsm|ods)):(.+)", re.IGNORECASE)


def file_and_sheet(path: Path) -> tuple[Path, str | None]:
    """Split ``book.xlsx:sheet`` into the file and the sheet; a file of that very name is itself.

    >>> file_and_sheet(Path("book.xlsx:samples"))
    (PosixPath('book.xlsx'), 'samples')
    """
    found = NAMED_SHEET.fullmatch(str(path))
    if found is None or path.exists():
        return path, None
    return Path(found[1]), found[2]


def from_spreadsheet(source: Source, sheet: str | None, budget: Budget) -> tuple[Any, list[str]]:
    """Return the table of a sheet, the first if none is named, and remarks on it."""
    _check_unpacked_size(source, budget)
    book = _book(source)
    names = [str(name) for name in book.sheet_names]
    if sheet is not None and sheet not in names:
        raise InputError(
            f"{shown(sheet)!r} is not a sheet of {source.name}; there are {listed(names)}"
        )
    wanted = names[0] if sheet is None else sheet
    with phase("parsing"):
        cells = np.array(book.get_sheet_by_name(wanted).to_python(), dtype=object)
    first = cells[0] if len(cells) else ()
    return _table(cells, source.name), _remarks(sheet, names, first, source.name)


def sheets_with(source: Source, column: str) -> list[str]:
    """Return the sheets of a file whose first row has this name."""
    book = _book(source)
    rows = {name: book.get_sheet_by_name(name).to_python(nrows=1) for name in book.sheet_names}
    return [name for name, top in rows.items() if top and column in map(_name, top[0])]


def sheet_names(source: Source) -> tuple[str, ...]:
    return tuple(str(name) for name in _book(source).sheet_names)


def _book(source: Source) -> Any:
    with extra("excel", "reading spreadsheets needs"):
        from python_calamine import CalamineWorkbook
    return CalamineWorkbook.from_filelike(io.BytesIO(source.data))


def _check_unpacked_size(source: Source, budget: Budget) -> None:
    """Refuse a spreadsheet whose unpacked size exceeds the memory budget."""
    if not zipfile.is_zipfile(io.BytesIO(source.data)):
        raise InputError(
            f"{source.name} cannot be read as a spreadsheet: it is no .xlsx or .ods file, or only "
            "a part of one. Save it again, or save the sheet as CSV"
        )
    with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        budget.check(
            source.name, BYTES_PER_XML_BYTE * sum(each.file_size for each in archive.infolist())
        )
        for each in archive.namelist():
            if each.startswith("xl/worksheets/") and each.endswith(".xml"):
                budget.check(source.name, EMPTY_BYTES * _declared_cells(archive.read(each)))
            elif each == "content.xml":
                budget.check(source.name, REPEATED_BYTES * _repeated_cells(archive.read(each)))


def _declared_cells(xml: bytes) -> int:
    """Count the cells of the smallest rectangle from A1 that contains a worksheet.

    >>> _declared_cells(b'<row r="1"><c r="A1"/></row><row r="3"><c s="2" r="C3"/></row>')
    9
    """
    columns, rows = set[bytes](), set[bytes]()
    for column, row in PLACE.findall(xml):
        columns.add(column)
        rows.add(row)
    return max(map(int, rows), default=0) * max(map(_number, columns), default=0)


def _repeated_cells(xml: bytes) -> int:
    """Count the cells of the largest sheet of an .ods file up to the last one with a value.

    >>> row = b'<table:table-row table:number-rows-repeated="9"><table:table-cell '
    >>> cell = b'table:number-columns-repeated="5"/></table:table-row>'
    >>> _repeated_cells(row + b'office:value-type="float" ' + cell), _repeated_cells(row + cell)
    (45, 0)
    """
    most = rows = columns = width = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal most, rows, columns, width
        if name == "table:table":
            rows = width = 0
        elif name == "table:table-row":
            rows, columns = rows + int(attributes.get("table:number-rows-repeated", 1)), 0
        elif name.endswith("table-cell"):
            columns += int(attributes.get("table:number-columns-repeated", 1))
        if name == "text:p" or "office:value-type" in attributes:
            width = max(width, columns)
            most = max(most, rows * width)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    with suppress(expat.ExpatError, ValueError):  # the reader will say what is wrong
        parser.Parse(xml, True)
    return most


def _number(letters: bytes) -> int:
    """Return the number of a column: A is 1, Z 26, AA 27."""
    return reduce(lambda number, letter: 26 * number + letter - 64, letters, 0)


def _table(cells: NDArray[Any], file: str) -> Any:
    """Return a data frame of a sheet whose first row has the names."""
    there = cells != ""
    if not there.any():
        raise InputError(f"{file} has nothing on this sheet; name another with {option('sheet')}")
    cells = cells[there.any(axis=1)][:, there.any(axis=0)]
    named = int((cells[0] != "").sum())
    if 2 * named < cells.shape[1]:
        raise InputError(
            f"{file}: the first row of the sheet has {named} cells and the table {cells.shape[1]} "
            "columns; the names of the columns must be in the first row: remove titles above it"
        )
    return _frame(cells[1:]).set_axis([_name(cell) for cell in cells[0]], axis=1)


def _frame(cells: NDArray[Any]) -> Any:
    """Return a data frame with all numbers in one block: ten times faster than one per column."""
    import pandas as pd

    missing = np.frompyfunc(lambda cell: isinstance(cell, str) and cell.strip() in NA, 1, 1)(cells)
    absent = missing.astype(bool)
    number = np.frompyfunc(lambda cell: type(cell) in (int, float), 1, 1)(cells).astype(bool)
    plain = (number | absent).all(axis=0)
    block = np.where(absent[:, plain], np.nan, cells[:, plain]).astype(np.float64)
    others = pd.DataFrame(
        {j: pd.Series(cells[:, j]).mask(absent[:, j]) for j in np.flatnonzero(~plain)}
    ).infer_objects()
    numbers = pd.DataFrame(block, columns=np.flatnonzero(plain))
    return pd.concat([numbers, others], axis=1)[list(range(cells.shape[1]))]


def _name(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell.date() if isinstance(cell, datetime.datetime) else cell)


def _remarks(sheet: str | None, names: list[str], first: Iterable[Any], file: str) -> list[str]:
    told = []
    if sheet is None and len(names) > 1:
        told.append(
            f"{file} has {len(names)} sheets ({listed(names, 4)}): {shown(names[0])} was read; "
            f"{option('sheet')} names another."
        )
    dates = [_name(cell) for cell in first if isinstance(cell, datetime.date)]
    if dates:
        told.append(
            f"{len(dates)} column names of {file} are dates ({listed(dates, 3)}): spreadsheets "
            "make dates of gene names such as SEPT2; check them."
        )
    return told
