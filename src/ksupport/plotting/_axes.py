"""Axes, colours, names and docstrings that all displays share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import indent
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common.checks import as_numbers
from .._common.extra import extra
from .._common.names import feature_name
from ..design import Floats
from ..estimators.base import LinearModel

WIDE, SQUARE = (6.4, 4.0), (4.6, 4.4)  # inches
GOOD, BAD, MUTED = "#0072B2", "#D55E00", "#999999"  # distinct for colour-blind readers

F = TypeVar("F", bound=Callable[..., Any])
PARAMETERS = {  # of `from_estimator`, by the placeholder in its docstring
    "fit": """\
estimator : estimator of ksupport
    A fitted model.
X : array, memmap, data frame, sparse matrix or LinearOperator, shape (n, d)
    The X of the fit.
y : array of shape (n,) or (n, n_targets)
    The y of the fit.""",
    "refit": """\
estimator : estimator of ksupport
    A fitted model; copies of it are fitted on the folds.
X : array, data frame or sparse matrix, shape (n, d)
    The X of the fit.
y : array of shape (n,), or (n, 2) of times and events
    The y of the fit.""",
    "sample_weight": """\
sample_weight : array of shape (n,), optional
    The weights of the fit.""",
    "folds": """\
cv : int, splitter or iterable
    The folds; an integer is a number of shuffled folds.
random_state : int, RandomState or None
    Seed of the shuffling.""",
    "target": """\
target : int
    Which target, if there are several.""",
    "names": """\
names : sequence of str, optional
    Names of the features; by default those seen in the fit.""",
    "ax": """\
ax : matplotlib Axes, optional
    Where to draw; by default on new axes.""",
}


def shared_parameters(method: F) -> F:
    """Put the text of `PARAMETERS` in place of lines such as ``{fit}`` in a docstring."""
    method.__doc__ = re.sub(
        r"^( *)\{(\w+)\}$",
        lambda found: indent(PARAMETERS[found[2]], found[1]),
        method.__doc__ or "",
        flags=re.MULTILINE,
    )
    return method


def pyplot() -> Any:
    with extra("plot", "figures need"):
        from matplotlib import pyplot
    return pyplot


def axes_of(ax: Any, figsize: tuple[float, float] = WIDE) -> Any:
    if ax is None:
        return pyplot().subplots(figsize=figsize, layout="constrained")[1]
    if not hasattr(ax, "plot"):
        raise TypeError(f"ax must be matplotlib Axes or None, got {ax!r}")
    return ax


class Display:
    """A figure, drawn when it is made and again by `plot`."""

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
    """Raise a TypeError that names the expected source of a value."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {source}, got {type(value).__name__}")


def check_ours(estimator: Any) -> None:
    """Raise a TypeError unless the estimator is one of ksupport."""
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
    """Raise a ValueError if shapes show that the data are not those of the fit."""
    check_is_fitted(estimator)
    d, n = np.shape(estimator.coef_)[-1], np.shape(y)[0]
    if np.shape(X)[1] != d:
        raise ValueError(f"X has {np.shape(X)[1]} features, but the model was fitted on {d}")
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
