"""What the loop notes of a path while walking it, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.checks import check_count
from ..design import Floats, Ints
from .history import History
from .iterates import Block, SparseRows, stack_rows
from .paths import Answer, Path
from .rules import Metric, Rule, Verdict

Keep = Literal["all", "last"]


class Reason(StrEnum):
    """Why a walk ended, with a sentence; it prints and compares as its string does."""

    words: str

    STOPPED = "stopped", "a stopping rule ended the walk"
    MAX_ITER = "max_iter", "it walked all the steps it was given"
    EXHAUSTED = "exhausted", "the path was at its end"
    DIVERGED = "diverged", "the iterates diverged"
    INTERRUPTED = "interrupted", "it was interrupted"

    def __new__(cls, value: str, words: str) -> Self:
        reason = str.__new__(cls, value)
        reason._value_, reason.words = value, words
        return reason

    __repr__ = str.__repr__


@dataclass(frozen=True)
class Result:
    """A walked path.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        The iterate that the rule kept; without a rule, the last.  Of several responses that share
        a support, the coefficients of each side by side, here and in ``iterates``.
    n_iter : int
        Its step.
    history : History
        The measurements at every recorded step up to the stop.
    reason : {"stopped", "max_iter", "exhausted", "diverged", "interrupted"}
        Why the walk ended; its ``words`` are a sentence.
    iterates : csr_array of shape (n_records, d) or None
        All recorded iterates, if ``keep="all"``.
    targets : int
        How many responses share the support.
    """

    coef: Floats
    n_iter: int
    history: History
    reason: Reason
    iterates: sp.csr_array | None = None
    targets: int = 1

    @property
    def support(self) -> Ints:
        """Indices of the features with a nonzero coefficient."""
        return np.flatnonzero(self.coef.reshape(self.targets, -1).any(axis=0))


def _check_verdict(verdict: Verdict, n_records: int) -> tuple[int, int | None]:
    """Return the records to keep and to stop at; reject a verdict on other records."""
    if not isinstance(verdict, Verdict):
        raise TypeError(
            f"stopping must answer with a ksupport.stopping.Verdict(keep, stop), got {verdict!r}"
        )
    last = n_records - 1
    keep = check_count("stopping: the record to keep", verdict.keep, low=0, high=last)
    if verdict.stop is None:
        return keep, None
    return keep, check_count("stopping: the record to stop at", verdict.stop, low=0, high=last)


@dataclass
class Record:
    """The results of one path so far."""

    path: Path
    metrics: Mapping[str, Metric]
    rule: Rule | None
    keep_all: bool
    history: History | None = None
    blocks: list[SparseRows] = field(default_factory=list)
    kept: int | None = None  # the record to return, as far as is known
    coef: Floats | None = None  # of that record, where not all are kept
    reason: Reason | None = None
    answer: Answer | None = None  # what the path waited for
    answered: bool = False  # whether it is there, or has been found to be known, and not handed out

    def __post_init__(self) -> None:
        if self.rule is not None:
            self.metrics = {**self.rule.metrics(self.path.design, self.path.y), **self.metrics}

    def take(self, block: Block) -> Block:
        """Measure a block and apply the rule; return the part of it that counts."""
        finite = np.isfinite(block.rows)
        if block.diverged or not finite.all():
            self.reason = Reason.DIVERGED
            block = block.head(int(np.argmin(np.append(finite.all(axis=1), False))))
        if len(block.t) == 0:
            return block
        start = 0 if self.history is None else self.history.n_records
        new = self._measure(block)
        self.history = History(new) if self.history is None else self.history.extended(new)
        keep, stop = self.history.n_records - 1, None
        if self.rule is not None:
            keep, stop = _check_verdict(self.rule(self.history), self.history.n_records)
        if stop is not None:
            self.reason = Reason.STOPPED
            self.history = self.history.head(stop + 1)
            block = block.head(stop + 1 - start)
        if self.keep_all:
            self.blocks.append(block.sparse())
        elif keep >= start:
            self.coef = block.row(keep - start) + 0.0  # turns -0 into 0
        elif keep != self.kept:
            raise RuntimeError(
                "this stopping rule returns to earlier iterates; walk with keep='all', or derive "
                "it from ksupport.stopping.Rule with looks_back = True"
            )
        self.kept = keep
        return block

    def _measure(self, block: Block) -> dict[str, NDArray[Any]]:
        out: dict[str, NDArray[Any]] = {
            "t": block.t,
            "n_nonzero": block.n_nonzero,
            "residual": self.path.residual(block.predict(self.path.design)),
        }
        if block.gain is not None:
            out["gain"] = block.gain
        for name, metric in self.metrics.items():
            out[name] = np.asarray(metric(block))
        return out

    @property
    def targets(self) -> int:
        """How many responses share the support."""
        return self.path.y.size // self.path.design.n

    @property
    def width(self) -> int:
        """How many coefficients a model has."""
        return self.targets * self.path.design.d

    def unmet(self) -> str:
        """What the rule says of a walk that it did not stop; empty: nothing."""
        if self.rule is None or self.history is None or self.reason != Reason.MAX_ITER:
            return ""
        return self.rule.unmet(self.history)

    def begin(self) -> None:
        """If nothing was recorded, record the zero vector, where every path starts."""
        if self.kept is None:
            self.kept, self.coef = 0, np.zeros(self.width)
            residual = self.path.residual(np.zeros((1, self.path.y.size)))
            self.history = History({"t": [0], "n_nonzero": [0], "residual": residual})
            self.blocks = [(np.empty(0), np.empty(0, np.intp), np.zeros(1, np.intp))]

    def result(self, keep: Keep) -> Result:
        assert self.kept is not None
        assert self.history is not None
        assert self.reason is not None
        coef, iterates = self.coef, None
        if self.keep_all:
            iterates, coef = stack_rows(self.blocks, self.width), np.zeros(self.width)
            row = slice(*iterates.indptr[self.kept : self.kept + 2])
            coef[iterates.indices[row]] = iterates.data[row]
        assert coef is not None
        step = int(self.history["t"][self.kept])
        iterates = iterates if keep == "all" else None
        return Result(coef, step, self.history, self.reason, iterates, self.targets)
