"""Choosing at scale: passes and CPU time of one thread, against abess and a cross-validated Lasso.

Autoregressive designs with ten true features; 71 x 1000 is riboflavin's with a simulated response.
abess looks at sizes up to 30, three times the truth's.  Imports are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN
from ksupport.metrics import support_f1

from . import memory
from .measure import Row, Target, Timing, at_most, of_one_thread, once, take_turns
from .selection import quietly_fitted
from .selection_designs import Problem, problem, standardised
from .selection_rivals import abess

SIZES = range(31)
RIVALS = {"AutoIRKSN": "abess 5-fold", "IRKSNIC": "abess EBIC", "IRKSNCV": "LassoCV"}
METHODS: dict[str, Callable[[], Any]] = {
    "AutoIRKSN": AutoIRKSN,
    "IRKSNIC": IRKSNIC,
    "IRKSNCV": partial(IRKSNCV, random_state=0),
    "abess 5-fold": partial(abess, cv=5, support_size=SIZES),
    "abess EBIC": partial(abess, ic_type="ebic", support_size=SIZES),
    "LassoCV": partial(LassoCV, cv=5),
}
REPEATS, BUDGET = 5, 20.0  # of the fits of one size, in seconds


@dataclass(frozen=True)
class Case:
    """A size, and what is asked of `AutoIRKSN` there."""

    n: int
    d: int
    passes: int | None  # at most
    times: float = 1.0  # abess's CPU

    def problem(self) -> Problem:
        if (self.n, self.d) == (71, 1000):
            return problem("real", 0, name="riboflavin", k=5, sizes="gaussian")
        return problem("ar1", 0, n=self.n, d=self.d, k=10, rho=0.5, snr=3.0)

    def target(self, method: str) -> Target:
        """Of the ratio to the method's rival."""
        return at_most({"AutoIRKSN": self.times, "IRKSNIC": 2.0, "IRKSNCV": 1.0}[method])


CASES = (
    Case(71, 1000, None, 3.0),
    Case(100, 2000, None, 3.0),
    Case(20_000, 200, 12),
    Case(5000, 500, 20),
    Case(1000, 5000, 60),
    Case(2000, 20_000, 60),
)
TALL, LONG = (1_000_000, 200), (4000, 20_000)  # on disk


class Fits:
    """All methods on one problem, and the last model of each."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, y
        self.models: dict[str, Any] = {}

    def fit(self, method: str) -> None:
        self.models[method] = quietly_fitted(METHODS[method], self.X, self.y)

    def timed(self) -> dict[str, Timing]:
        calls = [partial(self.fit, method) for method in METHODS]
        with of_one_thread():
            times = take_turns(*calls, repeats=REPEATS, warm_up=False, budget=BUDGET)
        return dict(zip(METHODS, times, strict=True))


def import_all() -> None:
    """Fit small problems, wide and tall, so that what they need is imported."""
    for n, d in ((40, 300), (400, 20)):
        X, y, _ = problem("ar1", 0, n=n, d=d, k=5, rho=0.5, snr=3.0)
        fits = Fits(X, y)
        for method in RIVALS:
            fits.fit(method)


def compared(case: Case) -> Iterator[Row]:
    """Passes, then CPU against the rival's; what was found stands beside."""
    X, y, w = case.problem()
    fits = Fits(standardised(X), y - y.mean())
    times = fits.timed()
    for ours, rival in RIVALS.items():
        passes = fits.models[ours].n_passes_
        found = ", ".join(
            f"{support_f1(w, np.ravel(fits.models[each].coef_)):.2f}" for each in (ours, rival)
        )
        at = f"{case.n}x{case.d} {ours}"
        limit = at_most(case.passes) if case.passes and ours == "AutoIRKSN" else None
        yield Row(f"{at}: passes", once(passes), None, limit, "")
        yield Row(f"{at} against {rival} (F1 {found})", times[ours], times[rival],
                  case.target(ours))  # fmt: skip


def main() -> list[Row]:
    """All rows."""
    import_all()
    rows = [row for case in CASES for row in compared(case)]
    rows += memory.on_file(TALL, {"AutoIRKSN": (at_most(6), at_most(300))})
    return rows + memory.on_file(LONG, {"held-out": (at_most(15), None)})
