"""Every kind of response, and what must be adjusted for: is the truth still found?

Every method is run as its users run it, with no knowledge of the truth, on draws that nothing was
chosen on.  A study is a function in `STUDIES` that gives rows.  Settings, all optional:
KSUPPORT_SEEDS (draws of each setting, 20; of survival data and outliers, of groups and shared
supports at most 10), KSUPPORT_STUDIES
("confounded,simulated,classes,survival,outliers,speed,groups,joint").
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from ksupport import AutoIRKSN
from ksupport.metrics import support_f1

from . import losses
from .measure import Row, at_least, at_most, once, take_turns
from .response_rivals import (
    METHODS,
    OURS,
    PREDICTING,
    TO_PREDICT,
    fitted,
    l1_each_class,
    l1_logistic,
    l1_saga,
    ridge_logistic,
)
from .response_structured import study_groups, study_joint, study_signs
from .response_survival import study_survival
from .selection_designs import Array, problem, standardised
from .selection_real import design

FIRST = 52_000  # of the seeds: no other benchmark draws by these
FEW = 10  # draws of studies whose settings are many
NEAR = 0.05  # F1 that an adjusted model may lose against data without a confounder


def draws() -> range:
    return range(FIRST, FIRST + int(os.environ.get("KSUPPORT_SEEDS", 20)))


# -- a confounder ----------------------------------------------------------------------------

CONFOUNDED: dict[str, dict[str, Any]] = {
    "scattered": {"kind": "ar1", "n": 100, "d": 500, "k": 5, "rho": 0.5, "snr": 3.0},
    "grouped": {"kind": "blocks", "n": 100, "block": 10, "rho": 0.7, "sizes": "equal"},
    "real design": {"kind": "real", "name": "riboflavin", "k": 5, "sizes": "equal"},
}


def confounders(rng: Any, n: int) -> Array:
    """Something continuous, as age, and something with two levels, as a batch; as columns."""
    return standardised(np.column_stack([rng.standard_normal(n), rng.random(n) < 0.4]))


def confounded(setting: dict[str, Any], seed: int) -> dict[str, float]:
    """F1 without a confounder; and with two, adjusted for them, and in two ways without.

    They drive y, by as much as all features together, and leak into all features, some of which
    they explain for the most part.
    """
    clean, y, w = problem(seed=seed, **setting)
    rng = np.random.RandomState(seed + 1)
    C = confounders(rng, len(y))
    leaking = clean + C @ rng.standard_normal((2, len(w)))
    added = C @ rng.choice([-1.0, 1.0], 2)
    response = y + (leaking - clean) @ w + added * np.std(y) / np.std(added)
    both = np.hstack([C, leaking])

    def f1(X: Array, target: Array, **options: Any) -> float:
        chosen = AutoIRKSN(**options).fit(X, target).support_[-len(w) :]
        return float(support_f1(w, chosen.astype(float)))

    return {
        "no confounder": f1(clean, y),
        "adjusted": f1(both, response, unpenalized=[0, 1]),
        "as features": f1(both, response),
        "left out": f1(leaking, response),
    }


def study_confounded() -> Iterator[Row]:
    for name, setting in CONFOUNDED.items():
        found = [confounded(setting, seed) for seed in draws()]
        means = {way: float(np.mean([each[way] for each in found])) for way in found[0]}
        for way, mean in means.items():
            yield Row(f"confounders, {name}: F1, {way}", once(mean), unit="")
        lost = means["no confounder"] - means["adjusted"]
        yield Row(
            f"confounders, {name}: F1 lost, adjusted", once(lost), target=at_most(NEAR), unit=""
        )


# -- classes, counts and survival times that are simulated -------------------------------------

AHEAD = 0.1  # F1 by which the automatic choice should lead


def simulated(kind: str, grouped: bool, seed: int) -> Iterator[dict[str, float]]:
    """F1 of every method, on real designs and two strengths."""
    respond = losses.KINDS[kind][0]
    for name, strength in product(losses.DESIGNS, losses.STRENGTHS):
        rng, X = np.random.default_rng([seed, int(strength)]), losses.design(name)
        w = losses.truth(X, grouped, rng)
        y = respond(standardised((X @ w)[:, None])[:, 0] * strength, rng)
        yield {
            method: float(support_f1(w, np.ravel(fitted(make, X, y).coef_)))
            for method, make in METHODS[kind].items()
        }


def study_simulated() -> Iterator[Row]:
    for kind, grouped in product(METHODS, (False, True)):
        found = [each for seed in draws() for each in simulated(kind, grouped, seed)]
        means = {way: float(np.mean([each[way] for each in found])) for way in found[0]}
        at = f"{kind}, {'grouped' if grouped else 'scattered'}: F1"
        for way, mean in means.items():
            yield Row(f"{at}, {way}", once(mean), unit="")
        best = max(mean for way, mean in means.items() if way != OURS)
        wanted = 0.0 if kind == "poisson" else AHEAD
        lead = once(means[OURS] - best)
        yield Row(f"{at}, lead of the automatic choice", lead, target=at_least(wanted), unit="")


# -- classes that are real ---------------------------------------------------------------------

REAL_CLASSES = ("leukemia", "colon", "khan")
CLASSIFIERS = {
    OURS: METHODS["logistic"][OURS],
    TO_PREDICT: PREDICTING["logistic"],
    "l1, folds": l1_each_class,
    "ridge, folds": ridge_logistic,
}
BEHIND = 0.01  # accuracy and AUC that may be lost against l1 and ridge


def predicted(name: str, seed: int) -> Iterator[tuple[str, float, float, float]]:
    """Method, accuracy, AUC and number of features, on the folds of one repeat."""
    X, y = design(name)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        for way, make in CLASSIFIERS.items():
            model = fitted(make, X[train], y[train])
            area = area_under(model.predict_proba(X[test]), y[test])
            used = np.count_nonzero(np.any(model.coef_, axis=0))
            yield way, float(np.mean(model.predict(X[test]) == y[test])), float(area), float(used)


def area_under(p: Array, y: Array) -> float:
    """The area under the ROC curve; of several classes, their mean, each against the others."""
    each = {"multi_class": "ovr", "labels": np.unique(y)} if p.shape[1] > 2 else {}
    return float(roc_auc_score(y, p if each else p[:, 1], **each))


def study_classes() -> Iterator[Row]:
    for name in REAL_CLASSES:
        found = [each for seed in draws() for each in predicted(name, seed)]
        ways = {way: np.mean([each[1:] for each in found if each[0] == way], axis=0)
                for way in CLASSIFIERS}  # fmt: skip
        for way, means in ways.items():
            for what, mean in zip(("accuracy", "AUC", "features"), means.tolist(), strict=True):
                yield Row(f"classes of {name}: {what}, {way}", once(mean), unit="")
        rivals = [means for way, means in ways.items() if not way.startswith(OURS)]
        for (at, what), ours in product(enumerate(("accuracy", "AUC")), (OURS, TO_PREDICT)):
            lost = max(float(means[at]) for means in rivals) - float(ways[ours][at])
            row = f"classes of {name}: {what} lost, {ours}"
            yield Row(row, once(lost), target=at_most(BEHIND), unit="")


# -- numbers some of which are far off ----------------------------------------------------------

KEPT = 0.8  # share of the F1 without outliers


def with_outliers(grouped: bool, seed: int) -> Iterator[dict[str, float]]:
    """F1 by squares and by Huber's loss, a tenth of the numbers shifted; and without a shift."""
    for name, strength in product(losses.DESIGNS, losses.STRENGTHS):
        X = losses.design(name)
        w = losses.truth(X, grouped, np.random.default_rng([seed, int(strength)]))
        eta = standardised((X @ w)[:, None])[:, 0] * strength

        def f1(respond: Any, loss: str, X: Array = X, eta: Array = eta, w: Array = w) -> float:
            y = respond(eta, np.random.default_rng([seed, 1]))
            return float(support_f1(w, fitted(lambda: AutoIRKSN(loss=loss), X, y).coef_))

        yield {
            "squared, no outliers": f1(losses.numbers, "squared"),
            "squared": f1(losses.shifted, "squared"),
            "huber": f1(losses.shifted, "huber"),
        }


