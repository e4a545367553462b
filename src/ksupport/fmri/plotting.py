"""Maps side by side on brains: one slice each, or a glass brain each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .images import optional

COLUMNS = {"slice": 4, "glass": 2}  # at most
BAR = 1.15  # inches for the colour bar, its numbers and its name


def plot_maps(
    maps: Mapping[str, Any],
    *,
    background: Any = None,
    kind: Literal["slice", "glass"] = "slice",
    threshold: float | Mapping[str, float] | None = None,
    cut: float | None = None,
    label: str = "z",
    title: str | None = None,
    limit: float | None = None,
    ticks: Mapping[float, str] | None = None,
) -> Any:
    """Draw maps next to each other, with one scale of colours for all.

    Parameters
    ----------
    maps : mapping of 3-D images, by title
        What to draw.
    background : 3-D image, optional
        What to draw it on, for slices; None: the MNI152 template.
    kind : {"slice", "glass"}
        One axial slice of each map, or all of it seen from three sides.
    threshold : float or mapping of floats by title, optional
        Values closer to 0 are left out.
    cut : float, optional
        Height (mm) of the slices; None: where the first map is strongest.
    label : str, default="z"
        What the numbers are; stands at the colour bar.
    title : str, optional
        Of the whole figure.
    limit : float, optional
        Where the colours end; None: at the largest value of all maps.
    ticks : mapping of words by value, optional
        What values mean, to stand at the colour bar instead of numbers.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ksupport.fmri import plot_maps
    >>> figure = plot_maps(decoder.z_img_, threshold=decoder.threshold_)  # doctest: +SKIP
    >>> figure.savefig("maps.png")  # doctest: +SKIP
    """
    if kind not in ("slice", "glass"):
        raise ValueError(f"kind must be 'slice' or 'glass', got {kind!r}")
    pyplot = optional("matplotlib.pyplot")
    columns = min(len(maps), COLUMNS[kind])
    rows = -(-len(maps) // columns)
    width, height = (2.6, 2.5) if kind == "slice" else (5.6, 2.3)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(width * columns + BAR, height * rows + 0.5), squeeze=False
    )
    figure.subplots_adjust(
        left=0.01, right=1 - BAR / (width * columns + BAR), bottom=0.02, wspace=0.05, hspace=0.2,
        top=1 - 0.75 / (height * rows + 0.5),
    )  # fmt: skip
    largest = limit or max(_largest(image) for image in maps.values()) or 1.0
    if kind == "slice" and cut is None:
        cut = _height_of_peak(next(iter(maps.values())))
    for ax in axes.flat[len(maps) :]:
        ax.set_axis_off()
    for ax, (name, image) in zip(axes.flat, maps.items(), strict=False):
        level = threshold.get(name) if isinstance(threshold, Mapping) else threshold
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="empty mask")  # a map may show nothing
            _draw(ax, image, kind, background, cut, level, largest)
        ax.set_title(name, fontsize=9)
    _colour_bar(figure, largest, label, ticks)
    if title is not None:
        figure.suptitle(title, fontsize=10)
    return figure


def _draw(
    ax: Any, image: Any, kind: str, background: Any, cut: float | None, level: float | None,
    largest: float,
) -> None:  # fmt: skip
    plotting = optional("nilearn.plotting")
    ax.set_axis_off()
    common = {
        "axes": ax, "threshold": level or 1e-12, "vmin": -largest, "vmax": largest,
        "colorbar": False, "cmap": "RdBu_r",
    }  # fmt: skip
    if kind == "glass":
        plotting.plot_glass_brain(image, plot_abs=False, display_mode="ortho", **common)
        return
    if background is not None:
        common["bg_img"] = background
    plotting.plot_stat_map(
        image, display_mode="z", cut_coords=[cut], draw_cross=False, black_bg=False, **common
    )


def _colour_bar(figure: Any, largest: float, label: str, ticks: Mapping[float, str] | None) -> None:
    colours = optional("matplotlib.colors").Normalize(-largest, largest)
    bar = optional("matplotlib.cm").ScalarMappable(colours, "RdBu_r")
    width = figure.get_size_inches()[0]
    place = figure.add_axes((1 - (BAR - 0.18) / width, 0.15, 0.14 / width, 0.6))
    drawn = figure.colorbar(bar, cax=place, label=label)
    if ticks is not None:
        drawn.set_ticks(list(ticks), labels=list(ticks.values()))


def _largest(image: Any) -> float:
    return float(np.abs(np.asarray(image.dataobj)).max())


def _height_of_peak(image: Any) -> float:
    values = np.abs(np.asarray(image.dataobj))
    index = np.unravel_index(int(values.argmax()), values.shape)
    return float((image.affine @ [*index, 1.0])[2])
