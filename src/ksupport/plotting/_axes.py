"""What all pictures share: axes, colours and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common.extra import extra
from .._common.names import feature_name
from ..design import Floats

GOOD, BAD, MUTED = "#0072B2", "#D55E00", "#999999"  # told apart by colour-blind readers too


def pyplot() -> Any:
    with extra("plot", "pictures need"):
        from matplotlib import pyplot
    return pyplot


def axes_of(ax: Any, figsize: tuple[float, float] = (6.4, 4.0)) -> Any:
    return pyplot().subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def vector(name: str, value: ArrayLike, size: int) -> Floats:
    vector = np.asarray(value, np.float64)
    if vector.shape != (size,):
        raise ValueError(f"{name} must have one entry per feature, {size}, got {vector.shape}")
    return vector


def check_data(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> None:
    """Refuse data that cannot be those of the fit, where a picture does not walk on them."""
    check_is_fitted(estimator)
    d, n = np.shape(estimator.coef_)[-1], np.shape(y)[0]
    if np.shape(X)[1] != d:
        raise ValueError(f"X has {np.shape(X)[1]} features, the model {d}: give the X of the fit")
    if sample_weight is not None and np.shape(sample_weight) not in ((), (n,)):
        raise ValueError(
            f"sample_weight must have one entry for each of the {n} rows, got shape "
            f"{np.shape(sample_weight)}"
        )


def name_of(names: Sequence[str] | None, feature: Any) -> str:
    # A dollar sign would start a formula.
    return feature_name(names, feature).replace("$", r"\$")
