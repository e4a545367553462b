"""How a command fails: with one message, and a code that says whose turn it is."""

from __future__ import annotations

FAILED, WRONG_USAGE = 1, 2


class CommandError(Exception):
    """Ends a command with a message; what the user can mend is an `InputError` instead."""
