"""Threads for compiled work, which lets go of the interpreter's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from numbers import Integral
from threading import Event, Lock
from typing import Any, Self, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@cache
def _libraries() -> ThreadpoolController:
    """What limits the threads of the BLAS of NumPy and SciPy; to look for it takes milliseconds."""
    return ThreadpoolController()


class _OneBlasThread:
    """Keeps BLAS to one thread as long as anyone in the process wants that.

    How many threads BLAS takes is a number of the whole process: whoever comes while others are
    there would find their 1, and leave it behind.  So the first one in lowers it, and the last one
    out puts it back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


one_blas_thread = _OneBlasThread()  # a context; small matrices are done before threads begin


def threads_of(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` stands for, as joblib counts them."""
    whole = n_jobs is None or (isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool))
    if not whole or n_jobs == 0:
        raise ValueError(
            f"n_jobs must be None, an integer of at least 1, or a negative one to leave cores "
            f"free (-1 takes all), got {n_jobs!r}"
        )
    return int(effective_n_jobs(n_jobs))


class Workers:
    """Calls a function on many things, in ``n_jobs`` threads (as joblib counts them).

    Meanwhile BLAS keeps to one thread, in between too: its idle threads
    would spin on the cores.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.count = threads_of(n_jobs)
        if self.count > 1:
            self._pool = ThreadPoolExecutor(self.count, "ksupport-walk")

    def __enter__(self) -> Self:
        if self.count > 1:
            one_blas_thread.__enter__()
        return self

    def __exit__(self, *_: Any) -> None:
        if self.count > 1:
            self._pool.shutdown()
            one_blas_thread.__exit__()

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """The answers for all items; after an error or Ctrl-C as `in_turns`."""
        answers: dict[int, Answer] = {}

        def answered(at: int) -> bool:
            answers[at] = work(items[at])
            return False

        self.in_turns(answered, range(len(items)))
        return [answers[at] for at in range(len(items))]

    def in_turns(self, work: Callable[[Item], bool], items: Sequence[Item]) -> None:
        """Do some work on every item in turn, until it says of each that no more is to be done.

        After an error, or Ctrl-C, no thread takes another item; it is raised once all have ended.
        """
        waiting, over = deque(items), Event()

        def take() -> None:
            while not over.is_set():
                try:
                    item = waiting.popleft()
                except IndexError:  # others are at the last ones
                    return
                if work(item):
                    waiting.append(item)

        count = min(self.count, len(items))
        if count <= 1:
            return take()
        jobs: list[Future[None]] = []
        try:
            jobs += (self._pool.submit(copy_context().run, take) for _ in range(count))
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:
            over.set()
            wait(jobs)
        for job in jobs:
            job.result()
