"""Cells of a table as numbers; columns that hold ids or dates."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.names import shown
from .._common.phases import phase
from ..design import Floats
from .problems import Problem, option

NA = frozenset((  # what pandas takes for a missing value in text, and so do we in spreadsheets
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
))  # fmt: skip


@dataclass(frozen=True)
class Marks:
    """The decimal and the thousands mark of numbers."""

    decimal: str = "."
    thousands: str | None = None

    def plain(self, cell: Any) -> Any:
        """A cell with Python's decimal point and without thousands marks."""
        if not isinstance(cell, str):
            return cell
        if self.thousands is not None and _grouped(cell, self.thousands, self.decimal):
            cell = cell.replace(self.thousands, "")
        if self.decimal == ".":
            return cell
        return "" if "." in cell else cell.replace(self.decimal, ".")

    def value(self, cell: str) -> float | None:
        """The number that a cell stands for; None if it is not a number."""
        plain = self.plain(cell).strip()
        return float(plain) if re.fullmatch(r"[+-]?[0-9]{1,300}(\.[0-9]*)?", plain) else None

    def numbers(self, column: Any) -> Any:
        """A column of text as numbers; NaN where a cell is not a number."""
        import pandas as pd

        if self != Marks():
            column = column.astype(object).map(self.plain)
        return pd.to_numeric(column.mask(column.map(is_beyond).astype(bool)), errors="coerce")


EXPONENT = re.compile(rb"[eE][+-]?[0-9]{6}")  # such a one, pandas counts past what an int holds


def is_beyond(cell: Any) -> bool:
    """Whether a cell has an exponent too long for pandas to parse."""
    if isinstance(cell, str):
        cell = cell.encode("utf-8", "replace")
    return isinstance(cell, bytes) and EXPONENT.search(cell) is not None


def _grouped(cell: str, thousands: str, decimal: str) -> bool:
    """Whether digits stand in groups of three, as in 1,234,567.8."""
    group, point = re.escape(thousands), re.escape(decimal)
    return re.fullmatch(rf"\s*[+-]?\d{{1,3}}({group}\d{{3}})+({point}\d*)?\s*", cell) is not None


NOTATIONS = (  # of writing numbers, the likelier ones first
    Marks(), Marks(".", ","), Marks(",", None), Marks(",", "."),
    *(Marks(decimal, mark) for mark in (" ", "'", "_", "\u00a0", "\u202f") for decimal in ".,"),
)  # fmt: skip


@phase("turning cells into numbers")
def converted(frame: Any, marks: Marks) -> tuple[Floats, dict[int, NDArray[np.bool_]]]:
    """A data frame as a matrix, and a mask of non-numeric cells for each column that has some.

    Those cells are missing in the matrix.
    """
    plain = np.array([numeric(kind) for kind in frame.dtypes], dtype=bool)
    if plain.all():
        return np.ascontiguousarray(frame.to_numpy(np.float64, na_value=np.nan)), {}
    X = np.empty(frame.shape)
    X[:, plain] = frame.loc[:, plain].to_numpy(np.float64, na_value=np.nan)
    texts = np.array([is_of_text(kind) for kind in frame.dtypes], dtype=bool) & ~plain
    X[:, texts] = _text_values(frame.loc[:, texts], marks)
    for j in np.flatnonzero(~plain & ~texts):
        X[:, j] = _values(frame.iloc[:, j], marks)
    others = np.flatnonzero(~plain)
    absent = frame.loc[:, ~plain].isna().to_numpy()
    bad = np.isnan(X[:, others]) & ~absent
    return X, {int(j): bad[:, at] for at, j in enumerate(others) if bad[:, at].any()}


def is_of_text(kind: Any) -> bool:
    """Whether cells of this type of pandas may be text."""
    import pandas as pd

    return bool(pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)) and (
        not isinstance(kind, pd.CategoricalDtype)
    )


def _text_values(frame: Any, marks: Marks) -> Floats:
    """The numbers of columns of text, all at once: thousands of columns one by one take seconds."""
    import pandas as pd

    cells = pd.Series(frame.to_numpy(object).ravel(), dtype=object)
    return np.asarray(marks.numbers(cells).to_numpy(np.float64, na_value=np.nan)).reshape(
        frame.shape
    )


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
    if is_of_text(column.dtype):
        return _text_values(column.to_frame(), marks)[:, 0]
    return np.full(len(column), np.nan)


