"""What a walk costs, by formula, beside what it was measured to cost at three sizes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ksupport import limits
from ksupport.algorithms.irksn import IRKSNMethod
from ksupport.design.blocks import ArrayStore
from ksupport.design.view import Design
from ksupport.walking import run

from .data import correlated
from .measure import Row, at_most, elapsed, once

SIZES = ((100, 20_000), (200, 60_000), (400, 100_000))  # n, d
K, STEPS, REPEATS = 10, 60, 3


@dataclass(frozen=True)
class Cost:
    """Of paths walked side by side on an n x d array that is read by blocks.

    ``refreshes`` (of the path that needs most), ``vectors`` (multiplied in all of them, of a path)
    and ``working`` (columns in a working set) are what the data decide; they grow with neither n
    nor d.
    """

    n: int
    d: int
    itemsize: int
    steps: int
    paths: int
    refreshes: int
    vectors: int
    working: int
    k: int

    @property
    def passes(self) -> int:
        """Means, refreshes."""
        return 1 + self.refreshes

    @property
    def bytes_read(self) -> float:
        columns = self.refreshes * self.working * self.paths
        return self.itemsize * self.n * (self.passes * self.d + columns)

    @property
    def flops(self) -> dict[str, float]:
        """Of moments, refreshes, and steps, 1.2 trials each, which stay in cache."""
        n, d = self.n, self.d
        return {
            "moments": 5.0 * n * d,
            "refreshes": 2.0 * n * d * self.paths * self.vectors,
            "steps": 2.4 * n * (self.working + 4 * self.k) * self.steps * self.paths,
        }

    @property
    def memory(self) -> float:
        """Bytes: blocks, recent columns, working sets, products, vectors of length d."""
        block = min(limits.CHUNK, self.n * self.d)
        columns = min(limits.READ_COLUMNS, self.n * self.working * self.paths)
        sets = self.n * self.working * self.paths
        recalled = min(limits.RECALLED, 8 * self.d * self.vectors)
        return 8.0 * (5 * block + columns + 2 * sets + self.d * (6 + self.paths)) + recalled


class Meter(ArrayStore):
    """Counts the bytes that are asked of the file, and how often for the whole of it."""

    asked = sweeps = vectors = 0

    def rmatmat(self, U: Any) -> Any:
        self.vectors += U.shape[1]
        return super().rmatmat(U)

    def _sweep(self, parts: Any) -> Any:
        self.sweeps += 1
        return super()._sweep(parts)

    def _read(self, rows: slice, columns: slice) -> Any:
        self.asked += self.X[rows, columns].nbytes
        return super()._read(rows, columns)

    def _read_columns(self, index: Any) -> Any:
        self.asked += self.shape[0] * index.size * self.dtype.itemsize
        return super()._read_columns(index)


def least(call: Callable[[], Any]) -> float:
    """Seconds of the fastest of a few calls."""
    return min(elapsed(call) for _ in range(REPEATS))


def speeds(n: int, d: int, folder: Path) -> tuple[float, float]:
    """Numbers read and multiplied by a vector, and flops of a matrix product, a second."""
    X = np.memmap(folder / "speed", np.float32, "w+", shape=(n, d))
    X[:] = 1.0
    store, u = ArrayStore(X), np.ones((n, 1))
    stream = n * d / least(lambda: store.rmatmat(u))
    A = np.ones((n, limits.CHUNK // n))
    return stream, 2 * n * A.size / least(lambda: A @ A.T)


def measured(n: int, d: int, folder: Path) -> tuple[Cost, Meter, float, float]:
    """One path: the model with what the data decided, bytes, seconds, peak memory."""
    X, y, _ = correlated(n, d, K)
    mapped = np.memmap(folder / "X", np.float32, "w+", shape=(n, d))
    mapped[:] = X
    del X

    def walk() -> tuple[Meter, Any]:
        store = Meter(mapped)
        design = Design(store).centred()
        path = IRKSNMethod(k=K, alpha=1e-3).start(design, y)
        run([path], max_iter=STEPS, every=5, keep="last")
        return store, path

    store, path = walk()
    seconds = least(walk)
    tracemalloc.start()
    walk()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    cost = Cost(n, d, 4, STEPS, 1, store.sweeps - 1, store.vectors, path.features.size, K)
    return cost, store, seconds, peak


def main() -> list[Row]:
    """Prediction in the place of the rival; ratios near 1 say that the formulas hold."""
    rows: list[Row] = []
    for n, d in SIZES:
        with TemporaryDirectory(prefix="ksupport-bench-") as name:
            stream, product = speeds(n, d, Path(name))
            cost, store, seconds, peak = measured(n, d, Path(name))
        at = f"{n}x{d}, {cost.passes} passes, {cost.working} columns in the working set"
        flops = cost.flops
        multiplied = flops["refreshes"] + flops["steps"]
        predicted = cost.passes * n * d / stream + multiplied / product
        asked = once(store.asked / 2**20)
        rows += [
            Row(f"{at}: read", asked, once(cost.bytes_read / 2**20), at_most(1.1), "MB"),
            Row(f"{at}: time", once(seconds), once(predicted), at_most(2)),
            Row(f"{at}: memory", once(peak / 2**20), once(cost.memory / 2**20), at_most(1.1), "MB"),
        ]  # fmt: skip
    return rows
