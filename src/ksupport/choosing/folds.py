"""Errors of whole paths on held-out folds: one walk gives every stopping time."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping

from .._common.levels import Setting
from .._common.phases import phase
from ..algorithms import Method
from ..design import Design, Floats, Ints, Problem, Split, Unseen, Weights
from ..losses import Response
from ..walking import Path, Result, Rule, run
from ..walking.structure import PLAIN, Structure
from ..walking.threads import Workers
from .choice import choosing, criterion_for, fit_of
from .choice_by_loss import choose_by_loss
from .exchange import Asked, Asking, side_by_side
from .refits import refit_all, refitted
from .scored import Choice
from .supports import Support, different_rows, largest_support, response_of, visited_by
from .tables import FoldTable, clearly_worse, table_of_iterates

Answer = TypeVar("Answer")
Refit = Literal["ols", "ridge"] | None
EXCHANGED = 2  # supports of each fold from which features are exchanged


@dataclass(frozen=True)
class Fold:
    """Rows to walk on and rows to measure on, centred and scaled by the former."""

    design: Design
    y: Any  # or a `Response`
    unseen: Unseen
    structure: Structure = PLAIN

    def refitted_errors(
        self, visited: Sequence[Sequence[Support]], refit: Refit, largest: int, ridge: float
    ) -> list[Floats]:
        """For each path and record, the error after refitting on the support visited there.

        Supports too large to refit count as infinitely bad.
        """
        distinct = {S for supports in visited for S in supports if len(S) <= largest}
        positive = self.structure.positive
        if refit == "ols" and not isinstance(self.y, Response):
            refits = refit_all(self.design, self.y, distinct, positive)
            errors = dict(zip(refits.supports, self.unseen.errors_of(refits.coef), strict=True))
        else:
            listed = list(distinct)
            strength = ridge if refit == "ridge" else 0.0
            models = [refitted(self.design, self.y, S, strength, positive) for S in listed]
            errors = dict(zip(listed, self.unseen.errors_of(np.array(models)), strict=True))
        return [np.array([errors.get(S, np.inf) for S in supports]) for supports in visited]

    @property
    def largest(self) -> int:
        """The most features worth refitting."""
        return largest_support(different_rows(self.design, response_of(self.y)))

    def choosing_by_ebic(self, results: Sequence[Result]) -> Asked[Choice]:
        """What EBIC prefers of all that these paths visit."""
        criterion = criterion_for("auto", self.structure)
        return choosing(
            self.design, self.y, visited_by(results), criterion, self.largest, EXCHANGED,
            structure=self.structure,
        )  # fmt: skip

    def by_ebic(self, results: Sequence[Result]) -> Choice:
        """The same by the fold's loss."""
        visited = visited_by(results)
        return choose_by_loss(self.design, self.y, visited, "ebic", self.largest, EXCHANGED)

    def error_of(self, support: Support) -> float:
        """What least squares on a support leaves unexplained of the rest."""
        model = fit_of(self.design, self.y, support, "auto", self.structure)
        return float(self.unseen.errors_of(model[None])[0])


def folds_of(problem: Problem, scoring: Any = None, structure: Structure = PLAIN) -> list[Fold]:
    """The folds of a problem, by its splits."""
    return [
        Fold(walked.design, walked.targets[0], unseen, structure)
        for walked, unseen in problem.folds(scoring)
    ]


def folds_by(problem: Problem, splits: Sequence[Split]) -> list[Fold]:
    """The same by other splits."""
    return [
        Fold(walked.design, walked.targets[0], unseen)
        for walked, unseen in problem.folds_by(splits)
    ]


