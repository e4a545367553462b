"""Which support does one get without knowing the truth?  Honest tuning only.

Every method is run as its users run it, with no knowledge of the truth.  Settings, all optional:
KSUPPORT_SEEDS (draws of each setting, 20), KSUPPORT_SETTINGS (kinds of designs, "blocks,real"),
KSUPPORT_METHODS ("AutoIRKSN,LassoCV"), KSUPPORT_JOBS (processes, 2).  Results are stored as they
come, so that a run can be interrupted and gone on with.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNetCV, LassoCV, OrthogonalMatchingPursuitCV
from sklearn.model_selection import KFold

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN, path
from ksupport._common.levels import for_groups
from ksupport.experiments.experiment import Experiment
from ksupport.experiments.runner import collect
from ksupport.metrics import model_error, support_f1, support_precision, support_recall

from . import measure
from .selection_designs import problem, settings, standardised

RATIOS = [0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0]
OURS = ("AutoIRKSN", "IRKSNIC", "IRKSNCV")
RELEASES = {
    "AutoIRKSN": 11,
    "IRKSNIC": 4,
    "IRKSNCV": 4,
    "oracle IRKSN": 2,
}  # raised when a method changes


def abess(**how: Any) -> Any:
    from abess import LinearRegression

    return LinearRegression(**how)


ALPHAS = np.geomspace(1, 1e-2, 20)


def _mcp() -> Any:
    from skglm import MCPRegression
    from sklearn.model_selection import GridSearchCV

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

    truth: Any = None  # told by `compute`

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
METHODS: dict[str, Callable[[], Any]] = {
    "AutoIRKSN": AutoIRKSN,
    "IRKSNIC": IRKSNIC,
    "IRKSNCV": lambda: IRKSNCV(random_state=0),
    "abess EBIC": lambda: abess(ic_type="ebic"),
    "abess 5-fold": lambda: abess(cv=5),
    "LassoCV": lambda: LassoCV(cv=5),
    "ElasticNetCV": lambda: ElasticNetCV(cv=5, l1_ratio=RATIOS, alphas=50),
    "OMPCV": lambda: OrthogonalMatchingPursuitCV(cv=5),
    "MCP CV": _mcp,
    "reweighted CV": ReweightedCV,
    ORACLE: OracleIRKSN,
}


def compute(method: str, release: int, seed: int, **setting: Any) -> list[dict[str, Any]]:
    """One method on one draw, with standardised columns."""
    X, y, w = problem(seed=seed, **setting)
    X, y, truth = standardised(X), y - y.mean(), w * X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals warn of their own convergence
        model = METHODS[method]()
        if method == ORACLE:
            model.truth = w
        started = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - started
    coef = np.ravel(getattr(model, "best_estimator_", model).coef_)
    row = {
        "method": method,
        "seed": seed,
        "setting": _name(setting),
        "kind": setting["kind"],
        "f1": float(support_f1(w, coef)),
        "precision": float(support_precision(w, coef)),
        "recall": float(support_recall(w, coef)),
        "model_error": float(model_error(truth, coef) / np.linalg.norm(truth)),
        "prediction_error": float(np.sum((X @ (coef - truth)) ** 2) / np.sum((X @ truth) ** 2)),
        "size": int(np.count_nonzero(coef)),
        "seconds": seconds,
        "passes": int(getattr(model, "n_passes_", -1)),
        "regime": str(getattr(model, "regime_", "")),
    }
    return [row]


def _name(setting: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" if key != "kind" else value for key, value in setting.items())


def cells(protocol: str, quick: bool) -> list[dict[str, Any]]:
    seeds = int(os.environ.get("KSUPPORT_SEEDS", "2" if quick else "20"))
    kinds = [kind for kind in os.environ.get("KSUPPORT_SETTINGS", "").split(",") if kind]
    only = [name for name in os.environ.get("KSUPPORT_METHODS", "").split(",") if name]
    chosen = [s for s in settings() if not kinds or s["kind"] in kinds]
    return [
        {"method": method, "release": RELEASES.get(method, 1), **s, "seed": seed}
        for seed in range(seeds)
        for s in chosen
        for method in METHODS
        if method in only or not only
    ]


def table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over the draws of each setting and method."""
    columns = (
        "f1", "precision", "recall", "model_error", "prediction_error", "size", "seconds", "passes",
    )  # fmt: skip
    out = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        for method in dict.fromkeys(row["method"] for row in rows):
            mine = [r for r in rows if r["setting"] == setting and r["method"] == method]
            if not mine:
                continue
            means = {c: float(np.mean([r[c] for r in mine])) for c in columns}
            out.append({"setting": setting, "method": method, "draws": len(mine), **means})
    return out


EXPERIMENT = Experiment(
    "selection",
    __doc__.splitlines()[0],
    1,
    ("fair",),
    cells,
    compute,
    table,
    lambda rows, out: None,
)


GROUPED = ("blocks", "example2")


