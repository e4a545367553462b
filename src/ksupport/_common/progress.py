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

from .phases import Phase, current_phase, phase

DELAY = 2.0  # seconds before a phase is shown
PERIOD = 0.5  # seconds between updates of the line

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def show_progress(name: str = "", wanted: bool = True) -> Iterator[None]:
    """Show the progress of the enclosed work under this name, if ``wanted``.

    Where progress is shown already, the work is a phase of it.
    """
    if current_phase.get() is not None:
        with phase(name):
            yield
    elif wanted and sys.stderr is not None:
        line = ProgressLine(name, sys.stderr)
        try:
            with polled(line.root, line.draw, PERIOD, DELAY):
                yield
        finally:
            line.clear()
    else:
        yield


def shows_progress(method: Method) -> Method:
    """A method of an estimator that shows its progress if the estimator is ``verbose``."""

    @wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        verbose = bool(getattr(self, "verbose", False))
        if not verbose and current_phase.get() is None:  # a prediction takes microseconds
            return method(self, *args, **kwargs)
        with show_progress(type(self).__name__, verbose):
            return method(self, *args, **kwargs)

    return cast("Method", wrapped)


@contextmanager
def polled(root: Phase, poll: Callable[[], None], period: float, delay: float) -> Iterator[None]:
    """Make ``root`` the current phase; a thread calls ``poll`` after a delay, then periodically."""
    over, token = Event(), current_phase.set(root)

    def run() -> None:
        wait = delay
        while not over.wait(wait):
            poll()
            wait = period

    thread = Thread(target=run, name="ksupport-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        current_phase.reset(token)
        over.set()
        thread.join()


def clear_progress() -> None:
    """Clear the line of progress, before other output on standard error."""
    current = current_phase.get()
    if current is not None and isinstance(current.listener, ProgressLine):
        current.listener.clear()


class ProgressLine:
    """The line of progress of long phases, after a name, which may be empty.

    On a terminal the line is redrawn, and cleared when its phase ends.  On other streams a new line
    is written at every tenth or, where the total is unknown, whenever the elapsed time has doubled.
    """

    def __init__(self, name: str, stream: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream, self.now = stream, clock
        self.terminal = stream.isatty()
        self.root = Phase(name, self)
        self._lock = Lock()  # of the line
        self._drawn: Sequence[Phase] = ()
        self._length = 0  # of the line
        self._written: set[Any] = set()  # keys of the lines written to other streams
        self._broken = False  # whether the stream has failed

    def draw(self) -> None:
        """Draw the phases under way, if they have taken long enough."""
        now = self.now()
        with self._lock:
            chain = long_phases(self.root, now)
            if self._broken or not chain:
                return
            if self.terminal:
                text = _fitting(chain, now, _width(self.stream) - 1)
                self._write(text.ljust(self._length) + "\r")
                self._drawn, self._length = chain, len(text)
            elif (key := _line_key(chain, now)) not in self._written:
                self._written.add(key)
                self._write(f"{line_of(chain, now)}\n")

    def closed(self, phase: Phase) -> None:
        """Clear the line if it shows this phase."""
        if phase in self._drawn:
            self.clear()

    def clear(self) -> None:
        """Leave an empty line."""
        with self._lock:
            if self._length and not self._broken:
                self._write(" " * self._length + "\r")
            self._drawn, self._length = (), 0

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # a closed or full stream is no reason to end the work
            self._broken = True


def long_phases(root: Phase, now: float) -> list[Phase]:
    """The named phases that have run for long, outermost first.

    Of phases in parallel threads it is the one that began first.
    """
    chain: list[Phase] = []
    inside = [root]
    while inside := [each for each in inside if each.elapsed(now) >= DELAY]:
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
    """The outermost phase with an estimate of the time left."""
    return next((each for each in chain if each.left(now) is not None), None)


def _word(phase: Phase, timed: bool, now: float) -> str:
    share = f" {math.floor(100 * phase.share)}%" if phase.share else ""
    left = phase.left(now) if timed else None
    return phase.name + share + ("" if left is None else f", {duration(left)} left")


def _passes(count: int, phase: Phase) -> str:
    if phase.reading is None or not count:
        return f", {count} passes over X" if count != 1 else ", 1 pass over X"
    share = "" if phase.one_pass else f" {math.floor(100 * phase.reading)}%"  # is the phase's own
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


def _line_key(chain: Sequence[Phase], now: float) -> Any:
    """A key that changes when a stream other than a terminal should get another line."""
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
