"""Columns to adjust for, as numbers: text as columns of 0 and 1, one for each but the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.errors import InputError
from .._common.names import listed, shown
from ..design import Floats
from .cells import Marks, is_text, labels
from .not_numbers import numbers
from .spelling import option

MOST_LEVELS = 30  # different texts in a column that is coded


@dataclass(frozen=True)
class Coding:
    """How a column is turned into numbers, so that new rows are turned into the same."""

    name: str
    levels: tuple[str, ...] = ()  # of a column of text; the first is what others are compared to

    @classmethod
    def of(cls, column: Any, marks: Marks) -> Coding:
        """The coding that suits a column."""
        name = str(column.name)
        if not is_text(column, marks):
            return cls(name)
        found = labels(column)
        levels = sorted({each for each in found if each is not None})
        present = sum(each is not None for each in found)
        if len(levels) > min(MOST_LEVELS, max(present // 2, 2)):
            raise InputError(
                f"{option('adjust-for', shown(name))}: the column holds {len(levels)} different "
                f"texts in {present} rows, such as {listed(levels, 3)}, too many to adjust for. If "
                f"they name the rows, give {option('id', shown(name))}; else join some of them"
            )
        if len(levels) < 2:
            raise InputError(
                f"{option('adjust-for', shown(name))}: every row holds {listed(levels)}, so there "
                "is nothing to adjust for; leave it out"
            )
        return cls(name, tuple(levels))

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of numbers are called."""
        return tuple(f"{self.name}={level}" for level in self.levels[1:]) or (self.name,)

    def code(self, column: Any, file: str, marks: Marks) -> Floats:
        """The columns of numbers of a column of a data frame; missing where its cell is."""
        if not self.levels:
            return numbers(column.to_frame(), file, marks)
        found = labels(column)
        unknown = sorted({str(each) for each in found if each not in (None, *self.levels)})
        if unknown:
            raise InputError(
                f"{file}: column {shown(self.name)} holds {listed(unknown)}, which the model has "
                f"not seen: it knows {listed(self.levels)}"
            )
        coded = np.array([[each == level for level in self.levels[1:]] for each in found], float)
        coded[[each is None for each in found]] = np.nan
        return coded

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a model file."""
        return {"name": self.name, "levels": list(self.levels)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Coding:
        """The same from there."""
        return cls(value["name"], tuple(value["levels"]))
