"""Fits on a mapped file of a million rows: passes over it, and peak memory."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import fresh
from .measure import Row, Target, at_most, once

Targets = tuple[Target | None, Target | None]  # of passes, and of MB

N, D, K = 1_000_000, 200, 10
CHUNK = 4_000_000  # numbers written at once


def write(folder: Path, n: int, d: int) -> None:
    """X (float32, AR(1) with correlation 0.5) and y, chunk by chunk."""
    rng = np.random.default_rng(0)
    w = np.zeros(d)
    w[rng.choice(d, K, replace=False)] = rng.standard_normal(K)
    y, rows = np.empty(n), CHUNK // d
    with (folder / "X.dat").open("wb") as file:
        for start in range(0, n, rows):
            X = rng.standard_normal((min(rows, n - start), d), dtype=np.float32)
            for j in range(1, d):
                X[:, j] = 0.5 * X[:, j - 1] + np.float32(np.sqrt(0.75)) * X[:, j]
            y[start : start + rows] = X @ w + rng.standard_normal(len(X))
            X.tofile(file)
    np.save(folder / "y.npy", y)


def fitted(model: str, folder: Path, shape: tuple[int, int], targets: Targets) -> list[Row]:
    """Fresh process: all that a fit adds to the interpreter after ``import ksupport``."""
    n, d = shape
    child, most = fresh.watched("memory", model, str(folder), str(n), str(d))
    before, after, at = child["before"], child["after"], f"{n}x{d} float32 memmap, {model}"
    peak = after["VmHWM"] - before["VmRSS"]
    passes, memory = targets
    return [
        Row(f"{at}: passes", once(child["passes"]), target=passes, unit=""),
        Row(f"{at}: peak above imports", once(peak), target=memory, unit="MB"),
        Row("  of it anonymous", once(most["RssAnon"] - before["RssAnon"]), unit="MB"),
        Row("  of it file pages", once(most["RssFile"] - before["RssFile"]), unit="MB"),
        Row("  left after the fit", once(after["VmRSS"] - before["VmRSS"]), unit="MB"),
        Row("  interpreter after imports", once(before["VmRSS"]), unit="MB"),
        Row("  features, the true ones being ten", once(len(child["support"])), unit=""),
        Row("  time of the fit (wall)", once(child["seconds"])),
    ]


def on_file(shape: tuple[int, int], models: Mapping[str, Targets]) -> list[Row]:
    """The rows of some models, fitted to one file."""
    if not sys.platform.startswith("linux"):
        print("skipped: memory is read from /proc, which only Linux has")
        return []
    with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as name:
        folder = Path(name)
        write(folder, *shape)
        return [row for model in models for row in fitted(model, folder, shape, models[model])]


def main() -> list[Row]:
    """One path; `scale_selection` has those that choose."""
    return on_file((N, D), {"IRKSN": (at_most(3), at_most(200))})
