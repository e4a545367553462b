"""Runs graphs of Dask: how far they are, and no waiting for ever for workers that are gone.

Dask itself waits until a worker comes.  How long one may be missed is the setting that Dask has for
it, ``distributed.scheduler.no-workers-timeout``, where somebody set it, else `PATIENCE`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import dask
from dask.base import compute, get_scheduler
from dask.callbacks import Callback
from dask.utils import parse_timedelta

from .._common.phases import Phase, current_phase

PATIENCE = 45.0  # seconds without any worker: a nanny on a busy machine takes ten for a new one
LOOK = 1.0  # seconds between looks at the cluster
SETTING = "distributed.scheduler.no-workers-timeout"


class NoWorkersError(ConnectionError):
    """Nobody is there to compute anything."""


def client_of() -> Any:
    """The client of a distributed cluster that would run a graph now; None: there is none."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None


def compute_all(*collections: Any) -> tuple[Any, ...]:
    """`dask.compute`, or an error when a cluster has no workers."""
    client = client_of()
    if client is None:
        return tuple(compute(*collections))
    futures = client.compute(list(collections))
    try:
        return tuple(client.sync(_gather, client, futures))
    finally:
        for future in futures:
            future.release()


async def _gather(client: Any, futures: Sequence[Any]) -> Any:
    """Results; every now and then a look at whether somebody is there to compute them."""
    patience = parse_timedelta(dask.config.get(SETTING, None) or PATIENCE)
    now = asyncio.get_running_loop().time
    gathering = asyncio.ensure_future(client.gather(list(futures), asynchronous=True))
    seen = now()
    try:
        while not (await asyncio.wait([gathering], timeout=LOOK))[0]:
            if await _is_staffed(client):
                seen = now()
            elif now() - seen > patience:
                raise _no_workers_error(patience)
        return gathering.result()
    finally:
        gathering.cancel()


async def _is_staffed(client: Any) -> bool:
    try:
        return bool(await client.nthreads())
    except OSError:  # the scheduler does not answer: who gathers will say so
        return True


def _no_workers_error(seconds: float) -> NoWorkersError:
    return NoWorkersError(
        f"the Dask cluster has had no worker for {seconds:g} seconds, and a computation over X "
        "waits for one; start workers and fit again. If they take longer to come, say so before: "
        f"dask.config.set({{{SETTING!r}: '10 min'}})"
    )


# -- how far a pass is, where a scheduler of this process runs it; a distributed one has a dashboard
LEFT = ("waiting", "ready", "running")  # states of tasks that are not done


class _Followed(Callback):
    """Tells a phase which share of a graph's tasks is done."""

    def __init__(self, around: Phase) -> None:
        super().__init__()
        self.around = around

    def _posttask(self, key: Any, result: Any, graph: Any, state: Any, worker: Any) -> None:
        done = len(state["finished"])
        self.around.read(done / (done + sum(len(state[name]) for name in LEFT)))

    def _finish(self, graph: Any, state: Any, failed: bool) -> None:
        self.around.read(None)


def follow_progress() -> AbstractContextManager[Any]:
    """Within, a graph is one pass over X, and whoever listens hears how far it is."""
    around = current_phase.get()
    return nullcontext() if around is None else _Followed(around)
