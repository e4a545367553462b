"""The paper's figures, of the tables in ``docs/developers/targets.rst`` and of nothing else.

``make paper`` runs it; what it draws is committed, so that a change of the tables shows.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

HERE = Path(__file__).parent
TARGETS = HERE.parent / "docs" / "developers" / "targets.rst"
METHODS = ["AutoIRKSN", "IRKSNCV", "LassoCV", "abess 5-fold", "SuSiE sets"]
KINDS = [
    "ar1", "blocks", "factor", "ex. 2", "paper", "real", "HIV", "spike-in", "genotype", "all",
]  # fmt: skip


def selection(text: str) -> dict[str, dict[str, float]]:
    """Mean F1 of each method on each kind of problem: the table after "Mean F1 by"."""
    lines = text.partition("Mean F1 by\nkind of design")[2].splitlines()
    head = next(line for line in lines if line.startswith("method "))
    cells = [re.split(r"\s{2,}", line.strip()) for line in lines]
    names = re.split(r"\s{2,}", head.strip())
    rows = {row[0]: row[1:] for row in cells if row[0] in METHODS and len(row) == len(names)}
    return {
        method: {name: float(value) for name, value in zip(names[1:], rows[method], strict=True)}
        for method in METHODS
    }


def calibration(text: str) -> tuple[list[float], list[float]]:
    """The share of true features in ten bins of the probability they were given."""
    bins = {
        name: [float(each) for each in re.findall(r"\.\d+", found[1])]
        for name in ("claimed", "true")
        if (found := re.search(rf"^  {name} +((?:\.\d+ *){{10}})$", text, re.MULTILINE))
    }
    return bins["claimed"], bins["true"]


def draw(text: str) -> Figure:
    scores, (claimed, true) = selection(text), calibration(text)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(7.2, 2.5), width_ratios=[3.2, 1], layout="constrained"
    )
    width = 0.8 / len(METHODS)
    for i, method in enumerate(METHODS):
        places = [j + (i - (len(METHODS) - 1) / 2) * width for j in range(len(KINDS))]
        left.bar(places, [scores[method][kind] for kind in KINDS], width, label=method)
    left.set(xticks=range(len(KINDS)), ylabel="mean F1 of the support", ylim=(0, 1))
    left.set_xticklabels(KINDS, fontsize=6.5)
    left.legend(
        fontsize=7,
        ncols=5,
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        columnspacing=1,
        handlelength=1,
    )
    right.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    right.plot(claimed, true, "o-", markersize=3)
    right.set(xlabel="probability given", ylabel="share true", aspect="equal")
    return figure


if __name__ == "__main__":
    figure = draw(TARGETS.read_text(encoding="utf-8"))
    figure.savefig(HERE / "selection.png", dpi=200, metadata={"Software": None})
