"""Colours of the methods, style and saving of all figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.extra import extra
from .._common.files import replacing
from ..algorithms import METHODS
from .experiment import Row

# IRKSN stands out; the others differ by hue and marker (palette of Okabe and Ito, and grey).
COLOURS = {
    "irksn": "#D55E00",
    "ksn": "#CC79A7",
    "ircr": "#0072B2",
    "irosr": "#009E73",
    "srdi": "#56B4E9",
    "iht": "#E69F00",
    "omp": "#999999",
    "lasso": "#000000",
    "enet": "#8C6D31",
}
MARKERS = dict(zip(COLOURS, "osv^D<>Xp", strict=True))

_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "figure.dpi": 150,
    "svg.hashsalt": "ksupport",  # equal results give equal files
}

_MARK: ContextVar[str] = ContextVar("mark", default="")


@contextmanager
def marked(text: str) -> Iterator[None]:
    """Write a text above every figure saved within this context."""
    token = _MARK.set(text)
    try:
        yield
    finally:
        _MARK.reset(token)


def mark(figure: Any) -> str:
    """Write the text of `marked`, if there is one, above a figure, and return it."""
    text = _MARK.get()
    place = {"ha": "right", "va": "top", "color": "red", "weight": "bold", "fontsize": 8}
    if text and figure.get_suptitle():
        figure.text(0.995, 0.995, text, **place)
    elif text:  # the layout makes room for it
        figure.suptitle(text, x=0.995, **place)
    return text


def steps_to_draw(last: int) -> NDArray[np.int64]:
    """About a thousand steps from 0 to ``last``, dense enough on linear and on logarithmic axes."""
    some = np.concatenate([np.linspace(0, last, 601), np.geomspace(1, max(last, 1), 401)])
    return np.unique(np.rint(some).astype(np.int64))


def title_of(method: str) -> str:
    """The name of a method in legends."""
    return METHODS[method].title if method in METHODS else method


def style_of(method: str) -> dict[str, Any]:
    """How the curve of a method over the iterations is drawn."""
    width = 2.2 if method == "irksn" else 1.2
    return {"color": COLOURS[method], "linewidth": width, "label": title_of(method)}


def curve(ax: Any, rows: Sequence[Row], x: str, y: str, *style: str, **options: Any) -> None:
    """Plot one column of rows against another."""
    ax.plot([row[x] for row in rows], [row[y] for row in rows], *style, **options)


def legend_below(figure: Any, ax: Any, **options: Any) -> None:
    """The legend of one of the axes, below all of them."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", **options)


@contextmanager
def drawing(folder: Path, name: str, **subplots: Any) -> Iterator[tuple[Any, Any]]:
    """Give a figure and its axes; save both ``folder/name.png`` and ``.svg`` at the end.

    Options are those of ``matplotlib.figure.Figure.subplots``, and ``figsize``.
    """
    with extra("plot", "figures need"):
        import matplotlib
        from matplotlib.figure import Figure
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=subplots.pop("figsize", (6, 4)), layout="constrained")
        yield figure, figure.subplots(**subplots)
        mark(figure)
        for suffix, metadata in ((".png", None), (".svg", {"Date": None})):
            with replacing(folder / f"{name}{suffix}") as path:
                figure.savefig(path, metadata=metadata)
