"""Rules for the sparsity level k: allowed values, their meaning, grids.

Levels are numbers of features; n samples and d features bound them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from .warned import warn

Setting = dict[str, Any]
LEVELS = ("k", "n_atoms")  # parameters that are numbers of features
ONE_PATH = 10  # the level of one path where none is given
FIRST = 3  # levels walked at first where the data say how far to go
MOST = 200  # the largest level that is walked unasked: beyond it every step reads the whole of X

# -- what is allowed -----------------------------------------------------------------------------


def check_k(k: Any, n_features: float = math.inf, name: str = "k", of: str = "n_features") -> int:
    """k as an int; where the number of features is not known yet, any from 1 on."""
    whole = isinstance(k, Integral) and not isinstance(k, bool)
    if not whole or not 1 <= int(k) <= n_features:
        known = math.isfinite(n_features)
        allowed = f"between 1 and {of}={n_features}" if known else "from 1 on"
        kind = "" if whole and known else "an integer "
        raise ValueError(f"{name} must be {kind}{allowed}, got {k!r}")
    return int(k)


def at_most(params: Mapping[str, Any], d: int) -> dict[str, Any]:
    """The parameters where more features than the d there are means all of them.

    So that estimators keep working where others take features away from X.
    """
    return {name: d if _beyond(name, value, d) else value for name, value in params.items()}


def warn_beyond(params: Mapping[str, Any], d: int, of: str = "n_features") -> None:
    """Tell of what `at_most` changes."""
    for name, value in params.items():
        if _beyond(name, value, d):
            warn(f"{name}={value} is more than {of}={d}, and taken to be {d}")


def warn_unguessed(d: int) -> None:
    """Tell of the level of one path on an operator, of which nobody has said how sparse it is."""
    if d > ONE_PATH:
        warn(
            f"k=None is k={ONE_PATH} on one path, and X is an operator with {d} columns: an image "
            "or a signal mostly has more that are not zero. Give a guess at how many; or let "
            "ksupport.recover choose"
        )


def _beyond(name: str, value: Any, d: int) -> bool:
    return name in LEVELS and isinstance(value, Integral) and int(value) > d


# -- what is meant, and walked ---------------------------------------------------------------


def levels_of(k: Any, auto: list[int]) -> list[int]:
    """The levels that a parameter k stands for; "auto" takes those given."""
    if isinstance(k, str):
        if k != "auto":
            raise ValueError(f"k must be 'auto', an integer or a sequence of them, got {k!r}")
        return auto
    return [int(k)] if isinstance(k, Integral) else [int(each) for each in k]


def staged(settings: Sequence[Setting], first: int) -> list[list[Setting]]:
    """Settings in stages by their k: those of the first levels, then each level of its own."""
    levels = sorted({setting["k"] for setting in settings})
    bounds = levels[min(first, len(levels)) - 1 :]
    lows = [0, *bounds[:-1]]
    return [
        [setting for setting in settings if low < setting["k"] <= high]
        for low, high in zip(lows, bounds, strict=True)
    ]


def doubling(n: int, d: int) -> list[int]:
    """The grid of any method with a k: 1, 2, 4, ..., 32, below the number of samples."""
    return [k for k in (1, 2, 4, 8, 16, 32) if k <= max(min(d, n - 1), 1)]


def for_criteria(n: int, d: int) -> list[int]:
    """Levels whose paths propose supports to a criterion; those between added nothing in trials."""
    return [k for k in (1, 4, 16, 64) if k <= max(min(d, n // 4), 1)]


def for_prediction(n: int, d: int) -> list[int]:
    """2, 8, 32, 128 for folds that look for the best prediction; finer steps are no better."""
    return [k for k in (2, 8, 32, 128) if k <= min(d // 2, 2 * n, MOST)] or [1]
