"""A fit on a mapped file of a million rows: passes over it, and peak memory."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from . import fresh
from .measure import Row, at_most, once

N, D, K, CHUNK = 1_000_000, 200, 10, 20_000


def write(folder: Path) -> None:
    """X (float32, AR(1) with correlation 0.5) and y, chunk by chunk."""
    rng = np.random.default_rng(0)
    w = np.zeros(D)
    w[rng.choice(D, K, replace=False)] = rng.standard_normal(K)
    y = np.empty(N)
    with (folder / "X.dat").open("wb") as file:
        for start in range(0, N, CHUNK):
            X = rng.standard_normal((CHUNK, D), dtype=np.float32)
            for j in range(1, D):
                X[:, j] = 0.5 * X[:, j - 1] + np.float32(np.sqrt(0.75)) * X[:, j]
            y[start : start + CHUNK] = X @ w + rng.standard_normal(CHUNK)
            X.tofile(file)
    np.save(folder / "y.npy", y)


def main() -> list[Row]:
    """Fresh process: all that the fit adds to the interpreter after ``import ksupport``."""
    if not sys.platform.startswith("linux"):
        print("skipped: memory is read from /proc, which only Linux has")
        return []
    fresh.run("first_fit", "30", "50")  # so that compiled code is cached
    with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as folder:
        write(Path(folder))
        child, most = fresh.watched("memory", folder, str(N), str(D))
    before, after, at = child["before"], child["after"], f"{N}x{D} float32 memmap, 1000 steps"
    peak = after["VmHWM"] - before["VmRSS"]
    return [
        Row(f"{at}: passes", once(child["passes"]), target=at_most(3), unit=""),
        Row(f"{at}: peak above imports", once(peak), target=at_most(200), unit="MB"),
        Row("  of it anonymous", once(most["RssAnon"] - before["RssAnon"]), unit="MB"),
        Row("  of it file pages", once(most["RssFile"] - before["RssFile"]), unit="MB"),
        Row("  left after the fit", once(after["VmRSS"] - before["VmRSS"]), unit="MB"),
        Row("  interpreter after imports", once(before["VmRSS"]), unit="MB"),
        Row("  time of the fit (wall)", once(child["seconds"])),
    ]
