"""What a stopping rule is: a pure function of the history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from ..design import Design, Floats
from .history import History
from .iterates import Block


@dataclass(frozen=True)
class Verdict:
    """What a stopping rule says of a history.

    Attributes
    ----------
    keep : int
        Record to return if the walk ended here.
    stop : int, optional
        Record at which the walk ends, if it does.
    """

    keep: int
    stop: int | None = None

    def __post_init__(self) -> None:
        if self.stop is not None and self.keep > self.stop:
            raise ValueError(
                f"a rule must keep a record up to the one at which the walk ends, got "
                f"keep={self.keep}, stop={self.stop}"
            )


Metric = Callable[[Block], NDArray[Any]]
Watch = Callable[[History, Floats], bool]  # the history so far, and its last iterate


class Rule(ABC):
    """Base of the stopping rules: pure functions of the history.

    A plain function of the history does as well, if it needs nothing of what is below; see
    `ksupport.stopping` for the rules that there are.
    """

    looks_back: ClassVar[bool] = False  # may keep a record that was not kept when it was the last
    squares_only: ClassVar[bool] = False  # knows the noise of squares, and of no other loss

    @abstractmethod
    def __call__(self, history: History) -> Verdict:
        """Which record to keep, and at which record the walk ends, if it does."""

    @property
    def holds_out(self) -> float:
        """Share of the rows not to walk on; their error is the column ``validation``."""
        return 0.0

    def metrics(self, design: Design, y: Floats) -> Mapping[str, Metric]:
        """The columns that the rule reads, besides those that every history has."""
        return {}

    def unmet(self, history: History) -> str:
        """A warning for a walk that ended at ``max_iter`` before its goal; empty: there is none."""
        return ""

    def check_loss(self, loss: str) -> None:
        """Refuse a loss that the rule is not for."""
        if self.squares_only and loss != "squared":
            raise ValueError(
                f"stopping: {type(self).__name__} requires loss='squared', got loss={loss!r}; use "
                "'held_out', 'no_change' or 'residual_ratio'"
            )

    @staticmethod
    def of(rule: StoppingRule) -> Rule:
        """The rule itself, or the one that a plain function of the history is."""
        return rule if isinstance(rule, Rule) else _Function(rule)


@dataclass(frozen=True)
class _Function(Rule):
    function: Callable[[History], Verdict]

    def __call__(self, history: History) -> Verdict:
        return self.function(history)


StoppingRule = Rule | Callable[[History], Verdict]
