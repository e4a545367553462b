"""Figure 1 made empirical: which recovery conditions hold, counted over drawn problems.

The paper's figure is conceptual: overlapping regions, and in blue the problems that only the
condition of IRKSN covers.  Here problems (X, w) are drawn from several laws and the conditions are
checked on each.  Protocol "paper" takes the three conditions of the caption, in closed form;
"fair" adds that of OMP and, as closed forms are only sufficient, the linear programmes that decide
whether any dual certificate exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import make_example1
from ..design import Floats
from ..theory import irksn_condition, l1_condition, omp_condition, restricted_isometry
from ..theory.isometry import IHT_RIP
from .experiment import Cell, Experiment, Protocol, Row, in_parts
from .figures import drawing
from .synthetic import chain, grouped_columns, recordings

D = 12  # features, few enough to enumerate all supports of size 3k
DRAWS, QUICK_DRAWS, CHUNK = 500, 20, 100  # problems of each law; problems of one cell
EDGE = 30.0  # ratios beyond are drawn at the edge of the plane

CONDITIONS = {
    "irksn": "IRKSN, Assumptions 1 and 2",
    "irksn_source": "IRKSN, some certificate",
    "l1": "l1, Assumption 3",
    "l1_source": "l1, some certificate",
    "omp": "OMP, exact recovery",
    "rip": "IHT, restricted isometry of order 3k",
}
CAPTION = ("irksn", "l1", "rip")  # what the paper's figure shows
BLUE = "#0072B2"
COLOURS = ("#999999", "#56B4E9", "#009E73", "#F0E442", "#E69F00", "#D55E00", "#CC79A7")


def _gaussian(n: int, rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    return rng.standard_normal((n, D)), _coefficients(rng, k, scattered=True)


def _chain(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Neighbouring features correlated, .9 to the power of their distance."""
    return chain(rng, 40, D, 0.9), _coefficients(rng, k, scattered=True)


