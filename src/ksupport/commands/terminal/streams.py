"""Standard output and error that never end a command: what it writes to files comes first."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import FAILED


class Kept(io.RawIOBase):
    """Passes bytes on and, once that fails, keeps the reason and drops them."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.problem: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self.raw.fileno())

    def isatty(self) -> bool:
        return bool(self.raw.isatty())

    def write(self, data: Any) -> int | None:
        try:
            return len(data) if self.problem else self.raw.write(data)
        except OSError as problem:
            self.problem = problem
            return len(data)


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Let a command do all its work whatever becomes of its output, and judge that at the end.

    A reader that has left (``| head -1``) is no news; a disk that is full is told, and both end
    with 1.  What an encoding lacks is written as an escape; a closed stream takes everything.
    """
    sys.stdout, out = _lasting(sys.stdout)
    sys.stderr, _ = _lasting(sys.stderr)
    try:
        yield
    except SystemExit as end:
        if end.code:
            raise
    sys.stdout.flush()
    if out.problem is None:
        return
    if not isinstance(out.problem, BrokenPipeError):
        reason = out.problem.strerror or out.problem
        print(f"Error: standard output cannot be written: {reason}", file=sys.stderr)
    raise SystemExit(FAILED)


def _lasting(stream: Any) -> tuple[Any, Kept]:
    """The stream on top of a `Kept` one."""
    if stream is None:  # closed by whoever started us
        kept, encoding = Kept(io.FileIO(os.devnull, "w")), "utf-8"
    else:
        below = stream.buffer
        kept, encoding = Kept(getattr(below, "raw", below)), stream.encoding  # -u: no buffer
    text = io.TextIOWrapper(
        io.BufferedWriter(kept), encoding=encoding, errors="backslashreplace", line_buffering=True
    )
    return text, kept
