"""Runs graphs of Dask, and does not wait for ever for workers that are gone.

Dask itself waits until a worker comes.  How long one may be missed is the setting that Dask has for
it, ``distributed.scheduler.no-workers-timeout``, where somebody set it, else `PATIENCE`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import dask
from dask.base import compute, get_scheduler
from dask.utils import parse_timedelta

PATIENCE = 45.0  # seconds without any worker: a nanny on a busy machine takes ten for a new one
LOOK = 1.0  # seconds between looks at the cluster
SETTING = "distributed.scheduler.no-workers-timeout"


class NoWorkersError(ConnectionError):
    """Nobody is there to compute anything."""


def client_of() -> Any:
    """The client of a distributed cluster that would run a graph now; None: there is none."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None


def computed(*collections: Any) -> tuple[Any, ...]:
    """`dask.compute`, or an error when a cluster has no workers."""
    client = client_of()
    if client is None:
        return tuple(compute(*collections))
    futures = client.compute(list(collections))
    try:
        return tuple(client.sync(_gathered, client, futures))
    finally:
        for future in futures:
            future.release()


async def _gathered(client: Any, futures: Sequence[Any]) -> Any:
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
                raise _deserted(patience)
        return gathering.result()
    finally:
        gathering.cancel()


async def _is_staffed(client: Any) -> bool:
    try:
        return bool(await client.nthreads())
    except OSError:  # the scheduler does not answer: who gathers will say so
        return True


def _deserted(seconds: float) -> NoWorkersError:
    return NoWorkersError(
        f"the Dask cluster has had no worker for {seconds:g} seconds, and a computation over X "
        "waits for one; start workers and fit again. If they take longer to come, say so before: "
        f"dask.config.set({{{SETTING!r}: '10 min'}})"
    )
