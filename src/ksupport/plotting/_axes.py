"""Axes, colours, names and docstrings that all displays share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from textwrap import fill, indent
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common.checks import as_numbers
from .._common.extra import extra
from .._common.names import feature_name, names_seen
from ..choosing.selection import Selection
from ..design import Floats, Ints
from ..estimators.base import LinearModel
from ..explain.models import chosen_by

WIDE, SQUARE = (6.4, 4.0), (4.6, 4.4)  # inches
GOOD, BAD, MUTED = "#0072B2", "#D55E00", "#999999"  # distinct for colour-blind readers

F = TypeVar("F", bound=Callable[..., Any])
PARAMETERS = {  # what parameters mean that several displays have
    "estimator": "estimator of ksupport\nA fitted model.",
    "X": "array, memmap, data frame, sparse matrix or LinearOperator, shape (n, d)\n"
    "The X of the fit.",
    "y": "array of shape (n,) or (n, n_targets)\nThe y of the fit.",
    "sample_weight": "array of shape (n,), optional\nThe weights of the fit.",
    "truth": "array of shape (d,), optional\nThe true model.",
    "target": "int\nWhich target, if there are several.",
    "names": "sequence of str, optional\nNames of the features; by default those seen in the fit.",
    "ax": "matplotlib Axes, optional\nWhere to draw; by default on new axes.",
}
REFIT = {  # of displays that fit copies of a model on folds
    "estimator": "estimator of ksupport\nA fitted model; copies of it are fitted on the folds.",
    "X": "array, data frame or sparse matrix, shape (n, d)\nThe X of the fit.",
    "y": "array of shape (n,), or (n, 2) of times and events\nThe y of the fit.",
    "cv": "int, splitter or iterable\nThe folds; an integer is a number of shuffled folds.",
    "random_state": "int, RandomState or None\nSeed of the shuffling.",
}


def documented(**own: str) -> Callable[[F], F]:
    """Add the sections Parameters and Returns to the docstring of a method of a display.

    A parameter has a text of its own, or that of `PARAMETERS`: its type, and below it its meaning.
    """

    def add(method: F) -> F:
        texts = PARAMETERS | own
        lines = [inspect.cleandoc(method.__doc__ or ""), "", "Parameters", "----------"]
        for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
            kind, _, words = texts[name].partition("\n")
            stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
            head = f"{stars}{name} : {kind}".removesuffix(" : ")
            lines += [head, indent(fill(" ".join(words.split()), 86), "    ")]
        owner = method.__qualname__.partition(".")[0]
        method.__doc__ = "\n".join([*lines, "", "Returns", "-------", owner, ""])
        return method

    return add


def pyplot() -> Any:
    with extra("plot", "figures need"):
        from matplotlib import pyplot
    return pyplot


class Display:
    """A figure, drawn when it is made and again by `plot`.

    ``ax_`` and ``figure_`` are the matplotlib Axes and Figure.
    """

    ax_: Any
    figure_: Any
    _size = WIDE  # of a new figure

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
        return self._draw_on(self._draw, ax, self._size)

    def _draw_on(self, draw: Callable[[Any], None], ax: Any, size: tuple[float, float]) -> Self:
        if ax is None:
            ax = pyplot().subplots(figsize=size, layout="constrained")[1]
        if not hasattr(ax, "plot"):
            raise TypeError(f"ax must be matplotlib Axes or None, got {ax!r}")
        draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


# -- what several displays draw --------------------------------------------------------------


def draw_rows(ax: Any, labels: Sequence[str], empty: str) -> None:
    """Names of horizontal bars, the first on top; words if there are none."""
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    if not labels:
        ax.text(0.5, 0.5, empty, ha="center", va="center", transform=ax.transAxes, color=MUTED)


def note(ax: Any, place: float, text: str, colour: str = "black") -> None:
    """Words on the right of the axes, at the height of a row."""
    ax.annotate(
        text, (1, place), xycoords=("axes fraction", "data"), xytext=(5, 0),
        textcoords="offset points", va="center", fontsize="small", color=colour,
    )  # fmt: skip


def legend_above(ax: Any, *handles_and_labels: Any, **options: Any) -> None:
    """A legend above the axes, from the left."""
    ax.legend(
        *handles_and_labels, frameon=False, fontsize="small", loc="lower left",
        bbox_to_anchor=(0, 1), **options,
    )  # fmt: skip


def draw_calibration(ax: Any, predicted: Floats, observed: Floats, counts: Ints) -> None:
    """Observed against predicted shares; bars are the standard errors if they are calibrated."""
    spread = np.sqrt(np.maximum(predicted * (1 - predicted), 0) / counts)
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, label="calibrated")
    label = "observed ± standard error"
    ax.errorbar(predicted, observed, spread, fmt="o", color=GOOD, capsize=3, label=label)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    ax.legend(frameon=False, fontsize="small", loc="upper left")


# -- checks ----------------------------------------------------------------------------------


def check_kind(name: str, value: Any, kind: type, source: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {source}, got {type(value).__name__}")


def check_is_supported(estimator: Any) -> None:
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


def check_inputs(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    one_target: bool = False,
) -> tuple[Selection, Sequence[str] | None]:
    """Validate an estimator and its data; return its selection and its feature names."""
    check_is_supported(estimator)
    check_data(estimator, X, y, sample_weight)
    names = names_seen(estimator) if names is None else names
    check_names(names, np.shape(estimator.coef_)[-1])
    chosen = chosen_by(estimator)
    if one_target and not chosen.flat:
        raise ValueError("y must hold one target: fit several targets one at a time")
    return chosen, names


def check_names(names: Sequence[str] | None, size: int) -> None:
    if names is not None and np.size(names) != size:
        raise ValueError(f"names must have one entry per feature, {size}, got {names!r:.60}")


def name_of(names: Sequence[str] | None, feature: Any) -> str:
    # A dollar sign would start a formula.
    return feature_name(names, feature).replace("$", r"\$")
