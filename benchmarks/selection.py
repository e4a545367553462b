"""Which support does one get without knowing the truth?  Honest tuning only.

Every method is run as its users run it, with no knowledge of the truth.  Settings, all optional:
KSUPPORT_SEEDS (draws of each setting for every method; else the slow ones get fewer),
KSUPPORT_SETTINGS (kinds of designs, "blocks,real"), KSUPPORT_METHODS ("AutoIRKSN,LassoCV"),
KSUPPORT_JOBS (processes, 2), KSUPPORT_DEVELOPMENT (1: the draws on which constants may be chosen),
KSUPPORT_RESULTS (the folder of results).  Results are stored as they come, so that a run can be
interrupted and gone on with.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ksupport.experiments.experiment import Cell, Experiment, Row
from ksupport.experiments.runner import STORE, collect
from ksupport.experiments.store import Store, cell_key

from . import measure, selection_prediction, selection_stability
from .selection_designs import (
    DEVELOPMENT,
    NOISE,
    SUPPORT_ONLY,
    Setting,
    first_seed,
    fixed,
    label,
    problem,
    settings,
    standardised,
)
from .selection_metrics import scores
from .selection_noise import said_of_rows
from .selection_report import report, table
from .selection_rivals import (
    FORMER,
    METHODS,
    ORACLE,
    RELEASES,
    TOLD,
    abess,
    asked_for,
    draws,
)

ONE_OF_SEVERAL = ("name", "drug", "profile", "trait")  # problems that are read together


def compute(method: str, release: int, seed: int, **setting: Any) -> list[Row]:
    """One method on one draw, with standardised columns."""
    X, y, w = problem(seed=seed, **setting)
    X, y, w = standardised(X), y - y.mean(), w * X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals warn of their own convergence
        model = METHODS[method]()
        if method == ORACLE:
            model.truth = w
        of_rows = said_of_rows(setting.get("law", ""), seed) if method in TOLD else {}
        started = time.process_time()
        model.fit(X, y, **of_rows)
        seconds = time.process_time() - started
    row = {
        "method": method,
        "seed": seed,
        "kind": setting["kind"],
        "setting": label(setting, ONE_OF_SEVERAL),
        "problem": label(setting),
        "snr": setting.get("snr"),
        "n": len(X),
        "seconds": seconds,
    }
    known = setting["kind"] not in SUPPORT_ONLY
    return [row | scores(model, X, y, w, coefficients_known=known)]


def cells(protocol: str, quick: bool, among: tuple[str, ...] = tuple(METHODS)) -> list[Cell]:
    """All draws of all settings, the first draw of everything first."""
    kinds = [kind for kind in os.environ.get("KSUPPORT_SETTINGS", "").split(",") if kind]
    first = first_seed()
    wanted = [
        (i, {"method": method, "release": RELEASES.get(method, 1), **s, "seed": first + i})
        for s in settings(*kinds)
        if not (fixed(s) and first == DEVELOPMENT)  # there are no other draws of these
        for method in asked_for(among)
        if not (method == ORACLE and s["kind"] in NOISE)
        for i in range(_draws(method, s, quick))
    ]
    return [cell for _, cell in sorted(wanted, key=lambda pair: pair[0])]


def _draws(method: str, setting: Setting, quick: bool) -> int:
    asked = os.environ.get("KSUPPORT_SEEDS", "1" if quick else "")
    count = draws(method, setting["kind"])
    return min(count, 1) if fixed(setting) else int(asked) if asked else count


EXPERIMENT = Experiment(
    "selection",
    __doc__.splitlines()[0],
    2,
    cells,
    compute,
    lambda rows, out: None,
    table,
    protocols=("fair",),
)


def stored(experiment: Experiment, wanted: list[Cell], out: Path) -> list[Row]:
    """The rows of those cells that were computed once."""
    known = Store(out / STORE).get(experiment, "fair")
    keys = [cell_key(experiment, cell) for cell in wanted]
    return [row for key in keys if key in known for row in known[key]]


def measured() -> Iterator[list[Row]]:
    """Rows of the fits, of the stability and of the prediction, computing what is not stored."""
    out = Path(measure.RESULTS) / "selection"
    jobs = int(os.environ.get("KSUPPORT_JOBS", "2"))
    for experiment, grid in (
        (EXPERIMENT, cells),
        (selection_stability.EXPERIMENT, selection_stability.cells),
        (selection_prediction.EXPERIMENT, selection_prediction.cells),
    ):
        rows = collect(experiment, "fair", quick=False, out=out, n_jobs=jobs, progress=True)
        yield rows + stored(experiment, grid("fair", False, FORMER), out)


WIDE: tuple[Setting, ...] = (
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
        fits: dict[str, Callable[[], Any]] = {
            **{name: METHODS[name] for name in ("AutoIRKSN", "IRKSNIC", "IRKSNCV", "LassoCV")},
            "abess 5-fold": partial(abess, cv=5, support_size=range(len(X) // 2 + 1)),
        }
        calls = [partial(quietly_fitted, make, X, y) for make in fits.values()]
        times = dict(zip(fits, measure.take_turns(*calls, budget=40), strict=True))
        for ours, rival in (
            ("AutoIRKSN", "abess 5-fold"),
            ("IRKSNIC", "abess 5-fold"),
            ("IRKSNCV", "LassoCV"),
        ):
            what = f"{ours} against {rival}, {label(setting)}"
            rows.append(measure.Row(what, times[ours], times[rival], measure.at_most(1)))
    return rows


def quietly_fitted(make: Callable[[], Any], X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals warn of their own convergence
        return make().fit(X, y)


def main() -> list[measure.Row]:
    """Prints how well supports are found; the rows are the times."""
    print(report(*measured()))
    return speed()
