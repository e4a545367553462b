"""Support F1 along the iterations (Figure 3 d)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..algorithms import path
from .experiment import Cell, Experiment, Protocol, Row, quiet
from .figures import COLOURS, drawing, steps_to_draw, title_of
from .files import grouped, spread
from .synthetic import K, draw, f1_metric

N, RHO, SNR = 30, 0.5, 3.0
SEEDS: dict[Protocol, tuple[int, ...]] = {"paper": (2,), "fair": tuple(range(10))}
STEPS, QUICK_STEPS = 20_000, 200
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


def cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """Every method on every draw."""
    steps = QUICK_STEPS if quick else STEPS
    return [
        {"method": method, "seed": seed, "protocol": protocol, "steps": steps}
        for method in METHODS
        for seed in SEEDS[protocol][: 2 if quick else None]
    ]


def compute(method: str, seed: int, protocol: Protocol, steps: int) -> list[Row]:
    """F1 and number of nonzeros at about a thousand steps.

    In the fair protocol IROSR, whose iterates have no zeros, is scored by its k largest entries.
    """
    X, y, w = draw(N, RHO, SNR, seed)
    largest_only = protocol == "fair" and method == "irosr"
    with quiet():
        history = path(
            method,
            X,
            y,
            max_iter=steps,
            metrics={"f1": f1_metric(w, largest_only)},
            keep="last",
            **SETTINGS[protocol][method],
        ).history
    kept = steps_to_draw(int(history["t"][-1]))  # every step was recorded: t is the row
    f1, n_nonzero = history["f1"], history["n_nonzero"]
    row = {"method": method, "seed": seed}
    return [{**row, "t": int(t), "f1": float(f1[t]), "n_nonzero": int(n_nonzero[t])} for t in kept]


def table(rows: list[Row]) -> list[Row]:
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


def plot(rows: list[Row], folder: Path) -> None:
    """One curve per method; with several draws, the mean."""
    summary = table(rows)
    draws = len({row["seed"] for row in rows})
    with drawing(folder, "fig-f1-iterations", figsize=(6.2, 3.6)) as (figure, ax):
        for method in METHODS:
            mine = [row for row in summary if row["method"] == method and row["t"] > 0]
            ax.plot(
                [row["t"] for row in mine],
                [row["f1_mean"] for row in mine],
                color=COLOURS[method],
                linewidth=2.2 if method == "irksn" else 1.2,
                label=title_of(method),
            )
        what = f"support F1, mean of {draws} draws" if draws > 1 else "support F1, one draw"
        ax.set(xlabel="iteration t", ylabel=what, xscale="log", ylim=(-0.02, 1.0))
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


EXPERIMENTS = (
    Experiment(
        name="fig-f1-iterations",
        title="support F1 along the iterations",
        version=3,
        cells=cells,
        compute=compute,
        table=table,
        plot=plot,
    ),
)
