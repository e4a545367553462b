"""Paths, and the one loop that walks them.

Every method is a *path*: a stream of coefficient vectors.  `run` asks a path for blocks of
recorded iterates, measures each block, lets a stopping rule read the history, and drops what was
walked beyond the stop.  Nothing else in the package iterates.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ._checks import check_count
from ._threads import Workers
from .design import Design, Floats, Ints, Leading, Query, rmatmat_together
from .stores import RemoteStore

Reason = Literal["stopped", "max_iter", "exhausted", "diverged", "interrupted"]
Keep = Literal["all", "last"]

FIRST_STEPS = 64  # steps of the first block; later blocks grow with the distance walked
MOST_STEPS = 8192
MOST_NUMBERS = 1 << 21  # numbers in one block of recorded iterates (16 MB)
MOST_SHARED = 1 << 23  # numbers in the blocks of all paths that walk side by side (64 MB)


SparseRows = tuple[Floats, Ints, Ints]


def stack_rows(parts: Sequence[SparseRows], d: int) -> sp.csr_array:
    """One sparse array of all rows."""
    values, index, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((values, index, indptr), shape=(len(counts), d))


@dataclass(frozen=True)
class Block:
    """Iterates recorded in one go, dense on the features that were at hand."""

    t: Ints  # step of each iterate
    rows: Floats  # one iterate a row, on ``features``
    design: Design  # where it was walked
    features: Ints | None = None  # None: all of them, in order
    columns: Floats | None = None  # those columns of the design as rows (m x n), if at hand
    diverged: bool = False

    def predict(self, design: Design) -> Floats:
        """X̃ w for every row w, an R x n array, on this design or another one."""
        if self.columns is not None and design is self.design:
            return self.rows @ self.columns
        used = np.flatnonzero(self.rows.any(axis=0))
        if used.size * design.n <= MOST_NUMBERS and design.has_columns:
            index = used if self.features is None else self.features[used]
            return self.rows[:, used] @ design.columns(index)
        return design.matmat(self.dense(design.d).T).T

    def dense(self, d: int) -> Floats:
        if self.features is None:
            return self.rows
        out = np.zeros((len(self.rows), d))
        out[:, self.features] = self.rows
        return out

    def row(self, at: int) -> Floats:
        """One iterate on all features."""
        out = np.zeros(self.design.d)
        out[slice(None) if self.features is None else self.features] = self.rows[at]
        return out

    def sparse(self) -> SparseRows:
        """Values, features and number of nonzeros, row by row."""
        nonzero = self.rows != 0
        column = np.nonzero(nonzero)[1]
        index = column if self.features is None else self.features[column]
        return self.rows[nonzero], index, nonzero.sum(axis=1)

    def head(self, count: int) -> Block:
        return replace(self, t=self.t[:count], rows=self.rows[:count])


def room_for(n_steps: int, every: int, width: int, most_numbers: int) -> int:
    """Rows for the iterates that so many steps record, if that is not too many numbers."""
    return max(1, min(n_steps // every + 2, most_numbers // max(width, 1)))


def together(parts: Sequence[tuple[Ints, Floats]], d: int) -> tuple[Ints, Floats]:
    """Rows on different features one below the other, on the features that some row uses."""
    features, rows = parts[0]
    if len(parts) > 1:
        at, features, rows = 0, np.arange(d), np.zeros((sum(len(part) for _, part in parts), d))
        for mine, part in parts:
            rows[at : at + len(part), mine] = part
            at += len(part)
    used = np.flatnonzero(rows.any(axis=0))
    return features[used], rows[:, used]


def recorded_steps(before: int, clock: Ints, every: int, n_rows: int) -> Ints:
    """The steps of the rows recorded since step ``before``; clock = (t, last t recorded)."""
    t = (before // every + 1 + np.arange(n_rows)) * every
    t[-1:] = clock[1]  # the last one may be off the grid
    return t


@dataclass(frozen=True)
class Product:
    """A product with X̃ that a path waits for."""

    vector: Floats
    adjoint: bool  # X̃ᵀu, or X̃w


Request = Product | Query
Answer = Floats | Leading


class Path(Protocol):
    """A stream of iterates, walked block by block.

    ``pending`` is a product with X̃, or the answer to a query that takes one, which the path needs
    before it can go on; the loop multiplies for all waiting paths at once and hands the answer
    to ``supply``.
    """

    exhausted: bool

    @property
    def pending(self) -> Request | None: ...
    @property
    def t(self) -> int: ...
    def supply(self, answer: Answer) -> None: ...
    def advance(self, end: int, every: int, most_numbers: int) -> Block: ...
    def attach(self, design: Design | None) -> None: ...
    def remedy(self) -> str: ...


class History(Mapping[str, NDArray[Any]]):
    """What was measured along a path: arrays of equal length, by name.

    Always holds ``t`` (the step), ``n_nonzero`` and ``residual`` (‖X̃w - y‖).

    Examples
    --------
    >>> from ksupport.path import History
    >>> h = History({"t": [0, 5], "residual": [2.0, 1.0]})
    >>> h["residual"]
    array([2., 1.])
    >>> len(h.head(1)["t"])
    1
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"History({', '.join(self)}; {self.n_records} records)"

    @property
    def n_records(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def head(self, count: int) -> History:
        """The first ``count`` records."""
        return History({name: values[:count] for name, values in self.items()})

    def extended(self, more: Mapping[str, Any]) -> History:
        """This history followed by more records."""
        return History({name: np.concatenate([self[name], more[name]]) for name in self})


@dataclass(frozen=True)
class Verdict:
    """What a stopping rule says of a history."""

    keep: int  # record to return if the walk ended here
    stop: int | None = None  # record at which the walk ends, if it does


Metric = Callable[[Block], NDArray[Any]]
Watch = Callable[[History, Floats], bool]  # the history so far, and its last iterate


class Rule(ABC):
    """Base of the stopping rules: pure functions of the history.

    A plain function of the history does as well, if it needs nothing of what is below; see
    `ksupport.stopping` for the rules that there are.
    """

    looks_back: ClassVar[bool] = False  # may keep a record that was not kept when it was the last

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


@dataclass(frozen=True)
class Result:
    """A walked path.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        The iterate that was kept.
    n_iter : int
        Its step.
    history : History
        The measurements at every recorded step up to the stop.
    reason : {"stopped", "max_iter", "exhausted", "diverged", "interrupted"}
        Why the walk ended.
    iterates : csr_array of shape (n_records, d) or None
        All recorded iterates, if they were kept.
    """

    coef: Floats
    n_iter: int
    history: History
    reason: Reason
    iterates: sp.csr_array | None = None

    @property
    def support(self) -> Ints:
        """Indices of the nonzero coefficients."""
        return np.flatnonzero(self.coef)


def _checked(verdict: Verdict, n_records: int) -> tuple[int, int | None]:
    """What a rule said, if it is of records that there are."""
    if not isinstance(verdict, Verdict):
        raise TypeError(
            f"stopping must answer with a ksupport.path.Verdict(keep, stop), got {verdict!r}"
        )
    last = n_records - 1
    keep = check_count("stopping: the record to keep", verdict.keep, low=0, high=last)
    if verdict.stop is None:
        return keep, None
    return keep, check_count("stopping: the record to stop at", verdict.stop, low=0, high=last)


@dataclass
class _Record:
    """What the loop keeps of one path while walking it."""

    path: Path
    design: Design
    y: Floats
    metrics: Mapping[str, Metric]
    rule: Rule | None
    keep_all: bool
    history: History | None = None
    blocks: list[SparseRows] = field(default_factory=list)
    kept: int | None = None  # record
    coef: Floats | None = None  # of that record, where not all are kept
    reason: Reason | None = None
    answer: Answer | None = None  # what the path waited for

    def __post_init__(self) -> None:
        if self.rule is not None:
            self.metrics = {**self.rule.metrics(self.design, self.y), **self.metrics}

    def take(self, block: Block) -> Block:
        """Measure a block and apply the rule; return the part of it that counts."""
        finite = np.isfinite(block.rows)
        if block.diverged or not finite.all():
            self.reason = "diverged"
            block = block.head(int(np.argmin(np.append(finite.all(axis=1), False))))
        if len(block.t) == 0:
            return block
        start = 0 if self.history is None else self.history.n_records
        new = self._measure(block)
        self.history = History(new) if self.history is None else self.history.extended(new)
        keep, stop = self.history.n_records - 1, None
        if self.rule is not None:
            keep, stop = _checked(self.rule(self.history), self.history.n_records)
        if stop is not None:
            self.reason = "stopped"
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
            "n_nonzero": np.count_nonzero(block.rows, axis=1),
            "residual": np.linalg.norm(block.predict(self.design) - self.y, axis=1),
        }
        for name, metric in self.metrics.items():
            out[name] = np.asarray(metric(block))
        return out

    def begin(self) -> None:
        """If nothing was recorded, record the zero vector, where every path starts."""
        if self.kept is None:
            self.kept, self.coef = 0, np.zeros(self.design.d)
            self.history = History(
                {"t": [0], "n_nonzero": [0], "residual": [np.linalg.norm(self.y)]}
            )
            self.blocks = [(np.empty(0), np.empty(0, np.intp), np.zeros(1, np.intp))]

    def result(self, keep: Keep) -> Result:
        assert self.kept is not None
        assert self.history is not None
        assert self.reason is not None
        coef, iterates = self.coef, None
        if self.keep_all:
            iterates, coef = stack_rows(self.blocks, self.design.d), np.zeros(self.design.d)
            row = slice(*iterates.indptr[self.kept : self.kept + 2])
            coef[iterates.indices[row]] = iterates.data[row]
        assert coef is not None
        step = int(self.history["t"][self.kept])
        return Result(coef, step, self.history, self.reason, iterates if keep == "all" else None)


