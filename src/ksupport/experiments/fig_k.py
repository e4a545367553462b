"""Beyond the paper: the k-support norm with a k other than the size of the support.

``fig-k`` is Figure 1 for every k: where the limit of IRKSN is the truth, over correlation and
sparsity.  ``table-k`` sets what the condition predicts against walks to their limits, on problems
of five laws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..algorithms import path
from ..design import Floats
from ..stopping import Verdict
from ..theory import irksn_condition
from ..walking import History
from .experiment import Cell, Experiment, Protocol, Row, in_parts
from .figures import drawing
from .files import grouped, where
from .synthetic import chain, grouped_columns, recordings

ALPHA = 0.05  # of all walks and predictions
N, D = 20, 50
RHOS = (0.0, 0.3, 0.5, 0.7, 0.9)
HIGH_RHOS = (0.0, 0.5, 0.9, 0.99, 1.0)  # 1: multiples of one column, as in Example 2
SIZES = (2, 4, 6, 8, 10, 12)
SHOWN = (1, 2, 4)  # k with a panel of their own
DRAWS, QUICK_DRAWS = 20, 1
PROBLEMS, QUICK_PROBLEMS, CHUNK = 100, 5, 20  # of each law; of one cell
SMALL_D, LARGEST = 30, 6  # features and support of the problems that are walked
FITTED = 1e-7  # the residual, as a share of ‖y‖, at which a walk is at its limit
STEPS = 50_000
NEAR = 3e-5  # limits this close to the truth, relative to its norm, are the truth

Law = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


def _coefficients(rng: np.random.Generator, d: int, size: int) -> Floats:
    w = np.zeros(d)
    w[rng.choice(d, size, replace=False)] = rng.standard_normal(size)
    return w


# -- where each k recovers -----------------------------------------------------------------------


def _neighbours(rng: np.random.Generator, rho: float, size: int) -> tuple[Floats, Floats]:
    """The paper's design: neighbours correlated, the support and its coefficients at random."""
    w = _coefficients(rng, D, size)
    return chain(rng, N, D, rho), w


def _on_the_support(rng: np.random.Generator, rho: float, size: int) -> tuple[Floats, Floats]:
    """As in Example 1: a part of every other feature is made of the support."""
    X = rng.standard_normal((N, D))
    made = rng.standard_normal((size, D - size))
    X[:, size:] *= np.sqrt(1 - rho**2)
    X[:, size:] += rho * X[:, :size] @ (made / np.linalg.norm(made, axis=0))
    w = np.zeros(D)
    w[:size] = rng.uniform(0.5, 4, size) * rng.choice([-1.0, 1.0], size)
    return X, w


def _within_the_support(rng: np.random.Generator, rho: float, size: int) -> tuple[Floats, Floats]:
    """As in Example 2, where rho is 1: the support measures one signal, w by its loadings."""
    X, w = rng.standard_normal((N, D)), np.zeros(D)
    w[:size] = rng.uniform(1, 2, size) * rng.choice([-1.0, 1.0], size)
    signal = rng.standard_normal((N, 1))
    X[:, :size] = (np.sqrt(rho) * signal + np.sqrt(1 - rho) * X[:, :size]) * w[:size]
    return X, w


Design = Callable[[np.random.Generator, float, int], tuple[Floats, Floats]]
DESIGNS: dict[str, tuple[Design, tuple[float, ...]]] = {
    "correlation of neighbours ρ": (_neighbours, RHOS),
    "correlation with the support ρ": (_on_the_support, RHOS),
    "correlation within the support ρ": (_within_the_support, HIGH_RHOS),
}


def map_cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """Every correlation with every size of the support, on three kinds of design."""
    draws = QUICK_DRAWS if quick else DRAWS
    return [
        {"design": design, "rho": rho, "size": size, "draws": draws}
        for design, (_, rhos) in DESIGNS.items()
        for rho in rhos
        for size in SIZES
    ]


