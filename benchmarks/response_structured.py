"""Known groups of features, responses that share their support, and signs, beside group lassos."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV, MultiTaskLassoCV
from sklearn.model_selection import KFold

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN
from ksupport.metrics import support_f1

from .measure import Row, at_least, once
from .response_rivals import fitted
from .selection_designs import Array, standardised

OURS = "AutoIRKSN"
PENALTIES = np.geomspace(1.0, 0.01, 30)  # of the one that leaves nothing


# -- known groups ----------------------------------------------------------------------------


class GroupLasso:
    """skglm's, weighted by the roots of sizes as usual; the penalty by five folds.

    ``errors`` says how much worse than the best, in standard errors, a sparser one may be.
    """

    def __init__(self, groups: Array, errors: float = 0.0) -> None:
        self.members = [np.flatnonzero(groups == g).tolist() for g in np.unique(groups)]
        self.weights = np.sqrt([float(len(each)) for each in self.members])
        self.errors = errors

    def fit(self, X: Array, y: Array) -> GroupLasso:
        centred = y - y.mean()
        largest = max(
            float(np.linalg.norm(X[:, each].T @ centred)) / weight / len(y)
            for each, weight in zip(self.members, self.weights, strict=True)
        )
        folds = KFold(5, shuffle=True, random_state=0).split(X)
        lost = np.array([self._lost(X, y, largest, *fold) for fold in folds])
        mean, spread = lost.mean(axis=0), lost.std(axis=0, ddof=1) / np.sqrt(len(lost))
        best = int(np.argmin(mean))
        good = mean <= mean[best] + self.errors * spread[best]
        self.coef_ = self._model(largest * PENALTIES[int(np.argmax(good))]).fit(X, y).coef_
        return self

    def _lost(self, X: Array, y: Array, largest: float, train: Array, test: Array) -> Array:
        model = self._model(1.0)
        out = []
        for share in PENALTIES:
            model.alpha = largest * share
            model.fit(X[train], y[train])
            out.append(np.mean((model.predict(X[test]) - y[test]) ** 2))
        return np.array(out)

    def _model(self, alpha: float) -> Any:
        from skglm import GroupLasso as Skglm

        return Skglm(self.members, alpha, weights=self.weights, warm_start=True)


Problem = tuple[Array, Array, Array, Any]  # X, y, w, groups


def grouped(kind: str, snr: float, seed: int) -> Problem:
    """100 rows, 60 groups of which 4 matter, with normal coefficients."""
    rng = np.random.default_rng([seed, int(10 * snr)])
    sizes = rng.integers(2, 9, 60) if kind == "unequal" else np.full(60, 5)
    groups = np.repeat(np.arange(60), sizes)
    X = rng.standard_normal((100, groups.size))
    if kind == "within":
        X = X + 1.5 * rng.standard_normal((100, 60))[:, groups]
    elif kind == "across":
        for j in range(1, groups.size):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * X[:, j]
    active = np.isin(groups, rng.choice(60, 4, replace=False))
    w = np.where(active, rng.standard_normal(groups.size), 0.0)
    X = standardised(X)
    signal = X @ w
    y: Array = signal + rng.standard_normal(100) * np.std(signal) / np.sqrt(snr)
    return X, y, w, groups


GROUPED: dict[str, Callable[[Array], Any]] = {
    OURS: lambda groups: AutoIRKSN(feature_groups=groups),
    "IRKSNCV": lambda groups: IRKSNCV(feature_groups=groups, random_state=0),
    "IRKSNIC": lambda groups: IRKSNIC(feature_groups=groups),
    "AutoIRKSN without groups": lambda groups: AutoIRKSN(),
    "group lasso, folds": GroupLasso,
    "group lasso, folds, one standard error": lambda groups: GroupLasso(groups, 1.0),
}
RIVALS = [way for way in GROUPED if way.startswith("group lasso")]
CORRELATED = {
    "independent": "independent columns",
    "within": "correlated within groups",
    "across": "correlated along all columns",
    "unequal": "groups of 2 to 8",
}


def study_groups(draws: range) -> Iterator[Row]:
    for kind, said in CORRELATED.items():
        found: dict[str, list[float]] = {way: [] for way in GROUPED}
        for seed in draws:
            for snr in (1.0, 3.0):
                X, y, w, groups = grouped(kind, snr, seed)
                for way, make in GROUPED.items():
                    model = fitted(partial(make, groups), X, y)
                    found[way].append(float(support_f1(w, model.coef_)))
        means = {way: float(np.mean(each)) for way, each in found.items()}
        for way, mean in means.items():
            yield Row(f"known groups, {said}: F1, {way}", once(mean), unit="")
        lead = once(means[OURS] - max(means[way] for way in RIVALS))
        yield Row(f"known groups, {said}: F1, lead", lead, target=at_least(0.0), unit="")


# -- responses that share their support --------------------------------------------------------


def joint(rho: float, seed: int) -> tuple[Array, Array, Array]:
    """60 rows, 300 features of which 5 matter for all of 5 responses, by different amounts."""
    rng = np.random.default_rng([seed, int(10 * rho)])
    X = rng.standard_normal((60, 300))
    for j in range(1, 300):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    active = rng.choice(300, 5, replace=False)
    W = np.zeros((5, 300))
    W[:, active] = rng.standard_normal((5, 5))
    X = standardised(X)
    signal = X @ W.T
    return X, signal + rng.standard_normal(signal.shape) * np.std(signal, axis=0), W


def apart(make: Callable[[], Any]) -> Callable[[Array, Array], Array]:
    """A model for each response."""
    return lambda X, Y: np.array([fitted(make, X, y).coef_ for y in Y.T])


JOINT: dict[str, Callable[[Array, Array], Array]] = {
    "AutoIRKSN, shared": lambda X, Y: fitted(lambda: AutoIRKSN(shared_support=True), X, Y).coef_,
    "IRKSNCV, shared": lambda X, Y: IRKSNCV(shared_support=True, random_state=0).fit(X, Y).coef_,
    "IRKSNIC, shared": lambda X, Y: IRKSNIC(shared_support=True).fit(X, Y).coef_,
    "IRKSNCV, five fits": apart(lambda: IRKSNCV(random_state=0)),
    "IRKSNIC, five fits": apart(IRKSNIC),
    "AutoIRKSN, five fits": apart(AutoIRKSN),
    "multi-task lasso, folds": lambda X, Y: MultiTaskLassoCV(cv=5, max_iter=3000).fit(X, Y).coef_,
}


def study_joint(draws: range) -> Iterator[Row]:
    for rho in (0.0, 0.8):
        found: dict[str, list[float]] = {way: [] for way in JOINT}
        for seed in draws:
            X, Y, W = joint(rho, seed)
            for way, fit in JOINT.items():
                pairs = zip(W, fit(X, Y), strict=True)
                found[way].append(float(np.mean([float(support_f1(*each)) for each in pairs])))
        means = {way: float(np.mean(each)) for way, each in found.items()}
        at = f"5 responses, rho={rho:g}: F1"
        for way, mean in means.items():
            yield Row(f"{at}, {way}", once(mean), unit="")
        for name in (OURS, "IRKSNCV", "IRKSNIC"):
            lead = once(means[f"{name}, shared"] - means[f"{name}, five fits"])
            yield Row(f"{at}, {name}, lead", lead, target=at_least(0.0), unit="")


# -- effects of one sign -----------------------------------------------------------------------


def lifting(kind: str, snr: float, seed: int) -> tuple[Array, Array, Array]:
    """80 rows, 200 features: 5 anywhere, or two blocks of 10, with positive effects."""
    rng = np.random.default_rng([seed, int(10 * snr)])
    X, w = rng.standard_normal((80, 200)), np.zeros(200)
    if kind == "blocks":
        shared = np.repeat(rng.standard_normal((80, 20)), 10, axis=1)
        X = np.sqrt(0.7) * shared + np.sqrt(0.3) * X
        active = np.isin(np.arange(200) // 10, rng.choice(20, 2, replace=False))
        w[active] = np.abs(rng.standard_normal(20))
    else:
        rho = 0.8 if kind == "correlated" else 0.0
        for j in range(1, 200):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        w[rng.choice(200, 5, replace=False)] = 0.5 + rng.exponential(1.0, 5)
    signal = X @ w
    return X, signal + rng.standard_normal(80) * np.std(signal) / np.sqrt(snr), w


SIGNED: dict[str, Callable[[], Any]] = {
    "AutoIRKSN, positive": lambda: AutoIRKSN(positive=True),
    "AutoIRKSN": AutoIRKSN,
    "IRKSNIC, positive": lambda: IRKSNIC(positive=True),
    "Lasso, positive, folds": lambda: LassoCV(positive=True, cv=5, random_state=0),
}
RAISING = {
    "independent": "5 of independent columns",
    "correlated": "5 of autoregressive columns",
    "blocks": "2 blocks of 10",
}


def study_signs(draws: range) -> Iterator[Row]:
    for kind, said in RAISING.items():
        found: dict[str, list[float]] = {way: [] for way in SIGNED}
        for seed in draws:
            for snr in (0.5, 1.0, 3.0):
                X, y, w = lifting(kind, snr, seed)
                for way, make in SIGNED.items():
                    found[way].append(float(support_f1(w, fitted(make, X, y).coef_)))
        means = {way: float(np.mean(each)) for way, each in found.items()}
        for way, mean in means.items():
            yield Row(f"effects of one sign, {said}: F1, {way}", once(mean), unit="")
        lead = once(means[f"{OURS}, positive"] - means[OURS])
        yield Row(f"effects of one sign, {said}: F1, lead", lead, target=at_least(0.0), unit="")
