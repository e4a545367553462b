"""Does a rehearsal foretell what comes?  Coverage, false features and power on known truths.

The procedure is rehearsed on one response of each problem; what comes is counted in the same way,
by fits of further responses with the true coefficients and the true noise.  Settings, all optional:
KSUPPORT_QUICK (1: one problem of each kind, else five), KSUPPORT_DEVELOPMENT (1: seeds on which
something may be chosen), KSUPPORT_JOBS (processes, 2), KSUPPORT_RESULTS (the folder of results).
The full table is written to docs/tables, from which the manual draws it.
"""

from __future__ import annotations

import csv
import os
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ksupport import AutoIRKSN, Outcome, rehearse
from ksupport.datasets import make_correlated_data
from ksupport.experiments.experiment import Cell, Experiment, Row
from ksupport.experiments.runner import collect
from ksupport.inference.permutation import fitted_again
from ksupport.inference.rehearsal import AS_FITTED, outcome_of

from . import measure
from .promises import on_genes
from .selection_designs import DEVELOPMENT, Problem, problem
from .selection_real import coefficients

FIRST = 300_000  # of the seeds: no other benchmark draws by these
PROBLEMS, QUICK = 5, 1  # of each kind
DRAWS, COME = 10, 5  # responses of a rehearsal, and those that come
WITHIN = 0.1  # of what comes, on the mean
SHARES = ("coverage", "false_share", "power", "weighted_power")
TABLE = Path(__file__).parents[1] / "docs" / "tables" / "rehearsal.csv"


def small(seed: int) -> Problem:
    """80 x 60 with five equal effects, by turns independent, autoregressive and more so."""
    rng = np.random.RandomState(seed)
    w = coefficients(rng, 60, 5, "equal")
    rho = (0.0, 0.5, 0.8)[seed % 3]
    return make_correlated_data(80, 60, rho=rho, snr=3.0, w_true=w, random_state=rng)


KINDS: dict[str, Any] = {
    "genes, scattered": partial(on_genes, kind="real", sizes="equal", k=5, snr=2.0),
    "genes, normal sizes": partial(on_genes, kind="real", sizes="gaussian", k=10, snr=5.0),
    "genes, mixed": partial(on_genes, kind="real", sizes="mixed", k=10, snr=2.0),
    **{
        f"AR(1) {rho:g}": partial(problem, "ar1", n=100, d=200, k=10, rho=rho, snr=3.0)
        for rho in (0.5, 0.9)
    },
    **{
        f"blocks, {sizes}": partial(problem, "blocks", n=100, block=10, rho=0.7, sizes=sizes)
        for sizes in ("equal", "gaussian")
    },
    "genotypes, 100 rows": partial(problem, "linked", causes=3, rows=100),
    "genotypes, all rows": partial(problem, "linked", causes=3, rows=None),
    **{
        f"{factors} factors": partial(problem, "factor", n=100, d=500, k=10, factors=factors)
        for factors in (3, 10)
    },
    "small": small,
}


def compute(kind: str, seed: int) -> list[Row]:
    """The shares that are foretold, and those that come."""
    X, y, w = KINDS[kind](seed=seed)
    rng, signal = np.random.default_rng(seed), X @ w
    deviation = np.std(y - signal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        (told,) = rehearse(
            AutoIRKSN(), X, y, scenarios=[AS_FITTED], n_draws=DRAWS, random_state=seed
        ).outcomes
        trials = []
        for _ in range(COME):
            response = signal + deviation * rng.standard_normal(len(y))
            trials.append((fitted_again(AutoIRKSN(), X, response), w * X.std(axis=0)))
    came = outcome_of(AS_FITTED, trials)
    return [{"kind": kind, "seed": seed, **_row("foretold", told), **_row("came", came)}]


def _row(what: str, outcome: Outcome) -> Row:
    """Shares, and how many features are true in a draw; None for a share of nothing."""
    values = {name: getattr(outcome, name) for name in SHARES}
    values["true"] = outcome.true / outcome.draws
    return {f"{what}_{key}": None if np.isnan(v) else v for key, v in values.items()}


def lines(rows: list[Row]) -> list[Row]:
    """By share: all problems, then those of each kind."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    parts = {"all": rows} | {kind: [r for r in rows if r["kind"] == kind] for kind in kinds}
    return [_line(share, kind, part) for share in SHARES for kind, part in parts.items()]


def _line(share: str, kind: str, rows: list[Row]) -> Row:
    """Means over the problems where there is something to share on both sides."""
    pairs = [(row[f"foretold_{share}"], row[f"came_{share}"]) for row in rows]
    both = np.array([pair for pair in pairs if None not in pair], float).reshape(-1, 2)
    told, came = both.mean(axis=0) if len(both) else (np.nan, np.nan)
    return {
        "share": share, "kind": kind, "problems": len(both), "of": len(rows),
        "foretold": f"{told:.3f}", "came": f"{came:.3f}", "difference": f"{told - came:+.3f}",
        "by_problem": f"{np.abs(both[:, 0] - both[:, 1]).mean():.3f}" if len(both) else "nan",
        "true_foretold": f"{np.mean([row['foretold_true'] for row in rows]):.1f}",
        "true": f"{np.mean([row['came_true'] for row in rows]):.1f}",
    }  # fmt: skip


def cells(protocol: str, quick: bool) -> list[Cell]:
    """All problems, the first of each kind first."""
    first = DEVELOPMENT if os.environ.get("KSUPPORT_DEVELOPMENT") == "1" else FIRST
    count = QUICK if quick else PROBLEMS
    return [{"kind": kind, "seed": first + i} for i in range(count) for kind in KINDS]


EXPERIMENT = Experiment(
    "rehearsal", __doc__.splitlines()[0], 1, cells, compute, lambda rows, out: None, lines,
    protocols=("fair",),
)  # fmt: skip


def main() -> None:
    quick = os.environ.get("KSUPPORT_QUICK") == "1"
    jobs = int(os.environ.get("KSUPPORT_JOBS", "2"))
    out = Path(measure.RESULTS) / "rehearsal"
    rows = collect(EXPERIMENT, "fair", quick=quick, out=out, n_jobs=jobs, progress=True)
    table = lines(rows)
    for line in table:
        print("  ".join(f"{key} {value}" for key, value in line.items()))
    for line in table:
        if line["kind"] == "all":
            met = abs(float(line["difference"])) <= WITHIN
            print(f"{line['share']}: within {WITHIN:g} of what comes, {'yes' if met else 'NO'}")
    if not quick and "KSUPPORT_DEVELOPMENT" not in os.environ:
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
        print(f"written to {TABLE}")
