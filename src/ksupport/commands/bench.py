"""``ksupport bench``: speed on this machine, compared with NumPy and scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.linear_model import LassoCV

from ..algorithms import path
from ..datasets import make_block_data
from ..design import Design
from ..estimators import AutoIRKSN
from ..metrics import support_f1
from ..norms import prox_ksupport
from .fitting.provenance import versions
from .terminal.options import Json
from .terminal.outputs import console, heading, paragraph, print_json, say, table
from .timing import IDLE, Timing, cores, cpu, load, once, prox_by_sorting, take_turns, with_unit

BENCH_STEPS, BENCH_K = 300, 10
BUDGET = 6.0  # seconds for one comparison, warm-up included


@dataclass(frozen=True)
class Size:
    """How large the problems are."""

    vector: int  # entries of the prox
    step: tuple[int, int]  # rows and features of the walk
    fit: tuple[int, int]  # of the fits
    repeats: int


FULL_SIZE = Size(1_000_000, (150, 20_000), (100, 2000), 7)
QUICK_SIZE = Size(10_000, (40, 500), (40, 100), 2)


@dataclass(frozen=True)
class Comparison:
    """Ours next to a well-known alternative; in seconds, unless it is a score."""

    what: str
    against: str
    ours: Timing
    other: Timing
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """Ours over the other; below 1, ours is faster."""
        return self.ours.median / self.other.median if self.other.median else float("nan")

    def cells(self) -> list[str]:
        ours, other = (with_unit(each.median, self.unit) for each in (self.ours, self.other))
        doubt = "varied" if self.ours.unsteady or self.other.unsteady else ""
        ratio = f"{self.ratio:.3g}" if self.unit == "s" else ""
        return [self.what, self.against, ours, other, ratio, doubt]

    def record(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "against": self.against,
            "unit": self.unit or "score",
            "ours": self.ours.median,
            "ours_min": self.ours.least,
            "other": self.other.median,
            "other_min": self.other.least,
            "ratio": self.ratio if np.isfinite(self.ratio) else None,
            "repeats": self.ours.repeats,
        }


def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Tiny problems, which take seconds.")
    ] = False,
    in_json: Json = False,
) -> None:
    """Measure speed, compared with NumPy and scikit-learn.

    Takes about half a minute.
    """
    busy = load()
    size = QUICK_SIZE if quick else FULL_SIZE
    say("the prox of the k-support norm")
    rows = list(_prox(size))
    say("a step of IRKSN")
    rows.append(_step(size))
    say("fits with nothing given")
    rows += _fits(size)
    machine = {"cpu": cpu(), "cores": cores(), "load": busy, "versions": versions()}
    if in_json:
        record = {"machine": machine, "rows": [row.record() for row in rows]}
        print_json(record)
        return
    out = console()
    heading(out, f"{machine['cpu']}, {machine['cores']} cores, load {busy:g} at the start")
    table(out, ["what", "against", "ours", "other", "ratio", "note"], [row.cells() for row in rows])
    out.print()
    paragraph(
        out,
        "Medians over alternating calls. Ratio: time of ksupport over that of the other; below 1 "
        "ksupport is faster. Prox and step have k=10; the step is that of IRKSN with alpha=1e-3, "
        "with the norm of X known. The fits are on blocks of correlated features; F1: of the "
        "selected features.",
    )
    if busy > IDLE:
        paragraph(out, "The machine was busy: times are too long, but ratios are roughly right.")


def _prox(size: Size) -> Iterator[Comparison]:
    q = np.random.default_rng(0).standard_normal(size.vector)
    ours, naive, scan = take_turns(
        lambda: prox_ksupport(q, 1.0, BENCH_K),
        lambda: prox_by_sorting(q, 1.0, BENCH_K),
        lambda: np.abs(q).sum(),
        repeats=size.repeats, budget=BUDGET,
    )  # fmt: skip
    what = f"prox, {size.vector:,} entries"
    yield Comparison(what, "NumPy, sorting", ours, naive)
    yield Comparison(what, "np.abs(q).sum()", ours, scan)


def _step(size: Size) -> Comparison:
    n, d = size.step
    X, y, _ = make_block_data(n, d, random_state=0)
    design = Design.of(X)
    design.norm("spectral")  # once for all paths on a design
    F = np.asfortranarray(X)
    ours, *products = take_turns(
        partial(
            path, "irksn", design, y, k=BENCH_K, alpha=1e-3, step="spectral",
            max_iter=BENCH_STEPS, every=5, keep="last",
        ),
        lambda: X.T @ y,
        lambda: F.T @ y,
        repeats=size.repeats, budget=BUDGET,
    )  # fmt: skip
    product = min(products, key=lambda each: each.median)  # in the order that suits it best
    return Comparison(f"step, {n} x {d}", "X.T @ z", ours.per(BENCH_STEPS), product)


def _fits(size: Size) -> Iterator[Comparison]:
    n, d = size.fit
    X, y, w_true = make_block_data(n, d, random_state=0)
    ours, lasso = AutoIRKSN(), LassoCV()
    our_time, lasso_time = take_turns(
        lambda: ours.fit(X, y), lambda: lasso.fit(X, y), repeats=size.repeats, budget=BUDGET
    )
    what = f"AutoIRKSN, {n} x {d}"
    yield Comparison(what, "LassoCV", our_time, lasso_time)
    our_f1, lasso_f1 = (once(float(support_f1(w_true, each.coef_))) for each in (ours, lasso))
    yield Comparison(f"{what}: F1", "LassoCV", our_f1, lasso_f1, unit="")
