"""Dask arrays on a cluster of two processes: same iterates, few bytes, failures survived."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from time import sleep, time
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np

from ksupport import IRKSNIC, AutoIRKSN, path
from ksupport.design.view import Design
from ksupport.walking import Block, Result

from .measure import Row, at_most, once

N, D, K, TILE = 1000, 20_000, 20, 500
TALL, TALL_ROWS = (20_000, 2000), 2500
CHUNKS = {"rows": (125, -1), "columns": (-1, 2500), "both": (250, 5000)}
CALM: dict[str, Any] = {"k": K, "alpha": 1e-2, "max_iter": 150, "every": 2}
RESTLESS: dict[str, Any] = {
    "k": K,
    "alpha": 1e-1,
    "max_iter": 200,
    "every": 5,
}  # on noise: passes to the end
KS, ALPHAS = (1, 2, 4, 8, 12, 16, 20, 25, 30), (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)


@cache
def tile(at: int) -> Any:
    """Columns of an equicorrelated design, the same for every chunking."""
    shared = np.random.default_rng(0).standard_normal((N, 1))
    return 0.8 * np.random.default_rng([1, at]).standard_normal((N, TILE)) + 0.6 * shared


def load(counter: str | None, rows: slice, columns: slice) -> Any:
    """A block of X; if asked for, one byte in a file says that it was loaded."""
    if counter is not None:
        with open(counter, "ab") as file:
            file.write(b".")
    tiles = range(columns.start // TILE, -(-columns.stop // TILE))
    whole = np.hstack([tile(at)[rows] for at in tiles])
    first = columns.start - tiles[0] * TILE
    return whole[:, first : first + columns.stop - columns.start]


def plain(rows: slice, columns: slice) -> Any:
    return load(None, rows, columns)


def lazy(
    chunks: tuple[int, int],
    loader: Callable[..., Any] = plain,
    shape: tuple[int, int] = (N, D),
) -> Any:
    form = da.core.normalize_chunks(chunks, shape, dtype=float)
    rows, columns = (np.cumsum((0, *each)) for each in form)

    def block(block_info: Any = None) -> Any:
        i, j = block_info[None]["chunk-location"]
        return loader(slice(rows[i], rows[i + 1]), slice(columns[j], columns[j + 1]))

    return da.map_blocks(block, chunks=form, dtype=float, meta=np.empty((0, 0)))


@contextmanager
def received(client: Any) -> Iterator[list[int]]:
    """The sizes of all results that the client receives meanwhile."""
    sizes: list[int] = []
    gather = client._gather_remote

    async def counted(*args: Any, **kwargs: Any) -> Any:
        response = await gather(*args, **kwargs)
        sizes.append(len(pickle.dumps(response)))
        return response

    client._gather_remote = counted
    yield sizes
    client._gather_remote = gather


def difference(result: Result, expected: Result) -> float:
    ours, theirs = result.iterates, expected.iterates
    assert ours is not None  # all were kept
    assert theirs is not None
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def same_path(client: Any, X: Any, y: Any) -> Iterator[Row]:
    known = Design.of(X)
    expected = path("irksn", known, y, **CALM)
    for name, chunks in CHUNKS.items():
        given = lazy(chunks).persist()
        distributed.wait(given)
        with received(client) as sizes:
            design = Design.of(given)
            result = path("irksn", design, y, **CALM)
        what = f"{N}x{D}, chunks along {name}"
        yield Row(f"{what}: iterates differ by", once(difference(result, expected)),
                  target=at_most(1e-8), unit="")  # fmt: skip
        share = sum(sizes) / X.nbytes / design.passes
        yield Row(
            f"{what}: bytes received a pass / bytes of X", once(share), None, at_most(0.02), ""
        )
        yield Row(f"{what}: passes", once(design.passes), once(known.passes), unit="")


def loads(folder: str, y: Any) -> Iterator[Row]:
    """How often chunks that are not persisted are loaded, by passes and for columns."""
    counter = str(Path(folder) / "loads")
    X = lazy(CHUNKS["both"], partial(load, counter))
    design = Design.of(X)
    path("irksn", design, y, **CALM)
    loaded = os.path.getsize(counter) / X.npartitions
    yield Row("not persisted: loads of a chunk, passes", once(loaded), once(design.passes), unit="")


def die_once(marker: str, rows: slice, columns: slice) -> Any:
    with suppress(FileNotFoundError):  # one of those that find it
        os.remove(marker)
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(rows, columns)


def killed_worker(client: Any, folder: str, X: Any) -> Iterator[Row]:
    """A worker dies after the first steps: while it loads a chunk, and with chunks in memory."""
    noise = np.random.default_rng(2).standard_normal(N)
    expected = path("irksn", X, noise, **RESTLESS)
    marker = Path(folder) / "armed"
    held = lazy(CHUNKS["both"]).persist()
    distributed.wait(held)

    def arm() -> None:
        marker.touch()

    def kill() -> None:
        os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

    cases = {
        "while loading": (lazy(CHUNKS["both"], partial(die_once, str(marker))), arm),
        "holding chunks": (held, kill),
    }
    for name, (given, deed) in cases.items():
        result = path("irksn", given, noise, metrics={"deed": at_the_start(deed)}, **RESTLESS)
        yield Row(f"worker killed {name}: iterates differ by", once(difference(result, expected)),
                  target=at_most(1e-8), unit="")  # fmt: skip


def at_the_start(deed: Callable[[], None]) -> Callable[[Block], Any]:
    def metric(block: Block) -> Any:
        if block.t[0] == 0:
            deed()
        return np.zeros(len(block.t))

    return metric


def lost_scheduler(folder: str, when: str) -> Row:
    """Seconds from the death of the scheduler to the error, with the timeouts as they come."""
    address = Path(folder) / f"scheduler-{when}.json"
    command = [sys.executable, "-W", "ignore", "-m"]
    common = ["--scheduler-file", str(address), "--no-dashboard"]
    start = partial(subprocess.Popen, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    scheduler = start([*command, "distributed.cli.dask_scheduler", "--port", "0", *common])
    while not address.exists():
        sleep(0.1)
    worker = start([*command, "distributed.cli.dask_worker", "--no-nanny", *common])
    pid, grave = scheduler.pid, Path(folder) / f"died-{when}"

    def kill() -> None:
        if not grave.exists():
            grave.write_text(str(time()))
            os.kill(pid, signal.SIGKILL)

    def deadly(rows: slice, columns: slice) -> Any:
        kill()
        sleep(5)
        return plain(rows, columns)

    noise = np.random.default_rng(2).standard_normal(N)
    X = lazy(CHUNKS["both"], deadly if when == "in a pass" else plain)
    deed = {} if when == "in a pass" else {"deed": at_the_start(kill)}
    seconds = np.inf
    with distributed.Client(scheduler_file=str(address)) as client:
        client.wait_for_workers(1, timeout=60)
        try:
            path("irksn", X, noise, metrics=deed, **RESTLESS)
        except ConnectionError:
            seconds = time() - float(grave.read_text())
    for process in (worker, scheduler):
        process.kill()
        process.wait()
    return Row(f"scheduler lost {when}: until the error", once(seconds), target=at_most(60))


def many_paths(X: Any, y: Any) -> Iterator[Row]:
    held = lazy(CHUNKS["both"]).persist()
    parts: dict[str, dict[str, Any]] = {
        "paths alone": {"exchange": 0, "tie": 0.0}, "all of fit": {},
    }  # fmt: skip
    for kind, given in {"NumPy": X, "Dask": held}.items():
        for walked, more in parts.items():
            one = IRKSNIC(k=K, alpha=1e-2, **more).fit(given, y).n_passes_
            many = IRKSNIC(k=KS, alpha=ALPHAS, **more).fit(given, y).n_passes_
            yield Row(f"IRKSNIC, {kind}, {walked}: passes of {len(KS) * len(ALPHAS)} paths, of one",
                      once(many), once(one), target=at_most(3), unit="")  # fmt: skip


def tall(rows: slice, columns: slice) -> Any:
    """A chunk of rows of independent entries."""
    rng = np.random.default_rng([3, rows.start])
    return rng.standard_normal((rows.stop - rows.start, columns.stop))


def choosing(client: Any) -> Iterator[Row]:
    """AutoIRKSN on rows that two workers hold, against the same in one process."""
    (n, d), rows = TALL, TALL_ROWS
    X = np.vstack([tall(slice(at, at + rows), slice(0, d)) for at in range(0, n, rows)])
    y = X[:, :K].sum(axis=1) + 3 * np.random.default_rng(4).standard_normal(n)
    given = lazy((rows, -1), tall, TALL).persist()
    distributed.wait(given)
    expected = AutoIRKSN().fit(X, y)
    with received(client) as sizes:
        model = AutoIRKSN().fit(given, y)
    share, at = sum(sizes) / X.nbytes / model.n_passes_, f"AutoIRKSN, {n}x{d}, chunks along rows"
    wrong = int(np.count_nonzero(model.support_ != expected.support_))
    yield Row(f"{at}: passes, and NumPy's", once(model.n_passes_), once(expected.n_passes_),
              at_most(1.5), "")  # fmt: skip
    yield Row(f"{at}: bytes received a pass / bytes of X", once(share), None, at_most(0.02), "")
    yield Row(f"{at}: features that differ from NumPy's", once(wrong), None, at_most(0), "")


def main() -> list[Row]:
    rng = np.random.default_rng(0)
    X = np.hstack([tile(at) for at in range(D // TILE)])
    w = np.zeros(D)
    w[rng.choice(D, K, replace=False)] = 2.0 * rng.choice([-1, 1], K)
    y = X @ w + 3 * rng.standard_normal(N)
    with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as folder:
        with (
            # On a busy machine a new worker may take long; the cluster must not give it up.
            dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"}),
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            rows = [
                *same_path(client, X, y),
                *loads(folder, y),
                *killed_worker(client, folder, X),
                *many_paths(X, y),
                *choosing(client),
            ]
        rows += [lost_scheduler(folder, when) for when in ("in a pass", "between passes")]
    return rows
