"""What a command puts out: text and tables on the terminal, and files that are written whole."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from textwrap import fill
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..._common.errors import InputError
from ..._common.extra import extra
from ..._common.files import check_writable, replacing
from ..._common.names import spreadsheet_safe
from ..._common.progress import clear_progress
from .exit import CommandError

LEFT_ALIGNED = ("note", "description", "against")  # columns of words, beside the first
LARGEST_SHEET = 1_048_576  # rows, by the format
OTHER_KINDS = (  # ends of names that promise something that no command writes as a table
    ".xls", ".xlsm", ".xlsb", ".ods", ".parquet", ".pq", ".arrow", ".feather", ".npy", ".npz",
    ".json", ".html", ".h5ad", ".rds",
)  # fmt: skip


def console() -> Console:
    """Standard output; plain text if NO_COLOR is set, also where rich would leave bold."""
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(
        color_system=None if plain else "auto", highlight=False, markup=False, emoji=False
    )


def heading(out: Console, text: str) -> None:
    out.print(Text(text, style="bold"))


def styled(out: Console, text: str) -> None:
    """Text with markup, such as [bold]."""
    out.print(Text.from_markup(text))


def paragraph(out: Console, text: str) -> None:
    out.print(Text(fill(text, min(out.width, 100), break_on_hyphens=False)))


def table(out: Console, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Aligned columns; no cell is taken for markup."""
    drawn = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(header):
        left = at == 0 or name in LEFT_ALIGNED
        drawn.add_column(name, justify="left" if left else "right", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    out.print(drawn)


def say(text: str) -> None:
    """Print the current stage on standard error; faint on a terminal.

    Work that takes long redraws a line of its own below it, with the time left.
    """
    clear_progress()
    faint = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(f"\x1b[2m{text}\x1b[0m" if faint else text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    typer.echo(as_json(value), nl=False)


def check_outputs(inputs: Mapping[str, Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs that are an input or one another, or that cannot be written.

    Both go by what the user calls them: ``DATA``, ``--output``.
    """
    written = {name: path for name, path in outputs.items() if path is not None}
    for first, second in combinations([*inputs.items(), *written.items()], 2):
        if second[0] in written and _same(first[1], second[1]):
            raise InputError(
                f"{second[0]} {second[1]} is the same file as {first[0]} {first[1]}, and would "
                "replace it; give it another name"
            )
    for path in written.values():
        try:
            check_writable(path)
        except OSError as error:
            raise _unwritable(path, error) from error


def _same(a: Path, b: Path) -> bool:
    """Whether two names lead to one file, through links too; a device may be named twice."""
    try:
        return os.path.samefile(a, b) and a.is_file()
    except OSError:  # one of them is not there yet
        real = [os.path.normcase(os.path.realpath(each)) for each in (a, b)]
        return real[0] == real[1]


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def as_csv(rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """Rows of a table as CSV; no text can act as a formula in a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return text.getvalue()


def _safe(cell: Any) -> Any:
    if cell is None:
        return ""
    return spreadsheet_safe(cell) if isinstance(cell, str) else repr(cell)


def check_table(option: str, path: Path | None) -> None:
    """Refuse a suffix of another format than those that are written."""
    if path is not None and path.suffix.lower() in OTHER_KINDS:
        raise InputError(
            f"{option} {path}: a table is written as CSV (.csv, .txt), with tabs (.tsv, .tab) or "
            f"as a workbook (.xlsx), not as {path.suffix}; give it another name"
        )


def write_table(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Write a table in the kind that the end of the name tells."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        if len(rows) > LARGEST_SHEET:
            raise CommandError(
                f"{path} cannot be written: a sheet holds {LARGEST_SHEET} rows, and there are "
                f"{len(rows)}; give a name that ends in .csv"
            )
        _write_workbook(path, rows)
    else:
        write_text(path, as_csv(rows, "\t" if suffix in (".tsv", ".tab") else ","))


def _write_workbook(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    with extra("excel", "writing workbooks needs"):
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    book = Workbook(write_only=True)
    sheet = book.create_sheet("ksupport")

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("", value))
        made.data_type = "s"  # a text, even if it begins as a formula does
        return made

    for row in rows:
        sheet.append([cell(value) for value in row])
    try:
        with replacing(path) as temporary:
            book.save(temporary)
    except OSError as error:
        raise _unwritable(path, error) from error


def write_text(path: Path, text: str) -> None:
    """Write a file; an OSError becomes a CommandError."""
    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> CommandError:
    return CommandError(f"{path} cannot be written: {error.strerror or error}")
