"""The board of kept promises: what each method promises, and what came of it on known truths.

Every method is run as its users run it, on the same draws, on which nothing was chosen.  Settings,
all optional: KSUPPORT_QUICK (1: few draws, else many), KSUPPORT_DRAWS (of each kind by each
method, instead of these), KSUPPORT_KINDS ("AR(1)": kinds whose names begin so), KSUPPORT_METHODS
("AutoIRKSN,pysusie"), KSUPPORT_JOBS (processes, 2), KSUPPORT_RESULTS (the folder of results),
KSUPPORT_FRESH (1: what is stored of our own methods is computed again), KSUPPORT_STORED (1: nothing
is computed).  Lines of what was measured are renewed in the table in docs/tables, from which the
manual draws its page.
"""

from __future__ import annotations

import csv
import os
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ksupport.datasets import make_correlated_data
from ksupport.experiments.experiment import Cell, Experiment, Row
from ksupport.experiments.runner import collect

from . import measure
from .promises_methods import METHODS, OURS, Answer
from .promises_table import lines, renewed
from .selection import stored
from .selection_designs import Array, Problem, problem, standardised
from .selection_rivals import asked_for

FIRST = 200_000  # of the seeds: no other benchmark draws by these
TABLE = Path(__file__).parents[1] / "docs" / "tables" / "promises.csv"
BINS = 5
DESIGNS = ("riboflavin", "scheetz2006", "colon", "khan", "leukemia")  # a draw each, in turn


def ar1(seed: int, rho: float, snr: float) -> Problem:
    """The design of T-Rex's published rows: ten equal effects, snr a ratio of variances."""
    rng = np.random.RandomState(seed)
    w = np.zeros(1000)
    w[rng.choice(1000, 10, replace=False)] = 1.0
    return make_correlated_data(300, 1000, rho=rho, snr=snr**0.5, w_true=w, random_state=rng)


def on_genes(seed: int, **setting: Any) -> Problem:
    """A simulated response on one of the real designs."""
    return problem(seed=seed, name=DESIGNS[seed % len(DESIGNS)], **setting)


KINDS: dict[str, Any] = {
    **{
        f"AR(1) {rho:g}, SNR {snr:g}": partial(ar1, rho=rho, snr=snr)
        for snr in (2.0, 0.5)
        for rho in (0.7, 0.9)
    },
    "genes, scattered": partial(on_genes, kind="real", sizes="equal", k=5, snr=2.0),
    "genes, grouped": partial(on_genes, kind="real", sizes="grouped", k=10, snr=2.0),
    "genes, mixed": partial(on_genes, kind="real", sizes="mixed", k=10, snr=2.0),
    "genotypes, 50 rows": partial(problem, "linked", causes=3, rows=50),
    "genotypes, 100 rows": partial(problem, "linked", causes=3, rows=100),
    "genotypes, all rows": partial(problem, "linked", causes=3, rows=None),
    "noise, simulated": partial(problem, "noise", n=100, d=1000, design="ar1"),
    "noise, genes": partial(on_genes, kind="permuted"),
}
# Draws of each kind, in full and in the quick form; the slow methods have fewer.
DRAWS = {"": (60, 3), "AR(1)": (30, 2), "noise": (100, 5)}
SLOW: dict[str, dict[str, tuple[int, int]]] = {
    "splits": {"": (10, 0), "AR(1)": (10, 0), "noise": (0, 0)},
    "stability selection": {"": (20, 1), "AR(1)": (10, 0), "noise": (20, 1)},
    "knockoffs": {"": (12, 1), "AR(1)": (10, 0), "noise": (12, 0)},
    "knockpy": {"": (12, 1), "AR(1)": (10, 1), "noise": (12, 1)},
    "dCRT": {"": (6, 0), "AR(1)": (4, 0), "noise": (6, 0)},
    "T-Rex": {"": (20, 1), "AR(1)": (20, 1), "noise": (20, 1)},
    "T-Rex+DA": {"": (20, 1), "AR(1)": (20, 1), "noise": (20, 1)},
    "IPSS": {"": (30, 1), "AR(1)": (10, 1), "noise": (30, 1)},
    "LassoCV": {"": (30, 2), "AR(1)": (10, 1), "noise": (30, 2)},
}


