"""Options that several commands share, and how they end."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from .completion import among
from .errors import FAILED, CommandError, InputError
from .missing import POLICIES
from .reading import MAX_MEMORY, Reading

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV or TSV (also .gz), Parquet, Arrow or Feather, NPZ (arrays X, y), or LIBSVM.",
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
Decimal = Annotated[str, typer.Option(help="Decimal point of a CSV.")]
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


def how_to_read(separator: str | None, decimal: str, max_memory: float, missing: str) -> Reading:
    r"""The options on reading, checked; ``\t`` as people type it stands for the tab."""
    separator = "\t" if separator in ("\\t", "tab") else separator
    for option, mark in (("--separator", separator), ("--decimal", decimal)):
        if mark is not None and len(mark) != 1:
            raise InputError(f"{option} must be one character (\\t for a tab); got {mark!r}")
    if separator == decimal:
        raise InputError(f"--separator and --decimal must differ; both are {decimal!r}")
    if not max_memory > 0:
        raise InputError(f"--max-memory must be a positive number, in GB; got {max_memory:g}")
    if missing not in POLICIES:
        raise InputError(f"--missing must be one of {', '.join(POLICIES)}; got {missing!r}")
    return Reading(separator, decimal, max_memory, missing)
