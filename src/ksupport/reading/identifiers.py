"""Columns of numbers that look as if they named the rows, or their order, instead of features."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from .._common.names import shown
from ..design import Floats
from .problems import Problem, option

ID_WORD = re.compile(  # a whole word of a name: "id", "sample_no", "PatientID"
    r"(?i:(^|[^a-z])(ids?|identifier|barcode|accession|index|nr|no|number|rownames?|unnamed)"
    r"([^a-z0-9]|$))|(?<=[a-z])(ID|Id|No|Nr)$"
)
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
        f"{option('id', quoted)}; if it is of no use, {option('ignore', quoted)}; if it is a "
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
    return len(present) > 0 and all(_is_date(cell) for cell in present)


def _is_date(cell: Any) -> bool:
    if hasattr(cell, "year"):
        return True
    date = r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T].*)?"
    return isinstance(cell, str) and re.fullmatch(date, cell) is not None
