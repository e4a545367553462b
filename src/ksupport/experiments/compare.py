"""Comparison with published values: cell by cell, in standard errors, and as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np

from .experiment import Experiment, Row
from .figures import COLOURS, MARKERS, drawing, title_of

STANDARD_ERRORS = 2.0  # means that differ by more disagree, where no tolerance is given


@dataclass(frozen=True)
class Difference:
    """One published mean and ours."""

    cell: dict[str, Any]  # what names it: method, n, ...
    ours: float
    published: float
    in_errors: float | None  # ours - published, in standard errors; None: no spread is known
    agrees: bool

    @property
    def difference(self) -> float:
        return self.ours - self.published

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.cell.items())


def n_published(experiment: Experiment) -> int:
    """How many published values there are to compare with."""
    return len(experiment.reference()) if experiment.reference else 0


def compare(experiment: Experiment, rows: list[Row]) -> list[Difference]:
    """Every published value that has a counterpart among ours: the rows of the cells."""
    if experiment.reference is None:
        return []
    published = experiment.reference()
    mean = next(name for name in published[0] if name.endswith("_mean"))
    std = mean.removesuffix("_mean") + "_std"
    keys = [name for name in published[0] if name not in (mean, std, "tolerance")]
    ours: dict[tuple[Any, ...], Row] = {}
    for row in experiment.table(rows):  # of several tunings the first, the oracle
        ours.setdefault(tuple(row.get(key) for key in keys), row)
    return [
        _difference(experiment, {key: theirs[key] for key in keys}, mine, theirs, mean, std)
        for theirs in published
        if (mine := ours.get(tuple(theirs[key] for key in keys))) is not None
    ]


def _difference(
    experiment: Experiment, cell: dict[str, Any], mine: Row, theirs: Row, mean: str, std: str
) -> Difference:
    gap = mine[mean] - theirs[mean]
    error = hypot(mine.get(std, 0.0), theirs.get(std, 0.0)) / experiment.repeats**0.5
    in_errors = gap / error if error > 0 else None
    tolerance = theirs.get("tolerance", STANDARD_ERRORS * error)
    agrees = abs(gap) <= tolerance + 1e-9
    return Difference(cell, mine[mean], theirs[mean], in_errors, agrees)


def _grouped(differences: Sequence[Difference]) -> dict[str, list[Difference]]:
    """Those of each method."""
    groups: dict[str, list[Difference]] = {}
    for each in differences:
        groups.setdefault(each.cell["method"], []).append(each)
    return groups


def by_method(differences: Sequence[Difference]) -> list[Row]:
    """For each method: cells, mean difference, largest one, and how many disagree."""
    return [
        {
            "method": method,
            "cells": len(group),
            "mean": float(np.mean([each.difference for each in group])),
            "largest": max((each.difference for each in group), key=abs),
            "disagree": sum(not each.agrees for each in group),
        }
        for method, group in _grouped(differences).items()
    ]


def summary(compared: Mapping[str, Sequence[Difference]]) -> list[Row]:
    """A line for each method: its largest and its mean difference in every experiment."""
    found = {
        name: {line["method"]: line for line in by_method(each)} for name, each in compared.items()
    }
    methods = dict.fromkeys(method for lines in found.values() for method in lines)
    return [
        {"method": title_of(method)}
        | {name: _both(lines.get(method)) for name, lines in found.items()}
        for method in methods
    ]


def _both(line: Row | None) -> str:
    if line is None:
        return "-"
    return ", ".join(
        f"{line[name]:+.4f}".replace("+0.", "+.").replace("-0.", "-.")
        if abs(line[name]) >= 5e-5
        else "0"
        for name in ("largest", "mean")
    )


def plot_comparison(experiment: Experiment, differences: list[Difference], folder: Path) -> None:
    """Ours against published, one point per cell; a ring marks those that disagree."""
    name = f"{experiment.name}-compare"
    with drawing(folder, name, figsize=(5.6, 4.0)) as (figure, ax):
        values = [v for each in differences for v in (each.ours, each.published)]
        margin = 0.05 * (max(values) - min(values) or 1.0)
        ends = [min(values) - margin, max(values) + margin]
        ax.plot(ends, ends, color="black", linewidth=0.7, zorder=0)
        for method, mine in _grouped(differences).items():
            ax.plot(
                [each.published for each in mine],
                [each.ours for each in mine],
                linestyle="",
                marker=MARKERS.get(method, "."),
                color=COLOURS.get(method, "black"),
                markersize=5,
                label=title_of(method),
            )
        apart = [each for each in differences if not each.agrees]
        ax.plot(
            [each.published for each in apart],
            [each.ours for each in apart],
            linestyle="",
            marker="o",
            markersize=11,
            markerfacecolor="none",
            color="red",
            label="disagree" if apart else None,
        )
        ax.set(xlabel="published", ylabel="ours", xlim=ends, ylim=ends, aspect="equal")
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