def _groups(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Groups of k features at correlation .9; the support is one group, of one sign."""
    X = grouped_columns(rng, 40, np.arange(D) // k, D // k + 1)
    return X, np.abs(_coefficients(rng, k))


def _made_of_the_support(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """As in Example 1: two more features, combinations of those on the support."""
    X_S = rng.standard_normal((8, k))
    X = np.hstack([X_S, X_S @ (0.5 * rng.standard_normal((k, 2)))])
    return X, _coefficients(rng, k)[: k + 2]


def _coefficients(rng: np.random.Generator, k: int, scattered: bool = False) -> Floats:
    """k entries between 1 and 4 in size, of random sign, on the first features or anywhere."""
    w = np.zeros(D)
    where = rng.choice(D, k, replace=False) if scattered else np.arange(k)
    w[where] = rng.uniform(1, 4, k) * rng.choice([-1.0, 1.0], k)
    return w


LAWS: dict[str, Callable[[np.random.Generator, int], tuple[Floats, Floats]]] = {
    "independent, 8 samples": partial(_gaussian, 8),
    "independent, 40 samples": partial(_gaussian, 40),
    "independent, 4000 samples": partial(_gaussian, 4000),
    "chain, correlation .9": _chain,
    "one group, correlation .9": _groups,
    "made of the support": _made_of_the_support,
    "recordings (Example 2)": lambda rng, k: recordings(rng, 40, D, k, others=1),
}
EXAMPLE1 = "Example 1"


def draw(law: str, index: int) -> tuple[Floats, Floats]:
    """Problem number `index` of a law, or of "Example 1": a design and a sparse vector."""
    if law == EXAMPLE1:
        X, _, w = make_example1(index)
        return X, w
    rng = np.random.default_rng([list(LAWS).index(law), index])
    return LAWS[law](rng, 2 + index % 3)


def cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """The laws, in parts; and Example 1 as the paper draws it."""
    conditions = list(CAPTION if protocol == "paper" else CONDITIONS)
    grid = in_parts(LAWS, QUICK_DRAWS if quick else DRAWS, CHUNK)
    grid.append({"law": EXAMPLE1, "start": 2, "stop": 3})
    return [{**cell, "conditions": conditions} for cell in grid]


def compute(law: str, start: int, stop: int, conditions: list[str]) -> list[Row]:
    """The conditions on every problem of one part."""
    columns = [*conditions, "irksn_ratio", "l1_ratio"]
    rows = []
    for index in range(start, stop):
        checked = check(*draw(law, index))
        rows.append({"law": law, "index": index, **{name: checked[name] for name in columns}})
    return rows


def check(X: Floats, w: Floats) -> Row:
    """Which conditions hold, and how near to their limits the two closed forms are."""
    ours, l1 = irksn_condition(X, w), l1_condition(X, w)
    order = min(3 * ours.k, X.shape[1])
    return {
        "k": ours.k,
        "irksn": ours.holds,
        "irksn_source": ours.alpha_sharp > 0,
        "l1": l1.holds,
        "l1_source": l1.recovers,
        "omp": omp_condition(X, w).holds,
        "rip": bool(restricted_isometry(X, order).scaled_lower < IHT_RIP),
        "irksn_ratio": ours.lhs / ours.rhs if ours.min_norm else EDGE,
        "l1_ratio": l1.lhs if l1.injective else EDGE,
    }


def region(row: Row) -> tuple[tuple[str, bool], ...]:
    """The conditions, each with whether it holds."""
    return tuple((name, bool(row[name])) for name in CONDITIONS if name in row)


def table(rows: list[Row]) -> list[Row]:
    """A line for each region, most frequent first: conditions, counts, and one problem in it."""
    counts = Counter((region(row), row["law"]) for row in rows)
    totals = Counter(region(row) for row in rows)
    laws = list(dict.fromkeys(row["law"] for row in rows))
    lines = []
    for key, total in sorted(totals.items(), key=lambda item: (-item[1], item[0])):
        inside = [row for row in rows if region(row) == key]
        # Example 1 stands for its own region; elsewhere the first draw of the commonest law.
        example = max(inside, key=lambda row: (row["law"] == EXAMPLE1, counts[key, row["law"]]))
        # Only the condition of IRKSN covers the paper's blue region.
        blue = example["irksn"] and not (example["l1"] or example["rip"])
        lines.append(
            {
                **{name: "yes" if holds else "no" for name, holds in key},
                "blue": "yes" if blue else "no",
                "total": total,
                **{law: counts[key, law] for law in laws},
                "example": f"{example['law']}, draw {example['index']}",
                "example_irksn_ratio": round(example["irksn_ratio"], 4),
                "example_l1_ratio": round(example["l1_ratio"], 4),
            }
        )
    return lines


def plot(rows: list[Row], folder: Path) -> None:
    """The plane of the two closed forms, and the regions with their counts."""
    options = {"width_ratios": [1, 1.25]}
    with drawing(folder, "fig1", figsize=(11, 5.6), ncols=2, gridspec_kw=options) as (_, axes):
        _plane(axes[0], rows)
        _regions(axes[1], table(rows))


def _plane(ax: Any, rows: list[Row]) -> None:
    low = 0.02
    ax.axvspan(1, EDGE * 1.3, 0, np.log(1 / low) / np.log(EDGE * 1.3 / low), color=BLUE, alpha=0.12)
    for law, colour in zip(LAWS, COLOURS, strict=True):
        mine = [row for row in rows if row["law"] == law]
        x, y = (np.clip([r[name] for r in mine], low, EDGE) for name in ("l1_ratio", "irksn_ratio"))
        ax.scatter(x, y, s=8, color=colour, label=law, edgecolors="black", linewidths=0.2)
    for row in (row for row in rows if row["law"] == EXAMPLE1):
        at = (row["l1_ratio"], row["irksn_ratio"])
        ax.plot(*at, "*", color="black", markersize=14, markeredgecolor="white", label=EXAMPLE1)
    ax.axhline(1, color="black", linewidth=1)
    ax.axvline(1, color="black", linewidth=1)
    limits = (low, EDGE * 1.3)
    ax.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    ax.set_xlabel("l1: left side of Assumption 3 (right edge: also not injective)")
    ax.set_ylabel("IRKSN: left over right side of Assumption 2")
    ax.text(0.99, 0.01, "IRKSN only", transform=ax.transAxes, ha="right", color=BLUE, weight="bold")
    ax.text(0.01, 0.01, "both", transform=ax.transAxes)
    ax.text(0.01, 0.97, "l1 only", transform=ax.transAxes)
    ax.text(0.99, 0.97, "neither", transform=ax.transAxes, ha="right")
    ax.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def _regions(ax: Any, lines: list[Row]) -> None:
    """A column per region: dots for the conditions that hold, then its share of each law."""
    laws = [law for law in LAWS if law in lines[0]]
    conditions = [name for name in CONDITIONS if name in lines[0]]
    labels = [*(CONDITIONS[name] for name in conditions), *laws]
    sizes = {law: sum(line[law] for line in lines) for law in laws}
    for x, line in enumerate(lines):
        if line["blue"] == "yes":
            ax.axvspan(
                x - 0.5,
                x + 0.5,
                color=BLUE,
                alpha=0.25 if line.get("l1_source", "no") == "no" else 0.1,
            )
        for y, name in enumerate(conditions):
            ax.plot(x, y, "o", markersize=7, color="black" if line[name] == "yes" else "#DDDDDD")
        for y, law in enumerate(laws, start=len(conditions)):
            share = line[law] / max(sizes[law], 1)
            if line[law]:
                text = "<1" if share < 0.01 else ">99" if 0.99 < share < 1 else f"{100 * share:.0f}"
                ax.text(x, y, text, ha="center", va="center", fontsize=8)
        if line["example"].startswith(EXAMPLE1):
            ax.plot(x, -0.9, "*", color="black", markersize=12, clip_on=False)
    ax.axhline(len(conditions) - 0.5, color="black", linewidth=0.8)
    ax.set_yticks(range(len(labels)), labels, fontsize=8)
    ax.set_xticks([])
    ax.set(xlim=(-0.5, len(lines) - 0.5), ylim=(len(labels) - 0.5, -1.3))
    ax.grid(False)
    ax.tick_params(length=0)
    ax.set_title("above: conditions that hold; below: per cent of each law's draws", fontsize=9)
    dark = "; dark: no certificate for l1 either" if "l1_source" in conditions else ""
    ax.set_xlabel(f"blue: IRKSN only{dark} (★ Example 1)", fontsize=8)


EXPERIMENTS = (
    Experiment(
        name="fig1",
        title="Figure 1: which recovery conditions hold, counted",
        version=1,
        cells=cells,
        compute=compute,
        table=table,
        plot=plot,
    ),
)
