"""Tables and pictures of kept promises and of known truths, drawn from docs/tables at each build.

The CSV files that ``python -m benchmarks promises rehearsal truth`` writes are the one home of the
numbers.  What a method promised and did not keep is red.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

Line = dict[str, str]
KEPT, MISSED, NEUTRAL = "#0072b2", "#c00000", "#888888"
MARKS = "os^DvP*X<>h"
BOARDS = {  # the name of a table, the promise and the level that it is about
    "features-10": ("features", "0.1"),
    "features-20": ("features", "0.2"),
    "features-none": ("features", ""),
    "sets": ("sets", "0.95"),
    "sets-10": ("sets at a rate", "0.1"),
    "sets-20": ("sets at a rate", "0.2"),
    "alarms-10": ("alarms", "0.1"),
    "alarms-none": ("alarms", ""),
    "alarms-signal": ("alarms, signal", "0.05"),
    "intervals": ("intervals, posterior", "0.95"),
    "intervals-refit": ("intervals, refit without correction", "0.95"),
    "intervals-splits": ("intervals, splits", "0.95"),
    "intervals-fission": ("intervals, fission", "0.95"),
}
DATA = {
    "hiv_pi": "HIV-1, protease inhibitors",
    "hiv_nnrti": "HIV-1, NNRTI",
    "spike_in_u133": "spike-ins",
    "finemapping_n3": "linked genotypes",
}


def read(file: Path) -> list[Line]:
    """The lines of a CSV file."""
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def list_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as reStructuredText."""
    out = [".. role:: miss", "   :class: miss", "", ".. list-table::", "   :header-rows: 1", ""]
    for cells in (head, *rows):
        out += [f"   {'* -' if at == 0 else '  -'} {cell}" for at, cell in enumerate(cells)]
    return "\n".join(out) + "\n"


def board(lines: Sequence[Line], promise: str, level: str) -> str:
    """A row for each kind of problem, a column for each method."""
    own = [each for each in lines if (each["promise"], each["level"]) == (promise, level)]
    methods = list(dict.fromkeys(each["method"] for each in own))
    kinds = list(dict.fromkeys(each["kind"] for each in own))
    cells = {(each["kind"], each["method"]): cell_of(each) for each in own}
    rows = [[kind, *(cells.get((kind, method), "") for method in methods)] for kind in kinds]
    return list_table(["", *methods], rows) if own else "Not measured yet.\n"


def cell_of(line: Line) -> str:
    """Counts, the share with its interval, and power; red if the promise is not kept."""
    if not line["share"]:
        return "none"
    told = f"{line['hits']} of {line['count']}"
    if line["low"]:
        told += f" ({line['low']} to {line['high']})"
    if line["promise"] in ("features", "sets at a rate"):
        told += f", rate {line['share']}"
    if line["power"] and line["promise"] in ("features", "sets", "sets at a rate"):
        told += f", power {line['power']}"
    if line["length"]:
        told += f", length {line['length']}"
    return f":miss:`{told}`" if line["met"] == "no" else told


def calibration(lines: Sequence[Line]) -> str:
    """Probabilities of all kinds together, in bins, by method."""
    sums: dict[tuple[str, str], list[float]] = {}
    for each in lines:
        if each["promise"] == "probability" and each["share"]:
            held = sums.setdefault((each["method"], each["level"]), [0, 0, 0.0])
            count = int(each["count"])
            held[0] += count
            held[1] += int(each["hits"])
            held[2] += count * float(each["claimed"])
    rows = []
    for (method, _), (count, true, claimed) in sorted(sums.items()):
        told = f"{true / count:.2f}"
        off = count >= 20 and abs(true / count - claimed / count) > 0.1
        share = f":miss:`{told}`" if off else told
        rows.append([method, f"{claimed / count:.2f}", share, f"{true:.0f} of {count:.0f}"])
    return list_table(["method", "mean probability", "share true", "features"], rows)


