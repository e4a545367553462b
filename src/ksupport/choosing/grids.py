"""Which parameters are walked."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..algorithms import METHODS
from ..algorithms.base import at_most, warn_beyond

Grid = Mapping[str, Any] | None


def sizes_up_to(most: int) -> list[int]:
    """1, 2, 4, 8, then steps of about a quarter: the sparsity levels tried by default."""
    levels = [1, 2, 4, 8, 12, 16, 20, 25, 30]
    while levels[-1] < most:
        levels.append(int(np.ceil(levels[-1] * 1.25)))
    return [k for k in levels if k <= most] or [1]


def expand(grid: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All combinations of a grid of parameters; a scalar stands for itself."""
    combinations: list[dict[str, Any]] = [{}]
    for name, values in grid.items():
        listed = list(values) if np.ndim(values) == 1 else [values]
        combinations = [{**c, name: value} for c in combinations for value in listed]
    return combinations


def levels_of(k: Any, auto: list[int]) -> list[int]:
    """The sparsity levels that a parameter k stands for."""
    if isinstance(k, str):
        if k != "auto":
            raise ValueError(f"k must be 'auto', an integer or a sequence of them, got {k!r}")
        return auto
    return [int(k)] if isinstance(k, numbers.Integral) else [int(each) for each in k]


def settings_of(method: str, grid: Grid, n: int, d: int) -> list[dict[str, Any]]:
    """All parameters that a grid stands for; None takes the method's own grid."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    return expand(METHODS[method].grid(n, d) if grid is None else grid)


def settings_within(settings: Iterable[Mapping[str, Any]], d: int) -> list[dict[str, Any]]:
    """The settings that differ on d features, where a level beyond them means all of them."""
    distinct: list[dict[str, Any]] = []
    for setting in settings:
        warn_beyond(setting, d)
        known = at_most(setting, d)
        if known not in distinct:
            distinct.append(known)
    return distinct
