"""The options of commands that read a data file."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ..._common.errors import InputError
from ...reading.cells import Marks
from ...reading.data import Reading
from ...reading.missing import POLICIES
from ...reading.size import Budget
from .completion import among

DEFAULT_MEMORY = 2.0  # gigabytes

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

CheckedReading = Callable[[], Reading]  # refuses options that make no sense


def how_to_read(
    *,
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    missing: HowMissing = "refuse",
    max_memory: MaxMemory = DEFAULT_MEMORY,
) -> Reading:
    r"""The options on reading, checked; ``\t`` as people type it stands for the tab."""
    separator = "\t" if separator in ("\\t", "tab") else separator
    given = {"--separator": separator, "--decimal": decimal, "--thousands": thousands}
    _check_marks({option: mark for option, mark in given.items() if mark is not None})
    if missing not in POLICIES:
        raise InputError(f"--missing must be one of {', '.join(POLICIES)}; got {missing!r}")
    if not 0 < max_memory < math.inf:
        raise InputError(
            f"--max-memory must be a number of gigabytes above 0, such as {DEFAULT_MEMORY:g}; got "
            f"{max_memory:g}"
        )
    return Reading(separator, Marks(decimal, thousands), Budget(max_memory), missing)


def reads_a_file(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `how_to_read` in place of its parameter ``reading``.

    What it gets there is a call that checks them, so that it can check others first.
    """
    options = inspect.signature(how_to_read, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True)
    parameters = [
        option
        for name, parameter in own.parameters.items()
        for option in (options.values() if name == "reading" else (parameter,))
    ]

    @functools.wraps(command)
    def wrapped(*args: Any, **given: Any) -> None:
        how = {name: given.pop(name) for name in options if name in given}
        command(*args, **given, reading=functools.partial(how_to_read, **how))

    # typer reads one or the other, by version.
    wrapped.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapped


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
