"""Non-numeric cells: what they look like, and which options deal with them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.names import listed, shown
from ..design import Floats
from .cells import NOTATIONS, Marks, converted, holds_dates, is_of_text
from .problems import Problem, Problems, Setting, option, spelled

CENSORED = re.compile(r"\s*([<>≤≥]=?|less than|below|above)\s*[-+]?\d[\d.,eE+-]*\s*", re.IGNORECASE)
NUMBER_LIKE = re.compile(r"\s*[+-]?[0-9][0-9.,'_ \u00a0\u202f]*")  # in any notation
MOST_SIGNS = 8  # different texts among numbers that may each stand for a missing value
LONGEST_SIGN = 40  # characters of such a text: options that name them are to be copied
MOST_TRIED = 1000  # different cells by which the notation of a table is known
SIGN = (
    "which is not a number. If it stands for a missing value, give {na}; else write a number, or "
    "leave the column out with {ignore}"
)
LIMIT = (
    "a value below or above a detection limit. To treat such values as missing, give {na}; to keep "
    "them, write a number instead: half of a lower limit is customary if there are few of them"
)
CELLS_TRIED = 5  # different cells by which a column of numbers in another notation is known


@dataclass
class _Texts:
    """Texts among numbers, of one kind: how often each occurs, where, and in which columns."""

    counts: Counter[str] = field(default_factory=Counter)
    columns: dict[str, None] = field(default_factory=dict)
    first: tuple[str, int] | None = None  # column and row

    def add(self, column: str, row: int, counts: Counter[str]) -> None:
        self.counts += counts
        self.columns[column] = None
        self.first = self.first or (column, row)

    @property
    def text(self) -> str:
        """The first of them, and how many there are."""
        assert self.first is not None
        (column, row), total = self.first, sum(self.counts.values())
        cell = next(iter(self.counts))
        words = f"column {_called(column)}, row {row + 1} holds {shown(cell)!r}"
        if total == 1:
            return words
        words += f" (there are {total} such cells"
        if len(self.counts) > 1:
            words += f" of {listed([repr(shown(each)) for each in self.counts])}"
        if len(self.columns) > 1:
            words += f" in {len(self.columns)} columns ({listed(self.columns, 4)})"
        return f"{words})"


@dataclass
class _NonNumeric:
    """Non-numeric cells, by kind."""

    censored: _Texts = field(default_factory=_Texts)
    signs: _Texts = field(default_factory=_Texts)
    dates: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    levels: list[tuple[str, str]] = field(default_factory=list)  # column, its levels
    others: list[tuple[str, str, int]] = field(default_factory=list)  # column, cell, row


def numbers(frame: Any, name: str, marks: Marks) -> Floats:
    """A data frame as a matrix; if some cells are no numbers, all of them are listed."""
    problems = Problems(name)
    marks, problem = guessed_marks(frame, name, marks)
    if problem is not None:
        problems.add(problem)
    X, wrong = converted(frame, marks)
    for problem in problems_of(frame, X, wrong, name, marks):
        problems.add(problem)
    problems.check()
    return X


def guessed_marks(frame: Any, file: str, marks: Marks) -> tuple[Marks, Problem | None]:
    """The notation of the numbers of a table, and a problem if the options say otherwise.

    Of all notations the one is taken in which most cells are numbers.
    """
    texts = [j for j, kind in enumerate(frame.dtypes) if is_of_text(kind)]
    found: dict[str, tuple[str, str, int]] = {}  # cell -> its column and row
    for j in texts:
        for row, cell in enumerate(frame.iloc[:, j]):
            if not isinstance(cell, str) or cell in found or NUMBER_LIKE.fullmatch(cell) is None:
                continue
            if marks.value(cell) is None and _meant(cell, marks):
                found[cell] = cell, str(frame.columns[j]), row
                if len(found) > MOST_TRIED:
                    break
    if not found:
        return marks, None
    ways = {way: sum(way.value(cell) is not None for cell in found) for way in NOTATIONS}
    best = max(ways, key=lambda way: ways[way])
    return best, _notation(list(found.values()), file, best, marks)


def problems_of(
    frame: Any, X: Floats, wrong: Mapping[int, NDArray[np.bool_]], file: str, marks: Marks
) -> Iterator[Problem]:
    """A problem for each kind of cell that is no number, with the options that mend it."""
    found = _classify(frame, X, wrong, marks)
    if found.signs.counts:
        yield _texts(found.signs, file, SIGN)
    if found.censored.counts:
        yield _texts(found.censored, file, LIMIT)
    if found.names:
        yield _names(found.names, file)
    for name, levels in found.levels:
        yield _levels(name, levels, file)
    if found.dates:
        yield _dates(found.dates, file)
    if found.others:
        yield _others(found.others, file)


def text_columns(
    frame: Any, X: Floats, wrong: Mapping[int, NDArray[np.bool_]], marks: Marks
) -> list[int]:
    """The columns that hold no number in any notation."""
    return [j for j in wrong if _is_text(frame.iloc[:, j], X[:, j], wrong[j], marks)]


def _classify(
    frame: Any, X: Floats, wrong: Mapping[int, NDArray[np.bool_]], marks: Marks
) -> _NonNumeric:
    found = _NonNumeric()
    for j, bad in wrong.items():
        column = frame.iloc[:, j]
        name, row = str(column.name), int(np.argmax(bad))
        if holds_dates(column):
            found.dates.append(name)
        elif _is_text(column, X[:, j], bad, marks):
            _classify_text(found, column, name, row)
        else:
            _classify_cells(found, column, name, bad, marks)
    return found


def _is_text(column: Any, values: Floats, bad: NDArray[np.bool_], marks: Marks) -> bool:
    if np.isfinite(values).any():
        return False
    cells = list(dict.fromkeys(str(cell) for cell in column[bad].head(100)))[:CELLS_TRIED]
    return not any(_meant(cell, marks) or CENSORED.fullmatch(cell) for cell in cells)


def _classify_text(found: _NonNumeric, column: Any, name: str, row: int) -> None:
    different, present = column.nunique(), int(column.notna().sum())
    if different == present > 1:
        found.names.append(name)
    elif 2 <= different <= max(present // 2, 2):
        levels = sorted({str(cell) for cell in column.dropna().unique()})
        found.levels.append((name, listed(levels, 4)))
    else:
        found.others.append((name, str(column.iloc[row]), row))


def _classify_cells(
    found: _NonNumeric, column: Any, name: str, bad: NDArray[np.bool_], marks: Marks
) -> None:
    cells = Counter(str(cell).strip() for cell in column[bad])
    rows = {str(column.iloc[row]).strip(): int(row) for row in np.flatnonzero(bad)[::-1]}
    limits = Counter(
        {
            cell: cells[cell]
            for cell in cells
            if len(cell) <= LONGEST_SIGN and CENSORED.fullmatch(cell)
        }
    )
    if limits:
        found.censored.add(name, rows[next(iter(limits))], limits)
    rest = Counter({cell: count for cell, count in cells.items() if cell not in limits})
    if len(rest) > MOST_SIGNS or any(len(cell) > LONGEST_SIGN for cell in rest):
        cell = next(iter(rest))
        found.others.append((name, cell, rows[cell]))
    elif rest:
        found.signs.add(name, rows[next(iter(rest))], rest)


# -- what is said of each kind ---------------------------------------------------------------


def _meant(cell: str, marks: Marks) -> dict[float, Marks]:
    """The numbers that a cell may stand for in other notations, the likelier first."""
    means = {value: way for way in reversed(NOTATIONS) if (value := way.value(cell)) is not None}
    return {value: way for value, way in reversed(means.items()) if way != marks}


def _readings(cell: str, marks: Marks) -> str:
    """Which options would make a number of a cell, and which number."""
    told = []
    for value, way in _meant(cell, marks).items():
        options = [
            option(name, repr(mark)) if mark else f"without {option(name)}"
            for name, mark in _settings(way, marks)
        ]
        told.append(f"{' '.join(options)} if it means {value:.15g}")
    return ", or ".join(told)


def advice(cell: str, marks: Marks) -> str:
    """What to add to a message on a cell that is a number in another notation."""
    told = _readings(cell, marks)
    return f"; or give {told}" if told else ""


def _settings(way: Marks, given: Marks) -> list[Setting]:
    settings: list[Setting] = []
    if way.decimal != given.decimal:
        settings.append(("decimal", way.decimal))
    if way.thousands != given.thousands:
        settings.append(("thousands", way.thousands or ""))
    return settings


def _called(name: str) -> str:
    return shown(name) or "''"


def _flag(name: str, column: str) -> str:
    return option(name, shlex.quote(shown(column)))


def _notation(found: list[tuple[str, str, int]], file: str, best: Marks, marks: Marks) -> Problem:
    """Numbers with other marks between their digits; ``1,5`` tells more than ``1,234``."""
    cell, column, row = min(found, key=lambda each: len(_meant(each[0], marks)))
    meant = _meant(cell, marks)
    others = dict.fromkeys(name for _, name, _ in found if name != column)
    also = f" (such cells are also in {listed(others, 4)})" if others else ""
    return Problem(
        f"{file}: column {_called(column)}, row {row + 1} holds {shown(cell)!r}, which is not a "
        f"number{also}; give {_readings(cell, marks)}",
        _settings(best, marks),
        *(_settings(way, marks) for way in meant.values() if way != best),
        columns=[column, *others],
        row=row,
    )


def _texts(found: _Texts, file: str, words: str) -> Problem:
    settings: list[Setting] = [("na", each) for each in found.counts]
    return Problem(
        f"{file}: {found.text}, {words.format(na=spelled(settings), ignore=option('ignore'))}",
        settings, [("ignore", name) for name in found.columns],
        columns=list(found.columns), row=found.first and found.first[1],
    )  # fmt: skip


def _levels(name: str, levels: str, file: str) -> Problem:
    return Problem(
        f"{file}: column {_called(name)} holds text ({levels}). To adjust for it, give "
        f"{_flag('adjust-for', name)}; to leave it out, {_flag('ignore', name)}",
        [("ignore", name)], [("adjust-for", name)],
        columns=[name],
    )  # fmt: skip


def _names(columns: list[str], file: str) -> Problem:
    first, *rest = columns
    others: list[Setting] = [("ignore", name) for name in rest]
    more = f"; leave {listed(rest, 4)} out with {spelled(others)}" if rest else ""
    hold = "hold text that is" if rest else "holds text that is"
    return Problem(
        f"{file}: column{'s' * bool(rest)} {listed(columns, 4)} {hold} different in each row, as "
        f"names of rows are: give {_flag('id', first)}, or leave it out with "
        f"{_flag('ignore', first)}{more}",
        [("id", first), *others], [("ignore", first), *others],
        columns=columns,
    )  # fmt: skip


def _dates(columns: list[str], file: str) -> Problem:
    hold = "columns {} hold" if len(columns) > 1 else "column {} holds"
    settings: list[Setting] = [("ignore", name) for name in columns]
    return Problem(
        f"{file}: {hold.format(listed(columns, 4))} dates, which cannot be features. Leave them "
        f"out with {spelled(settings)}, or write numbers instead, such as days since the first "
        "date",
        settings,
        columns=columns,
    )


def _others(found: list[tuple[str, str, int]], file: str) -> Problem:
    name, cell, row = found[0]
    names = [each for each, _, _ in found]
    also = f" (text is also in {listed(names[1:], 4)})" if len(names) > 1 else ""
    settings: list[Setting] = [("ignore", each) for each in names]
    return Problem(
        f"{file}: column {_called(name)}, row {row + 1} holds {shown(cell)!r}, which is not a "
        f"number{also}. Leave such columns out with {spelled(settings)}, or encode them as numbers",
        settings,
        columns=names,
        row=row,
    )
