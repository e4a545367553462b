"""Where passes over X, columns read and CPU seconds go, phase by phase, in selections."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN
from ksupport.choosing import choice, folds, selecting
from ksupport.choosing.exchange import Around
from ksupport.design import problem, spectra
from ksupport.design.stores import Store
from ksupport.inference import automatic
from ksupport.posterior import candidates

from .data import correlated

SIZES = ((1000, 5000), (2000, 20_000))
K = 10  # true features
# What a phase is: where its functions are called, and by what name.
PHASES: dict[str, list[tuple[Any, str]]] = {
    "preparing": [(problem, "centred_together")],
    "norms": [(spectra, "norm"), (spectra, "column_norms")],
    "walks on all rows": [(selecting, "run"), (automatic, "run")],  # of AutoIRKSN, on folds too
    "walks on folds": [(folds, "run")],
    "sampling": [(automatic, "posteriors")],
    "permutations": [(automatic, "permutation_p_value")],
    "refits": [(choice, "refit_all"), (folds, "refit_all"), (candidates, "refit_all")],
    "exchange": [(choice, "improve"), (Around, "all")],
}  # fmt: skip
REST = "the rest"


class Meter:
    """Counts what was spent since the last look for the phase under way."""

    def __init__(self) -> None:
        self.stores: list[Store] = []
        self.under_way = [REST]
        self.spent: dict[str, Counter[str]] = {name: Counter() for name in (*PHASES, REST)}
        self.last = self._now()

    def _now(self) -> Counter[str]:
        return Counter(
            passes=sum(store.passes for store in self.stores),
            columns=sum(store.columns_read for store in self.stores),
            nanoseconds=time.process_time_ns(),
        )

    def settle(self) -> None:
        now = self._now()
        self.spent[self.under_way[-1]] += now - self.last
        self.last = now

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.settle()
        self.under_way.append(name)
        try:
            yield
        finally:
            self.settle()
            self.under_way.pop()

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def counting(*args: Any, **kwargs: Any) -> Any:
            with self.phase(name):
                return function(*args, **kwargs)

        return counting


@contextmanager
def metered() -> Iterator[Meter]:
    """Meanwhile every phase is counted; stores that are made report to the meter."""
    meter = Meter()
    make = Store.__init__

    def made(store: Store, *args: Any, **kwargs: Any) -> None:
        make(store, *args, **kwargs)
        meter.stores.append(store)

    with ExitStack() as patches:
        patches.enter_context(patch.object(Store, "__init__", made))
        for name, places in PHASES.items():
            for where, function in places:
                counting = meter.counted(name, getattr(where, function))
                patches.enter_context(patch.object(where, function, counting))
        yield meter
        meter.settle()


def table(meter: Meter) -> Iterator[str]:
    total = sum(meter.spent.values(), Counter())
    yield f"  {'phase':<18} {'passes':>7} {'columns':>8} {'CPU s':>7}"
    for name, spent in [*meter.spent.items(), ("all", total)]:
        seconds = spent["nanoseconds"] / 1e9
        yield f"  {name:<18} {spent['passes']:>7} {spent['columns']:>8} {seconds:>7.2f}"


def main() -> None:
    """Print a table for each model and size: ``make bench-phases``."""
    models = {"AutoIRKSN": AutoIRKSN(), "IRKSNIC": IRKSNIC(), "IRKSNCV": IRKSNCV()}
    for model in models.values():
        model.fit(*correlated(120, 900, K)[:2])  # so that all is imported
    for n, d in SIZES:
        X, y, w = correlated(n, d, K)
        for name, model in models.items():
            with threadpool_limits(1), metered() as meter:
                support = model.fit(X, y).support_
            hits = np.count_nonzero(support & (w != 0))
            f1 = 2 * hits / (np.count_nonzero(support) + np.count_nonzero(w))
            print(f"{name}, {n} x {d}: F1 {f1:.2f}", *table(meter), sep="\n", flush=True)
