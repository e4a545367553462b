"""Progress of a fit, and the estimated time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._common.phases import Phase
from .._common.progress import duration, polled
from ..commands.fitting.options import FitOptions

MESSAGE_PERIOD = 0.4  # seconds between two messages
HELD_OUT = "predicting held-out rows"  # first words of the stage that repeats the fit on folds
RIVALS_SHARE = (
    1.5  # how long folds take with the usual methods beside the model, as a share of without
)


class Progress:
    """Listens to phases and stages; the first fit tells how long its repetitions will take."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.now = clock
        self.root = Phase("", self)
        self._started = clock()
        self._stages: list[tuple[str, float]] = []  # words, when it began

    def closed(self, phase: Phase) -> None:
        """A phase is over."""

    def say(self, words: str) -> None:
        """A stage begins."""
        self._stages.append((words, self.now()))

    def state(self) -> dict[str, Any]:
        """The progress for the page: the stage, the time so far, the time left, and the share "
        "done."""
        now = self.now()
        so_far, left = now - self._started, self._left(now)
        return {
            "words": self._stages[-1][0] if self._stages else "reading the file",
            "detail": self._detail(),
            "so_far": duration(so_far),
            "left": None if left is None else duration(left),
            "share": None if left is None else so_far / (so_far + left),
        }

    def _left(self, now: float) -> float | None:
        """Seconds left; None until the first fit is done or a long phase says."""
        starts = [start for words, start in self._stages if words.startswith(HELD_OUT)]
        if starts:
            fit = starts[0] - next(start for words, start in self._stages if "fitting" in words)
            expected = RIVALS_SHARE * FitOptions().cv * fit
            return max(expected - (now - starts[0]), 1.0)
        if len(self._stages) > 1:
            return 1.0
        return None

    def _detail(self) -> str:
        """The innermost phase that says how much of it is done."""
        chain = [self.root]
        while chain[-1].within:
            chain.append(chain[-1].within[0])
        known = [f"{each.name}: {100 * each.share:.0f} %" for each in chain if each.share]
        return known[-1] if known else ""


@contextmanager
def following(tell: Callable[[dict[str, Any]], None]) -> Iterator[Callable[[str], None]]:
    """Report the progress of the work within; yields a function that begins a stage."""
    progress = Progress()
    with polled(progress.root, lambda: tell(progress.state()), MESSAGE_PERIOD, MESSAGE_PERIOD):
        yield progress.say
