"""What is measured inside fresh processes: each function prints one line of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Literal, TypeVar

import numpy as np

Known = TypeVar("Known")


def memory(model: str, folder: str, n: str, d: str) -> dict[str, Any]:
    """Fit a model on a mapped file; memory after imports, at the peak, and at the end, in MB."""
    from ksupport import IRKSN, AutoIRKSN

    models: dict[str, Callable[[], Any]] = {
        "IRKSN": partial(IRKSN, k=10, max_iter=1000),
        "held-out": partial(IRKSN, k=10, stopping="held_out", random_state=0),
        "AutoIRKSN": AutoIRKSN,
    }
    before = status()
    X = np.memmap(f"{folder}/X.dat", np.float32, "r", shape=(int(n), int(d)))
    y = np.load(f"{folder}/y.npy")
    start = perf_counter()
    fitted = models[model]().fit(X, y)
    return {
        "before": before,
        "after": status(),
        "passes": fitted.n_passes_,
        "seconds": perf_counter() - start,
        "support": np.flatnonzero(fitted.support_).tolist(),
    }


def on_disk(folder: str, kind: str) -> dict[str, Any]:
    """Fit IRKSN on X in a file, or, if ``kind`` begins with "whole", on all of it in memory."""
    from ksupport import IRKSN

    how, _, dtype = kind.rpartition(" ")
    shape = tuple(np.load(f"{folder}/shape.npy"))
    y = np.load(f"{folder}/y.npy")
    before = status()
    X: Any
    if how == "zarr":
        import zarr

        X = zarr.open_array(f"{folder}/zarr {dtype}", mode="r")
    else:
        order: Literal["C", "F"] = "F" if how == "F" else "C"
        X = np.memmap(f"{folder}/{order} {dtype}", dtype, "r", shape=shape, order=order)
    if how == "whole":
        X = np.array(X, np.result_type(X.dtype, np.float32))
    wall, cpu = perf_counter(), process_time()
    model = IRKSN(k=20, alpha=1e-3, max_iter=500).fit(X, y)
    return {
        "wall": perf_counter() - wall,
        "cpu": process_time() - cpu,
        "passes": model.n_passes_,
        "before": before,
        "peak": status()["VmHWM"],
        "support": np.flatnonzero(model.support_).tolist(),
    }


def status() -> dict[str, float]:
    """Resident memory now (VmRSS: anonymous and file pages) and at most so far (VmHWM), in MB."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    names = ("VmHWM", "VmRSS", "RssAnon", "RssFile")
    return {name: int(fields[name].split()[0]) / 1024 for name in names}


def importing(module: str) -> dict[str, float]:
    """Seconds that an import takes, NumPy not being counted."""
    wall, cpu = perf_counter(), process_time()
    import_module(module)
    return {"wall": perf_counter() - wall, "cpu": process_time() - cpu}


def first_and_second(kind: str) -> dict[str, float]:
    """Seconds of CPU of the first fit of an estimator in a process, and of the same once more."""
    import ksupport

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 100))
    y = X[:, :3] @ [2.0, -2.0, 1.0] + 0.5 * rng.standard_normal(60)
    targets = {
        "AutoIRKSN": y,
        "AutoIRKSNClassifier": (y > 0).astype(int),
        "AutoIRKSNSurvival": np.column_stack([np.exp(-y / np.std(y)), np.ones(60)]),
    }
    times = []
    for _ in range(2):
        start = process_time()
        getattr(ksupport, kind)().fit(X, targets[kind])
        times.append(process_time() - start)
    return {"first": times[0], "second": times[1]}


def first_fit(n: str, d: str) -> dict[str, float]:
    """Seconds of the first fit after the import."""
    from ksupport import IRKSN

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((int(n), int(d))), rng.standard_normal(int(n))
    wall, cpu = perf_counter(), process_time()
    IRKSN(k=10).fit(X, y)
    return {"wall": perf_counter() - wall, "cpu": process_time() - cpu}


def known(value: Known | None) -> Known:
    """What the simulated brain and IRKSN's walk always have."""
    assert value is not None
    return value


def tuned_on_brain(method: str) -> dict[str, float]:
    """One method with the paper's grid on the simulated brain; the data are not timed."""
    from ksupport.experiments.fmri_data import brain, split_of, walk_of
    from ksupport.experiments.prediction_walk import tune

    recordings = brain(quick=False)
    split, walk = split_of(recordings, False), walk_of(method, "paper", recordings.k, quick=False)
    wall, cpu = perf_counter(), process_time()
    best = tune(walk, split)
    times = {"wall": perf_counter() - wall, "cpu": process_time() - cpu}
    distance = float(np.linalg.norm(best.w - known(recordings.truth)))
    return {**times, "distance": distance, "peak": status()["VmHWM"]}


def irksn_on_brain(few: str) -> dict[str, Any]:
    """IRKSN to the best validation error, by both norms, and ``few`` steps of the plain loop."""
    from ksupport.experiments.fmri_data import ALPHA, brain, split_of, walk_of
    from ksupport.experiments.prediction_walk import tune

    sys.path.insert(0, str(Path(__file__).parent.parent))
    from benchmarks import baselines

    recordings = brain(quick=False)
    found: dict[str, Any] = {}
    for protocol in ("paper", "fair"):
        walk = walk_of("irksn", protocol, recordings.k, quick=False)
        tune(
            replace(walk, steps=known(walk.every)), split_of(recordings, False)
        )  # imports what is needed
        split = split_of(recordings, False)
        wall, cpu = perf_counter(), process_time()
        best = tune(walk, split)
        found[protocol] = {"wall": perf_counter() - wall, "cpu": process_time() - cpu}
        found[f"{protocol} steps"] = best.t
    X, y = split.X_train, split.centred(split.y_train)
    norm = split.design.norm("nuclear")
    iterates = baselines.irksn(X, y, k=recordings.k, alpha=ALPHA, norm=norm)
    wall, cpu = perf_counter(), process_time()
    baselines.walk(iterates, known(recordings.truth), int(few))
    plain = {"wall": perf_counter() - wall, "cpu": process_time() - cpu}
    return {
        "ours": found["paper"], "steps": found["paper steps"], "numpy": plain,
        "spectral": found["fair"], "best": found["fair steps"],
    }  # fmt: skip


MEASURES = (
    memory, on_disk, importing, first_fit, first_and_second, tuned_on_brain, irksn_on_brain,
)  # fmt: skip

if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    measure = {each.__name__: each for each in MEASURES}[what]
    print(json.dumps(measure(*arguments)))
