"""Graphs on a distributed cluster, which may lose its workers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from dask.base import unpack_collections

LOOK = 1.0  # seconds between looks at the cluster; who finishes is heard at once
WITHOUT_WORKERS = 45.0  # seconds after which none is expected to come back


class NoWorkersError(ConnectionError):
    """A cluster has no workers, and none has come for a while."""


def computed_by(client: Any, tasks: Sequence[Any]) -> tuple[Any, ...]:
    """As `dask.compute`, which would wait for ever for workers that are gone."""
    collections, repack = unpack_collections(*tasks)
    futures = client.compute(collections)
    _wait_for(client, futures)
    results: tuple[Any, ...] = tuple(repack(client.gather(futures)))
    return results


def _wait_for(client: Any, futures: Sequence[Any]) -> None:
    """Wait until all are done or one has failed; not for workers that do not come."""
    from distributed import wait  # who has a client has the package
    from distributed.comm import CommClosedError

    seen = time.monotonic()
    while not any(future.status == "error" for future in futures):
        if client.status in ("closing", "closed"):
            raise CommClosedError(f"the Client is {client.status}")
        with suppress(TimeoutError):
            wait(futures, timeout=LOOK)
            return
        if _has_workers(client):
            seen = time.monotonic()
        elif time.monotonic() - seen > WITHOUT_WORKERS:
            raise NoWorkersError(
                f"the Dask cluster has had no worker for {WITHOUT_WORKERS:g} s during a "
                "computation over X; start workers, or a new cluster, and fit again"
            )


def _has_workers(client: Any) -> bool:
    """Whether the scheduler answers, and knows of a worker."""
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=LOOK))
    except (OSError, TimeoutError):  # it is busy, or gone, which the client finds out itself
        return False
