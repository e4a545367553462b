"""Beyond the paper: what stopping by the data costs, on the paper's settings.

The paper stops by the truth.  Here rules stop by the data, and the error of the iterate that they
keep is set against that of the best one on the path: its regret.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..algorithms import path
from ..estimators import IRKSN
from ..metrics import model_error, support_f1
from ..stopping import Balancing, Discrepancy, HeldOut, Rule
from .experiment import Cell, Experiment, Protocol, Row, quiet
from .fig_f1 import AXES, CENTRE
from .figures import curve, drawing, legend_below
from .files import grouped, where
from .synthetic import K, draw

NAME = "table-stopping"
ALPHA, STEPS = 0.01, 300
DRAWS, QUICK_DRAWS = 10, 1
BEST = "best step, by the truth"
MEANS = ("error", "regret", "f1")  # of which the table has the means
RULES: dict[str, Callable[[float], Rule]] = {
    "discrepancy, noise estimated": lambda delta: Discrepancy(),
    "discrepancy, noise known": Discrepancy,
    "balancing": lambda delta: Balancing(),
    "held-out rows": lambda delta: HeldOut(),
}
COLOURS = dict(zip([BEST, *RULES], ("#999999", "#D55E00", "#CC79A7", "#0072B2", "#009E73"),
                   strict=True))  # fmt: skip


def cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """Every setting of the paper's F1 figures."""
    settings = [{**CENTRE, axis: value} for axis, values in AXES.items() for value in values]
    distinct = [setting for i, setting in enumerate(settings) if setting not in settings[:i]]
    draws = QUICK_DRAWS if quick else DRAWS
    return [{**setting, "seed": seed} for setting in distinct for seed in range(draws)]


def compute(n: int, rho: float, snr: float, seed: int) -> list[Row]:
    """Error and F1 of what each rule keeps, and of the best iterate."""
    X, y, w = draw(n, rho, snr, seed)
    size = float(np.linalg.norm(w))
    walked = path("irksn", X, y, k=K, alpha=ALPHA, max_iter=STEPS)
    assert walked.iterates is not None
    models = walked.iterates.toarray()
    errors = np.atleast_1d(model_error(w, models))
    chosen = {BEST: models[int(np.argmin(errors))]}
    for name, rule in RULES.items():
        model = IRKSN(
            K, ALPHA, max_iter=STEPS, stopping=rule(float(np.linalg.norm(y - X @ w))),
            fit_intercept=False, random_state=seed,
        )  # fmt: skip
        with quiet():
            chosen[name] = model.fit(X, y).coef_
    least = float(errors.min())
    return [
        {
            "n": n, "rho": rho, "snr": snr, "seed": seed, "rule": name,
            "error": float(model_error(w, coef)) / size,
            "regret": float(model_error(w, coef)) / least,
            "f1": float(support_f1(w, coef)),
        }
        for name, coef in chosen.items()
    ]  # fmt: skip


def table(rows: list[Row]) -> list[Row]:
    """Means for each rule in each setting, and over all of them."""
    axes = ("n", "rho", "snr")
    lines = []
    for setting, group in {**grouped(rows, *axes), ("all",) * 3: rows}.items():
        for rule in (BEST, *RULES):
            mine = where(group, rule=rule)
            means = {name: float(np.mean([row[name] for row in mine])) for name in MEANS}
            worst = float(np.quantile([row["regret"] for row in mine], 0.9))
            line = dict(zip(axes, setting, strict=True))
            lines.append({**line, "rule": rule, **means, "regret_90": worst})
    return lines


def plot(rows: list[Row], folder: Path) -> None:
    """Relative errors along the three axes of the paper's figures."""
    lines = [line for line in table(rows) if line["n"] != "all"]
    draws = len({row["seed"] for row in rows})
    with drawing(folder, NAME, figsize=(10.5, 3.4), ncols=len(AXES), sharey=True) as (fig, axes):
        for ax, (axis, values) in zip(axes, AXES.items(), strict=True):
            others = {name: value for name, value in CENTRE.items() if name != axis}
            for rule, colour in COLOURS.items():
                mine = sorted(where(lines, rule=rule, **others), key=lambda line: line[axis])
                if mine:
                    style = "o--" if rule == BEST else "o-"
                    curve(ax, mine, axis, "error", style, color=colour, markersize=4, label=rule)
            ax.axhline(1, color="black", linewidth=0.7, linestyle=":")
            ax.set(xlabel=axis, xticks=list(values), yscale="log")
        axes[0].set_ylabel(f"‖w − w*‖ / ‖w*‖, mean of {draws} draws")
        legend_below(fig, axes[0], ncols=5, fontsize=8)


EXPERIMENTS = (
    Experiment(
        name=NAME,
        title="beyond the paper: rules that stop by the data, against the best step",
        version=1,
        cells=cells,
        compute=compute,
        table=table,
        plot=plot,
    ),
)
