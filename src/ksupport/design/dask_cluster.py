"""Graphs on a distributed cluster, which may lose its workers."""

from __future__ import annotations

import time
from collections.abc import Sequence
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
    from distributed import TimeoutError as NotYet  # who has a client has the package
    from distributed import wait

    seen = time.monotonic()
    while not any(future.status in ("error", "cancelled", "lost") for future in futures):
        try:
            wait(futures, timeout=LOOK)
            return
        except NotYet:
            now = time.monotonic()
            seen = now if client.scheduler_info()["workers"] else seen
        if now - seen > WITHOUT_WORKERS:
            raise NoWorkersError(
                f"the Dask cluster has had no worker for {WITHOUT_WORKERS:g} s during a "
                "computation over X; start workers, or a new cluster, and fit again"
            )
