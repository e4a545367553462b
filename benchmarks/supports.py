"""What shorter paths meet: best F1 and supports along adaptive steps, against constant ones.

Some draws of settings of the selection benchmark; the levels k are those of `IRKSNIC`, every
step is recorded, and the best F1 is that of the best of them with the truth at hand: the longer
path has more to choose from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ksupport import path
from ksupport._common.levels import for_criteria
from ksupport.design import Design
from ksupport.metrics import support_f1

from .measure import Row, Target, at_most, once
from .selection_designs import Array, Setting, problem, settings, standardised

DRAWS = range(3, 6)  # the first three were looked at when 200 steps were taken to be enough
ALPHAS = (0.01, 0.1)
ADAPTIVE, CONSTANT = (60, 100, 150, 200), 1000  # steps; `IRKSNIC` takes 60, `IRKSN` 100
SHORT, RARE = 120, 10  # shown beside: fewer constant steps, and all of them but seldom recorded
WORSE = 0.03  # at most, on the mean of a kind
EARLY = 5  # distinct supports with which a constant path begins
SHOWN = ("ar1", "blocks", "real")  # kinds of which one problem's supports are listed
SHOWN_K, SHOWN_SIZES = 16, 24


@dataclass(frozen=True)
class Walked:
    """A path: the F1 of every step, the distinct supports in the order they were met, and when."""

    f1: Array
    supports: NDArray[np.bool_]
    met_at: NDArray[np.intp]

    @classmethod
    def of(cls, iterates: Any, truth: Array) -> Walked:
        nonzero = iterates.toarray() != 0
        met_at = np.sort(np.unique(np.packbits(nonzero, axis=1), axis=0, return_index=True)[1])[1:]
        return cls(np.asarray(support_f1(truth, iterates)), nonzero[met_at], met_at)  # but zero

    def best(self, steps: int, every: int = 1) -> float:
        return float(self.f1[: steps + 1 : every].max())

    def until(self, steps: int) -> NDArray[np.bool_]:
        return self.supports[self.met_at <= steps]


Pair = tuple[Walked, Walked]  # adaptive, constant


def walked(design: Design, y: Array, truth: Array, k: int, alpha: float) -> Pair:
    ours, theirs = (
        path("irksn", design, y, k=k, alpha=alpha, step=step, max_iter=steps).iterates
        for step, steps in (("adaptive", max(ADAPTIVE)), ("spectral", CONSTANT))
    )
    return Walked.of(ours, truth), Walked.of(theirs, truth)


def chosen_settings() -> list[Setting]:
    """Simulated designs, and scattered truths with little noise on three real ones."""
    names, sizes = ("leukemia", "riboflavin", "scheetz2006"), ("equal", "gaussian")
    return [
        s
        for s in settings("ar1", "blocks", "factor", "real", "example2")
        if s["kind"] != "real" or (s["name"] in names and s["sizes"] in sizes and s["snr"] == 5.0)
    ]


def all_walked(alpha: float) -> list[tuple[str, list[Pair]]]:
    """For every problem its kind, and the paths of all k."""
    out = []
    for setting, seed in product(chosen_settings(), DRAWS):
        X, y, w = problem(seed=seed, **setting)
        design, y = Design.of(standardised(X)), y - y.mean()
        pairs = [walked(design, y, w, k, alpha) for k in for_criteria(*X.shape)]
        out.append((setting["kind"], pairs))
    return out


def mean_best(problems: list[list[Pair]], side: int, *when: int) -> float:
    """The mean of the best F1 over all k, on one side."""
    return float(np.mean([max(pair[side].best(*when) for pair in pairs) for pairs in problems]))


def compared(at: str, problems: list[list[Pair]], most: float) -> Iterator[Row]:
    """How much worse adaptive paths are than the constant one, and that one cut short."""
    judged = mean_best(problems, 1, CONSTANT)

    def row(what: str, f1: float, target: Target | None = None) -> Row:
        return Row(
            f"{at}: best F1 of {what} {f1:.3f}, of {CONSTANT} constant steps {judged:.3f}, less",
            once(judged - f1), target=target, unit="",
        )  # fmt: skip

    for steps in ADAPTIVE:
        yield row(f"{steps} adaptive steps", mean_best(problems, 0, steps), at_most(most))
    yield row(f"{SHORT} constant steps", mean_best(problems, 1, SHORT))
    yield row(f"every {RARE}th constant step", mean_best(problems, 1, CONSTANT, RARE))


def nearest(pair: Pair) -> Array:
    """For each of the constant path's first supports, the likeness of the nearest one met."""
    ours, theirs = (walked.supports.astype(float) for walked in pair)
    both = theirs[:EARLY] @ ours.T
    either = theirs[:EARLY].sum(axis=1)[:, None] + ours.sum(axis=1) - both
    return (both / either).max(axis=1)


def met(at: str, problems: list[list[Pair]]) -> Iterator[Row]:
    """How many supports, and whether early ones are jumped over."""
    pairs = [pair for some in problems for pair in some]
    for steps in ADAPTIVE:
        ours, theirs = (
            float(np.mean([len(pair[side].until(many)) for pair in pairs]))
            for side, many in ((0, steps), (1, CONSTANT))
        )
        what = f"{at}: distinct supports a path, {steps} adaptive, {CONSTANT} constant steps"
        yield Row(what, once(ours), once(theirs), unit="")
    likeness = np.concatenate([nearest(pair) for pair in pairs])
    first = f"{at}: a constant path's first {EARLY} supports"
    yield Row(f"{first}, Jaccard to the nearest met", once(float(likeness.mean())), unit="")
    yield Row(f"{first}, share met", once(float((likeness == 1).mean())), unit="")


def show(alpha: float, kind: str, pairs: list[Pair]) -> None:
    """The sizes of the distinct supports that two paths meet, in order."""
    shown = pairs[min(len(pairs) - 1, for_criteria(10**6, 10**6).index(SHOWN_K))]
    for name, walk in zip(("adaptive", "constant"), shown, strict=True):
        sizes = walk.supports[:SHOWN_SIZES].sum(axis=1)
        print(f"  {kind}, alpha={alpha:g}, {name}: {' '.join(map(str, sizes))}")


def main() -> list[Row]:
    """By alpha: all problems, and each kind; prints the sizes of supports met on a few."""
    rows: list[Row] = []
    for alpha in ALPHAS:
        every = all_walked(alpha)
        print(f"sizes of the distinct supports met, in order (the first {SHOWN_SIZES}):")
        for kind in SHOWN:
            show(alpha, kind, next(pairs for k, pairs in every if k == kind))
        problems = [pairs for _, pairs in every]
        rows += compared(f"alpha={alpha:g}, {len(problems)} problems", problems, 0.0)
        rows += met(f"alpha={alpha:g}", problems)
        for kind in dict.fromkeys(kind for kind, _ in every):
            mine = [pairs for k, pairs in every if k == kind]
            rows += compared(f"alpha={alpha:g}, {kind} ({len(mine)})", mine, WORSE)
    return rows
