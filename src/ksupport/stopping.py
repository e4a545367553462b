"""When to stop: rules that are pure functions of the history.

A rule is called with the history so far and answers with a `Verdict`: which record to keep, and
at which record the walk ends, if it does.  It never walks, prints or remembers anything, so it
behaves the same whatever block sizes, verbosity or callbacks are in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .path import History, Verdict

__all__ = ["Discrepancy", "HeldOut", "Rule"]


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