def about(lines: Sequence[Line]) -> str:
    """How many draws the tables are of."""
    own = {(each["kind"], each["method"]): int(each["draws"]) for each in lines}
    most = max(own.values())
    return (
        f"The figures on this page are of {sum(own.values())} fits, with at most {most} "
        f"draw{'s'[: most - 1]} of each kind for a method. Empty cells were not measured.\n"
    )


def foretold(lines: Sequence[Line]) -> str:
    """What rehearsals foretell and what comes, by share and kind of problem."""
    names = {
        "coverage": "95 % sets that hold", "false_share": "false among named", "power": "power",
        "weighted_power": "power by squared effects",
    }  # fmt: skip
    rows = [
        [
            names[each["share"]], each["kind"], f"{each['problems']} of {each['of']}",
            each["foretold"], each["came"],
            f":miss:`{each['difference']}`" if _off(each) else each["difference"],
            each["by_problem"], f"{each['true_foretold']} and {each['true']}",
        ]
        for each in lines
    ]  # fmt: skip
    head = ["share", "kind", "problems", "foretold", "observed", "difference",
            "mean absolute difference", "true features, foretold and actual"]  # fmt: skip
    return list_table(head, rows)


def _off(line: Line) -> bool:
    """By more than .1 over all problems, which is what was promised."""
    return line["kind"] == "all" and abs(float(line["difference"])) > 0.1


def seconds(lines: Sequence[Line]) -> str:
    """CPU seconds of a fit, on the mean of draws, by kind and method."""
    methods = list(dict.fromkeys(each["method"] for each in lines))
    kinds = list(dict.fromkeys(each["kind"] for each in lines))
    cells = {(each["kind"], each["method"]): each["seconds"] for each in lines}
    rows = [[kind, *(cells.get((kind, method), "") for method in methods)] for kind in kinds]
    return list_table(["", *methods], rows)


