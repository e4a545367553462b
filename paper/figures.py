"""The paper's figures, of the tables in ``docs/developers/targets.rst`` and of nothing else.

``make paper`` runs it; what it draws is committed, so that a change of the tables shows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "docs" / "_ext"))
from measured import KINDS, METHODS, bins, scores  # type: ignore[import-not-found]  # noqa: E402

TARGETS = HERE.parent / "docs" / "developers" / "targets.rst"


def draw(text: str) -> Figure:
    means, (claimed, true) = scores(text), bins(text)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(7.2, 2.5), width_ratios=[3.2, 1], layout="constrained"
    )
    width = 0.8 / len(METHODS)
    for i, method in enumerate(METHODS):
        places = [j + (i - (len(METHODS) - 1) / 2) * width for j in range(len(KINDS))]
        left.bar(places, list(means[method].values()), width, label=method)
    left.set(xticks=range(len(KINDS)), ylabel="mean F1 of the support", ylim=(0, 1))
    left.set_xticklabels(list(KINDS), fontsize=6.5)
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
