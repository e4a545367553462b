"""What no method can do better: how often a signal can be told from noise, and classes explained.

The likelihood ratio between the paper's synthetic settings and noise knows how many features are
true, how their coefficients are drawn and the signal-to-noise ratio; by the lemma of Neyman and
Pearson no test that noise passes as rarely finds more.  KSUPPORT_SEEDS is the number of draws of
each setting (100).

Simulated classes (``response.py``) are explained by whoever knows that five features are true, that
their coefficients are as large as each other, and how large: then a support and its signs have a
likelihood, and a sampler tells how probable each feature is.  No answer has a larger expected F1
than that of the most probable ones.  KSUPPORT_CLASSES is the number of draws of each setting (5).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np

from ksupport.metrics import support_f1

from . import losses, response
from .measure import Row, once
from .selection_designs import Array, problem, settings, standardised

LEVEL = 0.05  # of noise that may be called a signal
TRUE = 10  # features of the paper's settings
SUPPORTS = 300  # drawn ones, over which the likelihood is averaged
FIRST = 7000  # of the seeds


def log_ratio(X: Array, y: Array, snr: float, supports: list[Any]) -> float:
    """Log of how much likelier y is with a signal of normal coefficients, whatever its scale."""
    n = len(y)
    basis = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]  # off the mean
    z = basis.T @ y
    z /= np.linalg.norm(z)
    found = []
    for S in supports:
        K = basis.T @ X[:, S]
        K = K @ K.T
        covariance = np.eye(n - 1) + snr**2 * (n - 1) * K / np.trace(K)
        log_det = np.linalg.slogdet(covariance)[1]
        found.append(-0.5 * (log_det + (n - 1) * np.log(z @ np.linalg.solve(covariance, z))))
    return float(np.logaddexp.reduce(found) - np.log(len(found)))


def power(n: int, rho: float, snr: float) -> float:
    """How often the likelihood ratio tells a signal from noise."""
    rng, draws = np.random.RandomState(0), int(os.environ.get("KSUPPORT_SEEDS", 100))
    ratios = []
    for seed in range(FIRST, FIRST + draws):
        X, y, w = problem("paper", seed, n=n, rho=rho, snr=snr)
        supports = [rng.choice(w.size, TRUE, replace=False) for _ in range(SUPPORTS)]
        noise = rng.standard_normal(n)
        ratios.append([log_ratio(X, response, snr, supports) for response in (y, noise)])
    signal, noise = np.array(ratios).T
    return float(np.mean(signal > np.quantile(noise, 1 - LEVEL)))


# -- classes ---------------------------------------------------------------------------------

SCATTERED = 5  # true features
SWEEPS, UNUSED = 120, 30  # of the sampler, and those at its beginning that do not count
POWERS = (1.0, 1.0, 1.0, 1.0, 0.8, 0.63, 0.47, 0.3)  # of the likelihood, by chain; those of 1 count


def log_likelihood(eta: Array, y: Array) -> Array:
    """Of classes, for each column of eta."""
    return np.asarray(-(np.logaddexp(0.0, eta) - y[:, None] * eta).sum(axis=0))


class Chain:
    """A support and its signs, drawn by a power of their likelihood, one feature after the other.

    Parameters
    ----------
    X, y : arrays
        Centred columns, and classes, 0 and 1.
    strength : float
        Standard deviation of the true eta.
    power : float
        Less than 1: more is tried.
    """

    def __init__(self, X: Array, y: Array, strength: float, power: float, rng: Any) -> None:
        self.X, self.y, self.strength, self.power, self.rng = X, y, strength, power, rng
        self.support = rng.choice(X.shape[1], SCATTERED, replace=False)
        self.signs = rng.choice([-1.0, 1.0], SCATTERED)
        self.value = -np.inf  # the log likelihood

    def sweep(self) -> None:
        """Draw every feature anew, given the others."""
        d = self.X.shape[1]
        for at in self.rng.permutation(SCATTERED):
            others = np.delete(self.support, at)
            base = (self.X[:, others] @ np.delete(self.signs, at))[:, None]
            eta = np.hstack([base + self.X, base - self.X])
            spread = np.sqrt(np.mean(eta**2, axis=0))
            eta *= self.strength / np.where(spread > 0, spread, np.inf)
            values = log_likelihood(eta, self.y)
            values[others] = values[d + others] = -np.inf
            p = np.exp(self.power * (values - values.max()))
            drawn = int(self.rng.choice(2 * d, p=p / p.sum()))
            self.support[at], self.signs[at] = drawn % d, 1.0 if drawn < d else -1.0
            self.value = float(values[drawn])


def probable(X: Array, y: Array, strength: float, seed: int) -> Array:
    """For each feature, how often the chains that count have it."""
    rng = np.random.default_rng(seed)
    chains = [Chain(X - X.mean(axis=0), y, strength, power, rng) for power in POWERS]
    p = np.zeros(X.shape[1])
    for sweep in range(SWEEPS):
        for chain in chains:
            chain.sweep()
        for one, other in pairwise(chains):  # parallel tempering
            gain = (one.power - other.power) * (other.value - one.value)
            if np.log(rng.random()) < gain:
                for name in ("support", "signs", "value"):
                    mine, theirs = getattr(one, name), getattr(other, name)
                    setattr(one, name, theirs)
                    setattr(other, name, mine)
        if sweep >= UNUSED:
            for chain in chains:
                p[chain.support] += chain.power == 1.0
    return np.asarray(p / (POWERS.count(1.0) * (SWEEPS - UNUSED)))


def best_f1(name: str, strength: float, seed: int) -> tuple[float, float]:
    """The largest F1 that can be expected of an answer to one draw, and what it reaches."""
    rng, X = np.random.default_rng([seed, int(strength)]), losses.design(name)
    w = losses.truth(X, False, rng)
    y = losses.classes(standardised((X @ w)[:, None])[:, 0] * strength, rng)
    p = probable(X, y, strength, seed)
    order = np.argsort(-p, kind="stable")
    expected = 2 * np.cumsum(p[order]) / (np.arange(1, p.size + 1) + SCATTERED)
    size = int(np.argmax(expected)) + 1
    found = np.isin(np.arange(p.size), order[:size]).astype(float)
    return float(expected[size - 1]), float(support_f1(w, found))


def rows_of_classes() -> Iterator[Row]:
    draws = int(os.environ.get("KSUPPORT_CLASSES", 5))
    found = []
    for name, strength in product(losses.DESIGNS, losses.STRENGTHS):
        seeds = range(response.FIRST, response.FIRST + draws)
        found.append(np.mean([best_f1(name, strength, seed) for seed in seeds], axis=0))
        for what, mean in zip(("can be expected", "is reached"), found[-1].tolist(), strict=True):
            label = f"classes, scattered, {name}, strength {strength:g}: F1 that {what}"
            yield Row(label, once(mean), unit="")
    for what, mean in zip(("can be expected", "is reached"), np.mean(found, axis=0), strict=True):
        yield Row(f"classes, scattered: F1 that {what}", once(float(mean)), unit="")


def rows() -> Iterator[Row]:
    for setting in settings("paper"):
        of = {name: setting[name] for name in ("n", "rho", "snr")}
        label = " ".join(f"{name}={value}" for name, value in of.items())
        yield Row(f"signal told from noise at {LEVEL:.0%}, {label}", once(power(**of)), unit="")


def main() -> list[Row]:
    return [*rows(), *rows_of_classes()]
