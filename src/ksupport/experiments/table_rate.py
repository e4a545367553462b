"""Beyond the paper: how errors fall with the noise, at the stopping time of Theorem 1.

The theorem allows √δ; once the support is identified, errors are linear in δ.  Problems are those
of ``table-k`` that IRKSN recovers without noise with k the size of the support.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..algorithms import path
from ..theory import error_bound, irksn_condition
from .experiment import Cell, Experiment, Protocol, Row, in_parts
from .fig_k import LAWS, PROBLEMS, problem
from .figures import curve, drawing, legend_below
from .files import distinct, grouped, where

NAME = "table-rate"
DELTAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # norm of the noise over that of Xw
SHARE = 0.5  # of the largest alpha for which the truth is the limit
STEPS = 50_000  # no walk is longer
COUNT, QUICK_COUNT, CHUNK = 20, 2, 5  # problems of each law; of one cell


def cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """The laws, in parts."""
    return in_parts(LAWS, QUICK_COUNT if quick else COUNT, CHUNK)


def compute(law: str, start: int, stop: int) -> list[Row]:
    """Errors of some of the problems with a limit, at every size of noise in one direction."""
    rows: list[Row] = []
    found = 0
    for index in range(PROBLEMS):
        X, w = problem(law, index)
        alpha = SHARE * irksn_condition(X, w).alpha_sharp
        if alpha == 0:
            continue
        if start <= found < stop:
            noise = np.random.default_rng([index, 36]).standard_normal(len(X))
            rows += [{"law": law, "index": index, **row} for row in _errors(X, w, alpha, noise)]
        found += 1
        if found == stop:
            break
    return rows


def _errors(X: np.ndarray, w: np.ndarray, alpha: float, noise: np.ndarray) -> list[Row]:
    rows: list[Row] = []
    y, size = X @ w, float(np.linalg.norm(w))
    noise = noise * float(np.linalg.norm(y) / np.linalg.norm(noise))
    for delta in DELTAS:
        bound = error_bound(X, w, alpha, delta * float(np.linalg.norm(y)))
        t = int(min(bound.best_t, STEPS))
        walked = path(
            "irksn", X, y + delta * noise, k=int(np.count_nonzero(w)), alpha=alpha,
            step="spectral", max_iter=t, every=t, keep="last",
        )  # fmt: skip
        rows.append(
            {
                "delta": delta, "t": t, "bound": bound.best / size,
                "error": float(np.linalg.norm(walked.coef - w)) / size,
                "identified": bool(np.array_equal(walked.coef != 0, w != 0)),
            }
        )  # fmt: skip
    return rows


def slopes(rows: list[Row]) -> list[float]:
    """For each problem, the slope of the logarithm of the error against that of the noise."""
    errors = [[row["error"] for row in group] for group in grouped(rows, "index").values()]
    return [float(np.polyfit(np.log(DELTAS), np.log(each), 1)[0]) for each in errors]


def table(rows: list[Row]) -> list[Row]:
    """For each law the quartiles of slopes, and errors and bounds at each size of noise."""
    lines: list[Row] = []
    for law in distinct(rows, "law"):
        mine = where(rows, law=law)
        quartiles = np.quantile(slopes(mine), [0.25, 0.5, 0.75])
        names = ("slope_25", "slope_50", "slope_75")
        spread = dict(zip(names, map(float, quartiles), strict=True))
        for delta in DELTAS:
            at = where(mine, delta=delta)
            lines.append(
                {
                    "law": law, "delta": delta, "problems": len(at),
                    "error_median": float(np.median([row["error"] for row in at])),
                    "error_worst": max(row["error"] for row in at),
                    "bound_median": float(np.median([row["bound"] for row in at])),
                    "identified": sum(row["identified"] for row in at), **spread,
                }
            )  # fmt: skip
    return lines


def plot(rows: list[Row], folder: Path) -> None:
    """Errors of every problem against the noise, the bound, and lines of both slopes."""
    with drawing(
        folder, NAME, figsize=(2.3 * len(LAWS), 3.2), ncols=len(LAWS), sharey=True, sharex=True
    ) as (figure, axes):
        for ax, law in zip(axes, distinct(rows, "law"), strict=False):
            mine = where(rows, law=law)
            for group in grouped(mine, "index").values():
                curve(ax, group, "delta", "error", color="#D55E00", alpha=0.5, linewidth=0.8)
            bounds = [np.median([row["bound"] for row in where(mine, delta=d)]) for d in DELTAS]
            ax.plot(DELTAS, bounds, "k--", linewidth=1, label="bound of Theorem 1, median")
            ax.plot(DELTAS, DELTAS, "k:", linewidth=1, label="slope 1")
            ax.plot([], [], color="#D55E00", label="errors, a line for each problem")
            ax.set_title(f"{law}\nmedian slope {np.median(slopes(mine)):.2f}", fontsize=9)
            ax.set(xscale="log", yscale="log", xlabel="‖noise‖ / ‖Xw*‖")
        axes[0].set_ylabel("‖w − w*‖ / ‖w*‖ at the stopping time")
        legend_below(figure, axes[0], ncols=3)


EXPERIMENTS = (
    Experiment(
        name=NAME,
        title="beyond the paper: how errors fall with the noise, and what Theorem 1 allows",
        version=1,
        cells=cells,
        compute=compute,
        table=table,
        plot=plot,
    ),
)
