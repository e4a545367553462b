"""Errors of whole paths on held-out folds: one walk gives every stopping time."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping

from .._common.phases import phase
from ..algorithms import Method
from ..design import Design, Floats, Ints, Problem, Unseen
from ..walking import Result, Rule, run
from ..walking.threads import Workers
from .choice import Choice, choose
from .refits import least_squares, refit_all
from .supports import Support, different_rows, largest_support, visited_by

Answer = TypeVar("Answer")
Refit = Literal["ols", "ridge"] | None
EXCHANGED = 2  # supports of each fold from which features are exchanged


@dataclass(frozen=True)
class Fold:
    """Rows to walk on and rows to measure on, centred and scaled by the former."""

    design: Design
    y: Floats
    unseen: Unseen

    @classmethod
    def of(cls, problem: Problem, design: Design, train: Ints, test: Ints, scoring: Any) -> Fold:
        (mean,), target = problem.targets_on(train)
        unseen = problem.unseen(test, design, float(mean), scoring=scoring)
        return cls(design, target[:, 0], unseen)

    def refitted_errors(
        self, visited: Sequence[Sequence[Support]], refit: Refit, largest: int, ridge: float
    ) -> list[Floats]:
        """For each path and record, the error after refitting on the support visited there.

        Supports too large to refit count as infinitely bad.
        """
        distinct = {S for supports in visited for S in supports if len(S) <= largest}
        if refit == "ols":
            refits = refit_all(self.design, self.y, distinct)
            errors = dict(zip(refits.supports, self.unseen.errors_of(refits.coef), strict=True))
        else:
            listed = list(distinct)
            penalty = ridge * self.design.n_samples
            models = [least_squares(self.design, self.y, S, penalty) for S in listed]
            errors = dict(zip(listed, self.unseen.errors_of(np.array(models)), strict=True))
        return [np.array([errors.get(S, np.inf) for S in supports]) for supports in visited]

    def chosen_by_ebic(self, results: Sequence[Result]) -> tuple[Choice, float]:
        """What EBIC prefers of all that these paths visit, and its error."""
        largest = largest_support(different_rows(self.design, self.y))
        visited = visited_by(results)
        choice = choose(self.design, self.y, visited, "ebic", largest, EXCHANGED)
        model = least_squares(self.design, self.y, choice.support)
        return choice, float(self.unseen.errors_of(model[None])[0])


def folds_of(
    problem: Problem, cv: Any, random_state: Any, groups: ArrayLike | None, scoring: Any
) -> list[Fold]:
    """The folds of a problem."""
    splits = _splits(problem, cv, random_state, groups)
    rows = [train for train, _ in splits]
    designs = problem.prepared([problem.raw.take(train) for train in rows], rows)
    return [
        Fold.of(problem, design, train, test, scoring)
        for design, (train, test) in zip(designs, splits, strict=True)
    ]


class RoutesToFolds:
    """Metadata routing of the estimators that hold out folds: their splitter asks for ``groups``.

    As in scikit-learn's own: ``fit`` takes them for the splitter, not for itself.
    """

    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012

    cv: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` passes on to whom.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        fit_to_split = MethodMapping().add(caller="fit", callee="split")
        return router.add(splitter=check_cv(self.cv), method_mapping=fit_to_split)


def _splits(
    problem: Problem, cv: Any, random_state: Any, groups: ArrayLike | None
) -> list[tuple[Ints, Ints]]:
    """Rows to walk on and to hold out, without those that have no weight.

    An int divides the rows that have weight, and is cut to their number.  Folds of other
    splitters that lose all rows of one part are left out.
    """
    y, counted = problem.Y[:, 0], problem.weights.counted
    if isinstance(cv, numbers.Integral):
        rows = counted(np.arange(len(y)))
        if rows.size < 2:
            raise ValueError(
                "cross-validation needs at least 2 samples with positive weight, got "
                f"n_samples={rows.size}"
            )
        shuffle = random_state is not None
        folds = KFold(min(int(cv), rows.size), shuffle=shuffle, random_state=random_state)
        return [(rows[train], rows[test]) for train, test in folds.split(rows)]
    splits = check_cv(cv).split(np.zeros((len(y), 1)), y, groups)
    both = [(counted(_places(train)), counted(_places(test))) for train, test in splits]
    usable = [(train, test) for train, test in both if train.size and test.size]
    if not usable:
        raise ValueError(
            f"cv has {len(both)} folds, none of which has rows of positive sample_weight both to "
            "walk on and to hold out; use other folds or weights"
        )
    return usable


def _places(rows: ArrayLike) -> Ints:
    """Rows as indices, which splits of one's own may give as a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def walk_folds(
    folds: Sequence[Fold],
    methods: Sequence[Method],
    *,
    max_iter: int,
    every: int,
    stopping: Rule | None,
    n_jobs: int | None,
) -> list[list[Result]]:
    """Walk all methods on all folds side by side: they share their passes over X."""
    for fold in folds:
        fold.unseen.design.copy_columns()
    pairs = [(fold, method) for fold in folds for method in methods]
    paths = [method.start(fold.design, fold.y) for fold, method in pairs]
    measured = zip(paths, pairs, strict=True)
    results = run(
        paths,
        max_iter=max_iter,
        every=every,
        metrics={path: {"validation": fold.unseen} for path, (fold, _) in measured},
        stopping=stopping,
        n_jobs=n_jobs,
    )
    width = len(methods)
    return [results[at : at + width] for at in range(0, len(results), width)]


def on_each(
    folds: Sequence[Fold], work: Callable[[int], Answer], n_jobs: int | None
) -> list[Answer]:
    """What comes of the work on each fold, given its number; several at once."""
    done = count(1)

    def told(at: int) -> Answer:
        answer = work(at)
        update(next(done))
        return answer

    with Workers(n_jobs) as workers, phase("choosing on folds", len(folds)) as update:
        return workers.each(told, range(len(folds)))