def is_text(column: Any, marks: Marks) -> bool:
    """Whether a column is text: no cell is a number in any notation."""
    import pandas as pd

    if numeric(column.dtype) or pd.api.types.is_datetime64_any_dtype(column):
        return False
    cells = pd.Series(column.dropna().unique()).astype(object)
    found = [way.numbers(cells).notna().any() for way in (marks, *NOTATIONS)]
    return len(cells) > 0 and not any(found)


def is_boolean(column: Any) -> bool:
    """Whether every cell of a column that is not missing is true or false."""
    present = column.dropna()
    return len(present) > 0 and all(isinstance(cell, bool | np.bool_) for cell in present)


def labels(column: Any) -> list[str | None]:
    """The cells of a column as text, None where one is missing; 1.0 is 1."""
    whole = [
        int(cell) if isinstance(cell, float | np.floating) and float(cell).is_integer() else cell
        for cell in column
    ]
    absent = column.isna()
    return [None if a else str(cell).strip() or None for cell, a in zip(whole, absent, strict=True)]


def without(frame: Any, na: Sequence[str]) -> Any:
    """A data frame in which these texts, or the numbers that they stand for, are missing."""
    if not na:
        return frame
    texts, values = set(na), {value for each in na if (value := Marks().value(each)) is not None}

    def is_na(cell: Any) -> bool:
        return cell.strip() in texts if isinstance(cell, str) else cell in values

    other = [j for j, kind in enumerate(frame.dtypes) if not numeric(kind)]
    frame = frame.copy()
    for j in other:
        column = frame.iloc[:, j]
        frame.isetitem(j, column.mask(column.map(is_na).astype(bool)).infer_objects())
    for value in values:
        frame = frame.mask(frame.eq(value))
    return frame


ID_WORD = re.compile(  # a whole word of a name: "id", "sample_no", "PatientID"
    r"(?i:(^|[^a-z])(ids?|identifier|barcode|accession|index|nr|no|number|rownames?|unnamed)"
    r"([^a-z0-9]|$))|(?<=[a-z])(ID|Id|No|Nr)$"
)
DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T].*)?")
AT_LEAST = 5  # rows, or too little can be seen in a column
BY_CHANCE = 1e-3  # columns of whole numbers that may be in order by chance, in the whole file


def look_like_ids(names: Sequence[str], X: Floats, kept: Collection[str] = ()) -> Iterator[Problem]:
    """A problem for each column that numbers the rows or is called an id, unless it is kept."""
    n, d = X.shape
    if n < AT_LEAST or d == 0:
        return
    whole = np.flatnonzero((np.isfinite(X) & (np.round(X) == X)).all(axis=0))
    steps = np.diff(X[:, whole], axis=0)
    in_order = np.atleast_1d((steps > 0).all(axis=0) | (steps < 0).all(axis=0))
    counts = np.atleast_1d((steps == 1).all(axis=0))
    sure = 2 * len(whole) <= BY_CHANCE * math.factorial(min(n, 20))
    for at in range(len(whole)):
        name = names[whole[at]]
        if name in kept:
            continue
        if counts[at]:
            yield _problem(name, "counts the rows (whole numbers, each one more than the last)")
        elif in_order[at] and sure:
            yield _problem(name, "holds whole numbers in order, as numbers or dates of rows do")
        elif is_called_id(name) and len(np.unique(X[:, whole[at]])) == n:
            yield _problem(name, "is called an id, and holds a different whole number in each row")


def is_called_id(name: str) -> bool:
    """Whether a name says that the column names the rows.

    >>> [is_called_id(each) for each in ("ID", "patient_id", "SampleNo", "RIDGE", "valid")]
    [True, True, True, False, False]
    """
    return ID_WORD.search(name) is not None


def _problem(name: str, why: str) -> Problem:
    quoted = shlex.quote(shown(name))
    return Problem(
        f"column {shown(name) or repr(name)} {why}. If it names the rows, give "
        f"{option('id', quoted)}; to leave it out, {option('ignore', quoted)}; if it is a "
        f"feature, {option('keep', quoted)}",
        [("ignore", name)], [("id", name)], [("keep", name)],
        columns=[name],
    )  # fmt: skip


def holds_dates(column: Any) -> bool:
    """Whether the cells of a column that is no column of numbers are dates."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return True
    present = column.dropna()
    return len(present) > 0 and all(
        hasattr(cell, "year") or (isinstance(cell, str) and DATE.fullmatch(cell) is not None)
        for cell in present
    )
