"""Support F1 against samples, noise and correlation (Figure 3, a to c), and the steps (d)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..algorithms import path
from .experiment import PAPER_METHODS, Cell, Experiment, Protocol, Row, quiet
from .figures import COLOURS, MARKERS, curve, drawing, steps_to_draw, style_of, title_of
from .files import grouped, read_published, spread
from .synthetic import STEPS, TUNINGS, K, available, draw, f1_metric, oracle_f1, tuned_f1

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


# -- along the iterations ------------------------------------------------------------------------

N, RHO, SNR = 30, 0.5, 3.0
WALKED_SEEDS: dict[Protocol, tuple[int, ...]] = {"paper": (2,), "fair": tuple(range(10))}
WALKED_STEPS, QUICK_STEPS = 20_000, 200
METHODS = ("irksn", "ircr", "irosr", "srdi", "iht")

SETTINGS: dict[Protocol, dict[str, dict[str, Any]]] = {
    "paper": {
        "irksn": {"k": K, "alpha": 1e-4, "step": "nuclear"},
        "ircr": {"norm": "nuclear"},
        "irosr": {"eta": 1e-3, "alpha": 1.0, "init": "published"},
        "srdi": {"kappa": 0.1, "alpha": 0.1, "scale": "d"},
        "iht": {"k": K, "step": 0.01 / N},
    },
    "fair": {
        "irksn": {"k": K, "alpha": 1e-3, "step": "spectral"},
        "ircr": {"average": False},
        "irosr": {"alpha": 1e-3},
        "srdi": {"kappa": 10.0},
        "iht": {"k": K},
    },
}


def iteration_cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """Every method on every draw."""
    steps = QUICK_STEPS if quick else WALKED_STEPS
    return [
        {"method": method, "seed": seed, "protocol": protocol, "steps": steps}
        for method in METHODS
        for seed in WALKED_SEEDS[protocol][: 2 if quick else None]
    ]


def iteration_compute(method: str, seed: int, protocol: Protocol, steps: int) -> list[Row]:
    """F1 and number of nonzeros at about a thousand steps.

    In the fair protocol IROSR, whose iterates have no zeros, is scored by its k largest entries.
    """
    X, y, w = draw(N, RHO, SNR, seed)
    largest_only = protocol == "fair" and method == "irosr"
    with quiet():
        metrics = {"f1": f1_metric(w, largest_only)}
        parameters = SETTINGS[protocol][method]
        history = path(
            method, X, y, max_iter=steps, metrics=metrics, keep="last", **parameters
        ).history
    kept = steps_to_draw(int(history["t"][-1]))  # every step was recorded: t is the row
    f1, n_nonzero = history["f1"], history["n_nonzero"]
    row = {"method": method, "seed": seed}
    return [{**row, "t": int(t), "f1": float(f1[t]), "n_nonzero": int(n_nonzero[t])} for t in kept]


def iteration_table(rows: list[Row]) -> list[Row]:
    """Mean over draws at every step."""
    return [
        {
            "method": method,
            "t": t,
            **spread("f1", group),
            "n_nonzero": float(np.mean([row["n_nonzero"] for row in group])),
        }
        for (method, t), group in grouped(rows, "method", "t").items()
    ]


def iteration_plot(rows: list[Row], folder: Path) -> None:
    """One curve per method; with several draws, the mean."""
    summary = iteration_table(rows)
    draws = len({row["seed"] for row in rows})
    with drawing(folder, "fig-f1-iterations", figsize=(6.2, 3.6)) as (figure, ax):
        for method in METHODS:
            mine = [row for row in summary if row["method"] == method and row["t"] > 0]
            curve(ax, mine, "t", "f1_mean", **style_of(method))
        what = f"support F1, mean of {draws} draws" if draws > 1 else "support F1, one draw"
        ax.set(xlabel="iteration t", ylabel=what, xscale="log", ylim=(-0.02, 1.0))
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


EXPERIMENTS = (
    *(
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
    ),
    Experiment(
        name="fig-f1-iterations",
        title="support F1 along the iterations",
        version=3,
        cells=iteration_cells,
        compute=iteration_compute,
        table=iteration_table,
        plot=iteration_plot,
    ),
)
