"""One line of progress on standard error for work that takes more than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


class Progress:
    """Report steps done and time left; silent for the first two seconds, or if not wanted.

    On a terminal the line is redrawn; elsewhere a plain line appears at every tenth.
    ``passes`` tells how often the whole of X was read so far.
    """

    def __init__(
        self, label: str, total: int, enabled: bool, passes: Callable[[], int] | None = None
    ) -> None:
        self.label, self.total, self.enabled = label, max(total, 1), enabled
        self.passes = passes
        self.started = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.shown = -1

    def update(self, done: int) -> None:
        elapsed = time.monotonic() - self.started
        share = min(done / self.total, 1.0)
        mark = int(share * (1000 if self.terminal else 10))
        if not self.enabled or elapsed < 2 or mark == self.shown or share == 0:
            return
        self.shown = mark
        left = elapsed * (1 - share) / share
        read = f"{self.passes()} passes over X, " if self.passes is not None else ""
        text = f"{self.label}: {share:4.0%} ({done}/{self.total}), {read}{left:.0f} s left"
        print(text, end="\r" if self.terminal else "\n", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown >= 0 and self.terminal:
            print(" " * 78, end="\r", file=sys.stderr, flush=True)
