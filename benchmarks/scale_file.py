"""One file of 4000 x 50 000 numbers, as a memmap and as a Dask array on threads: passes over it.

Some six CPU minutes, and 800 MB of disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ksupport import IRKSN, AutoIRKSN

from .measure import Row, at_most, once

N, D, STRIP, CHUNKS = 4000, 50_000, 2500, (1000, 5000)
N_TRUE = 12


def write(path: Path) -> NDArray[np.float64]:
    """Equicorrelated columns, some of which explain half of the variance of the response."""
    X = np.lib.format.open_memmap(path, "w+", np.float32, (N, D))
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((N, 1), dtype=np.float32)
    for at in range(0, D, STRIP):
        X[:, at : at + STRIP] = 0.8 * rng.standard_normal((N, STRIP), np.float32) + 0.6 * shared
    true, w = rng.choice(D, N_TRUE, replace=False), rng.standard_normal(N_TRUE)
    y = X[:, np.sort(true)] @ (w + np.sign(rng.standard_normal(N_TRUE)))
    return np.asarray(y + y.std() * rng.standard_normal(N))


def compared(file: Path, y: NDArray[np.float64]) -> Iterator[Row]:
    X = np.load(file, mmap_mode="r")
    lazy = da.from_array(X, chunks=CHUNKS, asarray=False, name=False)
    with dask.config.set(scheduler="threads", num_workers=2):
        for model in (IRKSN(k=20, standardize=True), AutoIRKSN()):
            mine, theirs = clone(model).fit(lazy, y), clone(model).fit(X, y)
            what = f"{type(model).__name__}, {N}x{D}, Dask on threads"
            wrong = int(np.count_nonzero(mine.support_ != theirs.support_))
            passes = once(mine.n_passes_), once(theirs.n_passes_)
            yield Row(f"{what}: passes, and memmap's", passes[0], passes[1], at_most(1.5), "")
            yield Row(f"{what}: features that differ", once(wrong), None, at_most(0), "")


def main() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as folder:
        file = Path(folder) / "X.npy"
        return list(compared(file, write(file)))
