"""The sparsity level k: allowed values, and grids for n samples and d features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from .errors import warn

Setting = dict[str, Any]
LEVELS = ("k", "n_atoms")  # parameters that are numbers of features
ONE_PATH = 10  # the level of a single path if none is given
FIRST = 3  # levels walked at first where the data decide how far to go
MOST = 200  # the largest level of a default grid: beyond it every step reads the whole of X


def check_k(k: Any, n_features: float = math.inf, name: str = "k", of: str = "n_features") -> int:
    """k as an int between 1 and the number of features, if that is known."""
    whole = isinstance(k, Integral) and not isinstance(k, bool)
    if not whole or not 1 <= int(k) <= n_features:
        known = math.isfinite(n_features)
        allowed = f"between 1 and {of}={n_features}" if known else "from 1 on"
        kind = "" if whole and known else "an integer "
        raise ValueError(f"{name} must be {kind}{allowed}, got {k!r}")
    return int(k)


def clip_levels(params: Mapping[str, Any], d: int) -> dict[str, Any]:
    """The parameters with levels above d replaced by d.

    Estimators then keep working where another step of a pipeline drops columns of X.
    """
    return {name: d if _above(name, value, d) else value for name, value in params.items()}


def warn_clipped(params: Mapping[str, Any], d: int, of: str = "n_features") -> None:
    """Warn of what `clip_levels` changes."""
    for name, value in params.items():
        if _above(name, value, d):
            warn(f"{name}={value} is more than {of}={d}; {name}={d} is used")


def warn_default_level(d: int) -> None:
    """Warn that k=None may be too small on an operator, which has as many columns as an image."""
    if d > ONE_PATH:
        warn(
            f"k=None means k={ONE_PATH} on one path, but X is an operator with {d} columns: most "
            "images and signals have more nonzero coefficients. Give an estimate of their number "
            "as k, or let ksupport.recover choose it"
        )


def _above(name: str, value: Any, d: int) -> bool:
    return name in LEVELS and isinstance(value, Integral) and int(value) > d


# -- grids -----------------------------------------------------------------------------------


def levels_of(k: Any, auto: list[int]) -> list[int]:
    """A parameter k as a list of levels; "auto" means those given."""
    if isinstance(k, str):
        if k != "auto":
            raise ValueError(f"k must be 'auto', an integer or a sequence of them, got {k!r}")
        return auto
    return [int(k)] if isinstance(k, Integral) else [int(each) for each in k]


def staged(settings: Sequence[Setting], first: int) -> list[list[Setting]]:
    """Settings in stages by their k: those of the first levels, then one level at a time."""
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
    """Levels for a criterion: 1, 4, 16, 64; levels between them added nothing in trials."""
    return [k for k in (1, 4, 16, 64) if k <= max(min(d, n // 4), 1)]


def for_prediction(n: int, d: int) -> list[int]:
    """Levels for cross-validated prediction: 2, 8, 32, 128; a finer grid predicts no better."""
    return [k for k in (2, 8, 32, 128) if k <= min(d // 2, 2 * n, MOST)] or [1]
