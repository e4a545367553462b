"""What all pictures share: axes, colours and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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


def names_of(estimator: Any, names: Sequence[str] | None) -> Sequence[str] | None:
    """The names given, or those of the data frame that the model has seen."""
    return getattr(estimator, "feature_names_in_", None) if names is None else names


def name_of(names: Sequence[str] | None, feature: Any) -> str:
    # A dollar sign would start a formula.
    return feature_name(names, feature).replace("$", r"\$")
