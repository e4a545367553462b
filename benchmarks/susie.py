"""SuSiE: the sum of single effects, by iterative Bayesian stepwise selection.

Wang, Sarkar, Carbonetto and Stephens (2020), JRSS B 82.  A plain version with what the R package
susieR does by default: ten effects at most, the residual variance and the prior variance of each
effect estimated, credible sets of 95 % whose members correlate by .5 or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

Array = NDArray[np.float64]
COVERAGE, PURITY = 0.95, 0.5
NEGLIGIBLE = 1e-9  # a prior variance of this size switches an effect off


@dataclass(frozen=True)
class Effect:
    """One feature has an effect, we cannot say which: the posterior of a single-effect regression.

    Attributes
    ----------
    alpha : array of shape (d,)
        The probability of each feature to be the one.
    mu, mu2 : array of shape (d,)
        The first two moments of its coefficient if it is.
    V : float
        The prior variance that makes the data most likely; 0 switches the effect off.
    """

    alpha: Array
    mu: Array
    mu2: Array
    V: float

    @property
    def coef(self) -> Array:
        return self.alpha * self.mu


def single_effect(Xr: Array, norms2: Array, sigma2: float, scale: float) -> Effect:
    """The posterior given the products of X with what no other effect explains.

    Parameters
    ----------
    Xr, norms2 : array of shape (d,)
        Xᵀr and the squared norms of the columns.
    sigma2 : float
        The variance of the noise.
    scale : float
        Prior variances are looked for up to a hundred times this.
    """
    s2 = sigma2 / norms2  # the variance of each feature's least-squares coefficient
    z2 = (Xr / norms2) ** 2 / s2

    def log_bayes_factors(V: float) -> Array:
        return 0.5 * (np.log(s2 / (s2 + V)) + z2 * V / (V + s2))

    def unlikely(log_V: float) -> float:
        return -float(logsumexp(log_bayes_factors(np.exp(log_V))) - np.log(len(s2)))

    middle = np.log(scale)
    found = minimize_scalar(unlikely, bounds=(middle - 25.0, middle + 4.6), method="bounded")
    V = float(np.exp(found.x)) if found.fun < 0 else 0.0  # no effect has likelihood 1
    variance = V * s2 / (V + s2)
    mu = variance / s2 * (Xr / norms2)
    return Effect(softmax(log_bayes_factors(V)), mu, mu**2 + variance, V)


class SuSiE:
    """Features with an inclusion probability of at least a half, or those of all credible sets.

    Attributes
    ----------
    probability_ : array of shape (d,)
        Posterior inclusion probabilities.
    credible_sets_ : list of arrays
        The features of each.
    coef_ : array of shape (d,)
        The posterior mean.
    support_ : array of bool of shape (d,)
        What is selected.
    """

    def __init__(
        self,
        by: Literal["pip", "sets"] = "pip",
        n_effects: int = 10,
        max_iter: int = 100,
        tol: float = 1e-3,
    ) -> None:
        self.by, self.n_effects, self.max_iter, self.tol = by, n_effects, max_iter, tol

    def fit(self, X: Array, y: Array) -> SuSiE:
        X, y = X - X.mean(axis=0), y - y.mean()
        self.effects_ = self._explained(X, y)
        on = [effect for effect in self.effects_ if NEGLIGIBLE * np.var(y) < effect.V]
        d = X.shape[1]
        self.coef_ = np.sum([np.zeros(d), *(effect.coef for effect in on)], axis=0)
        absent = np.prod([np.ones(d), *(1 - effect.alpha for effect in on)], axis=0)
        self.probability_ = 1 - absent
        self.credible_sets_ = [S for S in map(credible_set, on) if purity(X[:, S]) >= PURITY]
        self.support_ = self._support()
        return self

    def _support(self) -> NDArray[np.bool_]:
        if self.by == "pip":
            return self.probability_ >= 0.5
        support = np.zeros(len(self.coef_), bool)
        support[[j for S in self.credible_sets_ for j in S]] = True
        return support

    def _explained(self, X: Array, y: Array) -> list[Effect]:
        """Each effect in turn explains what the others leave, until nothing moves."""
        n, d = X.shape
        norms2 = np.einsum("ij,ij->j", X, X)
        norms2 = np.where(norms2 > 0, norms2, 1.0)  # a constant column explains nothing
        scale = float(np.var(y)) * n / float(np.median(norms2))
        sigma2 = float(np.var(y))
        effects = [Effect(np.full(d, 1 / d), np.zeros(d), np.zeros(d), 0.0)] * self.n_effects
        fits = [np.zeros(n)] * self.n_effects
        for _ in range(self.max_iter):
            before = np.array([effect.alpha for effect in effects]), sigma2
            for i in range(self.n_effects):
                r = y - (np.sum(fits, axis=0) - fits[i])
                effects[i] = single_effect(X.T @ r, norms2, sigma2, scale)
                fits[i] = X @ effects[i].coef
            sigma2 = _expected_squares(y, fits, effects, norms2) / n
            moved = np.abs(np.array([effect.alpha for effect in effects]) - before[0]).max()
            if max(moved, abs(1 - sigma2 / before[1])) < self.tol:
                break
        return effects


def _expected_squares(y: Array, fits: list[Array], effects: list[Effect], norms2: Array) -> float:
    """E‖y - Xb‖² under the posterior."""
    residual = y - np.sum(fits, axis=0)
    spread = sum(
        float(norms2 @ (effect.alpha * effect.mu2) - fit @ fit)
        for fit, effect in zip(fits, effects, strict=True)
    )
    return float(residual @ residual) + spread


def credible_set(effect: Effect) -> NDArray[np.intp]:
    """The fewest features that hold the effect with a probability of 95 %."""
    order = np.argsort(-effect.alpha, kind="stable")
    within = np.cumsum(effect.alpha[order]) < COVERAGE
    return np.sort(order[: np.count_nonzero(within) + 1])


def purity(X: Array) -> float:
    """The least absolute correlation between two columns."""
    if X.shape[1] == 1:
        return 1.0
    if X.shape[1] > 200:  # susieR looks at a sample of 100; such a set is not pure
        X = X[:, :: X.shape[1] // 100]
    scale: Any = np.linalg.norm(X, axis=0)
    X = X / np.where(scale > 0, scale, 1.0)
    return float(np.abs(X.T @ X).min())
