"""Arrays of a dataset in the container that scikit-learn's fetchers return."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._common.extra import extra
from ._registry import DatasetInfo


def to_bunch(
    info: DatasetInfo,
    X: NDArray[Any],
    y: NDArray[Any],
    *,
    feature_names: Sequence[str] | NDArray[Any] | None,
    target_name: str,
    filename: Path,
    as_frame: bool,
    return_X_y: bool,
    **more: Any,
) -> Any:
    """A Bunch of float64 ``data`` and ``target``, or that pair; of pandas' types if asked."""
    names = unique_names(feature_names, X.shape[1])
    data: Any = np.asarray(X, dtype=np.float64)
    target: Any = np.asarray(y, dtype=np.float64)
    if as_frame:
        data, target = _as_pandas(data, target, names, target_name)
        more["frame"] = data.assign(**{target_name: target})
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=names,
        target_names=[target_name],
        DESCR=describe(info),
        filename=str(filename),
        **more,
    )


def unique_names(names: Sequence[str] | NDArray[Any] | None, n_features: int) -> list[str]:
    """Names of the features; one without a name is called ``x`` and its index."""
    given = [""] * n_features if names is None else [str(name) for name in names]
    return [name or f"x{j}" for j, name in enumerate(given)]


def describe(info: DatasetInfo) -> str:
    """A few lines on the dataset and its origin."""
    n_samples, n_features = info.shape
    origin = ", ".join(file.urls[0] for file in info.files) or info.how_to_get
    return "\n".join(
        (
            f"{info.name}: {info.description}.",
            f"{n_samples} samples, {n_features} features.",
            f"Origin: {origin}",
            f"Reference: {info.citation}.",
            f"Licence: {info.licence}.",
        )
    )


def _as_pandas(
    data: NDArray[np.float64], target: NDArray[np.float64], names: list[str], target_name: str
) -> tuple[Any, Any]:
    with extra("data", "as_frame=True needs"):
        import pandas as pd
    return pd.DataFrame(data, columns=names), pd.Series(target, name=target_name)
