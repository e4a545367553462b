"""When to stop: rules that are pure functions of the history.

A rule is called with the history so far and answers with a `Verdict`: which record to keep, and
at which record the walk ends, if it does.  It never walks, prints or remembers anything, so it
behaves the same whatever block sizes, verbosity or callbacks are in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .path import Block, History, Metric, Verdict

__all__ = ["Discrepancy", "HeldOut", "Rule", "Settled"]


class Rule(Protocol):
    """A stopping rule."""

    def __call__(self, history: History) -> Verdict: ...


@dataclass(frozen=True)
class HeldOut:
    """Stop when the error on held-out rows has not improved for a while; keep the best.

    Parameters
    ----------
    fraction : float
        Share of the rows held out.
    patience : int
        Stop after so many records without a new best.

    Examples
    --------
    >>> from ksupport.path import History
    >>> from ksupport.stopping import HeldOut
    >>> HeldOut(patience=2)(History({"t": [0, 1, 2, 3], "validation": [4.0, 1.0, 2.0, 3.0]}))
    Verdict(keep=1, stop=3)
    """

    fraction: float = 0.2
    patience: int = 20

    def __post_init__(self) -> None:
        if not 0 < self.fraction < 1:
            raise ValueError(f"fraction must lie strictly between 0 and 1, got {self.fraction}")
        if self.patience < 1:
            raise ValueError(f"patience must be at least 1, got {self.patience}")

    def __call__(self, history: History) -> Verdict:
        errors = history["validation"]
        best = np.minimum.accumulate(errors)
        # The record of the best error seen up to each record: where the minimum last dropped.
        drops = np.flatnonzero(np.r_[True, best[1:] < best[:-1]])
        latest = drops[np.searchsorted(drops, np.arange(len(errors)), side="right") - 1]
        late = np.flatnonzero(np.arange(len(errors)) - latest >= self.patience)
        if late.size:
            return Verdict(keep=int(latest[late[0]]), stop=int(late[0]))
        return Verdict(keep=int(latest[-1]))


@dataclass(frozen=True)
class Discrepancy:
    """Stop as soon as the residual is as small as the noise: ‖Xw - y‖ <= tau delta (Morozov).

    Fitting closer than that would fit the noise.

    Parameters
    ----------
    delta : float
        The norm of the noise, ‖y - Xw*‖.
    tau : float
        Safety factor, at least 1.

    Examples
    --------
    >>> from ksupport.path import History
    >>> from ksupport.stopping import Discrepancy
    >>> Discrepancy(1.5)(History({"t": [0, 1, 2], "residual": [3.0, 1.4, 1.0]}))
    Verdict(keep=1, stop=1)
    """

    delta: float
    tau: float = 1.0

    def __post_init__(self) -> None:
        if not self.delta >= 0:
            raise ValueError(f"delta, a norm of noise, must be at least 0, got {self.delta}")
        if not self.tau >= 1:
            raise ValueError(f"tau must be at least 1, got {self.tau}")

    def __call__(self, history: History) -> Verdict:
        reached = np.flatnonzero(history["residual"] <= self.tau * self.delta)
        if reached.size:
            return Verdict(keep=int(reached[0]), stop=int(reached[0]))
        return Verdict(keep=history.n_records - 1)


@dataclass(frozen=True)
class Settled:
    """Stop when neither the support nor the residual has changed for a while.

    The history needs a column ``support``, a fingerprint of the support; see `fingerprint`.

    Parameters
    ----------
    patience : int
        Over how many records nothing may change.
    tol : float
        Relative change of the residual that counts as none.

    Examples
    --------
    >>> from ksupport.path import History
    >>> from ksupport.stopping import Settled
    >>> history = History({"support": [0, 7, 7, 7], "residual": [3.0, 1.0, 1.0, 1.0]})
    >>> Settled(patience=2)(history)
    Verdict(keep=3, stop=3)
    """

    patience: int = 20
    tol: float = 1e-3

    def __call__(self, history: History) -> Verdict:
        support, residual = history["support"], history["residual"]
        last = len(support) - 1
        changed = np.flatnonzero(support[1:] != support[:-1]) + 1  # records with a new support
        same_since = np.zeros(len(support), np.intp)
        same_since[changed] = changed
        same_since = np.maximum.accumulate(same_since)
        late = np.arange(self.patience, last + 1)
        before = residual[late - self.patience]
        still = np.abs(residual[late] - before) <= self.tol * before
        quiet = late[(late - same_since[late] >= self.patience) & still & (support[late] != 0)]
        if quiet.size:
            return Verdict(keep=int(quiet[0]), stop=int(quiet[0]))
        return Verdict(keep=last)

    @staticmethod
    def fingerprint(d: int) -> Metric:
        """A metric that gives equal supports equal numbers, and others (almost surely) not.

        The empty support gives 0.
        """
        marks = np.random.default_rng(0).integers(1, 2**40, size=d)

        def support(block: Block) -> NDArray[Any]:
            mine = marks if block.features is None else marks[block.features]
            return np.asarray((block.rows != 0) @ mine)

        return support
