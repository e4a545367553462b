"""New rows: the columns that a model asks for, in its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.checks import dense
from .._common.errors import InputError
from .._common.names import listed, title
from .._common.phases import phase
from ..design import Floats
from .data import Coding, Data
from .duplicates import Duplicates
from .load import joined, table_of
from .missing import fill_in, refuse_missing
from .options import Columns, Reading
from .reader import coded, ids_of, with_sheet
from .source import open_source


@dataclass(frozen=True)
class Rows:
    """Rows to predict for: the columns of a model, in its order."""

    X: Floats
    ids: NDArray[Any] | None
    id_name: str  # what the column is called that names rows
    remarks: Sequence[str] = ()


def read_rows(
    path: Path,
    names: Sequence[str],
    reading: Reading,
    codings: Sequence[Coding] = (),
    id_column: str | None = None,
    fill: Floats | None = None,
    likely_id: str | None = None,
    duplicates: Duplicates = Duplicates(),  # noqa: B008 (it is frozen)
) -> Rows:
    """The columns of these names, in this order; others may hold anything.

    In a LIBSVM file a feature that is always 0 does not appear: absent columns are zeros there.
    What is missing is taken to be ``fill``, if there is one.  Rows are named by a column that is
    likely to, if it is there and no other is given.  Columns that share a name are merged as in
    the fit, which ``duplicates`` tells.
    """
    path, reading = with_sheet(path, reading)
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        table = table_of(source, reading, Columns(id=id_column))
        if id_column is None and likely_id in table.about.columns:
            id_column = likely_id
        table = joined(table, reading, id_column)
        needed = [each for each in codings if set(each.names) & set(names)]
        found, X = table.only(names, reading.marks, duplicates)
        beside = coded(table, needed, reading)
    there = [*found, *(name for coding in needed for name in coding.names)]
    values = _in_order(names, there, np.hstack([dense(X), beside]), path, source.kind == "libsvm")
    rows = Rows(values, ids_of(table, id_column), id_column or "row", table.remarks)
    if not names:
        return rows
    if fill is None:
        refuse_missing(
            Data(path, tuple(names), values, None, kind=None),
            "Fill them in; or fit with --missing impute: then new rows are filled in, too",
        )
        return rows
    X, count = fill_in(rows.X, fill)
    words = f"{count} missing values were taken to be the means of the rows of the fit."
    return replace(rows, X=X, remarks=[*rows.remarks, *([words] if count else [])])


def _in_order(
    names: Sequence[str], there: Sequence[str], X: Floats, path: Path, zeros: bool
) -> Floats:
    place = {name: j for j, name in enumerate(there)}
    absent = [name for name in names if name not in place]
    if absent and not zeros:
        raise InputError(
            f"{title(path)} lacks {len(absent)} of the {len(names)} columns of the model: "
            f"{listed(absent)}"
        )
    out = np.zeros((X.shape[0], len(names)))
    known = [at for at, name in enumerate(names) if name in place]
    out[:, known] = X[:, [place[names[at]] for at in known]]
    return out