def map_compute(design: str, rho: float, size: int, draws: int) -> list[Row]:
    """For each k up to the size of the support, in how many draws the condition holds."""
    make, _ = DESIGNS[design]
    recovers = np.zeros((draws, size), bool)
    for seed in range(draws):
        X, w = make(np.random.default_rng([seed, size]), rho, size)
        recovers[seed] = [
            irksn_condition(X, w, k=k, alpha=ALPHA).recovers for k in range(1, size + 1)
        ]
    row = {"design": design, "rho": rho, "size": size, "draws": draws}
    row["some"] = int(recovers.any(axis=1).sum())
    return [{**row, "k": k, "recovers": int(recovers[:, k - 1].sum())} for k in range(1, size + 1)]


def map_plot(rows: list[Row], folder: Path) -> None:
    """A panel for each of a few k, for k the size of the support, and for the best k."""
    shape = {"ncols": len(SHOWN) + 2, "nrows": len(DESIGNS), "sharex": "row", "sharey": True}
    with drawing(folder, "fig-k", figsize=(12.5, 7.8), **shape) as (figure, axes):
        for line, (design, (_, rhos)) in zip(axes, DESIGNS.items(), strict=True):
            of_design = where(rows, design=design)
            panels = {f"k = {k}": where(of_design, k=k) for k in SHOWN}
            panels["k = |S|, as in the paper"] = [r for r in of_design if r["k"] == r["size"]]
            panels["some k up to |S|"] = where(of_design, k=1)
            for ax, (title, mine) in zip(line, panels.items(), strict=True):
                which = "some" if title.startswith("some") else "recovers"
                image = _shares(ax, mine, rhos, which)
                ax.set_title(title, fontsize=9)
                ax.set_xlabel(design, fontsize=8)
            line[0].set_ylabel("size of the support |S|")
        figure.colorbar(
            image, ax=axes, shrink=0.8,
            label=f"per cent of {rows[0]['draws']} draws whose limit\nis the truth (α = {ALPHA})",
        )  # fmt: skip


def _shares(ax: Any, rows: list[Row], rhos: tuple[float, ...], which: str) -> Any:
    grid = np.full((len(SIZES), len(rhos)), np.nan)
    for row in rows:
        at = SIZES.index(row["size"]), rhos.index(row["rho"])
        grid[at] = 100 * row[which] / row["draws"]
        ax.text(at[1], at[0], f"{grid[at]:.0f}", ha="center", va="center", fontsize=7,
                color="white" if grid[at] < 60 else "black")  # fmt: skip
    ax.set_facecolor("#EEEEEE")
    ax.grid(False)
    ax.set_xticks(range(len(rhos)), [f"{rho:g}" for rho in rhos])
    ax.set_yticks(range(len(SIZES)), [str(size) for size in SIZES])
    return ax.imshow(grid, vmin=0, vmax=100, origin="lower", aspect="auto", cmap="viridis")


# -- predicted against walked --------------------------------------------------------------------


