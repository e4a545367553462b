"""The recovery condition of a method: an inequality, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Condition:
    """``lhs < rhs``, together with the further requirements of a method."""

    decided: ClassVar[bool] = True  # in closed form
    holds: bool
    lhs: float
    rhs: float
    margin: float  # rhs - lhs
    tight_out: tuple[int, ...]  # the features that attain lhs
