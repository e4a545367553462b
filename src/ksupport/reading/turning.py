"""Tables with features in rows, turned so that they stand in columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.errors import InputError
from .._common.names import shown
from .cells import Marks, is_text, labels, numeric
from .data import check_distinct
from .spelling import option
from .table import Frame, Matrix, Table


def turned(frame: Table) -> Table:
    """Features in columns: the first column names them, and the first row names the samples."""
    import pandas as pd

    about = frame.about
    if about.shape[1] < 2:
        raise InputError(
            f"{option('transpose')}: {frame.name} has {about.shape[1]} column(s), but the first "
            "must name the features and others hold them"
        )
    first, rest = about.iloc[:, 0], about.iloc[:, 1:]
    names = [name or "" for name in labels(first)]
    _check_names(first, frame.name)
    check_distinct(names, frame.path, "row")
    ids = np.array([str(name) for name in rest.columns], object)
    check_distinct(list(ids), frame.path)
    if all(map(numeric, rest.dtypes)):
        X = np.ascontiguousarray(rest.to_numpy(np.float64, na_value=np.nan).T)
        empty = pd.DataFrame(index=range(len(ids)))
        return Matrix(
            frame.path, empty, ids=ids, remarks=frame.remarks, feature_names=tuple(names), X=X
        )
    cells = pd.DataFrame(rest.to_numpy(object).T, columns=names)
    return Frame(frame.path, cells.infer_objects(), ids=ids, remarks=frame.remarks)


def _check_names(first: Any, file: str) -> None:
    """Refuse numbers for names: then nothing was in rows."""
    if not is_text(first, Marks()):
        raise InputError(
            f"{option('transpose')}: the first column of {file}, {shown(str(first.name))}, must "
            f"name the features, but it holds numbers such as {shown(str(first.iloc[0]))}; leave "
            f"{option('transpose')} out if features are in columns"
        )
