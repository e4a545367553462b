"""How far a pass over a Dask array is, where a scheduler of this process runs it.

A distributed scheduler has no such callbacks; it has a dashboard.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dask.callbacks import Callback

from .._common.phases import Phase, current_phase

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


def followed() -> AbstractContextManager[Any]:
    """Within, a graph is one pass over X, and whoever listens hears how far it is."""
    around = current_phase.get()
    return nullcontext() if around is None else _Followed(around)
