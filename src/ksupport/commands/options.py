"""Options that several commands share, and how they end."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from .cells import Marks
from .completion import among
from .errors import FAILED, CommandError, InputError
from .missing import POLICIES
from .reading import MAX_MEMORY, Reading
from .size import Budget

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV or TSV (also .gz), Parquet, Arrow or Feather, NPZ (arrays X, y), or LIBSVM; a "
        "pipe such as /dev/stdin brings a CSV.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(help="Column to explain; NPZ takes the array y and LIBSVM the first entry."),
]
Ignore = Annotated[list[str], typer.Option(help="Column to leave out; may be given several times.")]
Separator = Annotated[
    str | None, typer.Option(help="What separates the columns of a CSV; a comma, or a tab in .tsv.")
]
Decimal = Annotated[str, typer.Option(help="What stands before the decimals of numbers.")]
Thousands = Annotated[
    str | None, typer.Option(help="What separates thousands in numbers, as in 1,234,567.")
]
HowMissing = Annotated[
    str,
    typer.Option(
        help=f"What to do about missing values: {', '.join(POLICIES)}.",
        autocompletion=among(lambda: POLICIES),
    ),
]
MaxMemory = Annotated[
    float, typer.Option(help="Refuse files that would take more memory than this, in GB.")
]
Groups = Annotated[
    str | None, typer.Option(help="Column of labels; rows with the same one share a fold.")
]
Seed = Annotated[
    int, typer.Option(help="Seed of all that is drawn at random.", min=0, max=2**32 - 1)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
Standardize = Annotated[
    bool, typer.Option(help="Scale the columns to unit variance while fitting.")
]

DEFAULT_MEMORY = MAX_MEMORY


def ends_in_words(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what a command raises into a message on standard error and an exit code."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except CommandError as error:
            _end(str(error), error.code)
        except MemoryError:
            _end("there is not enough memory for these data", FAILED)

    return wrapped


def _end(message: str, code: int) -> None:
    typer.echo(f"Error: {message}", err=True)
    raise typer.Exit(code)


def how_to_read(
    separator: str | None,
    decimal: str,
    thousands: str | None,
    max_memory: float,
    missing: str = "refuse",
) -> Reading:
    r"""The options on reading, checked; ``\t`` as people type it stands for the tab."""
    separator = "\t" if separator in ("\\t", "tab") else separator
    given = {"--separator": separator, "--decimal": decimal, "--thousands": thousands}
    _check_marks({option: mark for option, mark in given.items() if mark is not None})
    if missing not in POLICIES:
        raise InputError(f"--missing must be one of {', '.join(POLICIES)}; got {missing!r}")
    if not 0 < max_memory < math.inf:
        raise InputError(
            f"--max-memory must be a number of gigabytes above 0, such as {MAX_MEMORY:g}; got "
            f"{max_memory:g}"
        )
    return Reading(separator, Marks(decimal, thousands), Budget(max_memory), missing)


def _check_marks(given: dict[str, str]) -> None:
    for option, mark in given.items():
        if len(mark) != 1 or mark.isalnum() or mark in '"+-\r\n':
            raise InputError(
                f"{option} must be one character (\\t for a tab) that is no part of a number or "
                f"a name; got {mark!r}"
            )
        if option != "--thousands" and not mark.isascii():
            raise InputError(f"{option} must be an ASCII character; got {mark!r}")
        others = [other for other in given if other < option and given[other] == mark]
        if others:
            raise InputError(f"{others[0]} and {option} must differ; both are {mark!r}")
