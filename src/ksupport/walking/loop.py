"""Paths, and the one loop that walks them.

Every method is a *path*: a stream of coefficient vectors.  `run` asks a path for blocks of
recorded iterates, measures each block, lets a stopping rule read the history, and drops what was
walked beyond the stop.  Nothing else in the package iterates.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import limits
from .._common.checks import check_count
from .._common.phases import no_update, phase
from ..design import (
    Design,
    Floats,
    Ints,
    Query,
    Round,
    expect_together,
    forward_and_adjoint,
    leading_together,
)
from .paths import Path, Request
from .recall import Look, Recall, learn
from .records import Keep, Reason, Record, Result
from .rules import Metric, Rule, StoppingRule, Watch
from .threads import Workers

Given = TypeVar("Given")
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
    *,
    max_iter: int,
    every: int = 1,
    metrics: Mapping[Path, Mapping[str, Metric]] | None = None,
    stopping: StoppingRule | Mapping[Path, StoppingRule] | None = None,
    keep: Keep = "all",
    watch: Watch | None = None,
    n_jobs: int | None = None,
    interruptible: bool = False,
) -> list[Result]:
    """Walk paths to their ends; the only iteration loop of the package.

    Paths that need a product with X̃ wait for each other, and those on the same data share one
    pass for all products with X̃ᵀ, whatever their view of them: so many paths take as many passes
    as the one that needs most.  On small problems, whose columns are copied, none waits.

    Parameters
    ----------
    paths : sequence of Path
        What to walk; an iterate w of a path is measured by ‖path.design w - path.y‖.
    max_iter : int
        Steps to walk at most.
    every : int
        Record every so many steps, and always the last one.
    metrics : mapping, optional
        From a path to more columns of its history: functions of a `Block`, by name.
    stopping : Rule, callable, or mapping, optional
        A pure function of the history, or a mapping from a path to its own; without one a path is
        walked to ``max_iter``.  The columns that a `Rule` asks for are measured, unless
        ``metrics`` has them.
    keep : {"all", "last"}
        Whether all recorded iterates are returned, or only the one that the rule keeps.
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
    measured = _by_path("metrics", metrics or {}, paths)
    if not isinstance(stopping, Mapping):
        stopping = {} if stopping is None else dict.fromkeys(paths, stopping)
    rules = {path: Rule.of(each) for path, each in _by_path("stopping", stopping, paths).items()}
    records = [
        Record(path, measured.get(path, {}), rule, keep == "all" or bool(rule and rule.looks_back))
        for path, rule in ((path, rules.get(path)) for path in paths)
    ]
    try:
        with Workers(n_jobs) as workers, walking(records, max_iter) as tell:
            while active := [r for r in records if r.reason is None]:
                ready = [r for r in active if r.path.pending is None]
                if not ready:
                    ready = _multiply(active, workers)
                    _hand_out(ready, workers)
                most_numbers = min(limits.BLOCK_NUMBERS, limits.SHARED_NUMBERS // len(active))
                walk = partial(_walk, max_iter, every, watch, most_numbers, tell)
                workers.in_turns(walk, ready)
    except KeyboardInterrupt:
        walked = any(r.kept is not None for r in records)
        if not (interruptible and walked) or _whole_only.get():
            raise
        _end_here(records)
    for record in records:
        if record.reason == Reason.DIVERGED:
            _warn_diverged(record)
        unmet = record.unmet()
        if unmet:
            warnings.warn(unmet, ConvergenceWarning, stacklevel=2)
    return [record.result(keep) for record in records]


@contextmanager
def walking(records: Sequence[Record], max_iter: int) -> Iterator[Callable[[], None]]:
    """A phase in which paths are walked; what it gives tells how far they are.

    A path that has ended has no steps left, however early it did.
    """
    begun = sum(record.path.t for record in records)
    count = "a path" if len(records) == 1 else f"{len(records)} paths"
    with phase(f"walking {count}", max_iter * len(records) - begun) as update:

        def tell() -> None:
            update(sum(max_iter if r.reason is not None else r.path.t for r in records) - begun)

        yield (lambda: None) if update is no_update else tell


def _by_path(name: str, given: Mapping[Path, Given], paths: Sequence[Path]) -> Mapping[Path, Given]:
    if not given.keys() <= set(paths):
        raise ValueError(f"{name} must be a mapping from some of the paths, got one from others")
    return given


def _end_here(records: Sequence[Record]) -> None:
    """Make results of paths that were interrupted."""
    for record in records:
        record.begin()
        record.reason = record.reason or Reason.INTERRUPTED
    warnings.warn(
        "interrupted: returning the path as far as it was walked "
        f"(step {max(int(r.history['t'][-1]) for r in records if r.history)})",
        ConvergenceWarning,
        stacklevel=3,
    )


def _end_of(record: Record, max_iter: int) -> Reason | None:
    path, history = record.path, record.history
    if path.pending is not None:
        return None
    if path.exhausted:
        return Reason.EXHAUSTED
    # A step may have been taken whose iterate needs other columns.
    behind = history is not None and int(history["t"][-1]) < path.t
    return Reason.MAX_ITER if path.t >= max_iter and not behind else None


def _multiply(waiting: list[Record], workers: Workers) -> list[Record]:
    """Answers for paths that all wait, and who got one.

    Products with X̃ come first: then all wait for X̃ᵀ, and share it.  Views of one store share
    a pass.
    """
    forward = [r for r in waiting if _takes_forward(r.path.pending)]
    views: dict[tuple[int, bool], list[Record]] = {}
    for record in forward or waiting:
        kind = id(record.path.design), isinstance(record.path.pending, Query)
        views.setdefault(kind, []).append(record)
    stores: dict[int, list[list[Record]]] = {}
    asking: list[list[Record]] = []  # where a product of size d would be sent for each of them
    with np.errstate(over="ignore", invalid="ignore"):
        for group in views.values():
            if isinstance(group[0].path.pending, Query):
                asking.append(group)
            else:
                stores.setdefault(id(group[0].path.design.store), []).append(group)
        _let_lead(asking)
        for groups in stores.values():
            _share_pass(groups, workers)
    for record in forward or waiting:
        record.answered = True
    return forward or waiting


def _hand_out(answered: list[Record], workers: Workers) -> None:
    """Hand answers to paths whose columns are fetched, so that those needed next come together.

    Others take theirs when it is their turn.
    """
    fetching = [record for record in answered if record.path.design.store.fetches]
    needed = workers.each(_supply, fetching)
    expect_together([record.path.design for record in fetching], needed)


def _supply(record: Record) -> Ints:
    answer, record.answer, record.answered = record.answer, None, False
    with np.errstate(over="ignore", invalid="ignore"):
        return record.path.supply(answer)


def _takes_forward(asked: Request | None) -> bool:
    return isinstance(asked, Round) and asked.A is None


def _share_pass(groups: Sequence[Sequence[Record]], workers: Workers) -> None:
    """Answer looks and rounds on views of one store, each with its group of paths."""
    designs = [group[0].path.design for group in groups]
    looks = [[p for r in group if isinstance(p := r.path.pending, Look)] for group in groups]
    rounds = [[r for r in group if isinstance(r.path.pending, Round)] for group in groups]
    news = [
        Recall.of(design).beyond(some) if some else np.empty((0, design.n))
        for design, some in zip(designs, looks, strict=True)
    ]
    if any(rounds):
        _share_round(designs, rounds, news)
    elif any(map(len, news)):  # what comes is put at once where it stays
        learning = [at for at, Q in enumerate(news) if len(Q)]
        views = [designs[at] for at in learning]
        learn(views, [news[at] for at in learning], workers.each)


def _share_round(
    designs: Sequence[Design], groups: Sequence[Sequence[Record]], news: Sequence[Floats]
) -> None:
    """Answer rounds, and take products with what is new to the recall of a view beside them."""
    asked = [
        [Round(A=Q.T), *(_round_of(record) for record in group)]
        for group, Q in zip(groups, news, strict=True)
    ]
    joined = [Round.side_by_side(*each) for each in zip(designs, asked, strict=True)]
    answers = zip(*forward_and_adjoint(designs, joined), strict=True)
    parts = zip(designs, groups, news, asked, answers, strict=True)
    for design, group, Q, rounds, (there, back) in parts:
        theres = np.hsplit(there, np.cumsum([each.width_forward for each in rounds])[:-1])
        backs = np.hsplit(back, np.cumsum([each.width_adjoint for each in rounds])[:-1])
        if len(Q):
            Recall.of(design).make_room(Q)[:] = backs[0].T
        for record, *answer in zip(group, theres[1:], backs[1:], strict=True):
            record.answer = answer[0], answer[1]


def _round_of(record: Record) -> Round:
    asked = record.path.pending
    assert isinstance(asked, Round)
    return asked


def _let_lead(groups: Sequence[Sequence[Record]]) -> None:
    """Answer queries where X lies, each group those of one view."""
    designs = [group[0].path.design for group in groups]
    queries = [
        [asked for r in group if isinstance(asked := r.path.pending, Query)] for group in groups
    ]
    for group, found in zip(groups, leading_together(designs, queries), strict=True):
        for record, leading in zip(group, found, strict=True):
            record.answer = leading


def _walk(
    max_iter: int, every: int, watch: Watch | None, most_numbers: int, tell: Callable[[], None],
    record: Record,
) -> bool:  # fmt: skip
    """Go on with one path until it has filled a block; whether it neither waits then nor ends."""
    if record.answered:
        _supply(record)
    if record.path.pending is None:  # plain steps need one product after the other
        # Overflow means divergence, which is looked for and reported as such.
        with np.errstate(over="ignore", invalid="ignore"):
            _take_block(max_iter, every, watch, most_numbers, record)
        record.reason = record.reason or _end_of(record, max_iter)
        tell()
    return record.reason is None and record.path.pending is None


def _take_block(
    max_iter: int, every: int, watch: Watch | None, most_numbers: int, record: Record
) -> None:
    path = record.path
    steps = min(max(limits.FIRST_STEPS, path.t), limits.BLOCK_STEPS)
    if record.rule is not None or watch is not None:
        steps = min(max(limits.FIRST_STEPS, path.t // 4), limits.BLOCK_STEPS)
        if not path.design.has_columns:  # steps beyond the stop would cost products
            steps = 1
    # Blocks end on the grid of recorded steps: a walk records where it ends.
    end = min(max_iter, -(-(path.t + steps) // every) * every)
    block = record.take(path.advance(end, every, most_numbers))
    if watch is None or record.history is None or len(block.t) == 0 or record.reason is not None:
        return
    if watch(record.history, block.row(len(block.t) - 1)):
        record.reason = Reason.STOPPED


def _warn_diverged(record: Record) -> None:
    record.begin()
    assert record.history is not None
    step = int(record.history["t"][record.kept])
    warnings.warn(
        f"the iterates diverged; returning the last finite one, of step {step}. "
        + record.path.remedy(),
        ConvergenceWarning,
        stacklevel=3,
    )
