"""What all pictures share: axes, colours and names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common.checks import as_numbers
from .._common.extra import extra
from .._common.names import feature_name
from ..design import Floats
from ..estimators.base import LinearModel

WIDE, SQUARE = (6.4, 4.0), (4.6, 4.4)  # inches
GOOD, BAD, MUTED = "#0072B2", "#D55E00", "#999999"  # told apart by colour-blind readers too


def pyplot() -> Any:
    with extra("plot", "pictures need"):
        from matplotlib import pyplot
    return pyplot


def axes_of(ax: Any, figsize: tuple[float, float] = WIDE) -> Any:
    if ax is None:
        return pyplot().subplots(figsize=figsize, layout="constrained")[1]
    if not hasattr(ax, "plot"):
        raise TypeError(f"ax must be matplotlib Axes or None, got {ax!r}")
    return ax


class Display:
    """A picture, drawn when it is made and again by `plot`."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw, on new axes if none are given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        self
        """
        return self._drawn(self._draw, ax, self._size)

    def _drawn(self, draw: Callable[[Any], None], ax: Any, size: tuple[float, float]) -> Self:
        ax = axes_of(ax, figsize=size)
        draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def _size(self) -> tuple[float, float]:
        """Inches of a new figure."""
        return WIDE

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


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


def check_names(names: Sequence[str] | None, size: int) -> None:
    if names is not None and np.size(names) != size:
        raise ValueError(f"names must have one entry per feature, {size}, got {names!r:.60}")


def name_of(names: Sequence[str] | None, feature: Any) -> str:
    # A dollar sign would start a formula.
    return feature_name(names, feature).replace("$", r"\$")
