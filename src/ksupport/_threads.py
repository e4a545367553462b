"""Threads for compiled work, which lets go of the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Workers:
    """Calls a function on many things, in ``n_jobs`` threads (as joblib counts them).

    Meanwhile BLAS keeps to one thread, in between too: its idle threads would spin on the cores.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.count = effective_n_jobs(n_jobs)
        if self.count > 1:
            self._pool = ThreadPoolExecutor(self.count, "ksupport-walk")

    def __enter__(self) -> Self:
        if self.count > 1:
            self._blas = ThreadpoolController().limit(limits=1, user_api="blas")
        return self

    def __exit__(self, *_: Any) -> None:
        if self.count > 1:
            self._pool.shutdown()
            self._blas.restore_original_limits()

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """The answers for all items; an error is raised once all threads have ended."""
        count = min(self.count, len(items))
        if count <= 1:
            return [work(item) for item in items]
        answers: dict[int, Answer] = {}
        waiting = iter(enumerate(items))  # taken from by all threads

        def take() -> None:
            for at, item in waiting:
                answers[at] = work(item)

        jobs = [self._pool.submit(take) for _ in range(count)]
        wait(jobs)
        for job in jobs:
            job.result()
        return [answers[at] for at in range(len(items))]
