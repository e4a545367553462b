"""Pictures of what was measured, drawn from the tables of ``developers/targets.rst`` at each build.

The tables are the one home of the numbers; a table that is gone or was renamed stops the build.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

Rows = dict[str, dict[str, str]]
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#777777"]  # told apart by all eyes
MARKS = ["o", "s", "^", "D", "v"]
METHODS = ["AutoIRKSN", "IRKSNCV", "LassoCV", "abess 5-fold", "SuSiE sets"]
KINDS = {
    "ar1": "few, scattered features",
    "blocks": "blocks of correlated features",
    "factor": "features that share factors",
    "ex. 2": "the paper's Example 2",
    "paper": "the paper's other settings",
    "real": "real genes, simulated response",
    "HIV": "HIV-1, known mutations",
    "spike-in": "microarrays, added transcripts",
    "genotype": "linked genotypes",
    "all": "all of them",
}
TIMES = {  # the beginning of a row of the table of speed, and what it is about
    "prox,": "proximal operator, up to a million features",
    "a step of IRKSN against": "a step of IRKSN, 173 x 39912",
    "30 x 50, F1": "a step of IRKSN, 30 x 50",
    "at 173 x 39912": "KSN, IRCR, SRDI, IHT, 173 x 39912",
    "other methods at 30": "five other methods, 30 x 50",
}


def table_after(text: str, words: str) -> Rows:
    """The first table after these words, by the first cell of a row and the heads of columns."""
    before, found, after = text.partition(words)
    if not found:
        raise ValueError(f"there is no {words!r}")
    rules = list(re.finditer(r"^ *=+(?: +=+)+ *$", after, re.MULTILINE))[:3]
    spans = [(each.start(), each.end()) for each in re.finditer("=+", rules[0][0])]
    ends = [start for start, _ in spans[1:]] + [None]

    def cells(line: str) -> list[str]:
        return [
            line[start:end].strip().replace("*", "").replace("`", "")
            for (start, _), end in zip(spans, ends, strict=True)
        ]

    head = cells(after[rules[0].end() : rules[1].start()].strip("\n").splitlines()[0])
    lines = after[rules[1].end() : rules[2].start()].strip("\n").splitlines()
    rows = [cells(line) for line in lines]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows if row[0]}


def numbers(cell: str) -> list[float]:
    """All numbers of a cell."""
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?|\.\d+", cell.replace(",", ""))]


def row_of(rows: Rows, beginning: str) -> dict[str, str]:
    """The row whose first cell begins so."""
    return next(row for name, row in rows.items() if name.startswith(beginning))


def scores(text: str) -> dict[str, dict[str, float]]:
    """Mean F1 of the methods drawn on each kind of problem."""
    rows = table_after(text, "Mean F1 by\nkind of design")
    return {name: {kind: numbers(rows[name][kind])[0] for kind in KINDS} for name in METHODS}


def bins(text: str) -> tuple[list[float], list[float]]:
    """The share of true features in ten bins of the probability that they were given."""
    after = text.partition("Calibration, all features")[2]
    claimed, true = (
        numbers(re.search(rf"^ *{name} +([ .\d]+)$", after, re.MULTILINE)[1])  # type: ignore[index]
        for name in ("claimed", "true")
    )
    return claimed, true


def selection(text: str) -> Figure:
    """Mean F1 by kind of problem: a dot for each method."""
    measured = scores(text)
    figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
    for i, method in enumerate(METHODS):
        values = list(measured[method].values())
        ax.plot(
            values, range(len(KINDS)), MARKS[i], color=COLOURS[i], label=method,
            markersize=9 if i == 0 else 6, zorder=2 if i == 0 else 3,
        )  # fmt: skip
    ax.set(yticks=range(len(KINDS)), yticklabels=KINDS.values(), xlim=(0, 1.02))
    ax.set_xlabel("mean F1 of the features found (1: all of them and no others)")
    ax.invert_yaxis()
    ax.axhline(len(KINDS) - 1.5, color="0.6", linewidth=0.8)
    ax.grid(axis="y", color="0.9")
    ax.legend(ncols=5, loc="lower left", bbox_to_anchor=(-0.4, 1), frameon=False)
    return figure


def calibration(text: str) -> Figure:
    """What probabilities promise, and what became of it."""
    claimed, true = bins(text)
    figure, ax = plt.subplots(figsize=(4.4, 4.2), layout="constrained")
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
    ax.plot(claimed, true, "o-", color=COLOURS[0])
    ax.set(xlabel="probability that was given", ylabel="share that is true", aspect="equal")
    return figure


def speed(text: str) -> Figure:
    """How many times as fast as other implementations, from the least to the most."""
    rows = table_after(text, "``benchmarks/baselines.py``")
    measured = {label: numbers(row_of(rows, name)["measured"]) for name, label in TIMES.items()}
    figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
    for i, values in enumerate(measured.values()):
        ax.plot([min(values), max(values)], [i, i], color=COLOURS[0], linewidth=3, alpha=0.4)
        ax.plot(values, [i] * len(values), "o", color=COLOURS[0])
        told = f"{min(values):.0f} to {max(values):.0f}" if len(values) > 1 else f"{values[0]:.0f}"
        ax.annotate(told, (max(values), i), (9, 0), textcoords="offset points", va="center")
    ax.axvline(1, color="0.5", linewidth=1)
    ax.set(xscale="log", xlim=(0.8, 20_000), yticks=range(len(measured)))
    ax.set(yticklabels=measured, xlabel="times as fast (1: no faster)", ylim=(-0.6, None))
    ax.set_xticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1000", "10 000"])
    ax.invert_yaxis()
    return figure


def choosing(text: str) -> Figure:
    """Milliseconds of a whole fit, tuning included."""
    rows = table_after(text, "Speed, medians of fits")
    designs = list(next(iter(rows.values())))
    figure, axes = plt.subplots(1, len(designs), figsize=(8, 2.4), layout="constrained")
    for ax, design in zip(axes, designs, strict=True):
        values = [numbers(row[design])[0] for row in rows.values()]
        ours = ["IRKSN" in name for name in rows]
        ax.barh(list(rows), values, color=[COLOURS[0] if each else "0.7" for each in ours])
        ax.set(title=design, xlabel="milliseconds")
        ax.bar_label(ax.containers[0], fmt="%.0f", padding=3)
        ax.margins(x=0.25)
        ax.invert_yaxis()
        ax.tick_params(axis="y", labelleft=ax is axes[0])
    return figure


def classes(text: str) -> Figure:
    """Accuracy and area under the ROC curve of two classes, on rows held out."""
    rows = table_after(text, "Other responses\n---")
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained", sharey=True)
    for ax, column in zip(axes, ("accuracy", "AUC"), strict=True):
        for i, (name, row) in enumerate(rows.items()):
            colour = COLOURS[0] if "IRKSN" in name else "0.6"
            ax.plot(numbers(row[column])[0], i, "o", color=colour, markersize=8)
        ax.set(xlim=(0.8, 1.01), xlabel=column)
        ax.grid(axis="y", color="0.9")
    axes[0].set(yticks=range(len(rows)), yticklabels=rows)
    axes[0].invert_yaxis()
    return figure


PICTURES: dict[str, Callable[[str], Figure]] = {
    "selection": selection,
    "calibration": calibration,
    "speed": speed,
    "choosing": choosing,
    "classes": classes,
}


def setup(app: Any) -> dict[str, Any]:
    text = Path(app.srcdir, "developers", "targets.rst").read_text(encoding="utf-8")
    folder = Path(app.srcdir, "measured")
    folder.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        figure = draw(text)
        figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
        plt.close(figure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
