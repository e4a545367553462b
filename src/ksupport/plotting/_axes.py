"""What all pictures share: axes, colours and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.checks import as_numbers
from .._common.extra import extra
from .._common.names import feature_name
from ..design import Floats
from ..estimators.base import LinearModel

GOOD, BAD, MUTED = "#0072B2", "#D55E00", "#999999"  # told apart by colour-blind readers too


def pyplot() -> Any:
    with extra("plot", "pictures need"):
        from matplotlib import pyplot
    return pyplot


def axes_of(ax: Any, figsize: tuple[float, float] = (6.4, 4.0)) -> Any:
    if ax is None:
        return pyplot().subplots(figsize=figsize, layout="constrained")[1]
    if not hasattr(ax, "plot"):
        raise TypeError(f"ax must be matplotlib Axes or None, got {ax!r}")
    return ax


def check_kind(name: str, value: Any, kind: type, source: str) -> None:
    """Refuse what cannot be drawn, and say where to get what can."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {source}, got {type(value).__name__}")


def check_ours(estimator: Any) -> None:
    """Refuse models that did not walk our paths."""
    check_kind("estimator", estimator, LinearModel, "a fitted estimator of ksupport")


def vector(name: str, value: ArrayLike, size: int) -> Floats:
    vector = real(name, value)
    if vector.shape != (size,):
        raise ValueError(f"{name} must have one entry per feature, {size}, got {vector.shape}")
    return vector


def real(name: str, value: ArrayLike) -> Floats:
    numbers = as_numbers(name, value)
    if numbers.dtype.kind == "c" or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be real and finite, got complex numbers, NaN or infinity")
    return np.asarray(numbers, np.float64)


def names_of(estimator: Any, names: Sequence[str] | None) -> Sequence[str] | None:
    """The names given, or those of the data frame that the model has seen."""
    return getattr(estimator, "feature_names_in_", None) if names is None else names


def check_names(names: Sequence[str] | None, size: int) -> None:
    if names is not None and np.size(names) != size:
        raise ValueError(f"names must have one entry per feature, {size}, got {names!r:.60}")


def name_of(names: Sequence[str] | None, feature: Any) -> str:
    # A dollar sign would start a formula.
    return feature_name(names, feature).replace("$", r"\$")