def compute(method: str, release: str, kind: str, seed: int) -> list[Row]:
    """One method on one draw, with standardised columns: a row for each promise."""
    X, y, w = KINDS[kind](seed=seed)
    X, y, w = standardised(X), y - y.mean(), w * X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, or of nothing named
        started = time.process_time()
        answer = METHODS[method](X, y)
        seconds = time.process_time() - started
    same = {"method": method, "kind": kind, "seed": seed, "seconds": seconds}
    return [same | row for row in judged(answer, w)]


def judged(answer: Answer, w: Array) -> Iterator[Row]:
    """What became of each promise: how many things were claimed, and how many are true.

    ``of`` is the number of true features, ``found`` of those that are named or in a set.
    """
    truth = w != 0
    of = int(truth.sum())
    for level, named in answer.named.items():
        hits = int((named & truth).sum())
        yield _row("features", level, int(named.sum()), hits, of, hits)
    both = ({0.95: answer.sets} if answer.sets is not None else {}), answer.sets_at
    for promise, by_level in zip(("sets", "sets at a rate"), both, strict=True):
        for level, sets in by_level.items():
            held = sum(bool(truth[list(S)].any()) for S in sets)
            inside = {int(j) for S in sets for j in S if truth[j]}
            yield _row(promise, level, len(sets), held, of, len(inside))
    for kind, each in answer.intervals.items():
        covered = (each.lower <= w[each.features]) & (w[each.features] <= each.upper)
        row = _row(f"intervals, {kind}", 0.95, covered.size, int(covered.sum()), of, 0)
        yield row | {"length": float(np.sum(each.upper - each.lower))}
    if answer.probability is not None:
        where = np.minimum((answer.probability * BINS).astype(int), BINS - 1)
        for at in np.unique(where[answer.probability > 0]).tolist():
            inside = (where == at) & (answer.probability > 0)
            row = _row("probability", (at + 0.5) / BINS, int(inside.sum()), 0, of, 0)
            told = float(answer.probability[inside].sum())
            yield row | {"kept": int(truth[inside].sum()), "claimed": told}
    if answer.signal is not None:
        yield _row("signal", 0.05, int(answer.signal), int(answer.signal and of > 0), of, 0)


def _row(promise: str, level: float | None, count: int, kept: int, of: int, found: int) -> Row:
    return {
        "promise": promise, "level": level, "count": count, "kept": kept, "of": of, "found": found,
    }  # fmt: skip


def cells(protocol: str, quick: bool) -> list[Cell]:
    """All draws of all kinds, the first draw of everything first."""
    fresh = time.strftime("%F %T") if os.environ.get("KSUPPORT_FRESH") == "1" else ""
    wanted = [
        (
            i,
            {
                "method": method,
                "release": fresh * (method in OURS),
                "kind": kind,
                "seed": FIRST + i,
            },
        )
        for kind in KINDS
        if kind.startswith(os.environ.get("KSUPPORT_KINDS", ""))
        for method in asked_for(METHODS)
        for i in range(int(os.environ.get("KSUPPORT_DRAWS") or _draws(method, kind)[quick]))
    ]
    return [cell for _, cell in sorted(wanted, key=lambda pair: pair[0])]


def _draws(method: str, kind: str) -> tuple[int, int]:
    sort = next((sort for sort in DRAWS if sort and kind.startswith(sort)), "")
    return SLOW.get(method, DRAWS)[sort]


EXPERIMENT = Experiment(
    "promises", __doc__.splitlines()[0], 1, cells, compute, lambda rows, out: None, lines,
    protocols=("fair",),
)  # fmt: skip


def main() -> None:
    quick = os.environ.get("KSUPPORT_QUICK") == "1"
    jobs = int(os.environ.get("KSUPPORT_JOBS", "2"))
    out = Path(measure.RESULTS) / "promises"
    if os.environ.get("KSUPPORT_STORED") == "1":
        rows = stored(EXPERIMENT, cells("fair", quick), out)
    else:
        rows = collect(EXPERIMENT, "fair", quick=quick, out=out, n_jobs=jobs, progress=True)
    before: list[Row] = []
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            before = list(csv.DictReader(file))
    table = renewed(before, lines(rows), list(KINDS), list(METHODS))
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    for line in table:
        if line["met"] == "no":
            print("missed: " + ", ".join(f"{key} {value}" for key, value in line.items() if value))
    met = [line["met"] for line in table]
    print(f"kept: {met.count('yes')}, missed: {met.count('no')}; written to {TABLE}")
