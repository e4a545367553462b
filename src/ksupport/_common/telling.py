"""Progress: one line on standard error for phases that take more than two seconds."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import Event, Lock, Thread
from typing import Any, TypeVar, cast

from .phases import Phase, enter, leave, phase, present

PATIENCE = 2.0  # seconds that pass in silence
PERIOD = 0.5  # seconds between looks

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def listening(name: str = "", wanted: bool = True) -> Iterator[None]:
    """Show the progress of the work within, under this name, if ``wanted``.

    Where somebody listens already, it is a phase of what is told there.
    """
    if present() is not None:
        with phase(name):
            yield
    elif wanted and sys.stderr is not None:
        with ProgressLine(name, sys.stderr).shown_regularly():
            yield
    else:
        yield


def shows_progress(method: Method) -> Method:
    """A method of an estimator that shows its progress if the estimator is ``verbose``."""

    @wraps(method)
    def with_progress(self: Any, *args: Any, **kwargs: Any) -> Any:
        verbose = bool(getattr(self, "verbose", False))
        if not verbose and present() is None:  # nobody listens, and a prediction takes microseconds
            return method(self, *args, **kwargs)
        with listening(type(self).__name__, verbose):
            return method(self, *args, **kwargs)

    return cast("Method", with_progress)


@contextmanager
def watched(root: Phase, look: Callable[[], None], period: float, first: float) -> Iterator[None]:
    """Phases within are part of ``root``; a thread looks after ``first`` seconds, then often."""
    over, token = Event(), enter(root)

    def looking() -> None:
        wait = first
        while not over.wait(wait):
            look()
            wait = period

    thread = Thread(target=looking, name="ksupport-words", daemon=True)
    thread.start()
    try:
        yield
    finally:
        leave(token)
        over.set()
        thread.join()


def wipe() -> None:
    """Clear the line of progress, before other output on standard error."""
    around = present()
    if around is not None and isinstance(around.listener, ProgressLine):
        around.listener.wipe()


class ProgressLine:
    """The line of progress of long phases.

    On a terminal the line is redrawn, and wiped once its phase is over; elsewhere there is a new
    line at every tenth, or, where there is no telling how much is left, whenever the time has
    doubled.

    Parameters
    ----------
    name : str
        What is under way; may be empty, then phases speak for themselves.
    stream : text stream
        Where to write.
    clock : callable
        The time, in seconds.
    """

    def __init__(self, name: str, stream: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream, self.now = stream, clock
        self.terminal = stream.isatty()
        self.root = Phase(name, self)
        self._lock = Lock()  # of the line
        self._shown: Sequence[Phase] = ()
        self._length = 0  # of the line
        self._told: set[Any] = set()  # marks of the lines elsewhere
        self._unread = False  # whether words are lost on the stream

    @contextmanager
    def shown_regularly(self) -> Iterator[None]:
        """Listen to what happens within, and look at it from a thread."""
        try:
            with watched(self.root, self.tell, PERIOD, PATIENCE):
                yield
        finally:
            self.wipe()

    def tell(self) -> None:
        """Draw what is under way now, if it has taken long enough."""
        now = self.now()
        with self._lock:
            chain = long_phases(self.root, now)
            if self._unread or not chain:
                return
            if self.terminal:
                self._redraw(chain, now)
            elif (mark := _mark(chain, now)) not in self._told:
                self._told.add(mark)
                self._write(f"{line_of(chain, now)}\n")

    def closed(self, phase: Phase) -> None:
        """Wipe the line if it speaks of this phase."""
        if phase in self._shown:
            self.wipe()

    def wipe(self) -> None:
        """Leave an empty line."""
        with self._lock:
            if self._length and not self._unread:
                self._write(" " * self._length + "\r")
            self._shown, self._length = (), 0

    def _redraw(self, chain: Sequence[Phase], now: float) -> None:
        text = _fitting(chain, now, _width(self.stream) - 1)
        self._write(text.ljust(self._length) + "\r")
        self._shown, self._length = chain, len(text)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # nobody can read it: no reason to end the work
            self._unread = True


def long_phases(root: Phase, now: float) -> list[Phase]:
    """The named phases that have run for long, from the outermost to the innermost.

    Where threads work side by side, it is the phase that began first.
    """
    chain: list[Phase] = []
    inside = [root]
    while inside := [each for each in inside if each.elapsed(now) >= PATIENCE]:
        chain.append(inside[0])
        inside = list(chain[-1].within)
    return [each for each in chain if each.name]


def line_of(chain: Sequence[Phase], now: float) -> str:
    """The line of progress: phases, shares done, time left, passes over X."""
    timed = _timed(chain, now)
    words = ": ".join(_word(each, each is timed, now) for each in chain)
    if timed is None:
        words += f", {duration(math.floor(chain[-1].elapsed(now)))} so far"
    counts = [each.passes() for each in chain if each.passes is not None]
    return words + (_passes(counts[-1], chain[-1]) if counts else "")


def _timed(chain: Sequence[Phase], now: float) -> Phase | None:
    """The outermost phase whose end can be foreseen."""
    return next((each for each in chain if each.left(now) is not None), None)


def _word(phase: Phase, timed: bool, now: float) -> str:
    share = f" {math.floor(100 * phase.share)}%" if phase.share else ""
    left = phase.left(now) if timed else None
    return phase.name + share + ("" if left is None else f", {duration(left)} left")


def _passes(count: int, phase: Phase) -> str:
    if phase.reading is None or not count:
        return f", {count} passes over X" if count != 1 else ", 1 pass over X"
    share = "" if phase.one_pass else f" {math.floor(100 * phase.reading)}%"  # said already
    return f", pass {count} over X{share}"


def duration(seconds: float) -> str:
    """A duration in words.

    >>> duration(0.2), duration(75), duration(300), duration(7900)
    ('1 s', '75 s', '5 min', '2 h 12 min')
    """
    whole = math.ceil(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _mark(chain: Sequence[Phase], now: float) -> Any:
    """A key that changes when a stream that is no terminal should get another line."""
    last = chain[-1]
    tenths = [int(10 * each.share) for each in chain if each.share]
    doubled = int(math.log2(last.elapsed(now)))
    return last.name, last.started, bool(tenths), tenths[0] if tenths else doubled


def _fitting(chain: Sequence[Phase], now: float, width: int) -> str:
    """A line that fits the width: inner phases are left out first, then text is cut."""
    kept = chain[0], _timed(chain, now) or chain[-1]
    while len(text := line_of(chain, now)) > width and len(chain) > len(set(kept)):
        out = next(each for each in chain if each not in kept)
        chain = [each for each in chain if each is not out]
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def _width(stream: Any) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
