"""The methods of the selection benchmark, each as its users run it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNetCV, LassoCV, OrthogonalMatchingPursuitCV
from sklearn.model_selection import GridSearchCV, KFold

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN, path
from ksupport._common.levels import for_groups
from ksupport.metrics import support_f1

from .susie import SuSiE

RATIOS = [0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0]
ALPHAS = np.geomspace(1, 1e-2, 20)


def abess(**how: Any) -> Any:
    from abess import LinearRegression

    return LinearRegression(**how)


def _mcp() -> Any:
    from skglm import MCPRegression

    return GridSearchCV(MCPRegression(), {"alpha": ALPHAS}, cv=5)


class ReweightedCV:
    """skglm's reweighted l1 with 5-fold cross-validation; its class cannot be cloned."""

    def fit(self, X: Any, y: Any) -> Any:
        errors = np.zeros(len(ALPHAS))
        for train, test in KFold(5).split(X):
            for i, alpha in enumerate(ALPHAS):
                model = self._at(alpha).fit(X[train], y[train])
                errors[i] += np.sum((X[test] @ np.ravel(model.coef_) - y[test]) ** 2)
        self.coef_ = self._at(ALPHAS[np.argmin(errors)]).fit(X, y).coef_
        return self

    def _at(self, alpha: float) -> Any:
        from skglm.experimental import IterativeReweightedL1
        from skglm.penalties import L0_5
        from skglm.solvers import AndersonCD

        solver = AndersonCD(fit_intercept=False)
        return IterativeReweightedL1(penalty=L0_5(alpha), solver=solver)


class OracleIRKSN:
    """The iterate of the best F1 over all k and steps: what no user can have."""

    truth: Any = None  # told by whoever runs it

    def fit(self, X: Any, y: Any) -> Any:
        n, d = X.shape
        best = -1.0
        for alpha in (1e-1, 1e-2):
            for k in for_groups(n, d):
                walked = path("irksn", X, y, k=k, alpha=alpha, max_iter=200)
                assert walked.iterates is not None  # all were kept
                scores = np.atleast_1d(support_f1(self.truth, walked.iterates))
                if scores.max() > best:
                    best = float(scores.max())
                    self.coef_ = walked.iterates[[int(scores.argmax())]].toarray()[0]
        return self


ORACLE = "oracle IRKSN"
OURS = ("AutoIRKSN", "IRKSNIC", "IRKSNCV")
# As they were before choosing by probability: stored results are shown, nothing can compute them.
FORMER = tuple(f"{name} 0.1" for name in OURS)
METHODS: dict[str, Callable[[], Any]] = {
    "AutoIRKSN": AutoIRKSN,
    "IRKSNIC": IRKSNIC,
    "IRKSNCV": lambda: IRKSNCV(random_state=0),
    "SuSiE PIP": SuSiE,
    "SuSiE sets": lambda: SuSiE("sets"),
    "abess EBIC": lambda: abess(ic_type="ebic"),
    "abess 5-fold": lambda: abess(cv=5),
    "OMPCV": lambda: OrthogonalMatchingPursuitCV(cv=5),
    "LassoCV": lambda: LassoCV(cv=5),
    "MCP CV": _mcp,
    "reweighted CV": ReweightedCV,
    "ElasticNetCV": lambda: ElasticNetCV(cv=5, l1_ratio=RATIOS, alphas=50),
    ORACLE: OracleIRKSN,
}
RELEASES = {"AutoIRKSN": 22, "IRKSNIC": 5, "IRKSNCV": 5}  # raised when a method changes

# Draws of each setting by its kind; the slow methods get fewer.
DRAWS = {"real": 4, "many": 4, "noise": 10, "noise_on": 10, "permuted": 10, "hiv": 5}
FEWER = {
    "SuSiE PIP": {"real": 2, "noise": 3, "noise_on": 3, "permuted": 3, "hiv": 3, "": 3},
    "SuSiE sets": {"real": 2, "noise": 3, "noise_on": 3, "permuted": 3, "hiv": 3, "": 3},
    ORACLE: {"real": 2, "hiv": 1, "": 3},
    "LassoCV": {"real": 2, "noise": 2, "noise_on": 2, "permuted": 2, "hiv": 3, "": 3},
    "MCP CV": {"real": 1, "noise": 1, "noise_on": 1, "permuted": 1, "hiv": 2, "": 3},
    "reweighted CV": {"real": 1, "noise": 1, "noise_on": 1, "permuted": 1, "hiv": 2, "": 2},
    "ElasticNetCV": {"real": 1, "noise": 1, "noise_on": 1, "permuted": 1, "hiv": 2, "": 2},
}
LEFT_OUT = (("ElasticNetCV", "genotypes"),)  # two minutes for one fit


def asked_for(among: Iterable[str]) -> list[str]:
    """Those methods that KSUPPORT_METHODS names, or all of them."""
    only = [name for name in os.environ.get("KSUPPORT_METHODS", "").split(",") if name]
    return [name for name in among if not only or name in only]


def draws(method: str, kind: str) -> int:
    """How many draws of a setting of this kind a method is run on."""
    if (method, kind) in LEFT_OUT:
        return 0
    if method in FEWER:
        return FEWER[method].get(kind, FEWER[method][""])
    return DRAWS.get(kind, 6)
