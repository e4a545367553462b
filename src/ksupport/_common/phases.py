"""Named phases of work, and how far each has come.

Code in any layer writes ``with phase("measuring X") as update:`` around work that may take long,
and calls ``update(done)`` as it goes.  Nothing is printed here; without a listener a phase costs
less than a microsecond.  `progress` has the listener that draws a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ContextDecorator
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Update = Callable[[float], None]  # takes the amount of work done so far


class Listener(Protocol):
    """Gives the time in seconds, and is notified of every phase that ends."""

    def now(self) -> float: ...
    def closed(self, phase: Phase) -> None: ...


class Phase:
    """A phase under way."""

    def __init__(
        self, name: str, listener: Listener, total: float | None = None, one_pass: bool = False
    ) -> None:
        self.name, self.listener, self.one_pass = name, listener, one_pass
        self.total = 1.0 if one_pass else total
        self.share = None if self.total is None else 0.0  # of the work done
        self.started = self.moved = listener.now()  # when it began; when the share last grew,
        self.leap = 0.0  # and by how much
        self.reading: float | None = None  # the share of X that the pass under way has read
        self.passes: Callable[[], int] | None = None  # counts those over X so far
        self.within: list[Phase] = []  # inside, oldest first; of parallel threads several

    def update(self, done: float) -> None:
        """Set the amount of work done."""
        if self.share is None or not self.total:
            return
        share = min(done / self.total, 1.0)
        if share > self.share:
            self.leap, self.share = share - self.share, share
            self.moved = self.listener.now()

    def read(self, share: float | None) -> None:
        """Set how much of X the pass under way has read; None when it ends."""
        self.reading = share
        if self.one_pass:
            self.update(1.0 if share is None else share)

    def elapsed(self, now: float) -> float:
        """Seconds since the phase began."""
        return now - self.started

    def left(self, now: float) -> float | None:
        """Estimated seconds until the phase ends, at the pace so far; None if unknown.

        The estimate counts down between updates.  Once the next update is overdue, it is what it
        would be if that update came now, so it never reaches zero.
        """
        if not self.share:
            return None
        at_pace = (self.moved - self.started) / self.share
        overdue = self.elapsed(now) / min(self.share + self.leap, 1.0)
        left = max(at_pace, overdue) - self.elapsed(now)
        return left if left > 0 else None


current_phase: ContextVar[Phase | None] = ContextVar("phase", default=None)  # None: no listener


class phase(ContextDecorator):
    """A named phase: a context that yields an update function, or a decorator.

    The name follows that of the enclosing phase.  The total is in the units of the update function;
    a phase that is ``one_pass`` over X is updated by the pass itself.

    >>> with phase("adding", total=3) as update:
    ...     for done in range(3):
    ...         update(done + 1)
    """

    def __init__(self, name: str, total: float | None = None, *, one_pass: bool = False) -> None:
        self.name, self.total, self.one_pass = name, total, one_pass

    def _recreate_cm(self) -> phase:  # each call of a decorated function is a phase of its own
        return phase(self.name, self.total, one_pass=self.one_pass)

    def __enter__(self) -> Update:
        self._outer = current_phase.get()
        if self._outer is None:
            return no_update
        self._phase = Phase(self.name, self._outer.listener, self.total, self.one_pass)
        self._outer.within.append(self._phase)
        self._token = current_phase.set(self._phase)
        return self._phase.update

    def __exit__(self, *_: Any) -> None:
        if self._outer is not None:
            current_phase.reset(self._token)
            self._outer.within.remove(self._phase)
            self._phase.listener.closed(self._phase)


def no_update(done: float) -> None:
    """The update function without a listener: does nothing."""


def count_passes(passes: Callable[[], int]) -> None:
    """Give the current phase a counter of passes over X."""
    current = current_phase.get()
    if current is not None:
        current.passes = passes


def track_pass(parts: Iterable[T], count: int) -> Iterable[T]:
    """The ``count`` parts of X that one pass reads; the current phase follows the iteration."""
    current = current_phase.get()
    return parts if current is None else _tracked(parts, count, current)


def _tracked(parts: Iterable[T], count: int, current: Phase) -> Iterator[T]:
    try:
        for at, part in enumerate(parts):
            current.read(at / count)
            yield part
    finally:
        current.read(None)
