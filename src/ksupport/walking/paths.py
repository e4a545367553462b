"""What a path is, and what it may wait for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..design import Design, Floats, Leading, Query
from .iterates import Block


@dataclass(frozen=True)
class Product:
    """Products with X̃ that a path waits for."""

    vectors: Floats  # as columns
    adjoint: bool  # X̃ᵀU, or X̃W


Request = Product | Query
Answer = Floats | Leading


class Path(Protocol):
    """A stream of iterates, walked block by block.

    It knows the data it is walked on: X̃, its ``design``, and the target ``y``.  ``pending`` is a
    product with X̃, or the answer to a query that takes one, which the path needs before it can go
    on; the loop multiplies for all waiting paths at once and hands the answer to ``supply``.  A
    path is compared, and hashed, by identity.
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
    def supply(self, answer: Answer) -> None: ...
    def advance(self, end: int, every: int, most_numbers: int) -> Block: ...
    def attach(self, design: Design | None) -> None: ...
    def remedy(self) -> str: ...