_whole_only: ContextVar[bool] = ContextVar("whole_only", default=False)


@contextmanager
def whole_walks_only() -> Iterator[None]:
    """Within, Ctrl-C is raised by every walk: for what builds on walks that came to their ends."""
    token = _whole_only.set(True)
    try:
        yield
    finally:
        _whole_only.reset(token)


def run(
    paths: Sequence[Path],
    designs: Sequence[Design],
    targets: Sequence[Floats],
    *,
    max_iter: int,
    every: int = 1,
    metrics: Sequence[Mapping[str, Metric]] | None = None,
    stopping: StoppingRule | None = None,
    keep: Keep = "all",
    watch: Watch | None = None,
    n_jobs: int | None = None,
    interruptible: bool = False,
) -> list[Result]:
    """Walk paths to their ends; the only iteration loop of the package.

    Paths that need a product with X̃ wait for each other, and those on the same data share one
    pass for all products with X̃ᵀ, whatever their view of them: so many paths take as many passes
    as the one that needs most.  On small problems, whose columns are held, none waits.

    Parameters
    ----------
    paths, designs, targets : sequences of equal length
        What to walk; iterate w of path i is measured by ‖designs[i] w - targets[i]‖.
    max_iter : int
        Steps to walk at most.
    every : int
        Record every so many steps, and always the last one.
    metrics : sequence of mappings, optional
        For each path, more columns of its history: functions of a `Block`.
    stopping : Rule or callable, optional
        A pure function of the history; None walks to ``max_iter``.  The columns that a `Rule`
        asks for are measured, unless ``metrics`` has them.
    keep : {"all", "last"}
        Whether all recorded iterates are returned, or only the kept one.
    watch : callable, optional
        Called with the history and the last iterate after each block; a true answer ends the
        walk.
    n_jobs : int, optional
        Paths walked at once, in threads, as joblib counts them; X is shared.
    interruptible : bool
        Whether Ctrl-C ends the walk with what was walked, and a warning, for callers whose result
        is the walk itself; else, and within `whole_walks_only`, it is raised.
    """
    check_count("max_iter", max_iter, low=0)
    check_count("every", every)
    measured = metrics if metrics is not None else [{}] * len(paths)
    rule = None if stopping is None else Rule.of(stopping)
    keep_all = keep == "all" or (rule is not None and rule.looks_back)
    records = [
        _Record(*each, rule=rule, keep_all=keep_all)
        for each in zip(paths, designs, targets, measured, strict=True)
    ]

    def walk(most_numbers: int, record: _Record) -> None:
        # Overflow means divergence, which is looked for and reported as such.
        with np.errstate(over="ignore", invalid="ignore"):
            _walk(record, max_iter, every, watch, most_numbers)
        record.reason = record.reason or _end_of(record.path, max_iter)

    try:
        with Workers(n_jobs) as workers:
            while active := [r for r in records if r.reason is None]:
                ready = [r for r in active if r.path.pending is None]
                if not ready:
                    ready = _multiply(active)
                most_numbers = min(MOST_NUMBERS, MOST_SHARED // len(active))
                workers.each(partial(walk, most_numbers), ready)
    except KeyboardInterrupt:
        walked = any(r.kept is not None for r in records)
        if not (interruptible and walked) or _whole_only.get():
            raise
        _end_here(records)
    for record in records:
        if record.reason == "diverged":
            _warn_diverged(record)
    return [record.result(keep) for record in records]


def _end_here(records: Sequence[_Record]) -> None:
    """Make results of paths that were interrupted."""
    for record in records:
        record.begin()
        record.reason = record.reason or "interrupted"
    warnings.warn(
        "interrupted: returning the path as far as it was walked "
        f"(step {max(int(r.history['t'][-1]) for r in records if r.history)})",
        ConvergenceWarning,
        stacklevel=3,
    )


def _end_of(path: Path, max_iter: int) -> Reason | None:
    if path.pending is not None:
        return None
    if path.exhausted:
        return "exhausted"
    return "max_iter" if path.t >= max_iter else None


def _multiply(waiting: list[_Record]) -> list[_Record]:
    """Answers for paths that all wait, and who got one.

    Products with X̃ come first, one for each view of the data: then all wait for X̃ᵀ, and share
    it.
    """
    forward = [r for r in waiting if _takes_forward(r.path.pending)]
    views: dict[tuple[int, bool], list[_Record]] = {}
    for record in forward or waiting:
        kind = id(record.design), isinstance(record.path.pending, Query)
        views.setdefault(kind, []).append(record)
    stores: dict[int, list[list[_Record]]] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        for group in views.values():
            design = group[0].design
            if forward:
                _answer(group, design.matmat(_vectors(group)))
            elif isinstance(design.store, RemoteStore) and isinstance(group[0].path.pending, Query):
                _let_lead(design, group)
            else:
                stores.setdefault(id(design.store), []).append(group)
        for groups in stores.values():
            designs = [group[0].design for group in groups]
            products = rmatmat_together(designs, [_vectors(group) for group in groups])
            for group, product in zip(groups, products, strict=True):
                _answer(group, product)
    return forward or waiting


def _takes_forward(asked: Request | None) -> bool:
    return isinstance(asked, Product) and not asked.adjoint


def _vectors(records: Sequence[_Record]) -> Floats:
    return np.stack([r.path.pending.vector for r in records if r.path.pending is not None]).T


def _answer(records: Sequence[_Record], products: Floats) -> None:
    """Hand out products, or what queries ask of them."""
    for record, column in zip(records, products.T, strict=True):
        product, asked = np.ascontiguousarray(column), record.path.pending
        if isinstance(asked, Query):
            record.answer = record.design.answer(asked, product)
        else:
            record.answer = product


def _let_lead(design: Design, records: Sequence[_Record]) -> None:
    """Answer queries where X lies."""
    queries = [asked for r in records if isinstance(asked := r.path.pending, Query)]
    for record, leading in zip(records, design.leading(queries), strict=True):
        record.answer = leading


def _walk(
    record: _Record,
    max_iter: int,
    every: int,
    watch: Watch | None,
    most_numbers: int,
) -> None:
    path = record.path
    if record.answer is not None:
        path.supply(record.answer)
        record.answer = None
        if path.pending is not None:  # plain steps need one product after the other
            return
    steps = min(max(FIRST_STEPS, path.t), MOST_STEPS)
    if record.rule is not None or watch is not None:
        steps = min(max(FIRST_STEPS, path.t // 4), MOST_STEPS)
    # Blocks end on the grid of recorded steps: a walk records where it ends.
    end = min(max_iter, -(-(path.t + steps) // every) * every)
    block = record.take(path.advance(end, every, most_numbers))
    if watch is None or record.history is None or len(block.t) == 0 or record.reason is not None:
        return
    if watch(record.history, block.row(len(block.t) - 1)):
        record.reason = "stopped"


def _warn_diverged(record: _Record) -> None:
    record.begin()
    assert record.history is not None
    step = int(record.history["t"][record.kept])
    warnings.warn(
        f"the iterates diverged; returning the last finite one, of step {step}. "
        + record.path.remedy(),
        ConvergenceWarning,
        stacklevel=3,
    )