def study_outliers() -> Iterator[Row]:
    for grouped in (False, True):
        found = [each for seed in draws()[:10] for each in with_outliers(grouped, seed)]
        means = {way: float(np.mean([each[way] for each in found])) for way in found[0]}
        at = f"outliers, {'grouped' if grouped else 'scattered'}: F1"
        for way, mean in means.items():
            yield Row(f"{at}, {way}", once(mean), unit="")
        kept = once(means["huber"] / means["squared, no outliers"])
        yield Row(f"{at} kept by huber", kept, target=at_least(KEPT), unit="")


# -- speed -------------------------------------------------------------------------------------


def study_speed() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2000))
    y = losses.classes(2 * X[:, :5].sum(axis=1) / np.sqrt(5), rng)
    for solver, make, repeats in (("liblinear", l1_logistic, 7), ("saga", l1_saga, 3)):
        automatic = partial(fitted, METHODS["logistic"][OURS], X, y)
        ours, theirs = take_turns(automatic, partial(fitted, make, X, y), repeats=repeats)
        what = f"AutoIRKSNClassifier at 100 x 2000 against l1 logistic with folds ({solver})"
        yield Row(what, ours, theirs, target=at_least(5.0))


# -- all -------------------------------------------------------------------------------------

STUDIES: dict[str, Callable[[], Iterator[Row]]] = {
    "confounded": study_confounded,
    "simulated": study_simulated,
    "classes": study_classes,
    "survival": lambda: study_survival(draws()[:10]),
    "outliers": study_outliers,
    "speed": study_speed,
    "groups": lambda: study_groups(draws()[:FEW]),
    "joint": lambda: study_joint(draws()[:FEW]),
    "signs": lambda: study_signs(draws()[:FEW]),
}


def main() -> list[Row]:
    asked = os.environ.get("KSUPPORT_STUDIES", ",".join(STUDIES)).split(",")
    return list(chain.from_iterable(STUDIES[name]() for name in asked))
