"""The part of a table that the page shows: columns that matter most, and rows with problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._common.checks import dense
from .._common.names import shown
from ..reading.cells import Marks, is_text
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
    kept = _kept(names, choices, wrong, search)
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
        for name in kept
        for holds, cells in [_cells(table, name, rows)]
    ]
    known = set(names)
    return {
        "rows": len(table.about),
        "columns": len(names),
        "matching": sum(search.lower() in name.lower() for name in names),
        "row_numbers": [row + 1 for row in rows],
        "shown": columns,
        "offered": _offered(names, choices),
        "parts": {name: part for name, part in choices.parts.items() if name in known},
        "cells_wrong": [
            [problem["row"] + 1, name] for problem in problems if problem["row"] is not None
            for name in problem["columns"][:1]
        ],
    }  # fmt: skip


def _kept(
    names: Sequence[str], choices: Choices, wrong: Mapping[str, Any], search: str
) -> list[str]:
    """Columns with a part or a problem first, and then in the order of the file."""
    if search:
        return [name for name in names if search.lower() in name.lower()][:COLUMNS_SHOWN]
    first = [name for name in names if name in choices.parts or name in wrong]
    return list(dict.fromkeys([*first, *names]))[:COLUMNS_SHOWN]


def _rows(n: int, problems: Sequence[Mapping[str, Any]]) -> list[int]:
    first = range(min(n, ROWS_SHOWN))
    others = {problem["row"] for problem in problems if problem["row"] is not None}
    return sorted({*first, *sorted(each for each in others if each < n)[:WITH_PROBLEMS]})


def _offered(names: Sequence[str], choices: Choices) -> list[str]:
    """The columns among which the response is chosen; of very many, the first."""
    with_part = [name for name in names if name in choices.parts]
    return list(dict.fromkeys([*with_part, *names]))[:OFFERED]


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
