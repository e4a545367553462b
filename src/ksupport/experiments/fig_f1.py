"""Support F1 against the number of samples, the noise and the correlation (Figure 3, a to c)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from .experiment import PAPER_METHODS, Cell, Experiment, Protocol, Row
from .figures import COLOURS, MARKERS, drawing, title_of
from .files import grouped, read_published, spread
from .synthetic import STEPS, TUNINGS, available, oracle_f1, tuned_f1

ORACLE = "oracle"
DRAWS: dict[Protocol, int] = {"paper": 5, "fair": 20}
TOLERANCE = 0.04  # late iterates at small alpha amplify rounding: no better agreement is possible
CENTRE: dict[str, Any] = {"n": 30, "rho": 0.5, "snr": 1.0}
AXES: dict[str, tuple[Any, ...]] = {
    "n": (10, 30, 50, 70, 90),
    "snr": (0.1, 0.5, 1.0, 2.0, 3.0),
    "rho": (0.1, 0.3, 0.5, 0.7, 0.9),
}
LABELS = {
    "n": "samples n",
    "snr": "signal to noise ratio",
    "rho": "correlation of neighbours ρ",
}


def cells(axis: str, protocol: Protocol, quick: bool) -> list[Cell]:
    """Every method on every draw of every setting along one axis."""
    values = AXES[axis][1:3] if quick else AXES[axis]
    seeds = range(2 if quick else DRAWS[protocol])
    runs = [(method, ORACLE) for method in PAPER_METHODS]
    if protocol == "fair":
        runs += [(TUNINGS[tuning][0], tuning) for tuning in available()]
    return [
        {
            "method": method,
            "tuning": tuning,
            **CENTRE,
            axis: value,
            "seed": seed,
            "protocol": protocol,
            "steps": 200 if quick else STEPS[protocol],
        }
        for method, tuning in runs
        for value in values
        for seed in seeds
    ]


def compute(
    method: str,
    tuning: str,
    n: int,
    rho: float,
    snr: float,
    seed: int,
    protocol: Protocol,
    steps: int,
) -> list[Row]:
    """The F1 of one method on one draw."""
    if tuning == ORACLE:
        f1 = oracle_f1(method, protocol, n, rho, snr, seed, steps)
    else:
        f1 = tuned_f1(tuning, n, rho, snr, seed)
    row = {"method": method, "n": n, "rho": rho, "snr": snr, "f1": f1, "tuning": tuning}
    return [{**row, "seed": seed}]


def table(rows: list[Row]) -> list[Row]:
    """Mean and standard deviation over draws; a column ``tuning`` where there are several."""
    keys, tuned = ("method", "n", "rho", "snr"), any(row["tuning"] != ORACLE for row in rows)
    return [
        dict(zip(keys, key, strict=True))
        | spread("f1", group)
        | ({"tuning": tuning} if tuned else {})
        for (*key, tuning), group in grouped(rows, *keys, "tuning").items()
    ]


def plot(axis: str, rows: list[Row], folder: Path) -> None:
    """Curves of the oracle's scores; next to them, if there are any, those tuned by the data."""
    summary = table(rows)
    oracle = [row for row in summary if row.get("tuning", ORACLE) == ORACLE]
    tuned = [row for row in summary if row.get("tuning", ORACLE) != ORACLE]
    panels = [("tuned by the truth", oracle)] + ([("tuned by the data", tuned)] if tuned else [])
    draws = len({row["seed"] for row in rows})
    size = (4.2 * len(panels) + 1.4, 3.6)
    with drawing(
        folder, f"fig-f1-{axis}", figsize=size, ncols=len(panels), sharey=True, squeeze=False
    ) as (figure, axes):
        for ax, (title, lines) in zip(axes[0], panels, strict=True):
            _curves(ax, axis, lines, tuned=lines is tuned, draws=draws)
            ax.set_xlabel(LABELS[axis])
            ax.set_xticks(sorted({row[axis] for row in lines}))
            if len(panels) == 1:
                ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
            else:
                ax.set_title(title)
                ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3, fontsize=8)
        axes[0, 0].set_ylabel(f"support F1, mean of {draws} draws ± standard error")


def _curves(ax: Any, axis: str, lines: list[Row], *, tuned: bool, draws: int) -> None:
    """One curve with standard errors for each method or tuning."""
    names = list(dict.fromkeys(row["tuning"] if tuned else row["method"] for row in lines))
    colours = list(COLOURS.values())
    for number, name in enumerate(names):
        mine = [row for row in lines if row["tuning" if tuned else "method"] == name]
        colour = colours[number] if tuned else COLOURS[name]
        ax.errorbar(
            [row[axis] for row in mine],
            [row["f1_mean"] for row in mine],
            [row["f1_std"] / draws**0.5 for row in mine],
            color=colour,
            marker="osv^D"[number] if tuned else MARKERS[name],
            markersize=4,
            linewidth=2.2 if name in ("irksn", "AutoIRKSN") else 1.1,
            elinewidth=0.7,
            capsize=2,
            label=name if tuned else title_of(name),
        )


def reference(axis: str) -> list[Row]:
    """The values behind the published figure."""
    return [{**row, "tolerance": TOLERANCE} for row in read_published(f"f1_vs_{axis}")]


EXPERIMENTS = tuple(
    Experiment(
        name=f"fig-f1-{axis}",
        title=f"support F1 against the {LABELS[axis]}",
        version=1,
        cells=partial(cells, axis),
        compute=compute,
        table=table,
        plot=partial(plot, axis),
        reference=partial(reference, axis),
        repeats=DRAWS["paper"],
    )
    for axis in AXES
)
