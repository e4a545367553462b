"""What the conditions of all methods have in common: an inequality, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Condition:
    """``lhs < rhs``, and whatever else a method needs."""

    decided: ClassVar[bool] = True  # in closed form
    holds: bool
    lhs: float
    rhs: float
    margin: float  # rhs - lhs
    tight_out: tuple[int, ...]  # the features that attain lhs
