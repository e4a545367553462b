"""Run experiments: cells in parallel, results in a store, tables and figures from the store."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from .._common.files import check_writable
from .._common.phases import phase
from .._common.progress import show_progress
from ..walking import whole_walks_only
from .experiment import Cell, Experiment, Protocol, Row
from .figures import marked
from .files import write_csv
from .store import Store, cell_key

STORE = "results.sqlite"
QUICK = "quick run: not the experiment"  # in the corner of every figure of one


class NothingToRunError(OSError):
    """Every part of an experiment lacks data or packages."""


def folder_of(out: Path, protocol: str, quick: bool = False) -> Path:
    """Where tables and figures go; those of quick runs never stand where full ones do."""
    return Path(out) / (f"{protocol}-quick" if quick else protocol)


def reproduce(
    experiment: Experiment,
    protocol: Protocol,
    *,
    quick: bool = False,
    out: Path,
    n_jobs: int = 2,
    progress: bool = True,
) -> list[Row]:
    """Compute what is not stored yet, then write the table and draw the figure.

    Cells run in worker processes with one BLAS thread each, or in this one if ``n_jobs`` is 1.
    This process stores each of them in ``out/results.sqlite`` as it finishes, so a run that was
    killed goes on where it stopped.  Tables and figures come from the store alone: a changed plot
    computes nothing again.  Returns the rows of all cells, in the order of the grid.
    """
    folder = folder_of(out, protocol, quick)
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{experiment.name}.csv"
    check_writable(table)
    rows = collect(experiment, protocol, quick=quick, out=out, n_jobs=n_jobs, progress=progress)
    write_csv(table, experiment.table(rows))
    with marked(QUICK if quick else ""):
        experiment.plot(rows, folder)
    return rows


def collect(
    experiment: Experiment,
    protocol: Protocol,
    *,
    quick: bool,
    out: Path,
    n_jobs: int,
    progress: bool,
) -> list[Row]:
    """The rows of all cells, computing and storing those that are missing."""
    if protocol not in experiment.protocols:
        raise ValueError(
            f"protocol of {experiment.name} must be one of {', '.join(experiment.protocols)}, "
            f"got {protocol!r}"
        )
    store = Store(Path(out) / STORE)
    cells = {cell_key(experiment, cell): cell for cell in experiment.runnable(protocol, quick)}
    if not cells:
        reasons = experiment.left_out(protocol, quick)
        raise NothingToRunError("; ".join(f"{part}: {why}" for part, why in reasons.items()))
    known = store.get(experiment, protocol)
    missing = [cell for key, cell in cells.items() if key not in known]
    what = f"{experiment.name} ({protocol})"
    with show_progress(wanted=progress), phase(what, len(missing)) as update:
        computed = _computed(experiment, missing, n_jobs)
        for done, (cell, rows, seconds) in enumerate(computed, start=1):
            store.put(experiment, protocol, cell, rows, seconds)
            update(done)
    known = store.get(experiment, protocol)
    return [row for key in cells for row in known[key]]


def _computed(
    experiment: Experiment, cells: list[Cell], n_jobs: int
) -> Iterator[tuple[Cell, list[Row], float]]:
    """Cells with their rows and seconds, as they finish."""
    jobs = min(n_jobs, len(cells))
    if jobs <= 1:
        yield from (_cell(experiment, cell) for cell in cells)
        return
    tasks = (delayed(_cell)(experiment, cell, os.getpid()) for cell in cells)
    with parallel_config("loky", inner_max_num_threads=1):
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)


def _cell(
    experiment: Experiment, cell: Cell, parent: int | None = None
) -> tuple[Cell, list[Row], float]:
    """One cell, here or in a worker of a parent."""
    if parent is not None:
        _follow(parent)
    started = time.perf_counter()
    try:
        with threadpool_limits(1), whole_walks_only():
            rows = experiment.compute(**cell)
    except Exception as error:
        error.add_note(f"in {experiment.name}, cell {cell}")
        raise
    return cell, rows, time.perf_counter() - started


_following: set[int] = set()


def _follow(parent: int) -> None:
    """End this worker when its parent is gone: a killed run must not go on computing."""
    if parent in _following or not hasattr(os, "getppid"):
        return
    _following.add(parent)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
