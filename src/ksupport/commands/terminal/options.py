"""The options that commands share, their headings in --help, and shell completion."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ...reading import Columns, Reading, options
from ...reading.duplicates import WAYS
from ...reading.options import POLICIES
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


COLUMNS, FILE = "What the columns are", "How the file is read"
WAY, RESULT = "How features are found", "What comes out"

column_option = partial(typer.Option, rich_help_panel=COLUMNS)
file_option = partial(typer.Option, rich_help_panel=FILE)
method_option = partial(typer.Option, rich_help_panel=WAY)
output_option = partial(typer.Option, rich_help_panel=RESULT)


class CommandWithSections(TyperCommand):
    """A command whose help has its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the options heading by heading."""
        for heading, records in sections(self, ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands after the command's name, with no braces about what is needed."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def sections(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """What to write and what it means, by heading; options that have none come last."""
    found: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    rest: list[tuple[str, str]] = []
    for each in command.get_params(ctx):
        record = each.get_help_record(ctx)
        if record is None:
            continue
        if each.param_type_name == "argument":
            found["Arguments"].append((record[0].partition(" ")[0], record[1]))
        elif panel := getattr(each, "rich_help_panel", None):
            found.setdefault(panel, []).append(record)
        else:
            rest.append(record)
    found["Others" if len(found) > 1 else "Options"] = rest
    return {heading: records for heading, records in found.items() if records}


# -- options of every command ------------------------------------------------------------


Seed = Annotated[
    int,
    method_option(
        metavar="NUMBER", help="Seed of all that is drawn at random.", min=0, max=2**32 - 1
    ),
]
Json = Annotated[bool, output_option("--json", help="Print JSON instead of words.")]
Standardize = Annotated[
    bool, method_option(help="Scale the columns to unit variance while fitting.")
]


# -- options of commands that read a file ------------------------------------------------


DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV or other text (also .gz), Excel (.xlsx) or .ods (book.xlsx:sheet names a "
        "sheet), Parquet, Arrow or Feather, NPY (a matrix), NPZ (arrays X, y), LIBSVM, genotypes "
        "of PLINK (.bed) or AnnData (.h5ad); a pipe such as /dev/stdin brings a CSV.",
    ),
]
Target = Annotated[
    str | None,
    column_option(
        metavar="COLUMN",
        help="Column to explain; NPZ takes the array y and LIBSVM the first entry.",
    ),
]
Time = Annotated[
    str | None,
    column_option(metavar="COLUMN", help="Instead of a target: column of times until an event."),
]
Event = Annotated[
    str | None,
    column_option(
        metavar="COLUMN",
        help="Column that has 1 where the event was seen at that time, and 0 where not yet; "
        "COLUMN=VALUE says which value means that it was.",
    ),
]
Numbers = Annotated[
    bool | None,
    column_option(
        "--regression/--classification",
        help="Take the target as numbers, or as classes; by default what it holds decides.",
    ),
]
AdjustFor = Annotated[
    list[str],
    column_option(
        metavar="COLUMN",
        help="Column that is in every model (age, sex, batch; text is coded); may be given several "
        "times.",
    ),
]
Id = Annotated[str | None, column_option(metavar="COLUMN", help="Column that names the rows.")]
Ignore = Annotated[
    list[str],
    column_option(metavar="COLUMN", help="Column to leave out; may be given several times."),
]
Keep = Annotated[
    list[str],
    column_option(
        metavar="COLUMN",
        help="Column that is a feature, though it looks like an id (whole numbers in order); may "
        "be given several times.",
    ),
]
Groups = Annotated[
    str | None,
    column_option(
        metavar="COLUMN",
        help="Column of labels (patients, families); rows with the same one are held out together.",
    ),
]
Separator = Annotated[
    str | None,
    file_option(
        metavar="SIGN", help="What separates the columns of a text file; found out if left out."
    ),
]
Decimal = Annotated[
    str, file_option(metavar="SIGN", help="What stands before the decimals of numbers.")
]
Thousands = Annotated[
    str | None,
    file_option(metavar="SIGN", help="What separates thousands in numbers, as in 1,234,567."),
]
HowMissing = Annotated[
    str,
    file_option(
        metavar="WAY",
        help=f"What to do about missing values: {', '.join(POLICIES)}.",
        autocompletion=among(lambda: POLICIES),
    ),
]
Na = Annotated[
    list[str],
    file_option(
        metavar="TEXT",
        help="What stands for a missing value, such as n.d. or -999, beside NA, NaN and the "
        "like; may be given several times.",
    ),
]
HowDuplicates = Annotated[
    str,
    file_option(
        metavar="WAY",
        help="What to do about features that share a name: "
        f"{', '.join(WAYS)} (a number after the name).",
        autocompletion=among(lambda: WAYS),
    ),
]
Encoding = Annotated[
    str | None,
    file_option(
        metavar="NAME", help="Encoding of a text file, such as latin-1; found out if left out."
    ),
]
MaxMemory = Annotated[
    float,
    file_option(metavar="GB", help="Refuse files that would take more memory than this."),
]
Sheet = Annotated[
    str | None, file_option(metavar="NAME", help="Sheet of a spreadsheet; the first if left out.")
]
PhenotypesSheet = Annotated[
    str | None,
    file_option(metavar="NAME", help="Sheet of the file of --phenotypes; the first if left out."),
]
Transpose = Annotated[
    bool, file_option("--transpose", help="Features are in rows, named by the first column.")
]
Phenotypes = Annotated[
    Path | None,
    file_option(
        metavar="FILE",
        help="Another table with a row for each sample, found by its name: in the column --id, or "
        "in the first one. It may be another sheet of the same book: book.xlsx:samples. An NPY "
        "brings the target, row by row.",
    ),
]

CheckedReading = Callable[[], Reading]  # refuses options that make no sense
CheckedColumns = Callable[[], Columns]  # the same


def how_to_read(
    *,
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    encoding: Encoding = None,
    missing: HowMissing = "refuse",
    na: Na = [],  # noqa: B006 (typer reads it, and hands over a fresh list)
    duplicates: HowDuplicates = "refuse",
    sheet: Sheet = None,
    transpose: Transpose = False,
    phenotypes: Phenotypes = None,
    phenotypes_sheet: PhenotypesSheet = None,
    max_memory: MaxMemory = options.DEFAULT_MEMORY,
) -> Reading:
    """The options on reading, checked."""
    return options.how_to_read(
        separator=separator, decimal=decimal, thousands=thousands, encoding=encoding,
        missing=missing, na=na, duplicates=duplicates, sheet=sheet, transpose=transpose,
        phenotypes=phenotypes, phenotypes_sheet=phenotypes_sheet, max_memory=max_memory,
    )  # fmt: skip


def which_columns(
    *,
    target: Target = None,
    time: Time = None,
    event: Event = None,
    regression: Numbers = None,
    adjust_for: AdjustFor = [],  # noqa: B006
    id: Id = None,
    groups: Groups = None,
    ignore: Ignore = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
) -> Columns:
    """The options that name columns, checked."""
    response = {None: None, True: "numbers", False: "classes"}[regression]
    return Columns(
        target=target, time=time, event=event, id=id, groups=groups, adjust_for=adjust_for,
        ignored=ignore, kept=keep, response=response,  # type: ignore[arg-type]
    )  # fmt: skip


PLACES: dict[str, Callable[..., Any]] = {"reading": how_to_read, "columns": which_columns}


def reads_a_file(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `how_to_read` in place of its parameter ``reading``.

    And those of `which_columns` in place of ``columns``.  What it gets there is a call that checks
    them, so that it can check others first.
    """
    own = inspect.signature(command, eval_str=True)
    options = {
        place: list(inspect.signature(make, eval_str=True).parameters.values())
        for place, make in PLACES.items()
        if place in own.parameters
    }
    parameters = [
        option
        for name, parameter in own.parameters.items()
        for option in options.get(name, [parameter])
    ]
    ordered = sorted(parameters, key=lambda each: each.kind)

    @functools.wraps(command)
    def wrapped(*args: Any, **given: Any) -> None:
        for place, theirs in options.items():
            names = [each.name for each in theirs]
            chosen = {name: given.pop(name) for name in names if name in given}
            given[place] = functools.partial(PLACES[place], **chosen)
        command(*args, **given)

    # typer reads one or the other, by version.
    wrapped.__signature__ = own.replace(parameters=ordered)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in ordered}
    return wrapped


def input_files(data: Path, reading: Reading) -> dict[str, Path]:
    """The files that a command reads, by what the user calls them."""
    file, _ = file_and_sheet(data)
    return {"DATA": file} | (
        {} if reading.phenotypes is None else {"--phenotypes": reading.phenotypes}
    )
