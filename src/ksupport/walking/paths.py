"""What a path is, and what it may wait for."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..design import Design, Floats, Ints, Leading, Query, Round
from .iterates import Block
from .recall import Look

Request = Round | Query | Look
# Of a round, X̃W and X̃ᵀ(A + X̃WC); of a look nothing: what was asked for is in the `Recall`.
Answer = tuple[Floats, Floats] | Leading | None


class Path(Protocol):
    """A stream of iterates, walked block by block.

    It knows the data it is walked on: X̃, its ``design``, and the target ``y``.  ``pending`` are
    products with X̃, or the answer to a query that takes one, which the path needs before it can go
    on; the loop multiplies for all waiting paths at once and hands the answer to ``supply``, which
    returns the features whose columns are needed next, so that they can be read together.
    ``residual`` says of fitted values, one model a row, how far off they are: the root of the
    deviance, ‖X̃w - y‖ for squares.  A path is compared, and hashed, by identity.
    """

    exhausted: bool

    @property
    def design(self) -> Design: ...
    @property
    def y(self) -> Floats: ...
    @property
    def pending(self) -> Request | None: ...
    @property
    def t(self) -> int: ...
    def supply(self, answer: Answer) -> Ints: ...
    def advance(self, end: int, every: int, most_numbers: int) -> Block: ...
    def attach(self, design: Design | None) -> None: ...
    def remedy(self) -> str: ...
    def residual(self, fitted: Floats) -> Floats: ...


class BySquares:
    """The part of a path that is measured by ‖X̃w - y‖."""

    def residual(self: Path, fitted: Floats) -> Floats:
        """‖X̃w - y‖ of each row of fitted values."""
        return np.asarray(np.linalg.norm(fitted - self.y, axis=1))
