"""Figures of the fMRI experiment: scores as bars, z-maps on brains, hits and misses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._common.files import replacing
from ..datasets import fetch_haxby
from ..design import Floats
from ..fmri import plot_maps, to_image
from .experiment import Row
from .figures import COLOURS, drawing, mark, title_of
from .files import grouped
from .fmri_data import brain, found_by, unpacked, whole_haxby, z_of

TITLES = {
    "encludl": "EnCluDL",
    "svm": "SVM (nilearn)",
    "spacenet": "SpaceNet (nilearn)",
    "auto": "AutoIRKSN",
    "zero": "no voxel",
}
HIT, MISS, FALSE = 1.0, -0.35, -1.0  # positions on the colour scale
TRUTH = "truth (weights, scaled)"
MOST = 12.0  # z-values beyond this have one colour


def name_of(method: str) -> str:
    """What a method is called in figures."""
    return TITLES.get(method) or title_of(method)


def draw(rows: list[Row], lines: list[Row], folder: Path) -> None:
    """All figures of the rows of one protocol."""
    _scores(lines, folder)
    for (part, contrast), group in grouped(rows, "part", "contrast").items():
        stem = f"fmri-{part}-{contrast.replace('/', '-')}"
        _maps(group, part, contrast, folder / stem)
        if part == "brain":
            _hits(group, folder / f"{stem}-hits")


def _scores(lines: list[Row], folder: Path) -> None:
    """Bars: distances to the truth, or to EnCluDL, and accuracy where there is one."""
    panels: list[tuple[str, str, list[Row]]] = []
    for (part, contrast), group in grouped(lines, "part", "contrast").items():
        what = "distance to the truth" if part == "brain" else "distance to EnCluDL"
        if part != "slice":
            panels.append((f"{part}, {contrast}: {what}", "distance_mean", group))
        else:
            known = [line for line in group if "accuracy_mean" in line]
            panels.append((f"slice, {contrast}: accuracy on runs left out", "accuracy_mean", known))
    size = (4.6 * len(panels), 3.8)
    with drawing(folder, "fmri", figsize=size, ncols=len(panels), squeeze=False) as (_, axes):
        for ax, (title, column, group) in zip(axes[0], panels, strict=True):
            _bars(ax, title, column, group)


def _bars(ax: Any, title: str, column: str, group: list[Row]) -> None:
    better_last = sorted(group, key=lambda line: line[column], reverse=column != "accuracy_mean")
    values = [line[column] for line in better_last]
    colours = [COLOURS.get(line["method"], "#BBBBBB") for line in better_last]
    ax.barh([name_of(line["method"]) for line in better_last], values, color=colours)
    for height, value in enumerate(values):
        ax.text(value, height, f" {value:.2f}", va="center", fontsize=7)
    ax.set_title(title, fontsize=9)
    if column == "accuracy_mean":
        ax.axvline(0.5, color="black", linewidth=0.8, linestyle="--")  # chance
        ax.set_xlim(0.4, 1.05)
    else:
        ax.set_xlim(0, 1.15 * max(values))


def _place(part: str, contrast: str, size: int) -> tuple[Any, Any]:
    """The mask of a part, and what to draw its maps on."""
    if part == "brain":
        return brain(quick=size != 39912).mask_img, None
    if part == "haxby":
        return whole_haxby(contrast).mask_img, None
    from nilearn.image import load_img, mean_img

    bunch = fetch_haxby(subset="slice")
    return load_img(bunch.mask_path), mean_img(bunch.bold_path)


def _maps(group: list[Row], part: str, contrast: str, stem: Path) -> None:
    """z-maps beyond the threshold: a slice of each method, and glass brains of whole ones."""
    mask, background = _place(part, contrast, len(unpacked(group[0]["w"])))
    maps = {name_of(row["method"]): to_image(z_of(row)[0], mask) for row in group}
    levels = {name_of(row["method"]): z_of(row)[1] for row in group}
    if part == "brain":
        truth = brain(quick=mask.get_fdata().sum() != 39912).truth
        assert truth is not None
        maps = {TRUTH: to_image(truth / np.abs(truth).max() * MOST, mask), **maps}
        levels[TRUTH] = 0.0
    title = f"{_heading(part, contrast)}: z-values beyond the threshold (FWER 0.1, Bonferroni)"
    common: dict[str, Any] = {"threshold": levels, "title": title, "limit": MOST}
    cut = -12.0 if part == "brain" else 0.0 if part == "slice" else None
    _save(plot_maps(maps, background=background, cut=cut, **common), stem)
    if part == "slice":
        return
    text = _save(plot_maps(maps, kind="glass", **common), stem.with_name(f"{stem.name}-glass"))
    from nilearn.plotting import view_img

    title = f"IRKSN ({text})" if text else "IRKSN"
    view = view_img(maps["IRKSN"], threshold=levels["IRKSN"], title=title, vmax=MOST)
    with replacing(stem.with_name(f"{stem.name}-irksn.html")) as path:
        view.save_as_html(path)


def _heading(part: str, contrast: str) -> str:
    if part == "brain":
        return "simulated brain"
    second, first = contrast.split("/")[::-1]
    return f"{part}, {second} (red) against {first} (blue)"


def _hits(group: list[Row], stem: Path) -> None:
    """Where each method is right: voxels shown and true, true only, shown only."""
    size = len(unpacked(group[0]["w"]))
    recordings = brain(quick=size != 39912)
    truth = recordings.truth
    assert truth is not None
    maps = {
        name_of(row["method"]): to_image(_verdict(truth, found_by(row)), recordings.mask_img)
        for row in group
    }
    title = "simulated brain: voxels of the truth and voxels shown, FWER 0.1"
    ticks = {HIT: "found", MISS: "missed", FALSE: "false"}
    figure = plot_maps(maps, cut=-12.0, limit=1.0, title=title, label="", ticks=ticks)
    _save(figure, stem)


def _verdict(truth: Floats, seen: Floats) -> Floats:
    return np.select(
        [(truth != 0) & (seen != 0), truth != 0, seen != 0], [HIT, MISS, FALSE], default=0.0
    )


def _save(figure: Any, stem: Path) -> str:
    import matplotlib.pyplot as plt

    text = mark(figure)
    with replacing(stem.with_name(f"{stem.name}.png")) as path:
        figure.savefig(path, dpi=130)
    plt.close(figure)
    return text
