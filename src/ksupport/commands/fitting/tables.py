"""Every feature of a fit as a table, and as a ranked list for tools of enrichment."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...explain.feature_table import feature_table, kind_of, ranked_list
from ...explain.univariate import univariate
from .fitted import Fitted


def all_features(fitted: Fitted) -> list[list[Any]]:
    """Names of columns, then a row for each feature, the best first; None where a cell is empty."""
    data = fitted.data
    frame = feature_table(fitted.model, data.X, data.y, data.feature_names).drop(columns="feature")
    head = [str(name).replace("_", " ") for name in frame.columns]
    rows = zip(*(frame[name].tolist() for name in frame.columns), strict=True)
    return [head, *([_cell(value) for value in row] for row in rows)]


def _cell(value: Any) -> Any:
    """A cell as a file holds it: what is missing is empty, and what is true is 1."""
    import pandas as pd

    if value is None or value is pd.NA or value != value:
        return None
    return int(value) if isinstance(value, bool | np.bool_) else value


def ranked_features(fitted: Fitted) -> str:
    """The features that the model chose from, with signed scores, as a ``.rnk`` file."""
    data = fitted.data
    alone = univariate(data.X, data.y, kind_of(fitted.model))
    alone.p_value[data.unpenalized] = np.nan  # no candidates
    return ranked_list(data.feature_names, alone)