def rates(lines: Sequence[Line]) -> Figure:
    """Power against the share of false features, at both rates; misses are red."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    own = [each for each in lines if each["promise"] == "features" and each["level"]]
    methods = list(dict.fromkeys(each["method"] for each in own))
    for ax, level in zip(axes, ("0.1", "0.2"), strict=True):
        for at, method in enumerate(methods):
            mine = [e for e in own if (e["level"], e["method"]) == (level, method) and e["power"]]
            colours = [MISSED if each["met"] == "no" else KEPT for each in mine]
            ax.scatter(
                [float(each["share"]) for each in mine], [float(each["power"]) for each in mine],
                c=colours, marker=MARKS[at], s=45 if at else 80, alpha=0.7,
            )  # fmt: skip
        ax.axvline(float(level), color="0.5", linestyle="--", linewidth=1)
        ax.set(title=f"asked for {level}", xlabel="share of false features", xlim=(-0.03, 1.03))
    axes[0].set(ylabel="share of true features found", ylim=(-0.03, 1.03))
    for at, method in enumerate(methods):
        axes[1].scatter([], [], c=NEUTRAL, marker=MARKS[at], label=method)
    axes[1].legend(loc="upper right", frameon=False, fontsize=8)
    return figure


def shares(lines: Sequence[Line], promises: Sequence[str], aim: float, title: str) -> Figure:
    """Shares that hold with their binomial intervals, a line for each kind and method."""
    own = [each for each in lines if each["promise"] in promises and each["low"]]
    figure, ax = plt.subplots(figsize=(8, 0.8 + 0.22 * len(own)), layout="constrained")
    for at, each in enumerate(own):
        colour = MISSED if each["met"] == "no" else KEPT
        low, share, high = (float(each[key]) for key in ("low", "share", "high"))
        ax.plot([low, high], [at, at], color=colour, linewidth=2, alpha=0.5)
        ax.plot(share, at, "o", color=colour)
    short = [f"{e['kind']}: {e['method']} {e['promise'].partition(', ')[2]}".strip() for e in own]
    ax.set(yticks=range(len(own)), yticklabels=short, xlabel=title, xlim=(-0.02, 1.02))
    ax.tick_params(axis="y", labelsize=7)
    ax.axvline(aim, color="0.5", linestyle="--", linewidth=1)
    ax.invert_yaxis()
    return figure


def found(lines: Sequence[Line]) -> str:
    """A table of known truths: what was named, what of it is true, the rest by name."""
    rows = [
        [
            DATA[each["data"]], each["response"], each["rows"], f"{each['what']}, {each['level']}",
            _told(each), each["not_on_the_list"] or "none", _shortened(each["missed"]),
        ]
        for each in lines
    ]  # fmt: skip
    head = ["data", "response", "rows", "what", "true", "not on the list", "missed"]
    return list_table(head, rows)


def _told(line: Line) -> str:
    return f"{line['true']} of {line['named']} named; {line['of']} on the list"


def _shortened(missed: str, most: int = 12) -> str:
    words = missed.split()
    rest = len(words) - most
    return " ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "") or "none"


def sums(lines: Sequence[Line]) -> str:
    """By data and rate: all responses together."""
    totals: dict[tuple[str, str, str], list[int]] = {}
    for each in lines:
        held = totals.setdefault((each["data"], each["what"], each["level"]), [0, 0, 0])
        for at, key in enumerate(("named", "true", "of")):
            held[at] += int(each[key])
    rows = []
    for (data, what, level), (named, true, of) in totals.items():
        false = (named - true) / named if named else 0.0
        wrong = false > (0.07 if what == "sets" else float(level) + 0.05)
        share = f":miss:`{false:.3f}`" if wrong else f"{false:.3f}"
        found = "" if what == "sets" else f"{true} of {of}"  # a set may have several
        rows.append([DATA[data], what, level, f"{true} of {named}", share, found])
    return list_table(["data", "what", "level", "true of named", "share not on the list",
                       "found of the list"], rows)  # fmt: skip


def truth(lines: Sequence[Line]) -> Figure:
    """Of each response at a rate of .1: true, and not on the list."""
    own = [each for each in lines if (each["what"], each["level"]) == ("features", "0.1")]
    figure, ax = plt.subplots(figsize=(8, 0.8 + 0.22 * len(own)), layout="constrained")
    true = [int(each["true"]) for each in own]
    false = [int(each["named"]) - t for each, t in zip(own, true, strict=True)]
    places = range(len(own))
    ax.barh(places, true, color=KEPT, label="on the list")
    ax.barh(places, false, left=true, color=MISSED, label="not on the list")
    ax.set(yticks=places, yticklabels=[f"{DATA[e['data']]}: {e['response']}" for e in own])
    ax.tick_params(axis="y", labelsize=7)
    ax.set_xlabel("features named at a rate of .1")
    ax.legend(frameon=False)
    ax.invert_yaxis()
    return figure


PICTURES: dict[str, tuple[str, Callable[[Sequence[Line]], Figure]]] = {
    "promises-rates": ("promises", rates),
    "promises-sets": (
        "promises",
        lambda lines: shares(lines, ("sets",), 0.95, "share of 95 % sets with a true feature"),
    ),
    "promises-intervals": (
        "promises",
        lambda lines: shares(
            lines,
            [each for each, _ in BOARDS.values() if each.startswith("intervals")],
            0.95,
            "share of 95 % intervals that cover",
        ),
    ),
    "truth": ("truth", truth),
}


def setup(app: Any) -> dict[str, Any]:
    tables, folder = Path(app.srcdir, "tables"), Path(app.srcdir, "measured")
    folder.mkdir(exist_ok=True)
    lines = {name: read(tables / f"{name}.csv") for name in ("promises", "rehearsal", "truth")}
    texts = {f"promises-{name}": board(lines["promises"], *what) for name, what in BOARDS.items()}
    texts |= {
        "promises-about": about(lines["promises"]),
        "promises-calibration": calibration(lines["promises"]),
        "promises-seconds": seconds(lines["promises"]),
        "rehearsal": foretold(lines["rehearsal"]),
        "truth-sums": sums(lines["truth"]),
        "truth-all": found(lines["truth"]),
    }
    for name, text in texts.items():
        (folder / f"{name}.inc").write_text(text, encoding="utf-8")
    for name, (table, draw) in PICTURES.items():
        figure = draw(lines[table])
        figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
        plt.close(figure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
