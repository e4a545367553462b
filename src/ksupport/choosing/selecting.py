"""Select a model: where one path ends, by a criterion, or by folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.levels import FIRST, Setting, for_criteria, levels_of, staged
from ..algorithms import METHODS, Method, make_method
from ..design import Design, Floats, Problem
from ..losses import Response
from ..walking import Result, Rule, run
from ..walking.structure import PLAIN, Structure
from .choice import choose, criterion_for, fit_of
from .choice_by_loss import choose_by_loss
from .folds import Refit
from .grids import STRUCTURE, expand, settings_within
from .scored import Choice
from .selection import Selection
from .supports import different_rows, largest_support, response_of, visited_by
from .tables import FoldTable, path_table

# -- one path ------------------------------------------------------------------------------


def walk_to(method: Method, design: Design, y: Floats, step: int) -> Result:
    """One path to one step, of which the last iterate is kept."""
    start = method.start(design, y)
    (result,) = run([start], max_iter=step, every=step, keep="last")
    return result


def iterate_at(method: Method, design: Design, y: Floats, step: int) -> Floats:
    """The iterate of one step of one path."""
    return (
        walk_to(method, design, y, step).coef if step else np.zeros(y.size // design.n * design.d)
    )


def select_on_path(
    method: Method,
    results: Sequence[Result],
    by: str | None,
    flat: bool = True,
    shared: bool = False,
) -> Selection:
    """Where one path ended, for each target; ``by`` names the stopping rule, if there is one."""
    coef = np.vstack([result.coef.reshape(result.targets, -1) for result in results])
    return Selection(
        how="path",
        by=by,
        method=method.name,
        settings=({each.name: getattr(method, each.name) for each in fields(method)},),
        path=0,
        steps=tuple(result.n_iter for result in results),
        coef=coef[0] if flat and len(coef) == 1 else coef,
        table={},
        shared=shared or results[0].targets > 1,
        reasons=tuple(str(result.reason) for result in results),
        histories=tuple(result.history for result in results),
    )


# -- a criterion ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Search:
    """Which paths to walk, and what a criterion may choose of all that they visit."""

    method: str  # a name in `METHODS`
    # Its parameters on each path; the next stage is walked if the choice has as many features as
    # the largest level of those before.
    stages: list[list[Setting]]
    criterion: str = "auto"
    max_size: int | None = None  # of a support; None: a third as many as there are different rows
    exchange: int = 3  # as in `choose`
    tie: float = 2.0
    max_iter: int = 1000
    every: int | None = None  # how often to look; None: as often as the method says
    stopping: Rule | None = None
    n_jobs: int | None = None
    structure: Structure = PLAIN  # of the models; levels and supports count groups


def irksn_stages(
    k: Any, alpha: Any, step: Any, n: int, d: int, **structure: Any
) -> list[list[Setting]]:
    """The paths of IRKSN whose supports a criterion compares; "auto" takes few levels of k."""
    grid = {"k": levels_of(k, for_criteria(n, d)), "alpha": alpha, "step": step}
    settings = [setting | structure for setting in expand(grid)]
    return staged(settings, FIRST) if isinstance(k, str) else [settings]


def select_by_criterion(problem: Problem, search: Search) -> Selection:
    """Walk, gather the supports, refit, score, exchange features; refit the best on all data."""
    design, y = problem.design, problem.targets[0]
    structure, largest = search.structure, search.max_size
    criterion = criterion_for(search.criterion, structure)
    if largest is None:
        largest = largest_support(different_rows(design, response_of(y)))
    by_loss = isinstance(y, Response)
    prefer: Any = choose_by_loss if by_loss else partial(choose, structure=structure)
    settings: list[Setting] = []
    results: list[Result] = []
    for stage in search.stages:
        within = settings_within(stage, structure.count(design.d))
        new = [each for each in within if each not in settings]
        results += _walk(search, new, design, y) if new else []
        settings += new
        choice = prefer(
            design, y, visited_by(results), criterion, largest, search.exchange, search.tie
        )
        if structure.picked(choice.support) < settings[-1].get("k", 0):
            break
    table = _table_of(choice, settings, results)
    met, best = np.unique(choice.table["path"]), int(choice.table["path"][0])
    met = met[met >= 0]  # others are of supports that exchanges alone led to
    walked = max(int(result.history["t"][-1]) for result in results)
    return Selection(
        how="criterion",
        by=criterion,
        method=search.method,
        settings=tuple(settings[each] for each in met),
        path=int(np.searchsorted(met, best)) if best >= 0 else None,
        steps=(int(table["t"][0]) if best >= 0 else walked,),
        coef=problem.reshape_coef(fit_of(design, y, choice.support, criterion, structure)),
        shared=problem.shared,
        refit="ridge" if criterion == "evidence" else "ols",
        score=choice.score,
        table=table,
        alternatives=tuple(choice.alternatives(search.tie)),
    )


def _walk(search: Search, settings: list[Setting], design: Design, y: Floats) -> list[Result]:
    every = METHODS[search.method].every if search.every is None else search.every
    return walk_settings(
        search.method, settings, design, y, max_iter=search.max_iter, every=every,
        stopping=search.stopping, n_jobs=search.n_jobs,
    )  # fmt: skip


def walk_settings(
    method: str, settings: Sequence[Setting], design: Design, y: Floats, **options: Any
) -> list[Result]:
    """Walk all settings of a method side by side."""
    return run([make_method(method, **each).start(design, y) for each in settings], **options)


def _table_of(
    choice: Choice, settings: list[Setting], results: list[Result]
) -> dict[str, NDArray[Any]]:
    """The table of all supports, with the parameters and step of the path where each first occurs.

    A support that only occurs by exchanging features has no parameters, and step -1.
    """
    met: list[tuple[Setting, int]] = [
        ({}, -1) if path < 0 else (settings[path], int(results[path].history["t"][record]))
        for path, record in zip(choice.table["path"], choice.table["record"], strict=True)
    ]
    return {
        **{name: each for name, each in choice.table.items() if name not in ("path", "record")},
        **{
            name: np.array([params.get(name, np.nan) for params, _ in met])
            for name in settings[0]
            if name not in (*STRUCTURE, "loss")  # the same of all
        },
        "t": np.array([t for _, t in met]),
    }


# -- folds ---------------------------------------------------------------------------------


def select_by_folds(
    method: str, settings: Sequence[Setting], table: FoldTable, at: tuple[int, int], coef: Floats,
    refit: Refit, shared: bool = False,
) -> Selection:  # fmt: skip
    """The path and record of a table by folds, and what was made of its iterate on all data."""
    path, record = at
    return Selection(
        how="folds",
        by=None,
        method=method,
        settings=tuple(settings),
        path=path,
        steps=(int(table.steps[record]),),
        coef=coef,
        refit=refit,
        shared=shared,
        fold_errors=table.errors[:, path, record],
        table=path_table(list(settings), table),
    )
