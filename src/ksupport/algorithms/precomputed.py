"""Paths whose models another solver computes: over penalties, or over atoms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..design import Design, Floats, Ints
from ..walking import Answer, Block, BySquares


@dataclass(eq=False, repr=False)
class PrecomputedPath(BySquares, ABC):
    """A `Path` from w_0 = 0 over at most ``n_steps`` models, solved a stretch at a time.

    Nothing is computed before the first `advance`, and nothing beyond the step asked for.  What
    solves may scale ``design`` and ``y`` in copies alone.
    """

    design: Design
    y: Floats
    n_steps: int
    t = 0
    exhausted = False
    pending: ClassVar[None] = None

    def __post_init__(self) -> None:
        self._waiting = np.zeros((1, self.design.d))  # the model of step t, until it is recorded

    @abstractmethod
    def solve(self, first: int, last: int) -> tuple[Floats, bool]:
        """The models of steps first..last, one a row, and whether the path ends with them.

        Called for consecutive stretches; fewer rows than asked for end the path too.
        """

    def attach(self, design: Design | None) -> None:
        """Go on with this design; None lets go of the data, so that the path can be stored."""
        if design is None:
            del self.design
        else:
            self.design = design

    def supply(self, answer: Answer) -> Ints:
        raise AssertionError("a precomputed path never waits for a product")

    def remedy(self) -> str:
        return "The solver of scikit-learn failed; check the scale of X and y."

    def advance(self, end: int, every: int, most_numbers: int) -> Block:
        design = self.design
        first = self.t + 1
        last = min(end, self.n_steps, self.t + max(1, most_numbers // design.d))
        models, over = np.empty((0, design.d)), False
        if last >= first:
            models, over = self.solve(first, last)
        rows = np.vstack([self._waiting, models])
        self.t += len(models)
        self.exhausted = over or self.t < last or self.t == self.n_steps
        steps = np.arange(self.t + 1 - len(rows), self.t + 1)
        due = steps % every == 0
        due[-1:] |= self.exhausted or self.t == end
        self._waiting = rows[len(rows) - (not due[-1:].all()) :]
        rows = rows[due]
        used = np.flatnonzero(rows.any(axis=0))
        return Block(steps[due], rows[:, used], design, used)


def need_columns(name: str, design: Design) -> None:
    """Reject an X without usable columns at hand: the solver behind this method needs them all."""
    if not (design.near or design.copyable(design.n * design.d)):
        raise ValueError(
            f"method {name!r} needs all columns of X at once, which are not fetched from a Dask "
            f"array of shape {design.shape}; pass X.compute() if that fits into memory, or use a "
            "method that needs few columns (irksn, ksn, ircr, srdi, iht)"
        )
    if not design.has_columns:
        raise ValueError(
            f"method {name!r} needs the columns of X, which a LinearOperator does not give; pass "
            "X as an array, memmap or sparse matrix, or use a method that needs products alone "
            "(irksn, ksn, ircr, irosr, srdi, iht)"
        )
    design.check_magnitude()
