"""How a command ends that could not do its work: words on standard error, and a code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from ..._common.errors import InputError
from .errors import FAILED, WRONG_USAGE, CommandError


def ends_in_words(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what a command raises into a message on standard error and an exit code."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except InputError as error:
            fail(f"Error: {error}", WRONG_USAGE)
        except CommandError as error:
            fail(f"Error: {error}")
        except ImportError as error:  # of what an extra brings; says which
            fail(f"Error: {error}")
        except MemoryError:
            fail("Error: there is not enough memory for these data")

    return wrapped


def fail(message: str, code: int = FAILED) -> NoReturn:
    """End the command with a message."""
    typer.echo(message, err=True)
    raise typer.Exit(code)
