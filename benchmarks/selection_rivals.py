"""The methods of the selection benchmark, each as its users run it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.linear_model import (
    ElasticNetCV,
    LassoCV,
    LinearRegression,
    OrthogonalMatchingPursuitCV,
)
from sklearn.model_selection import GridSearchCV, KFold

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN, path
from ksupport.metrics import support_f1

from .susie import SuSiE

RATIOS = [0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0]
ALPHAS = np.geomspace(1, 1e-2, 20)


def levels_of_groups(n: int, d: int) -> list[int]:
    """1, 2, 4, 8, then steps of about a quarter: where whole groups are looked for."""
    levels, most = [1, 2, 4, 8, 12, 16, 20, 25, 30], max(1, min(d // 2, 2 * n, 200))
    while levels[-1] < most:
        levels.append(math.ceil(levels[-1] * 1.25))
    return [k for k in levels if k <= most] or [1]


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


class PySuSiE:
    """SuSiE as its authors' package susieR has it, ported; features with probability .5."""

    def fit(self, X: Any, y: Any) -> Any:
        from pysusie import coef_susie, susie

        found = susie(X, y)
        self.probability_ = np.asarray(found["pip"])
        self.credible_sets_ = list(found["sets"]["cs"] or ())
        self.coef_ = np.ravel(coef_susie(found))[1:]  # the first is the intercept
        self.support_ = self.probability_ >= 0.5
        return self


class IPSS:
    """Integrated path stability selection by the Lasso, at its authors' false discovery rate."""

    target_fdr = 0.1

    def fit(self, X: Any, y: Any) -> Any:
        from ipss import ipss

        np.random.seed(0)  # noqa: NPY002  (its subsamples are drawn by the global generator)
        found = ipss(X, y, selector="l1", target_fdr=self.target_fdr)
        self.support_ = np.isin(np.arange(X.shape[1]), found["selected_features"])
        self.coef_ = np.zeros(X.shape[1])
        if self.support_.any():
            self.coef_[self.support_] = LinearRegression().fit(X[:, self.support_], y).coef_
        return self


class OracleIRKSN:
    """The iterate of the best F1 over all k and steps: what no user can have."""

    truth: Any = None  # told by whoever runs it

    def fit(self, X: Any, y: Any) -> Any:
        n, d = X.shape
        best = -1.0
        for alpha in (1e-1, 1e-2):
            for k in levels_of_groups(n, d):
                walked = path("irksn", X, y, k=k, alpha=alpha, max_iter=200)
                assert walked.iterates is not None  # all were kept
                scores = np.atleast_1d(support_f1(self.truth, walked.iterates))
                if scores.max() > best:
                    best = float(scores.max())
                    self.coef_ = walked.iterates[[int(scores.argmax())]].toarray()[0]
        return self


ORACLE = "oracle IRKSN"
OURS = ("AutoIRKSN", "IRKSNIC", "IRKSNCV")
TOLD = ("AutoIRKSN", "IRKSNCV")  # of weights of rows, and of rows that belong together
# As they were before choosing by probability: stored results are shown, nothing can compute them.
FORMER = tuple(f"{name} 0.1" for name in OURS)
METHODS: dict[str, Callable[[], Any]] = {
    "AutoIRKSN": AutoIRKSN,
    "IRKSNIC": IRKSNIC,
    "IRKSNCV": lambda: IRKSNCV(random_state=0),
    "SuSiE PIP": SuSiE,
    "SuSiE sets": lambda: SuSiE("sets"),
    "pysusie": PySuSiE,
    "IPSS": IPSS,
    "abess EBIC": lambda: abess(ic_type="ebic"),
    "abess 5-fold": lambda: abess(cv=5),
    "OMPCV": lambda: OrthogonalMatchingPursuitCV(cv=5),
    "LassoCV": lambda: LassoCV(cv=5),
    "MCP CV": _mcp,
    "reweighted CV": ReweightedCV,
    "ElasticNetCV": lambda: ElasticNetCV(cv=5, l1_ratio=RATIOS, alphas=50),
    ORACLE: OracleIRKSN,
}
RELEASES = {  # raised when a method changes, or what is taken down of it
    "AutoIRKSN": 23, "IRKSNIC": 5, "IRKSNCV": 5, "SuSiE PIP": 2, "SuSiE sets": 2,
}  # fmt: skip

# Draws of each setting by its kind; the slow methods get fewer.
DRAWS = {
    "real": 4, "held_out": 4, "linked": 40, "many": 4, "noise": 10, "noise_law": 20, "noise_on": 10,
    "permuted": 10, "hiv": 5,
}  # fmt: skip
_SUSIE = {
    "real": 2, "held_out": 2, "linked": 40, "noise": 3, "noise_on": 3, "permuted": 3,
    "hiv": 3, "": 3,
}  # fmt: skip
_ONE = dict.fromkeys(("real", "held_out", "noise", "noise_law", "noise_on", "permuted"), 1)
FEWER = {
    **dict.fromkeys(("SuSiE PIP", "SuSiE sets", "pysusie"), _SUSIE),
    "IPSS": {"real": 2, "held_out": 2, "linked": 6, "": 3},
    ORACLE: {"real": 2, "held_out": 2, "hiv": 1, "": 3},
    "LassoCV": {**dict.fromkeys(_ONE, 2), "": 3},
    "MCP CV": {"hiv": 2, **_ONE, "": 3},
    "reweighted CV": {"hiv": 2, **_ONE, "": 2},
    "ElasticNetCV": {"hiv": 2, **_ONE, "": 2},
}
LEFT_OUT = (("ElasticNetCV", "genotypes"), ("ElasticNetCV", "linked"))  # two minutes for one fit


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
