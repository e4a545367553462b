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
    target_names: Sequence[str],
    filename: Path,
    as_frame: bool,
    return_X_y: bool,
    **more: Any,
) -> Any:
    """A Bunch of float64 ``data`` and ``target``, or that pair; of pandas' types if asked.

    ``y`` has a column for each name of a target if it has two dimensions.
    """
    given = [""] * X.shape[1] if feature_names is None else map(str, feature_names)
    names = [name or f"x{j}" for j, name in enumerate(given)]
    data: Any = np.asarray(X, dtype=np.float64)
    target: Any = np.asarray(y, dtype=np.float64)
    if as_frame:
        data, target, more["frame"] = _as_pandas(data, target, names, target_names)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=names,
        target_names=list(target_names),
        DESCR=describe(info),
        filename=str(filename),
        **more,
    )


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
    data: NDArray[np.float64],
    target: NDArray[np.float64],
    names: list[str],
    target_names: Sequence[str],
) -> tuple[Any, Any, Any]:
    """Features, target (a Series if there is one) and both in one frame."""
    with extra("data", "as_frame=True needs"):
        import pandas as pd
    features = pd.DataFrame(data, columns=names)
    targets = pd.DataFrame(target.reshape(len(data), -1), columns=list(target_names))
    both = pd.concat([features, targets], axis=1)
    return features, targets if target.ndim == 2 else targets[target_names[0]], both
