"""Errors and warnings about what a user has given."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

INTERNAL = {"ksupport", "sklearn", "contextlib"}  # packages between the user and a warning


class InputError(ValueError):
    """The data, a file or an option is not valid."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line of the user's own code."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in INTERNAL:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=2 if frame is None else level)
