"""How a command ends: exit codes, error messages, and output streams that may fail."""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ..._common.errors import InputError

FAILED, WRONG_USAGE = 1, 2


class CommandError(Exception):
    """Ends a command with a message; what the user can mend is an `InputError` instead."""


def with_exit_codes(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what a command raises into a message on standard error and an exit code."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except InputError as error:
            fail(f"Error: {error}", WRONG_USAGE)
        except (CommandError, ImportError) as error:  # the latter says which extra is missing
            fail(f"Error: {error}")
        except MemoryError:
            fail("Error: there is not enough memory for these data")

    return wrapped


def fail(message: str, code: int = FAILED) -> NoReturn:
    import typer  # an extra: `cli.app` says how to install it

    typer.echo(message, err=True)
    raise typer.Exit(code)


class FailSafeStream(io.RawIOBase):
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
def fail_safe_streams() -> Iterator[None]:
    """Let a command do all its work whatever becomes of its output, and judge that at the end.

    A reader that has left (``| head -1``) is no news; a disk that is full is told, and both end
    with 1.  What an encoding lacks is written as an escape; a closed stream takes everything.
    """
    sys.stdout, out = _fail_safe(sys.stdout)
    sys.stderr, _ = _fail_safe(sys.stderr)
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


def _fail_safe(stream: Any) -> tuple[Any, FailSafeStream]:
    """The stream on top of a `FailSafeStream` one."""
    if stream is None:  # closed by whoever started us
        kept, encoding = FailSafeStream(io.FileIO(os.devnull, "w")), "utf-8"
    else:
        below = getattr(stream.buffer, "raw", stream.buffer)  # -u: no buffer
        kept, encoding = FailSafeStream(below), stream.encoding
    text = io.TextIOWrapper(
        io.BufferedWriter(kept), encoding=encoding, errors="backslashreplace", line_buffering=True
    )
    return text, kept
