"""Plain steps that many paths take together.

Where a working set does not pay, a step multiplies with all of X̃.  Paths on the same data
can share those passes: a plain step is a generator that yields the products it needs, and the
loop in `walking.loop` forms them for all paths that wait, as one matrix product.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

import numpy as np

from .._kernels.working_set import Clock, Status
from ..design import Design, Floats, Ints, Round
from .iterates import Block, recorded_steps, room_for
from .paths import Answer, Request


def correlations(u: Floats, targets: int = 1) -> Round:
    """X̃ᵀu; of several responses, whose vectors stand side by side in u, that of each."""
    return Round(A=u.reshape(targets, -1).T)


def fitted(w: Floats, targets: int = 1) -> Round:
    """X̃w."""
    return Round(W=w.reshape(targets, -1).T)


def fitted_and_back(ws: Sequence[Floats], offset: Floats, slope: float, targets: int = 1) -> Round:
    """X̃w of each w, and X̃ᵀ(offset + slope X̃w) of the last."""
    C = np.zeros((len(ws) * targets, targets))
    C[-targets:] = slope * np.eye(targets)
    W = np.vstack([w.reshape(targets, -1) for w in ws])
    return Round(W.T, offset.reshape(targets, -1).T, C)


# A step is sent X̃ᵀu or X̃w; of a round both, the X̃w as rows.  It returns False if it left the finite
# numbers.
Step = Generator[Round, Any, bool]


class Stepping(Protocol):
    """What takes plain steps."""

    @property
    def clock(self) -> Clock: ...
    def iterate(self) -> Floats: ...
    def fitted_iterate(self) -> Floats | None: ...
    def step(self) -> Step: ...


class Stretch:
    """Steps under way, up to ``end`` or until all rows are filled with recorded iterates."""

    def __init__(self, state: Stepping, end: int, every: int, rows: Floats) -> None:
        self.state = state
        self.end = end
        self.every = every
        self.rows = rows
        self.n_rows = 0  # filled so far
        self.fitted: list[Floats | None] = []  # X̃w of each, where the step has computed it
        self.before = state.clock.recorded
        self.status = Status.DONE  # or NONFINITE
        self._steps = self._take_steps()
        self.pending = next(self._steps, None)  # what the next step waits for; None: all is over

    def supply(self, product: Any) -> None:
        """Go on to the next product."""
        try:
            self.pending = self._steps.send(product)
        except StopIteration:
            self.pending = None

    def _take_steps(self) -> Generator[Round, Any, None]:
        clock = self.state.clock
        while True:
            if clock.due(self.end, self.every):
                self.rows[self.n_rows] = self.state.iterate()
                self.fitted.append(self.state.fitted_iterate())
                self.n_rows += 1
                clock.recorded = clock.now
            if clock.now >= self.end or self.n_rows == len(self.rows):
                return
            if not (yield from self.state.step()):
                self.status = Status.NONFINITE
                return
            clock.now += 1

    def block(self, design: Design) -> Block:
        """What was recorded."""
        t = recorded_steps(self.before, self.state.clock, self.every, self.n_rows)
        diverged = self.status == Status.NONFINITE
        known = [each for each in self.fitted if each is not None]
        fitted = np.stack(known) if 0 < len(known) == self.n_rows else None
        return Block(t, self.rows[: self.n_rows], design, diverged=diverged, known_fitted=fitted)


class PlainSteps:
    """The part of a path that takes plain steps, one stretch after the other."""

    design: Design
    stretch: Stretch | None = None  # under way, or over and not yet handed out

    @property
    def width(self) -> int:
        """How many coefficients a model has."""
        return self.design.d

    def fitted_iterate(self) -> Floats | None:
        """X̃w of the current w, if the last step has computed it."""
        return None

    @property
    def pending(self) -> Request | None:
        return None if self.stretch is None else self.stretch.pending

    def supply(self, answer: Answer) -> Ints:
        """Go on with the stretch under way."""
        assert self.stretch is not None
        assert isinstance(answer, tuple)
        targets = self.width // self.design.d
        there, back = (
            np.ascontiguousarray(each.T).reshape(-1, targets * len(each)) for each in answer
        )
        if len(there) and len(back):
            self.stretch.supply((there, back[0]))
        else:
            self.stretch.supply((back if len(back) else there)[0])
        return np.empty(0, np.intp)

    def walk_plainly(self, state: Stepping, end: int, every: int, most_numbers: int) -> Block:
        """Begin a stretch, or hand out the one that is over."""
        width = self.width
        if self.stretch is None:
            count = room_for(end - state.clock.now, every, width, most_numbers)
            self.stretch = Stretch(state, end, every, np.empty((count, width)))
        if self.pending is not None:
            return Block(np.empty(0, np.intp), np.empty((0, width)), self.design)
        over, self.stretch = self.stretch, None
        return over.block(self.design)
