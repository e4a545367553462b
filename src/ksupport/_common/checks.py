"""Checks of the arguments of the generators: one line each where they are used."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np


def check_count(name: str, value: int, *, low: int = 1, high: int | None = None) -> int:
    """An integer between ``low`` and ``high``."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} must be an integer {allowed}, got {value!r}")
    return int(value)


def check_interval(
    name: str,
    value: float,
    *,
    low: float,
    high: float,
    open_low: bool = False,
    open_high: bool = False,
) -> None:
    """A number in an interval, its ends included unless open."""
    inside = isinstance(value, Real) and not np.isnan(value) and low <= value <= high
    if not inside or (open_low and value == low) or (open_high and value == high):
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        raise ValueError(f"{name} must be in {left}{low:g}, {high:g}{right}, got {value!r}")


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """One of a few words."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}")
