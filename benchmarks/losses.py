"""Paths on other losses: what they meet with the truth at hand, and what a step costs.

Responses are simulated on real designs: classes, counts, censored survival times, and numbers of
which a tenth are shifted by ten standard deviations.  Beside the path on the loss stands that on
squares, of what one would give them: the labels, log(1 + count), the slope of the partial
likelihood at zero, the numbers themselves; and for these what they would have been without a shift.
Settings: KSUPPORT_SEEDS (draws of each setting, 10).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from ksupport import datasets
from ksupport.algorithms import make_method
from ksupport.design import Problem, Weights
from ksupport.losses import Cox, Loss, loss_of
from ksupport.metrics import support_f1
from ksupport.walking import Result, run

from .measure import Row, at_most, once, take_turns
from .selection_designs import Array, standardised

SEEDS = int(os.environ.get("KSUPPORT_SEEDS", "10"))
FIRST_SEED = 1000  # constants were chosen on draws with smaller ones
DESIGNS = ("leukemia", "riboflavin", "scheetz2006")
STRENGTHS = (2.0, 5.0)  # standard deviation of the true eta
STEPS, ALPHA = 100, 0.01


@cache
def design(name: str) -> Array:
    """The 1000 most variable columns of a real design, standardised."""
    data = getattr(datasets, f"fetch_{name}")()
    X = np.asarray(data.data, float)
    if "data_test" in data:
        X = np.vstack([X, data.data_test])
    return standardised(X[:, np.argsort(-X.var(axis=0), kind="stable")[:1000]])


def truth(X: Array, grouped: bool, rng: Any) -> Array:
    """Five features anywhere, or two groups of five that are correlated."""
    w = np.zeros(X.shape[1])
    if not grouped:
        w[rng.choice(X.shape[1], 5, replace=False)] = rng.choice([-1.0, 1.0], 5)
        return w
    for leader in rng.choice(X.shape[1], 2, replace=False):
        near = np.argsort(-np.abs(X.T @ X[:, leader]), kind="stable")[:5]
        w[near] = rng.choice([-1.0, 1.0]) * np.sign(X[:, near].T @ X[:, leader])
    return w


def classes(eta: Array, rng: Any) -> Array:
    return (rng.random(eta.size) < 1 / (1 + np.exp(-eta))) * 1.0


def counts(eta: Array, rng: Any) -> Array:
    return rng.poisson(np.exp(0.5 + 0.5 * eta)) * 1.0


def times(eta: Array, rng: Any) -> Array:
    died = rng.exponential(np.exp(-eta))
    left = rng.exponential(np.quantile(died, 0.8), eta.size)
    return np.column_stack([np.minimum(died, left), died <= left])


def numbers(eta: Array, rng: Any) -> Array:
    return eta + rng.standard_normal(eta.size)


def shifted(eta: Array, rng: Any) -> Array:
    y = numbers(eta, rng)
    some = rng.choice(eta.size, eta.size // 10, replace=False)
    y[some] += rng.choice([-10.0, 10.0], some.size) * y.std()
    return y


def slope(y: Array) -> Array:
    return -Cox().gradient(np.zeros(len(y)), y)


KINDS: dict[str, tuple[Callable[[Array, Any], Array], Callable[[Array], Array]]] = {
    "logistic": (classes, lambda y: y),
    "poisson": (counts, np.log1p),
    "cox": (times, slope),
    "huber": (shifted, lambda y: y),
}


def walk(X: Array, y: Array, loss: Loss, k: int) -> Result:
    rows, Y = np.arange(len(X)), y.reshape(len(X), -1)
    problem = Problem(X, Y, Weights(), rows, True, False, loss=loss)
    method = make_method("irksn", k=k, alpha=ALPHA, loss=loss)
    return run([method.start(problem.design, problem.targets[0])], max_iter=STEPS)[0]


def best(X: Array, y: Array, loss: str, w: Array) -> float:
    """The best F1 along a path, with k as large as the truth."""
    result = walk(X, y, loss_of(loss), int(np.count_nonzero(w)))
    return float(np.max(support_f1(w, result.iterates)))


def mean_best(respond: Callable[[Array, Any], Array], loss: str, grouped: bool) -> float:
    """The mean over designs, strengths and draws; the same draws for every loss."""
    found = []
    for name, strength, seed in product(DESIGNS, STRENGTHS, range(SEEDS)):
        rng, X = np.random.default_rng([FIRST_SEED + seed, int(strength)]), design(name)
        w = truth(X, grouped, rng)
        eta = standardised((X @ w)[:, None])[:, 0] * strength
        found.append(best(X, respond(eta, rng), loss, w))
    return float(np.mean(found))


def compared(kind: str, grouped: bool) -> Iterator[Row]:
    respond, for_squares = KINDS[kind]
    at = f"{kind}, {'grouped' if grouped else 'scattered'}: best F1"
    ours = once(mean_best(respond, kind, grouped))
    squares = mean_best(lambda eta, rng: for_squares(respond(eta, rng)), "squared", grouped)
    yield Row(f"{at}, on squares beside", ours, once(squares), unit="")
    if kind == "huber":
        clean = mean_best(numbers, "squared", grouped)
        yield Row(f"{at}, on squares without a shift beside", ours, once(clean), unit="")


def speed() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2000))
    eta = 2 * X[:, :5].sum(axis=1) / np.sqrt(5)
    squares = partial(walk, X, eta + rng.standard_normal(100), loss_of("squared"), 10)
    for kind, (respond, _) in KINDS.items():
        other = partial(walk, X, respond(eta, rng), loss_of(kind), 10)
        one, squared = take_turns(other, squares, repeats=15)
        yield Row(f"{STEPS} steps at 100 x 2000: {kind} against squared", one, squared, at_most(2))


def main() -> list[Row]:
    """The best F1 by loss and kind of truth; then the time of a path."""
    rows = [
        row for kind, grouped in product(KINDS, (False, True)) for row in compared(kind, grouped)
    ]
    return [*rows, *speed()]
