"""What is measured inside fresh processes: each function prints one line of JSON."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

import numpy as np


def memory(folder: str, n: str, d: str) -> dict[str, Any]:
    """Fit IRKSN on a mapped file; memory after imports, at the peak, and at the end, in MB."""
    from ksupport import IRKSN

    before = status()
    X = np.memmap(f"{folder}/X.dat", np.float32, "r", shape=(int(n), int(d)))
    y = np.load(f"{folder}/y.npy")
    start = perf_counter()
    model = IRKSN(k=10, max_iter=1000).fit(X, y)
    return {
        "before": before,
        "after": status(),
        "passes": model.n_passes_,
        "seconds": perf_counter() - start,
        "support": np.flatnonzero(model.support_).tolist(),
    }


def on_disk(folder: str, kind: str) -> dict[str, Any]:
    """Fit IRKSN on X in a file, or, if ``kind`` begins with "whole", on all of it in memory."""
    from ksupport import IRKSN

    how, _, dtype = kind.rpartition(" ")
    shape = tuple(np.load(f"{folder}/shape.npy"))
    y = np.load(f"{folder}/y.npy")
    before = status()
    if how == "zarr":
        import zarr

        X = zarr.open_array(f"{folder}/zarr {dtype}", mode="r")
    else:
        order = "F" if how == "F" else "C"
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


def first_fit(n: str, d: str) -> dict[str, float]:
    """Seconds of the first fit after the import."""
    from ksupport import IRKSN

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((int(n), int(d))), rng.standard_normal(int(n))
    wall, cpu = perf_counter(), process_time()
    IRKSN(k=10).fit(X, y)
    return {"wall": perf_counter() - wall, "cpu": process_time() - cpu}


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    parts = (memory, on_disk, importing, first_fit)
    measure = {part.__name__: part for part in parts}[what]
    print(json.dumps(measure(*arguments)))
