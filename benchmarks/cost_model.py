"""What a walk costs, by formula, beside what it was measured to cost at three sizes."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from ksupport import limits
from ksupport.algorithms.irksn import IRKSNMethod
from ksupport.design.blocks import ArrayStore
from ksupport.design.view import Design
from ksupport.walking import run

from .data import correlated
from .measure import Row, at_most, once

SIZES = ((100, 20_000), (200, 60_000), (400, 100_000))  # n, d
K, STEPS = 10, 60


@dataclass(frozen=True)
class Cost:
    """Of paths walked side by side on an n x d array that is read by blocks.

    ``refreshes`` (of the path that needs most) and ``working`` (columns in a working set) are what
    the data decide; they grow with neither n nor d.
    """

    n: int
    d: int
    itemsize: int
    steps: int
    paths: int
    refreshes: int
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
        """Moments and refreshes stream X; steps, 1.2 trials each, stay in cache."""
        n, d = self.n, self.d
        return {
            "stream": 5.0 * n * d + 2.0 * n * d * self.paths * self.refreshes,
            "steps": 2.4 * n * (self.working + 4 * self.k) * self.steps * self.paths,
        }

    @property
    def memory(self) -> float:
        """Bytes: blocks, recent columns, working sets, vectors of length d."""
        block = min(limits.CHUNK, self.n * self.d)
        columns = min(limits.READ_COLUMNS, self.n * self.working * self.paths)
        sets = self.n * self.working * self.paths
        return 8.0 * (5 * block + columns + 2 * sets + self.d * (6 + self.paths))


class Meter(ArrayStore):
    """Counts the bytes that are asked of the file."""

    asked = 0

    def _read(self, rows: slice, columns: slice) -> Any:
        self.asked += self.X[rows, columns].nbytes
        return super()._read(rows, columns)

    def _read_columns(self, index: Any) -> Any:
        self.asked += self.shape[0] * index.size * self.dtype.itemsize
        return super()._read_columns(index)


def speeds(n: int, d: int, folder: Path) -> tuple[float, float]:
    """Numbers read and multiplied by a vector, and flops of a matrix product, a second."""
    X = np.memmap(folder / "speed", np.float32, "w+", shape=(n, d))
    X[:] = 1.0
    store, u = ArrayStore(X), np.ones((n, 1))
    store.rmatmat(u)
    start = perf_counter()
    store.rmatmat(u)
    stream = n * d / (perf_counter() - start)
    A = np.ones((n, limits.CHUNK // n))
    A @ A.T
    start = perf_counter()
    A @ A.T
    return stream, 2 * n * A.size / (perf_counter() - start)


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

    walk()
    start = perf_counter()
    store, path = walk()
    seconds = perf_counter() - start
    tracemalloc.start()
    walk()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    cost = Cost(n, d, 4, STEPS, 1, store.passes - 1, path.features.size, K)
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
        predicted = cost.passes * n * d / stream + flops["steps"] / product
        asked = once(store.asked / 2**20)
        rows += [
            Row(f"{at}: read", asked, once(cost.bytes_read / 2**20), at_most(1.1), "MB"),
            Row(f"{at}: time", once(seconds), once(predicted), at_most(2)),
            Row(f"{at}: memory", once(peak / 2**20), once(cost.memory / 2**20), at_most(1.1), "MB"),
        ]  # fmt: skip
    return rows
