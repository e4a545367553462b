"""Options of reading: the roles of columns, and how a file is parsed."""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

from .._common.errors import InputError
from .._common.names import shown
from .cells import Marks
from .duplicates import DUPLICATE_POLICIES, DuplicatePolicy
from .problems import option
from .size import Budget
from .spreadsheets import file_and_sheet

Missing = Literal["refuse", "drop-rows", "drop-columns", "impute"]
MISSING_POLICIES: tuple[Missing, ...] = get_args(Missing)
DEFAULT_MEMORY = 2.0  # gigabytes


@dataclass(frozen=True)
class Columns:
    """The roles of columns; those of ``ignore`` are dropped, and the rest are features."""

    target: str | None = None
    groups: str | None = None
    ignore: Sequence[str] = ()
    time: str | None = None
    event: str | None = None
    id: str | None = None
    adjust_for: Sequence[str] = ()
    keep: Sequence[str] = ()  # features, though they look like ids
    response: Literal["numbers", "classes"] | None = None  # None: the column decides

    def __post_init__(self) -> None:
        """Refuse a column that is given two roles."""
        seen: dict[str, str] = {}
        for name, column in self.parts:
            if column in seen:
                raise InputError(
                    f"{option(seen[column])} and {option(name)} both name the column "
                    f"{shown(column)!r}; a column has only one role: leave out one of the two"
                )
            seen[column] = name
        if (self.time is None) != (self.event is None):
            given, absent = ("time", "event") if self.event is None else ("event", "time")
            raise InputError(
                f"{option(given)} needs {option(absent)} beside it: survival data need the time "
                "of each row and whether the event was observed then (1) or censored (0)"
            )
        if self.time is not None and (self.target is not None or self.response is not None):
            other = "target" if self.target is not None else "regression or classification"
            raise InputError(
                f"{option('time')} and {option('event')} define the response, and so does "
                f"{option(other)}: leave out one or the other"
            )

    @property
    def parts(self) -> Iterator[tuple[str, str]]:
        """The options that name columns, each with its column."""
        for part in ("target", "time", "event", "groups", "id"):
            if (name := getattr(self, part)) is not None:
                yield part, name
        for part in ("adjust-for", "ignore", "keep"):
            yield from ((part, name) for name in getattr(self, part.replace("-", "_")))

    @property
    def survival(self) -> bool:
        return self.time is not None


@dataclass(frozen=True)
class Reading:
    """How to read a file."""

    separator: str | None  # None: found out
    marks: Marks
    budget: Budget
    missing: Missing
    sheet: str | None = None
    transpose: bool = False
    phenotypes: Path | None = None
    phenotypes_sheet: str | None = None
    na: tuple[str, ...] = ()  # what stands for a missing value, beside what always does
    encoding: str | None = None  # None: found out
    duplicates: DuplicatePolicy = "refuse"


def how_to_read(
    *,
    separator: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    missing: str = "refuse",
    max_memory: float = DEFAULT_MEMORY,
    sheet: str | None = None,
    transpose: bool = False,
    phenotypes: Path | None = None,
    phenotypes_sheet: str | None = None,
    na: Sequence[str] = (),
    encoding: str | None = None,
    duplicates: str = "refuse",
) -> Reading:
    r"""The options on reading, checked; ``\t`` as people type it stands for the tab."""
    separator = "\t" if separator in ("\\t", "tab") else separator
    given = {"separator": separator, "decimal": decimal, "thousands": thousands}
    _check_marks({name: mark for name, mark in given.items() if mark is not None})
    if not 0 < max_memory < math.inf:
        raise InputError(
            f"{option('max-memory')} must be a number of gigabytes above 0, such as "
            f"{DEFAULT_MEMORY:g}; got {max_memory:g}"
        )
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError:
        raise InputError(
            f"{option('encoding')} must be an encoding that Python knows, such as latin-1, cp1250 "
            f"or utf-16; got {encoding!r}"
        ) from None
    beside, sheet_beside = (None, None) if phenotypes is None else file_and_sheet(phenotypes)
    if phenotypes_sheet is not None and (beside is None or sheet_beside is not None):
        raise InputError(
            f"{option('phenotypes-sheet')} names a sheet of the file of {option('phenotypes')}, "
            + ("which is not given" if beside is None else "which names its sheet already")
        )
    return Reading(
        separator, Marks(decimal, thousands), Budget(max_memory),
        _one_of(MISSING_POLICIES, "missing", missing), sheet, transpose, beside,
        phenotypes_sheet or sheet_beside, tuple(each.strip() for each in na), encoding,
        _one_of(DUPLICATE_POLICIES, "duplicates", duplicates),
    )  # fmt: skip


Choice = TypeVar("Choice", bound=str)


def _one_of(allowed: Sequence[Choice], name: str, given: str) -> Choice:
    for each in allowed:
        if each == given:
            return each
    raise InputError(f"{option(name)} must be one of {', '.join(allowed)}; got {given!r}")


def _check_marks(given: dict[str, str]) -> None:
    for name, mark in given.items():
        if len(mark) != 1 or mark.isalnum() or mark in '"+-\r\n':
            raise InputError(
                f"{option(name)} must be one character (\\t for a tab) that cannot be part of a "
                f"number or a name; got {mark!r}"
            )
        if name != "thousands" and not mark.isascii():
            raise InputError(f"{option(name)} must be an ASCII character; got {mark!r}")
        others = [other for other in given if other < name and given[other] == mark]
        if others:
            raise InputError(
                f"{option(others[0])} and {option(name)} must differ; both are {mark!r}"
            )
