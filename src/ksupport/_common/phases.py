"""Phases of work, and how far each has come, for those who listen.

Work in any layer says ``with phase("measuring X") as update:`` around what may take long, and calls
``update(done)`` as it goes.  Nothing is printed here, and while nobody listens a phase costs less
than a microsecond; `telling` listens, and draws a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ContextDecorator
from contextvars import ContextVar, Token, copy_context
from functools import partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Update = Callable[[float], None]  # told how much of the total is done


class Listener(Protocol):
    """What is notified of phases."""

    def now(self) -> float:
        """The time, in seconds."""

    def closed(self, phase: Phase) -> None:
        """A phase is over."""


class Phase:
    """A stretch of work under way, within another one.

    Attributes
    ----------
    share : float or None
        How much of it is done; None if nobody knows how much there is to do.
    moved, leap : float
        When the share last grew, and by how much.
    reading : float or None
        How much of X a pass under way has read.
    passes : callable or None
        How often X was read so far.
    within : list of Phase
        Those that are part of it, oldest first; several if threads work side by side.
    """

    def __init__(
        self, name: str, listener: Listener, total: float | None = None, one_pass: bool = False
    ) -> None:
        self.name, self.listener, self.one_pass = name, listener, one_pass
        self.total = 1.0 if one_pass else total
        self.share = None if self.total is None else 0.0
        self.started = self.moved = listener.now()
        self.leap = 0.0
        self.reading: float | None = None
        self.passes: Callable[[], int] | None = None
        self.within: list[Phase] = []

    def update(self, done: float) -> None:
        """So much of the total is done."""
        if self.share is None or not self.total:
            return
        share = min(done / self.total, 1.0)
        if share > self.share:
            self.leap, self.share = share - self.share, share
            self.moved = self.listener.now()

    def read(self, share: float | None) -> None:
        """A pass over X has come so far; None: it is over."""
        self.reading = share
        if self.one_pass:
            self.update(1.0 if share is None else share)

    def elapsed(self, now: float) -> float:
        """Seconds since it began."""
        return now - self.started

    def left(self, now: float) -> float | None:
        """Estimated seconds until it ends, at the pace so far; None if unknown.

        Between updates it counts down.  Once the next update is overdue, the estimate is what it
        would be if that came now: it never rests at nothing.
        """
        if not self.share:
            return None
        at_pace = (self.moved - self.started) / self.share
        overdue = self.elapsed(now) / min(self.share + self.leap, 1.0)
        left = max(at_pace, overdue) - self.elapsed(now)
        return left if left > 0 else None


_here: ContextVar[Phase | None] = ContextVar("phase", default=None)


def present() -> Phase | None:
    """The current phase; None if there is no listener."""
    return _here.get()


def enter(phase: Phase) -> Token[Phase | None]:
    """Begin a phase; what follows is part of it."""
    return _here.set(phase)


def leave(token: Token[Phase | None]) -> None:
    """Return to what was under way before."""
    _here.reset(token)


class phase(ContextDecorator):
    """A named phase of work, for a ``with`` or, if it has no total, above a function.

    Parameters
    ----------
    name : str
        What is done, in words that follow those of the phase around it.
    total : float, optional
        How much there is to do, in the units of the update function that ``with`` gives.
    one_pass : bool
        Whether it is one pass over X, which tells by itself how far it is.

    Examples
    --------
    >>> with phase("adding", total=3) as update:
    ...     for done in range(3):
    ...         update(done + 1)
    """

    def __init__(self, name: str, total: float | None = None, *, one_pass: bool = False) -> None:
        self.name, self.total, self.one_pass = name, total, one_pass

    def _recreate_cm(self) -> phase:  # each call of a decorated function is a phase of its own
        return phase(self.name, self.total, one_pass=self.one_pass)

    def __enter__(self) -> Update:
        self._around = _here.get()
        if self._around is None:
            return unheard
        self._phase = Phase(self.name, self._around.listener, self.total, self.one_pass)
        self._around.within.append(self._phase)
        self._token = enter(self._phase)
        return self._phase.update

    def __exit__(self, *_: Any) -> None:
        if self._around is not None:
            leave(self._token)
            self._around.within.remove(self._phase)
            self._phase.listener.closed(self._phase)


def unheard(done: float) -> None:
    """The update function where there is no listener: does nothing."""


def count_passes(passes: Callable[[], int]) -> None:
    """Give the current phase a counter of passes over X."""
    around = _here.get()
    if around is not None:
        around.passes = passes


def swept(parts: Iterable[T], count: int) -> Iterable[T]:
    """The parts of X that one pass reads, whose share the current phase is given."""
    around = _here.get()
    return parts if around is None else _followed(parts, count, around)


def _followed(parts: Iterable[T], count: int, around: Phase) -> Iterator[T]:
    try:
        for at, part in enumerate(parts):
            around.read(at / count)
            yield part
    finally:
        around.read(None)


def carried(work: Callable[..., T]) -> Callable[..., T]:
    """One call of a function in another thread, whose phases are part of the one under way here."""
    return partial(copy_context().run, work)
