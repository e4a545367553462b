"""Checks of arguments: one line each where they are used."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_count(name: str, value: int, *, low: int = 1, high: int | None = None) -> int:
    """An integer between ``low`` and ``high``."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):
        allowed = f"of at least {low}" if high is None else f"between {low} and {high}"
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
    inside = isinstance(value, Real) and low <= value <= high
    if not inside or (open_low and value == low) or (open_high and value == high):
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        raise ValueError(f"{name} must be in {left}{low:g}, {high:g}{right}, got {value!r}")


def check_switch(name: str, value: bool) -> None:
    """True or False; 0 and 1 are rejected."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}")


def dense(X: Any) -> Any:
    """A sparse or dense matrix as an array."""
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def as_numbers(name: str, value: Any) -> Any:
    """An array of numbers of any type and shape."""
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and value is not None:
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:  # ragged lists, text
        raise ValueError(f"{name} must be an array of numbers: {error}") from error
    if array.dtype.kind not in "biufc":
        given = "None" if value is None else f"dtype {array.dtype}"
        raise ValueError(f"{name} must be an array of numbers, got {given}")
    return array
