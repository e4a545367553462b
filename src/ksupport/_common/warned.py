"""Warnings that point at the line of whoever called this package."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

INSIDE = {"ksupport", "sklearn", "contextlib"}  # packages that may lie between it and the warning


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside of this package, and of scikit-learn, that led here."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=2 if frame is None else level)