def report(lines: list[dict[str, Any]]) -> str:
    """Means by setting, who is first, the gap to the oracle, and the settings that are lost."""
    at = {(line["setting"], line["method"]): line for line in lines}
    names = list(dict.fromkeys(line["setting"] for line in lines))
    if not {*OURS} <= {line["method"] for line in lines}:
        return f"a report needs {', '.join(OURS)}; all that was asked for is stored"
    methods = [m for m in METHODS if all((s, m) in at for s in names)]
    rivals = [m for m in methods if m not in (*OURS, ORACLE)]
    text = [f"{'mean F1':58s}" + "".join(f"{m[:12]:>14s}" for m in methods)]

    def row(label: str, values: list[float], digits: int = 3) -> None:
        text.append(f"{label:58s}" + "".join(f"{value:14.{digits}f}" for value in values))

    def mean_rank(column: str, among: list[str], sign: int) -> dict[str, float]:
        values = sign * np.array([[at[s, m][column] for m in among] for s in names])
        ranks = 1 + (values[:, None, :] > values[:, :, None] + 1e-12).sum(axis=2)
        return dict(zip(among, ranks.mean(axis=0), strict=True))

    for s in names:
        row(s, [at[s, m]["f1"] for m in methods])
    for column in ("f1", "precision", "recall", "model_error", "prediction_error", "size"):
        row(f"mean {column}", [np.mean([at[s, m][column] for s in names]) for m in methods])
    row("median seconds", [np.median([at[s, m]["seconds"] for s in names]) for m in methods])
    row("mean passes over X (-1: not counted)", [
        np.mean([at[s, m]["passes"] for s in names]) for m in methods
    ], 1)  # fmt: skip
    row("draws of a setting, at least", [min(at[s, m]["draws"] for s in names) for m in methods], 0)
    for kind in dict.fromkeys(s.split()[0] for s in names):
        mine = [s for s in names if s.startswith(kind)]
        row(f"mean F1, {kind}", [np.mean([at[s, m]["f1"] for s in mine]) for m in methods])

    def told(ranks: dict[str, float]) -> str:
        return ", ".join(f"{m} {rank:.2f}" for m, rank in sorted(ranks.items(), key=lambda i: i[1]))

    text.append("mean rank in F1: " + told(mean_rank("f1", ["AutoIRKSN", *rivals], 1)))
    ranks = mean_rank("prediction_error", ["IRKSNCV", *rivals], -1)
    text.append("mean rank in prediction error: " + told(ranks))
    best = {s: max(at[s, m]["f1"] for m in rivals) for s in names}
    auto = {s: at[s, "AutoIRKSN"]["f1"] for s in names}
    lost = [s for s in names if auto[s] < best[s] - 0.02]
    won = len(names) - len(lost)
    text.append(
        f"AutoIRKSN first or within 0.02 of first in {won} of {len(names)} settings "
        f"({won / len(names):.0%}; target 80 %)"
    )
    if ORACLE in methods:
        grouped = [s for s in names if s.startswith(GROUPED)]
        gap = sum(at[s, ORACLE]["f1"] - best[s] for s in grouped)
        closed = sum(auto[s] - best[s] for s in grouped)
        text.append(
            f"grouped settings: {closed / gap:.0%} of the gap between the best rival and the "
            "oracle is closed (target 50 %)"
        )
    text += ["lost:"] if lost else []
    text += [f"  {s}: {auto[s]:.3f}, best rival {best[s]:.3f}" for s in lost]
    return "\n".join(text)


WIDE: tuple[dict[str, Any], ...] = (
    {"kind": "ar1", "n": 100, "d": 2000, "k": 10, "rho": 0.5, "snr": 3.0},
    {"kind": "real", "name": "riboflavin", "k": 5, "sizes": "gaussian"},
    {"kind": "real", "name": "scheetz2006", "k": 10, "sizes": "equal"},
)


def speed() -> list[measure.Row]:
    """Fits of the same draws in turn; abess looks at sizes up to n / 2, as our classes do."""
    rows = []
    for setting in WIDE:
        X, y, _ = problem(seed=0, **setting)
        X, y = standardised(X), y - y.mean()
        sizes = range(len(X) // 2 + 1)
        fits: dict[str, Callable[[], Any]] = {
            "AutoIRKSN": METHODS["AutoIRKSN"],
            "IRKSNIC": METHODS["IRKSNIC"],
            "IRKSNCV": METHODS["IRKSNCV"],
            "abess 5-fold": partial(abess, cv=5, support_size=sizes),
            "LassoCV": METHODS["LassoCV"],
        }
        calls = [partial(quietly_fitted, make, X, y) for make in fits.values()]
        times = dict(zip(fits, measure.take_turns(*calls, budget=40), strict=True))
        for ours, rival in (
            ("AutoIRKSN", "abess 5-fold"),
            ("IRKSNIC", "abess 5-fold"),
            ("IRKSNCV", "LassoCV"),
        ):
            what = f"{ours} against {rival}, {_name(setting)}"
            rows.append(measure.Row(what, times[ours], times[rival], measure.at_most(1)))
    return rows


def quietly_fitted(make: Callable[[], Any], X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals warn of their own convergence
        return make().fit(X, y)


def main() -> list[measure.Row]:
    """Prints how well supports are found; the rows are the times."""
    out = Path(measure.RESULTS) / "selection"
    jobs = int(os.environ.get("KSUPPORT_JOBS", "2"))
    rows = collect(EXPERIMENT, "fair", quick=False, out=out, n_jobs=jobs, progress=True)
    print(report(table(rows)))
    return speed()
