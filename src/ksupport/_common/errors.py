"""What is wrong with what a user has given, in words."""

from __future__ import annotations


class InputError(ValueError):
    """The data, a file or an option is not what is needed."""
