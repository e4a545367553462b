"""Example 1: the paths of Lasso, IRKSN and ElasticNet, and what the iterations converge to.

Figures 2 (paths; the ElasticNet's is in the appendix) and its companion (error and sparsity).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..algorithms import path
from ..datasets import make_example1
from ..design import Design
from ..metrics import model_error
from .experiment import Cell, Experiment, Protocol, Row, quiet
from .figures import curve, drawing, legend_below, steps_to_draw, style_of, title_of
from .files import distinct

K = 3
PATH_STEPS, CURVE_STEPS, QUICK_STEPS = 5000, 10_000, 100
PATHS = ("lasso", "irksn", "enet")
CURVES = ("irksn", "ircr", "irosr", "srdi", "iht")
PENALISED = ("lasso", "enet")


def settings(method: str, protocol: Protocol) -> dict[str, Any]:
    """Parameters of a method on Example 1.

    The published code halves the step of IRKSN, and starts IROSR at u = 1, v = 0, where only
    non-negative models can be reached.
    """
    X, _, _ = make_example1()
    design = Design.of(X)
    nuclear = design.norm("nuclear")
    published: dict[str, dict[str, Any]] = {
        "irksn": {"k": K, "alpha": 1e-3, "step": 0.5 * 1e-3 / nuclear**2},
        "ircr": {"norm": "nuclear"},
        "irosr": {"eta": 1e-3, "alpha": 1.0, "init": "published"},
        "srdi": {"kappa": 0.1, "alpha": 0.1, "scale": "d"},
        "iht": {"k": K, "step": 0.01 / design.n},
        "lasso": {"eps": 5e-3},
        "enet": {"eps": 5e-3, "l1_ratio": 0.8},
    }
    fair: dict[str, dict[str, Any]] = {
        "irksn": {"k": K, "alpha": 5e-2, "step": "spectral"},
        "ircr": {"average": False},
        "irosr": {"alpha": 1e-3},
        "srdi": {"kappa": 100.0},
        "iht": {"k": K},
        "lasso": {"eps": 1e-4, "tol": 1e-8, "max_sweeps": 100_000},
        "enet": {"eps": 1e-4, "l1_ratio": 0.8, "tol": 1e-8, "max_sweeps": 100_000},
    }
    return (published if protocol == "paper" else fair)[method]


def cells(methods: tuple[str, ...], steps: int, protocol: Protocol, quick: bool) -> list[Cell]:
    """One for each method."""
    steps = QUICK_STEPS if quick else steps
    return [{"method": method, "protocol": protocol, "steps": steps} for method in methods]


def compute(method: str, protocol: Protocol, steps: int) -> list[Row]:
    """One row per recorded model: its step, its penalty or None, its coefficients, its error."""
    X, y, w = make_example1()
    params = settings(method, protocol)
    with quiet():
        result = path(method, X, y, max_iter=steps, **params)
    assert result.iterates is not None
    kept = steps_to_draw(int(result.history["t"][-1]))  # every step was recorded: t is the row
    models = result.iterates[kept].toarray()
    largest = float(np.abs(X.T @ y).max()) / len(y) / params.get("l1_ratio", 1.0)
    rows, errors = [], np.atleast_1d(model_error(w, models))
    for t, coef, error in zip(kept, models, errors, strict=True):
        row: Row = {"method": method, "t": int(t)}
        if method in PENALISED:  # step 0 is the empty model, step 1 the largest penalty
            share = params["eps"] ** ((int(t) - 1) / (int(kept[-1]) - 1))
            row["penalty"] = largest * min(share, 1.0)
        row |= {f"w{i}": float(value) for i, value in enumerate(coef)}
        rows.append(row | {"error": float(error), "n_nonzero": int(np.count_nonzero(coef))})
    return rows


_LINES = ("#0072B2", "#009E73", "#D55E00", "#999999", "#CC79A7")


def plot_paths(rows: list[Row], folder: Path) -> None:
    """Coefficients against the penalty or the step; dashed, the truth."""
    w_true = make_example1()[2]
    methods = distinct(rows, "method")
    shape = {"figsize": (9.5, 3.4), "ncols": len(methods), "sharey": True}
    with drawing(folder, "fig-path", **shape) as (figure, axes):
        for ax, method in zip(axes, methods, strict=True):
            mine = [row for row in rows if row["method"] == method and row["t"] > 0]
            time = "penalty" if method in PENALISED else "t"
            for i, colour in enumerate(_LINES):
                label = f"$w_{i}$ (true: {w_true[i]:g})"
                curve(ax, mine, time, f"w{i}", color=colour, label=label)
            for value in sorted(set(w_true)):
                ax.axhline(value, color="black", linewidth=0.7, linestyle=":", zorder=0)
            ax.set(title=title_of(method), xscale="log")
            ax.set_xlabel("penalty λ, falling" if time == "penalty" else "iteration t")
            if time == "penalty":
                ax.invert_xaxis()
        axes[0].set_ylabel("coefficient")
        legend_below(figure, axes[0], ncols=len(_LINES))


def plot_curves(rows: list[Row], folder: Path) -> None:
    """Distance to the truth and number of nonzeros against the iteration."""
    methods = distinct(rows, "method")
    # Curves that coincide at whole numbers are separated by a small shift.
    shifts = np.linspace(0.12, -0.12, len(methods))
    with drawing(folder, "fig-example1", figsize=(8.5, 3.4), ncols=2) as (figure, axes):
        for method, shift in zip(methods, shifts, strict=True):
            mine = [row for row in rows if row["method"] == method and row["t"] > 0]
            style = style_of(method)
            curve(axes[0], mine, "t", "error", **style)
            t, sizes = [row["t"] for row in mine], [row["n_nonzero"] + shift for row in mine]
            axes[1].plot(t, sizes, **style)
        axes[0].set(ylabel="model error ‖w − w*‖", yscale="log")
        axes[1].set(ylabel="nonzero coefficients (3 are true)", yticks=range(6))
        for ax in axes:
            ax.set(xlabel="iteration t", xscale="log")
        legend_below(figure, axes[0], ncols=len(methods))


EXPERIMENTS = (
    Experiment(
        name="fig-path",
        title="paths of Lasso, IRKSN and ElasticNet on Example 1",
        version=2,
        cells=partial(cells, PATHS, PATH_STEPS),
        compute=compute,
        plot=plot_paths,
    ),
    Experiment(
        name="fig-example1",
        title="error and sparsity of the iterative methods on Example 1",
        version=2,
        cells=partial(cells, CURVES, CURVE_STEPS),
        compute=compute,
        plot=plot_curves,
    ),
)
