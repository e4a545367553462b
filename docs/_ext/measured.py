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


def posterior(text: str) -> Figure:
    """F1 that was expected and reached, and sets that hold, by kind of problem."""
    rows = table_after(text, "Power is the share")
    figure, axes = plt.subplots(1, 2, figsize=(8, 4.6), layout="constrained", sharey=True)
    for column, mark, colour in (("F1", "o", COLOURS[0]), ("expected F1", "|", "0.4")):
        values = [numbers(row[column])[0] for row in rows.values()]
        axes[0].plot(values, range(len(rows)), mark, color=colour, label=column, markersize=9)
    for at, row in enumerate(rows.values()):
        held, sets = (numbers(row[name])[0] for name in ("sets held", "of sets"))
        axes[1].plot(held / sets, at, "o", color=COLOURS[0])
        axes[1].annotate(
            f"{held:.0f} of {sets:.0f}",
            (held / sets, at),
            (-8, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes[0].set(yticks=range(len(rows)), yticklabels=rows, xlim=(0, 1), xlabel="mean F1")
    axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    axes[1].axvline(0.95, color="0.6", linewidth=1, linestyle="--")
    axes[1].set(xlim=(0.7, 1.01), xlabel="95 % sets that hold a true feature")
    axes[0].invert_yaxis()
    for ax in axes:
        ax.grid(axis="y", color="0.9")
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


PICTURES: dict[str, Callable[[str], Figure]] = {"posterior": posterior, "speed": speed}


def setup(app: Any) -> dict[str, Any]:
    text = Path(app.srcdir, "developers", "targets.rst").read_text(encoding="utf-8")
    folder = Path(app.srcdir, "measured")
    folder.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        figure = draw(text)
        figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
        plt.close(figure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
