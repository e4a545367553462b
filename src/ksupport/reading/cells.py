"""Cells of a table as numbers; the first one that is none is named, with what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.errors import InputError
from .._common.names import listed, shown
from .._common.phases import phase
from ..design import Floats
from .spelling import option


@dataclass(frozen=True)
class Marks:
    """What stands between the digits of a number."""

    decimal: str = "."
    thousands: str | None = None

    def plain(self, cell: Any) -> Any:
        """A cell as Python writes numbers; one that is written with other marks is none."""
        if not isinstance(cell, str):
            return cell
        if self.thousands is not None and _grouped(cell, self.thousands, self.decimal):
            cell = cell.replace(self.thousands, "")
        if self.decimal == ".":
            return cell
        return "" if "." in cell else cell.replace(self.decimal, ".")

    def value(self, cell: str) -> float | None:
        """The number that digits and marks stand for, if they do."""
        plain = self.plain(cell).strip()
        return float(plain) if re.fullmatch(r"[+-]?[0-9]{1,300}(\.[0-9]*)?", plain) else None

    def numbers(self, column: Any) -> Any:
        """A column of text as numbers, missing where a cell is none."""
        import pandas as pd

        if self != Marks():
            column = column.astype(object).map(self.plain)
        return pd.to_numeric(column.mask(column.map(is_beyond).astype(bool)), errors="coerce")


EXPONENT = re.compile(rb"[eE][+-]?[0-9]{6}")  # such a one, pandas counts past what an int holds


def is_beyond(cell: Any) -> bool:
    """Whether a cell is written with an exponent that no number has."""
    if isinstance(cell, str):
        cell = cell.encode("utf-8", "replace")
    return isinstance(cell, bytes) and EXPONENT.search(cell) is not None


def _grouped(cell: str, thousands: str, decimal: str) -> bool:
    """Whether digits stand in groups of three, as in 1,234,567.8."""
    group, point = re.escape(thousands), re.escape(decimal)
    return re.fullmatch(rf"\s*[+-]?\d{{1,3}}({group}\d{{3}})+({point}\d*)?\s*", cell) is not None


WAYS = (  # of writing numbers, the likelier ones first
    Marks(), Marks(".", ","), Marks(",", None), Marks(",", "."),
    *(Marks(decimal, mark) for mark in (" ", "'", "_", "\u00a0", "\u202f") for decimal in ".,"),
)  # fmt: skip


@phase("turning cells into numbers")
def numbers(frame: Any, name: str, marks: Marks) -> Floats:
    """A data frame as a matrix; the first cell that is no number is named."""
    plain = np.array([numeric(kind) for kind in frame.dtypes], dtype=bool)
    if plain.all():
        return np.ascontiguousarray(frame.to_numpy(np.float64, na_value=np.nan))
    X = np.empty(frame.shape)
    X[:, plain] = frame.loc[:, plain].to_numpy(np.float64, na_value=np.nan)
    bad = []
    for j in np.flatnonzero(~plain):
        column = frame.iloc[:, j]
        X[:, j] = _values(column, marks)
        wrong = np.isnan(X[:, j]) & column.notna().to_numpy()
        if wrong.any():
            bad.append((int(j), int(np.argmax(wrong))))
    if bad:
        raise InputError(f"{name}: {_no_number(frame, bad, marks)}")
    return X


def numeric(kind: Any) -> bool:
    """Whether cells of this type of pandas are numbers."""
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(kind)) and kind.kind != "c"


def _values(column: Any, marks: Marks) -> Floats:
    """The numbers of a column of text or of categories; dates and the like have none."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        values = _values(pd.Series(column.cat.categories), marks)
        return np.append(values, np.nan)[column.cat.codes.to_numpy()]
    if numeric(column.dtype):
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    if pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column):
        return np.asarray(marks.numbers(column).to_numpy(np.float64, na_value=np.nan))
    return np.full(len(column), np.nan)


def is_text(column: Any, marks: Marks) -> bool:
    """Whether a column holds words: none of its cells is a number, however it may be written."""
    import pandas as pd

    if numeric(column.dtype) or pd.api.types.is_datetime64_any_dtype(column):
        return False
    cells = pd.Series(column.dropna().unique()).astype(object)
    found = [way.numbers(cells).notna().any() for way in (marks, *WAYS)]
    return len(cells) > 0 and not any(found)


def is_boolean(column: Any) -> bool:
    """Whether every cell of a column that is not missing is true or false."""
    present = column.dropna()
    return len(present) > 0 and all(isinstance(cell, bool | np.bool_) for cell in present)


def labels(column: Any) -> list[str | None]:
    """The cells of a column as text, None where one is missing; 1.0 is 1."""
    return [None if absent else _label(c) for c, absent in zip(column, column.isna(), strict=True)]


def _label(cell: Any) -> str | None:
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        cell = int(cell)
    return str(cell).strip() or None


def _no_number(frame: Any, bad: list[tuple[int, int]], marks: Marks) -> str:
    j, row = bad[0]
    cell = str(frame.iloc[row, j])
    others = [str(frame.columns[i]) for i, _ in bad[1:]]
    also = f" (text is also in {listed(others, 4)})" if others else ""
    return (
        f"column {shown(str(frame.columns[j]))}, row {row + 1} holds {shown(cell)!r}, which is "
        f"not a number{also}. {_what_to_do(frame.iloc[:, j], marks)}, or encode them as numbers"
        f"{advice(cell, marks)}"
    )


def _what_to_do(column: Any, marks: Marks) -> str:
    """Which options suit a column that is no feature, by what it looks like."""
    name, leave = shown(str(column.name)), f"Leave such columns out with {option('ignore')}"
    if not is_text(column, marks):
        return leave
    different, present = column.nunique(), int(column.notna().sum())
    if different == present > 1:
        return f"If it names the rows, give {option('id', name)}. {leave}"
    if 2 <= different <= max(present // 2, 2):
        return f"To adjust for it, give {option('adjust-for', name)}. {leave}"
    return leave


def advice(cell: str, marks: Marks) -> str:
    """Which options would make a number of a cell, and which number."""
    means = {value: way for way in reversed(WAYS) if (value := way.value(cell)) is not None}
    told = [
        f"{_options(way, marks)} if it means {value:.15g}"
        for value, way in reversed(means.items())
        if way != marks
    ]
    return f"; or give {', or '.join(told)}" if told else ""


def _options(way: Marks, given: Marks) -> str:
    options = [option("decimal", repr(way.decimal))] if way.decimal != given.decimal else []
    if way.thousands != given.thousands:
        options.append(
            f"without {option('thousands')}"
            if way.thousands is None
            else option("thousands", repr(way.thousands))
        )
    return " ".join(options)