class HoldsOutFolds:
    """What the estimators that hold out folds share: how they split, and metadata routing.

    As in scikit-learn's own, ``fit`` takes ``groups`` for the splitter, not for itself.
    """

    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012

    cv: Any
    random_state: Any

    def _splits(self, groups: ArrayLike | None) -> Callable[..., list[Split]]:
        """The folds of a response and weights."""
        return partial(splits_of, cv=self.cv, random_state=self.random_state, groups=groups)

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` passes on to whom.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        fit_to_split = MethodMapping().add(caller="fit", callee="split")
        return router.add(splitter=check_cv(self.cv), method_mapping=fit_to_split)


def splits_of(
    y: Floats,
    weights: Weights,
    cv: Any,
    random_state: Any,
    groups: ArrayLike | None,
    sorts: Floats | None = None,
    balanced: bool = False,
    times: int = 1,
) -> list[Split]:
    """Rows to walk on and to hold out, without those that have no weight.

    An int divides the rows that have weight, those of each sort evenly, and is cut to their
    number; if ``balanced``, and there is but one sort, small and large responses are divided
    evenly, too.  Then this may be done several times, if rows are shuffled.  Folds of other
    splitters that lose all rows of one part are left out.
    """
    counted = weights.counted
    if isinstance(cv, numbers.Integral):
        rows = counted(np.arange(len(y)))
        if rows.size < 2:
            raise ValueError(
                "cross-validation needs at least 2 samples with positive weight, got "
                f"n_samples={rows.size}"
            )
        count = min(int(cv), rows.size)
        labels: Any = np.zeros(rows.size) if sorts is None else sorts[rows]
        if balanced and not np.ptp(labels):
            rows = rows[np.argsort(y[rows], kind="stable")]
            labels = np.arange(rows.size) // count
        shuffle = None if random_state is None else check_random_state(random_state)
        evenly = StratifiedKFold if np.ptp(labels) else KFold
        folds = evenly(count, shuffle=shuffle is not None, random_state=shuffle)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class")  # has few in each fold
            split = [each for _ in range(times) for each in folds.split(rows, labels)]
        return [(rows[train], rows[test]) for train, test in split]
    seen = y if sorts is None or not np.ptp(sorts) else sorts
    splits = check_cv(cv).split(np.zeros((len(y), 1)), seen, groups)
    both = [(counted(_places(train)), counted(_places(test))) for train, test in splits]
    usable = [(train, test) for train, test in both if train.size and test.size]
    if not usable:
        raise ValueError(
            f"cv has {len(both)} folds, none of which has rows of positive sample_weight both to "
            "walk on and to hold out; use other folds or weights"
        )
    return usable


def in_a_row(y: Floats) -> Floats:
    """What tells small responses from large ones; of several, what they have in common most.

    That is their first principal component, once they are of one size.
    """
    if y.ndim == 1:
        return y
    deviation = y.std(axis=0)
    Z = (y - y.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    loadings = np.linalg.eigh(Z.T @ Z)[1][:, -1]
    largest = int(np.argmax(np.round(np.abs(loadings), 9)))
    return np.asarray(np.round(Z @ loadings * np.sign(loadings[largest]), 9))


def _places(rows: ArrayLike) -> Ints:
    """Rows as indices, which splits of one's own may give as a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def walk_folds(
    folds: Sequence[Fold],
    methods: Sequence[Method],
    others: Sequence[Path] = (),
    *,
    max_iter: int,
    every: int,
    stopping: Rule | None,
    n_jobs: int | None,
) -> tuple[list[list[Result]], list[Result]]:
    """Walk all methods on all folds side by side: they share their passes over X.

    So do other paths, which no rule stops; what comes of these is the second.
    """
    for fold in folds:
        fold.unseen.design.copy_columns()
    pairs = [(fold, method) for fold in folds for method in methods]
    paths = [method.start(fold.design, fold.y) for fold, method in pairs]
    measured = zip(paths, pairs, strict=True)
    results = run(
        [*paths, *others],
        max_iter=max_iter,
        every=every,
        metrics={path: {"validation": fold.unseen} for path, (fold, _) in measured},
        stopping=None if stopping is None else dict.fromkeys(paths, stopping),
        n_jobs=n_jobs,
    )
    width, ends = len(methods), len(paths)
    return [results[at : at + width] for at in range(0, ends, width)], results[ends:]


def walk_stages(
    walk: Callable[[list[Setting]], list[list[Result]]], stages: Sequence[list[Setting]]
) -> tuple[list[Setting], list[list[Result]]]:
    """Walk the first stage on folds, and the next as long as the largest k predicts best.

    It must do so by a standard error.  Returns the settings that were walked, and their paths on
    each fold.
    """
    settings: list[Setting] = []
    walked: list[list[Result]] = []
    for stage in stages:
        new = walk(stage)
        walked = [a + b for a, b in zip(walked, new, strict=True)] if walked else new
        settings += stage
        if not _largest_is_best(settings, table_of_iterates(walked)):
            break
    return settings, walked


def _largest_is_best(settings: Sequence[Setting], table: FoldTable) -> bool:
    """Whether paths of the largest k predict clearly better than all others."""
    levels = np.array([setting.get("k", 0) for setting in settings])
    smaller = levels < levels.max()
    path, record = table.best()
    if smaller[path] or not smaller.any():
        return not smaller[path]
    worse = clearly_worse(table.errors[:, smaller], table.errors[:, path, record], 1.0)
    return bool(worse.all())


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


def chosen_by_ebic(
    folds: Sequence[Fold], walked: Sequence[Sequence[Result]], n_jobs: int | None
) -> list[Choice]:
    """What EBIC prefers on each fold of all that its paths visit; folds share passes over X."""
    if isinstance(folds[0].y, Response):
        return on_each(folds, lambda at: folds[at].by_ebic(walked[at]), n_jobs)
    searches = on_each(folds, lambda at: Asking(folds[at].choosing_by_ebic(walked[at])), n_jobs)
    return side_by_side(searches)
