"""What the report tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...choosing.stability import StabilitySelection
from ...theory.report import RecoveryReport
from ..account import Account


@dataclass
class Contents:
    """What the report tells."""

    account: Account
    coef: Any
    intercept: list[float]  # one, or of each class
    speaks_for: list[str | None]  # of each column, where there are several classes
    explained: float
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    twins: list[tuple[int, int, float]]
    made: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    n_drawn: int = 0
    n_entered: int = 0
    confusion: list[list[int]] = field(default_factory=list)  # of several classes, rows of each
