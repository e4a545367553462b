"""How a command fails: with one message, and a code that says whose turn it is."""

from __future__ import annotations

FAILED, WRONG_USAGE = 1, 2


class CommandError(Exception):
    """Ends a command with a message and an exit code."""

    code = FAILED


class InputError(CommandError):
    """The data, the model file or an option is not what the command needs."""

    code = WRONG_USAGE
