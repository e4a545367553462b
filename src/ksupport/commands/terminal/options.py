"""The options that commands share, their headings in --help, and shell completion."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ...reading import Columns, Reading
from ...reading.duplicates import DUPLICATE_POLICIES
from ...reading.options import DEFAULT_MEMORY, MISSING_POLICIES, how_to_read
from ...reading.spreadsheets import file_and_sheet

# -- completion --------------------------------------------------------------------------


Complete = Callable[[str], list[str]]


def among(names: Callable[[], Iterable[str]]) -> Complete:
    """Completes one of the names, which are looked up when they are wanted.

    >>> among(lambda: ["lasso", "omp"])("l")
    ['lasso']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def some_of(names: Callable[[], Iterable[str]]) -> Complete:
    """Completes the last of several names with commas between; each is offered once.

    >>> some_of(lambda: ["lasso", "omp"])("lasso,")
    ['lasso,omp']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        return [
            f"{before}{comma}{name}"
            for name in names()
            if name.startswith(last) and name not in given
        ]

    return complete


# -- help --------------------------------------------------------------------------------


COLUMN_PANEL, METHOD_PANEL = "What the columns are", "How features are found"
FILE_PANEL, RESULT_PANEL = "How the file is read", "What comes out"

method_option = partial(typer.Option, rich_help_panel=METHOD_PANEL)
output_option = partial(typer.Option, rich_help_panel=RESULT_PANEL)


class CommandWithSections(TyperCommand):
    """A command whose help has its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for heading, records in sections(self, ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands after the command's name, with no braces about what is needed."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def sections(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Each option and its help, by heading; options without a heading come last."""
    headings = ("Arguments", COLUMN_PANEL, METHOD_PANEL, FILE_PANEL, RESULT_PANEL, "Others")
    found: dict[str, list[tuple[str, str]]] = {heading: [] for heading in headings}
    for each in command.get_params(ctx):
        record = each.get_help_record(ctx)
        if record is None:
            continue
        if each.param_type_name == "argument":
            found["Arguments"].append((record[0].partition(" ")[0], record[1]))
        else:
            found[getattr(each, "rich_help_panel", None) or "Others"].append(record)
    filled = {heading: records for heading, records in found.items() if records}
    return filled if len(filled) > 1 else {"Options": filled["Others"]}


# -- options that commands take together ---------------------------------------------------


def option(
    name: str, kind: Any, default: Any, panel: str, words: str, *flags: str, **how: Any
) -> inspect.Parameter:
    info = typer.Option(*flags, help=words, rich_help_panel=panel, **how)
    annotation = Annotated[kind, info]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


@dataclass(frozen=True)
class Group:
    """Options, and what is made of their values."""

    make: Callable[..., Any]
    options: Sequence[inspect.Parameter]

    def only(self, *names: str) -> Group:
        return Group(self.make, [each for each in self.options if each.name in names])

    def without(self, *names: str) -> Group:
        return Group(self.make, [each for each in self.options if each.name not in names])


def with_groups(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a group in place of its parameter of that name.

    The command gets a call that checks them there, so that it can check others first.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        taken = {name: group for name, group in groups.items() if name in own.parameters}
        parameters = [
            option
            for name, parameter in own.parameters.items()
            for option in (taken[name].options if name in taken else [parameter])
        ]

        @functools.wraps(command)
        def wrapped(*args: Any, **given: Any) -> None:
            for name, group in taken.items():
                known = [each.name for each in group.options if each.name in given]
                values = {each: given.pop(each) for each in known}
                given[name] = partial(group.make, **values)
            command(*args, **given)

        # typer reads one or the other, by version.
        wrapped.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
        return wrapped

    return decorated


Seed = Annotated[
    int,
    method_option(
        metavar="NUMBER", help="Seed of the random number generator.", min=0, max=2**32 - 1
    ),
]
Json = Annotated[bool, output_option("--json", help="Print JSON instead of words.")]
Standardize = Annotated[
    bool, method_option(help="Scale the columns to unit variance while fitting.")
]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV or other text (also .gz), Excel (.xlsx) or .ods (book.xlsx:sheet names a "
        "sheet), Parquet, Arrow or Feather, NPY (a matrix), NPZ (arrays X, y), LIBSVM, genotypes "
        "of PLINK (.bed) or AnnData (.h5ad); a pipe such as /dev/stdin must hold CSV.",
    ),
]
CheckedReading = Callable[[], Reading]  # refuses options that make no sense
CheckedColumns = Callable[[], Columns]


def _column(name: str, words: str) -> inspect.Parameter:
    return option(name, str | None, None, COLUMN_PANEL, words, metavar="COLUMN")


def _columns(name: str, words: str) -> inspect.Parameter:
    words += "; may be given several times."
    return option(name, list[str], [], COLUMN_PANEL, words, metavar="COLUMN")


def _file(
    name: str, metavar: str | None, words: str, *flags: str, kind: Any = str | None,
    default: Any = None, **how: Any,
) -> inspect.Parameter:  # fmt: skip
    return option(name, kind, default, FILE_PANEL, words, *flags, metavar=metavar, **how)


def _which_columns(regression: bool | None = None, **columns: Any) -> Columns:
    response = {None: None, True: "numbers", False: "classes"}[regression]
    return Columns(response=response, **columns)  # type: ignore[arg-type]


WHICH_COLUMNS = Group(_which_columns, [
    _column(
        "target",
        "Column to explain (the response); by default y in NPZ, and the first entry in LIBSVM.",
    ),
    _column(
        "time",
        "Instead of --target, for survival data: column of times until the event or censoring.",
    ),
    _column(
        "event",
        "Column that is 1 if the event was observed at that time, and 0 if the row is censored; "
        "COLUMN=VALUE names the value that means an observed event.",
    ),
    option(
        "regression", bool | None, None, COLUMN_PANEL,
        "Treat the target as numbers, or as classes; by default its values decide.",
        "--regression/--classification",
    ),
    _columns(
        "adjust_for",
        "Covariate that is in every model, unpenalised (age, sex, batch; text is encoded)",
    ),
    _column("id", "Column with the names of the rows."),
    _column(
        "groups",
        "Column of labels (patients, families); rows with the same label are held out together.",
    ),
    _columns("ignore", "Column to leave out"),
    _columns(
        "keep",
        "Column that is a feature, though it looks like an id (whole numbers in order)",
    ),
])  # fmt: skip
READING = Group(how_to_read, [
    _file("separator", "SIGN", "Separator of columns in a text file; detected if left out."),
    _file("decimal", "SIGN", "Decimal mark of numbers.", kind=str, default="."),
    _file("thousands", "SIGN", "Thousands separator of numbers, as in 1,234,567."),
    _file("encoding", "NAME", "Encoding of a text file, such as latin-1; detected if left out."),
    _file(
        "missing", "WAY", f"How to treat missing values: {', '.join(MISSING_POLICIES)}.",
        kind=str, default="refuse", autocompletion=among(lambda: MISSING_POLICIES),
    ),
    _file(
        "na", "TEXT",
        "Text that means a missing value, such as n.d. or -999, besides NA, NaN and the like; may "
        "be given several times.",
        kind=list[str], default=[],
    ),
    _file(
        "duplicates", "WAY",
        f"How to treat features that share a name: {', '.join(DUPLICATE_POLICIES)} (a number "
        "after the name).",
        kind=str, default="refuse", autocompletion=among(lambda: DUPLICATE_POLICIES),
    ),
    _file("sheet", "NAME", "Sheet of a spreadsheet; the first if left out."),
    _file(
        "transpose", None, "Features are in rows, with their names in the first column.",
        "--transpose", kind=bool, default=False,
    ),
    _file(
        "phenotypes", "FILE",
        "Another table with a row for each sample, matched by the names in the column --id, or in "
        "the first one. It may be another sheet of the same book: book.xlsx:samples. An NPY file "
        "holds the target, row by row.",
        kind=Path | None,
    ),
    _file("phenotypes_sheet", "NAME", "Sheet of the file of --phenotypes; the first if left out."),
    _file(
        "max_memory", "GB", "Refuse files that would take more memory than this.",
        kind=float, default=DEFAULT_MEMORY,
    ),
])  # fmt: skip
reads_a_file = with_groups(columns=WHICH_COLUMNS, reading=READING)


def input_files(data: Path, reading: Reading) -> dict[str, Path]:
    """The files that a command reads, by what the user calls them."""
    file, _ = file_and_sheet(data)
    return {"DATA": file} | (
        {} if reading.phenotypes is None else {"--phenotypes": reading.phenotypes}
    )
