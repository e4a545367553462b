"""Steps without a norm: how many of them IRKSN takes to a residual, against the constant step.

Columns are standardised and y is centred, as in all classes that choose; k = 10.  A trial is a step
that was tried, taken or not: each costs a product with the columns of the working set, as a
constant step does.  The constants of the adaptive step (its first share, its growth) were chosen
on the designs that are judged here; none of the others was looked at for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ksupport import datasets
from ksupport.algorithms.irksn import IRKSNMethod
from ksupport.datasets import make_block_data
from ksupport.design import Design
from ksupport.walking import run

from .measure import Row, Target, at_least, once
from .selection_designs import Array, problem, standardised

K, ALPHAS, RESIDUALS = 10, (0.1, 0.01), (0.2, 0.1)
MOST = 20_000  # constant steps
MOST_ADAPTIVE = 5_000


def ar1(n: int, d: int, rho: float, seed: int = 0) -> tuple[Array, Array]:
    return problem("ar1", seed, n=n, d=d, k=10, rho=rho, snr=3.0)[:2]


def blocks() -> tuple[Array, Array]:
    return make_block_data(
        100, 2000, block_size=20, n_active_blocks=3, rho=0.9, snr=3.0,
        random_state=np.random.RandomState(0),
    )[:2]  # fmt: skip


def real(name: str) -> tuple[Array, Array]:
    """A whole design with its own response."""
    data = getattr(datasets, f"fetch_{name}")()
    return np.asarray(data.data, float), np.asarray(data.target, float)


def khan() -> tuple[Array, Array]:
    """The first of four classes against the others."""
    X, y = real("khan")
    return X, np.where(y == 0, 1.0, -1.0)


@dataclass(frozen=True)
class Case:
    """A design, and how many times fewer steps it must take, if that is judged."""

    name: str
    make: Callable[[], tuple[Array, Array]]
    fewer: float | None = None

    def target(self, share: float = 1.0) -> Target | None:
        return None if self.fewer is None else at_least(share * self.fewer)


CASES = (
    Case("AR(1) 200x5000 rho=.9", lambda: ar1(200, 5000, 0.9), 8),
    Case("leukemia 38x7129", lambda: real("leukemia"), 30),
    Case("riboflavin 71x4088", lambda: real("riboflavin"), 30),
    Case("AR(1) 200x5000 rho=.9, another draw", lambda: ar1(200, 5000, 0.9, seed=1)),
    Case("AR(1) 300x1000 rho=.5", lambda: ar1(300, 1000, 0.5)),
    Case("AR(1) 100x20000 rho=.95", lambda: ar1(100, 20_000, 0.95)),
    Case("AR(1) 1000x200 rho=.9", lambda: ar1(1000, 200, 0.9)),
    Case("blocks 100x2000 rho=.9", blocks),
    Case("scheetz2006 120x18975", lambda: real("scheetz2006")),
    Case("khan 63x2308", khan),
    Case("rhee2006 842x361", lambda: real("rhee2006")),
)


def reachable(X: Array, y: Array) -> Array:
    """The part of y that some w can fit: the iterates are the same, and residuals can vanish."""
    return y if X.shape[0] <= X.shape[1] else X @ np.linalg.lstsq(X, y, rcond=None)[0]


def constant(design: Design, y: Array, alpha: float) -> Array:
    """Relative residuals after 0, 1, 2, … constant steps."""
    path = IRKSNMethod(K, alpha, step="spectral").start(design, y)
    history = run([path], max_iter=MOST, keep="last")[0].history
    return np.asarray(history["residual"] / np.linalg.norm(y))


def adaptive(design: Design, y: Array, alpha: float, goal: float) -> tuple[Array, Array]:
    """Relative residuals after 0, 1, 2, … adaptive steps down to a goal, and the trials so far."""
    path: Any = IRKSNMethod(K, alpha, step="adaptive").start(design, y)
    residuals, trials = [1.0], [0]
    while residuals[-1] > goal and path.t < MOST_ADAPTIVE:
        tried = path.state.pace.trial_step()
        history = run([path], max_iter=path.t + 1, keep="last")[0].history
        taken = path.state.pace.gamma
        halved = np.ceil(np.log2(tried / taken) - 1e-9) if tried > 0 else 0
        residuals.append(history["residual"][-1] / np.linalg.norm(y))
        trials.append(trials[-1] + 1 + max(int(halved), 0))
    return np.array(residuals), np.array(trials)


def first(residuals: Array, goal: float) -> int:
    """The step of the first residual at most the goal; the last step where there is none."""
    reached = residuals <= goal
    return int(reached.argmax()) if reached.any() else len(residuals) - 1


def compared(case: Case, design: Design, y: Array, alpha: float) -> Iterator[Row]:
    slow = constant(design, y, alpha)
    fast, trials = adaptive(design, y, alpha, min(RESIDUALS))
    for goal in RESIDUALS:
        ours, rival = first(fast, goal), first(slow, goal)
        more = ", constant steps: more than" if slow[rival] > goal else ""
        never = ", NOT REACHED by adaptive steps" if fast[ours] > goal else ""
        at = f"{case.name}, alpha={alpha:g}, residual {goal:g}"
        yield Row(f"{at}: steps{more}{never}", once(ours), once(rival), case.target(), "", True)
        yield Row("  trials", once(int(trials[ours])), once(rival), case.target(0.5), "", True)


def main() -> list[Row]:
    """All rows."""
    rows: list[Row] = []
    for case in CASES:
        try:
            X, y = case.make()
        except OSError as missing:
            print(f"skipped: {case.name}: {missing}")
            continue
        X, y = standardised(X), y - y.mean()
        design, y = Design.of(X), reachable(X, y)
        for alpha in ALPHAS:
            rows += compared(case, design, y, alpha)
    return rows
