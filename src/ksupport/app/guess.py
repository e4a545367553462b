"""Guesses of the roles of columns, until the user chooses."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ..reading.cells import Marks, holds_dates, is_called_id, is_text
from ..reading.data import MOST_LEVELS
from ..reading.table import Table

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
        self.name = str(column.name)
        self.text = is_text(column, Marks())
        self.present = int(column.notna().sum())
        self.different = int(column.nunique())
        self._column = column

    @property
    def names_rows(self) -> bool:
        """Text that differs from row to row, or an id by its name."""
        if self.different < max(self.present, 2):
            return False
        return is_called_id(self.name) or (self.text and not holds_dates(self._column))

    @property
    def has_levels(self) -> bool:
        """Text that recurs."""
        return self.text and 2 <= self.different <= min(MOST_LEVELS, max(self.present // 2, 2))

    @property
    def varies(self) -> bool:
        """Whether it can be a response or a covariate."""
        return self.has_levels or (not self.text and self.different > 1)


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
