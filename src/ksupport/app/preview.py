"""The part of a table that the page shows: columns that matter most, and rows with problems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._common.checks import dense
from .._common.names import shown
from ..reading.cells import Marks, holds_dates, is_called_id, is_text
from ..reading.data import MOST_LEVELS
from ..reading.table import Matrix, Table
from .choices import Choices

COLUMNS_SHOWN, ROWS_SHOWN = 24, 6  # shown at once
WITH_PROBLEMS = 4  # rows shown beyond the first, for what is wrong in them
OFFERED = 300  # columns that can be chosen as the response from a list


def preview(
    table: Table, choices: Choices, problems: Sequence[Mapping[str, Any]], search: str
) -> dict[str, Any]:
    """Names, parts and cells of some columns, and which problems are where."""
    features = table.feature_names if isinstance(table, Matrix) else ()
    names = list(dict.fromkeys([*table.names, *features]))
    wrong: dict[str, list[int]] = {}
    for at, problem in enumerate(problems):
        for name in problem["columns"]:
            wrong.setdefault(name, []).append(at)
    with_part = [name for name in names if name in choices.parts]
    marked = [name for name in names if name in choices.parts or name in wrong]
    found = [name for name in names if search.lower() in name.lower()]
    # Columns with a part or a problem first, and then in the order of the file.
    kept = found if search else list(dict.fromkeys([*marked, *names]))
    rows = _rows(len(table.about), problems)
    columns = [
        {
            "name": name,
            "shown": shown(name) or "(no name)",
            "part": choices.part_of(name),
            "holds": holds,
            "problems": wrong.get(name, []),
            "cells": cells,
        }
        for name in kept[:COLUMNS_SHOWN]
        for holds, cells in [_cells(table, name, rows)]
    ]
    known = set(names)
    return {
        "rows": len(table.about),
        "columns": len(names),
        "row_numbers": [row + 1 for row in rows],
        "shown": columns,
        "offered": list(dict.fromkeys([*with_part, *names]))[:OFFERED],
        "parts": {name: part for name, part in choices.parts.items() if name in known},
        "cells_wrong": [
            [problem["row"] + 1, name] for problem in problems if problem["row"] is not None
            for name in problem["columns"][:1]
        ],
    }  # fmt: skip


def _rows(n: int, problems: Sequence[Mapping[str, Any]]) -> list[int]:
    first = range(min(n, ROWS_SHOWN))
    others = {problem["row"] for problem in problems if problem["row"] is not None}
    return sorted({*first, *sorted(each for each in others if each < n)[:WITH_PROBLEMS]})


def _cells(table: Table, name: str, rows: Sequence[int]) -> tuple[str, list[str]]:
    """What a column holds, in a word, and some of its cells."""
    for frame in (table.joined, table.about):
        if frame is not None and name in frame.columns:
            column = frame[name]
            if column.ndim > 1:  # a name that recurs
                column = column.iloc[:, 0]
            holds = "text" if is_text(column, Marks()) else "numbers"
            return holds, [_text(cell) for cell in column.iloc[list(rows)]]
    assert isinstance(table, Matrix)
    at = table.feature_names.index(name)
    values = np.ravel(dense(table.X[np.asarray(rows, np.intp)][:, [at]]))
    return "numbers", [_text(value) for value in values]


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float | np.floating):
        return f"{cell:.5g}"
    return shown(str(cell), 32)


# -- guesses of the parts of columns, until the user chooses -----------------------------------
COLUMNS_GUESSED = 2000  # columns; where there are more, the others are measurements
TARGET = re.compile(
    r"(y|target|response|outcome|class(es)?|label|diagnosis|phenotype|disease|tumou?r|"
    r"case_?control|status|group|type|species|subtype|arm|score|yield)",
    re.IGNORECASE,
)
TIME = re.compile(
    r".*(^|[^a-z])(time|survival|surv_?time|futime|os|pfs|dfs|days|months|years|followup|"
    r"follow_up)([^a-z].*)?",
    re.IGNORECASE,
)
EVENT = re.compile(
    r".*(^|[^a-z])(event|status|censor(ed|ing)?|cens|death|dead|died|relapse|vital_status)"
    r"([^a-z].*)?",
    re.IGNORECASE,
)
COVARIATE = re.compile(
    r"(age|sex|gender|batch|site|cent(er|re)|ethnicity|ancestry|bmi|smok(er|ing))", re.IGNORECASE
)


def guessed_parts(table: Table) -> dict[str, str]:
    """The part of each column that is probably no feature."""
    distinct = [name for name, count in Counter(table.names).items() if count == 1]
    looks = {name: _Look(table.column("ignore", name)) for name in distinct[:COLUMNS_GUESSED]}
    parts: dict[str, str] = {}
    if table.ids is None and table.joined is None:
        names = [name for name, look in looks.items() if look.names_rows]
        names.sort(key=lambda name: not looks[name].text)  # text is surer than numbers
        parts |= dict.fromkeys(names[:1], "id")
    rest = {name: look for name, look in looks.items() if name not in parts}
    parts |= _response(rest)
    for name, look in rest.items():
        if name not in parts and COVARIATE.fullmatch(name) and look.varies:
            parts[name] = "adjust-for"
    return parts


class _Look:
    """What a column looks like."""

    def __init__(self, column: Any) -> None:
        self.text = is_text(column, Marks())
        present = int(column.notna().sum())
        self.different = int(column.nunique())
        # Text that differs from row to row, or an id by its name:
        self.names_rows = self.different >= max(present, 2) and (
            is_called_id(str(column.name)) or (self.text and not holds_dates(column))
        )
        # Text that recurs:
        most = min(MOST_LEVELS, max(present // 2, 2))
        self.has_levels = self.text and 2 <= self.different <= most
        self.varies = self.has_levels or (not self.text and self.different > 1)


def _response(looks: dict[str, _Look]) -> dict[str, str]:
    """Survival if both columns are there; else a column by its name, or the only one of classes."""
    times = [
        name for name, look in looks.items()
        if TIME.fullmatch(name) and not look.text and look.different > 2
    ]  # fmt: skip
    events = [name for name, look in looks.items() if EVENT.fullmatch(name) and look.different == 2]
    if times and events:
        return {times[0]: "time", events[0]: "event"}
    named = [name for name in looks if TARGET.fullmatch(name) and looks[name].varies]
    classes = [
        name for name, look in looks.items() if look.has_levels and not COVARIATE.fullmatch(name)
    ]
    found = named or (classes if len(classes) == 1 else [])
    return {found[0]: "target"} if found else {}
