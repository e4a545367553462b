"""Mixed fits in one process for an hour: memory, threads, handles; and what tiny fits spend.

``KSUPPORT_MINUTES`` says how long, 60 unless told. A round fits each kind of model on each kind of
X once, on data of its own; after each the process is weighed. Modules and caches
fill in the first fifth of the time, which is not judged.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.linear_model import Ridge

from ksupport import (
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    KSN,
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    PathCV,
    stability_selection,
)
from ksupport.explain.report import build_report

from .data import correlated
from .measure import Row, Timing, at_most, of_one_thread, once, take_turns

MINUTES = float(os.environ.get("KSUPPORT_MINUTES", 60))
SIZES = ((40, 30), (60, 400), (300, 50))
TINY = 20, 10
FITS = 10_000
FLAT = 1.01  # memory in the end, against that in the beginning
VALIDATION = 1 / 3  # of a tiny fit
LATENCY = 1.5  # times ridge regression's, whose predict is scikit-learn's own


@dataclass(frozen=True)
class Weight:
    """What a process holds at one moment."""

    megabytes: float
    threads: int
    handles: int

    @classmethod
    def now(cls) -> Weight:
        gc.collect()
        process = psutil.Process()
        handles = process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
        return cls(process.memory_info().rss / 1e6, process.num_threads(), handles)


def jobs(X: Any, y: Any, scratch: Path) -> Iterator[Callable[[], Any]]:
    """Every kind of model, and every kind of X."""
    labels, times = y > np.median(y), np.exp(y - y.min())
    survival = np.array(list(zip(labels, times, strict=True)), [("event", "?"), ("time", "f8")])
    file = scratch / "X.npy"
    np.save(file, X)
    yield lambda: IRKSN(k=3, stopping="held_out", random_state=0).fit(X, y).predict(X)
    yield lambda: IRKSN(k=3).fit(X.astype(np.float32), y).certify(X.astype(np.float32), y)
    yield lambda: IRKSN(k=3).fit(sparse.csr_array(X * (np.abs(X) > 1)), y)
    yield lambda: IRKSN(k=3).fit(aslinearoperator(X), y)
    yield lambda: AutoIRKSN().fit(np.load(file, mmap_mode="r"), y)
    yield lambda: IRKSN(k=3, unpenalized=[0]).fit(X, y, np.linspace(1, 2, len(y)))
    yield lambda: IRKSN(k=3, loss="huber").fit(X, np.column_stack([y, -y]))
    yield lambda: KSN(k=3, lam=1.0).fit(X, y)
    yield lambda: IRKSNIC(n_jobs=2).fit(X, y)
    yield lambda: IRKSNCV(n_jobs=2).fit(X, y)
    yield lambda: PathCV("srdi").fit(X, y)
    yield lambda: IRKSNClassifier(k=3).fit(X, labels).predict_proba(X)
    yield lambda: AutoIRKSNClassifier().fit(X, labels)
    yield lambda: AutoIRKSNSurvival().fit(X, survival)
    yield lambda: stability_selection(IRKSN(k=3), X, y, n_pairs=2, n_jobs=2, random_state=0)
    yield lambda: build_report(AutoIRKSN().fit(X, y), X, y)


def one_round(seed: int, scratch: Path) -> int:
    """Fit everything once, and tell how often that was."""
    done = 0
    for n, d in SIZES:
        X, y, _ = correlated(n, d, 3, seed)
        for job in jobs(X, y, scratch):
            job()
            done += 1
    return done


def rounds() -> tuple[int, list[Weight]]:
    """How many fits there were, and what the process weighed after each round."""
    end, fits = time.monotonic() + 60 * MINUTES, 0
    weights: list[Weight] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        while time.monotonic() < end:
            fits += one_round(len(weights), Path(scratch))
            weights.append(Weight.now())
    return fits, weights


def judged(fits: int, weights: list[Weight]) -> list[Row]:
    """The last fifth of the rounds against the second."""
    fifth = max(len(weights) // 5, 1)
    before, after = weights[fifth : 2 * fifth] or weights[:1], weights[-fifth:]
    memory = [statistics.median(each.megabytes for each in part) for part in (before, after)]
    later = weights[fifth:] or weights
    threads, handles = ({getattr(each, what) for each in later} for what in ("threads", "handles"))
    return [
        Row(f"fits in {MINUTES:g} minutes, {len(weights)} rounds", once(fits), unit=""),
        Row("memory at the end, and after a fifth", once(memory[1]), once(memory[0]),
            at_most(FLAT), "MB"),
        Row("threads: most, and fewest, after a round", once(max(threads)), once(min(threads)),
            at_most(1), ""),
        Row("handles: the same", once(max(handles)), once(min(handles)), at_most(1), ""),
    ]  # fmt: skip


def tiny() -> list[Row]:
    """What of a tiny fit is validation, and how long a prediction of one row takes."""
    X, y, _ = correlated(*TINY, 2)
    model, theirs = IRKSN(k=2).fit(X, y), Ridge().fit(X, y)
    times, row = FITS // 10, X[:1]

    def repeated(call: Callable[[], Any], count: int = times) -> Callable[[], None]:
        def calls() -> None:
            for _ in range(count):
                call()

        return calls

    def validate() -> None:
        model._check_parameters()
        _, checked = model._validated(X, y, multi_output=True)
        model._weights_for(checked, None)

    def per_call(*calls: Callable[[], Any]) -> list[Timing]:
        turns = take_turns(*map(repeated, calls), repeats=10, budget=300)
        return [timing.per(times) for timing in turns]

    validating, fitting = per_call(validate, lambda: model.fit(X, y))
    ours, ridge = per_call(lambda: model.predict(row), lambda: theirs.predict(row))
    return [
        Row(f"validation, of a fit of {TINY[0]} x {TINY[1]} ({FITS} fits)", validating, fitting,
            at_most(VALIDATION)),
        Row("predict for one row, against ridge regression's", ours, ridge, at_most(LATENCY)),
    ]  # fmt: skip


def main() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that noise is noise, and paths are short
        with of_one_thread():
            rows = tiny()
        return [*rows, *judged(*rounds())]