def _independent(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    return rng.standard_normal((15, SMALL_D)), _coefficients(rng, SMALL_D, size)


def _chain(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Neighbours correlated, .7 to the power of their distance."""
    return chain(rng, 20, SMALL_D, 0.7), _coefficients(rng, SMALL_D, size)


def _groups(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Groups at correlation .9; the support is most of one group, of one sign."""
    X = grouped_columns(rng, 20, np.arange(SMALL_D) // 6, SMALL_D // 6)
    w = np.zeros(SMALL_D)
    w[:size] = rng.uniform(1, 4, size)
    return X, w


def _made_of_the_support(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """As in Example 1, but that other features also have a part of their own."""
    X_S = rng.standard_normal((15, size))
    others = X_S @ (0.4 * rng.standard_normal((size, SMALL_D - size)))
    w = np.zeros(SMALL_D)
    w[:size] = rng.uniform(0.5, 4, size) * rng.choice([-1.0, 1.0], size)
    return np.hstack([X_S, others + 0.3 * rng.standard_normal(others.shape)]), w


LAWS: dict[str, Law] = {
    "independent": _independent,
    "chain, correlation .7": _chain,
    "one group, correlation .9": _groups,
    "made of the support": _made_of_the_support,
    "recordings (Example 2)": lambda rng, size: recordings(rng, 20, SMALL_D, size, others=2),
}


def problem(law: str, index: int) -> tuple[Floats, Floats]:
    """Problem number `index` of a law: a design and a vector of 2 to 6 features."""
    rng = np.random.default_rng([list(LAWS).index(law), index, 36])
    return LAWS[law](rng, 2 + index % (LARGEST - 1))


def walk_cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """The laws, in parts."""
    return in_parts(LAWS, QUICK_PROBLEMS if quick else PROBLEMS, CHUNK)


def _at_limit(residual: float, history: History) -> Verdict:
    """Stop at the first record with so small a residual; without one, keep the last."""
    met = np.flatnonzero(history["residual"] <= residual)
    if met.size:
        return Verdict(keep=int(met[0]), stop=int(met[0]))
    return Verdict(keep=history.n_records - 1)


def walk_compute(law: str, start: int, stop: int) -> list[Row]:
    """For each problem and each k up to one above the size of the support: predicted, walked."""
    rows = []
    for index in range(start, stop):
        X, w = problem(law, index)
        y, size = X @ w, int(np.count_nonzero(w))
        for k in range(1, size + 2):
            condition = irksn_condition(X, w, k=k, alpha=ALPHA)
            rule = partial(_at_limit, FITTED * float(np.linalg.norm(y)))
            walked = path(
                "irksn", X, y, k=k, alpha=ALPHA, max_iter=STEPS, every=10, stopping=rule,
                keep="last",
            )  # fmt: skip
            error = float(np.linalg.norm(walked.coef - w) / np.linalg.norm(w))
            rows.append(
                {
                    "law": law, "index": index, "size": size, "k": k,
                    "decided": condition.source.decided, "predicted": condition.recovers,
                    "walked": error < NEAR, "error": error, "steps": walked.n_iter,
                }
            )  # fmt: skip
    return rows


def walk_table(rows: list[Row]) -> list[Row]:
    """A line for each law and distance of k from |S|; problems that disagree are named."""
    measured = [{**row, "k - size": row["k"] - row["size"]} for row in rows]
    groups = grouped(measured, "law", "k - size").items()
    return [
        {
            "law": law,
            "k - size": apart,
            "problems": len(group),
            "predicted": sum(row["predicted"] for row in group),
            "walked": sum(row["walked"] for row in group),
            "disagree": sum(row["predicted"] != row["walked"] for row in group),
            "which": "; ".join(
                f"draw {row['index']}, k={row['k']} ({row['error']:.2g}, {row['steps']} steps)"
                for row in group
                if row["predicted"] != row["walked"]
            ),
        }
        for (law, apart), group in sorted(
            groups, key=lambda item: (list(LAWS).index(item[0][0]), item[0][1])
        )
    ]


def walk_plot(rows: list[Row], folder: Path) -> None:
    """Shares of problems whose limit is the truth: predicted as lines, walked as rings."""
    lines = walk_table(rows)
    with drawing(folder, "table-k", figsize=(11.5, 3.0), ncols=len(LAWS), sharey=True) as (_, axes):
        for ax, law in zip(axes, LAWS, strict=True):
            mine = where(lines, law=law)
            x = [line["k - size"] for line in mine]
            for name, style in (("predicted", "-"), ("walked", "o")):
                shares = [line[name] / line["problems"] for line in mine]
                ax.plot(x, shares, style, color="#D55E00" if name == "predicted" else "black",
                        mfc="none", markersize=7, label=name)  # fmt: skip
            ax.set_title(law, fontsize=9)
            ax.set(xlabel="k − |S|", ylim=(-0.03, 1.03), xticks=x)
        axes[0].set_ylabel(f"share whose limit is the truth\n(α = {ALPHA})")
        axes[0].legend()


EXPERIMENTS = (
    Experiment(
        name="fig-k",
        title="beyond the paper: where each k recovers, over correlation and sparsity",
        version=2,
        cells=map_cells,
        compute=map_compute,
        plot=map_plot,
    ),
    Experiment(
        name="table-k",
        title="beyond the paper: recovery with every k, predicted against walked",
        version=1,
        cells=walk_cells,
        compute=walk_compute,
        table=walk_table,
        plot=walk_plot,
    ),
)
