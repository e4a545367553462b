"""Which parameters are walked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._common.levels import Setting, clip_levels, warn_clipped
from ..algorithms import known_method
from ..losses import Loss, Squared

Grid = Mapping[str, Any] | None
STRUCTURE = ("feature_groups", "positive")  # parameters that are the same on all paths


def expand(grid: Mapping[str, Any]) -> list[Setting]:
    """All combinations of a grid of parameters; a scalar stands for itself."""
    combinations: list[Setting] = [{}]
    for name, values in grid.items():
        listed = list(values) if np.ndim(values) == 1 else [values]
        combinations = [{**c, name: value} for c in combinations for value in listed]
    return combinations


def settings_of(method: str, grid: Grid, n: int, d: int) -> list[Setting]:
    """All parameters that a grid stands for; None takes the method's own grid."""
    own = known_method(method)
    return expand(own.grid(n, d) if grid is None else grid)


def settings_within(settings: Iterable[Mapping[str, Any]], d: int) -> list[Setting]:
    """The settings that differ on d features, where a level beyond them means all of them."""
    distinct: list[Setting] = []
    for setting in settings:
        warn_clipped(setting, d)
        known = clip_levels(setting, d)
        if known not in distinct:
            distinct.append(known)
    return distinct


def by_loss(loss: Loss) -> Setting:
    """The parameter by which a path follows a loss; squares are what it follows anyway."""
    return {} if isinstance(loss, Squared) else {"loss": loss}


def without_structure(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was chosen of a path's parameters."""
    return {name: value for name, value in (params or {}).items() if name not in STRUCTURE}
