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
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping

from .._common.levels import Setting
from .._common.phases import phase
from ..algorithms import Method
from ..design import Design, Floats, Ints, Problem, Split, Unseen, Weights, fetched
from ..losses import Response
from ..walking import Result, Rule, run
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
STRATA = 5  # of responses, of which folds of groups have a share each
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
        """What EBIC prefers by the loss of the fold, where that is not squares."""
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


class HoldsOutFolds:
    """What the estimators that hold out folds share: how they split, and metadata routing.

    As in scikit-learn's own, ``fit`` takes ``groups`` for the splitter, not for itself.
    """

    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012

    cv: Any
    random_state: Any

    def _splits(self, groups: ArrayLike | None) -> Callable[[Problem], list[Split]]:
        """The folds of a problem."""
        return partial(self._held_out, groups=groups)

    def _held_out(
        self, problem: Problem, groups: ArrayLike | None = None, key: Floats | None = None
    ) -> list[Split]:
        """`splits_of` the rows of a problem, each fold with a share of each sort."""
        y, weights = problem.response, problem.weights
        return splits_of(
            y, weights, self.cv, self.random_state, groups, problem.losses[0].sorts(y), key
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of metadata: ``fit`` passes groups to the splitter ``cv``.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        fit_to_split = MethodMapping().add(caller="fit", callee="split")
        # A number of folds keeps groups together, too.
        splitter = GroupKFold() if isinstance(self.cv, numbers.Integral) else check_cv(self.cv)
        return router.add(splitter=splitter, method_mapping=fit_to_split)


class NoFoldsError(ValueError):
    """No fold has rows with weight both to walk on and to hold out."""


def splits_of(
    y: Floats,
    weights: Weights,
    cv: Any,
    random_state: Any,
    groups: ArrayLike | None = None,
    sorts: Floats | None = None,
    key: Floats | None = None,
) -> list[Split]:
    """Rows to walk on and to hold out, without those that have no weight.

    An int divides the rows that have weight by `folds_of_rows`; ``random_state`` shuffles them.
    Other splitters see the sorts, or y, and the groups; their folds that lose all rows of one part
    are left out.
    """
    positive = weights.positive
    if isinstance(cv, numbers.Integral):
        rows = positive(np.arange(len(y)))
        labels = None if groups is None else labels_of(groups, len(y))[rows]
        split = folds_of_rows(
            rows.size, int(cv), random_state, labels,
            None if sorts is None else sorts[rows], None if key is None else key[rows],
        )  # fmt: skip
        return [(rows[train], rows[test]) for train, test in split]
    seen = y if sorts is None or not np.ptp(sorts) else sorts
    splits = check_cv(cv).split(np.zeros((len(y), 1)), seen, groups)
    both = [(positive(_places(train)), positive(_places(test))) for train, test in splits]
    usable = [(train, test) for train, test in both if train.size and test.size]
    if not usable:
        raise NoFoldsError(
            f"cv has {len(both)} folds, none of which has rows of positive sample_weight both to "
            "fit and to hold out; use other folds or weights"
        )
    return usable


def folds_of_rows(
    n: int,
    cv: int,
    random_state: Any = None,
    groups: Any = None,
    sorts: Any = None,
    key: Floats | None = None,
) -> list[Split]:
    """Folds of n rows, as many as asked for, or as rows, groups and sorts allow.

    Each fold has a share of each sort of rows and, where there is but one sort, of small and large
    values of the key, if there is one.  Rows of a group are held out together.  A random state
    shuffles.
    """
    if n < 2:
        raise ValueError(
            f"cross-validation needs at least 2 samples with positive weight, got n_samples={n}"
        )
    shuffle = None if random_state is None else check_random_state(random_state)
    labels = np.zeros(n, np.intp) if sorts is None else np.unique(sorts, return_inverse=True)[1]
    if groups is not None:
        if key is not None and not labels.any():
            labels = np.argsort(np.argsort(key, kind="stable")) * STRATA // n
        return _grouped(np.unique(groups, return_inverse=True)[1], labels, cv, shuffle)
    rows, count = np.arange(n), min(cv, n)
    if key is not None and not labels.any():
        rows = np.argsort(key, kind="stable")
        labels = np.arange(n) // max(count, 1)
    if labels.any():
        most = int(np.bincount(labels).max())
        if most < 2:
            raise ValueError(
                f"y has {n} classes of one row each, and a fold needs rows of a class both to fit "
                "and to hold out; give more rows of each class"
            )
        count = min(count, most)
    evenly = StratifiedKFold if labels.any() else KFold
    folds = evenly(count, shuffle=shuffle is not None, random_state=shuffle)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # has few in each fold
        return [(rows[train], rows[test]) for train, test in folds.split(rows, labels)]


def _grouped(
    groups: Ints, labels: Ints, cv: int, shuffle: np.random.RandomState | None
) -> list[Split]:
    """Folds that keep groups together, and have shares of rows and of each label that are alike.

    Group after group, from those that have most of a label on, joins the fold that has least of
    what it has.
    """
    width, count = int(groups.max()) + 1, min(cv, int(groups.max()) + 1)
    if count < 2:
        raise ValueError(
            f"folds that keep groups together need cv and the number of groups to be at least 2, "
            f"got cv={cv} and {width} group(s) on the rows of positive weight; leave groups out, "
            "or give other labels"
        )
    shares = np.zeros((width, int(labels.max()) + 2))  # of each label and, last, of all rows
    np.add.at(shares, (groups, labels), 1.0)
    shares[:, -1] = shares.sum(axis=1)
    shares /= shares.sum(axis=0)
    order = np.arange(width) if shuffle is None else shuffle.permutation(width)
    order = order[np.argsort(-shares[order].max(axis=1), kind="stable")]
    held, fold = np.zeros((count, shares.shape[1])), np.empty(width, np.intp)
    for group in order:
        fold[group] = at = int(np.argmin(np.round(held @ shares[group], 12)))
        held[at] += shares[group]
    of_row = fold[groups]
    return [(np.flatnonzero(of_row != at), np.flatnonzero(of_row == at)) for at in range(count)]


def labels_of(groups: ArrayLike, n: int) -> Ints:
    """The groups of n rows as numbers, in the order of their labels."""
    given = np.asarray(fetched(groups, "groups"))
    if given.shape != (n,):
        raise ValueError(f"groups must have a label for each row, shape ({n},), got {given.shape}")
    missing = np.flatnonzero(given != given) if given.dtype.kind in "fO" else np.empty(0, np.intp)
    if given.dtype.kind == "O":
        missing = np.union1d(missing, np.flatnonzero([each is None for each in given]))
    if missing.size:
        raise ValueError(
            f"groups must have a label for each row, got {given[missing[0]]} in row {missing[0]}; "
            "leave such rows out, or give each a label of its own"
        )
    try:
        return np.asarray(np.unique(given, return_inverse=True)[1])
    except TypeError as error:
        raise ValueError(
            f"groups must be labels of one kind that can be sorted: {error}"
        ) from error


def stratification_key(problem: Problem) -> Floats:
    """By which rows are sorted, so that folds have small and large responses alike.

    What unpenalised columns leave of the response (of counts, the response itself), up to its sign
    and scale; of several responses, their first principal component, once they are of one size.
    Rows without weight have none, and say nothing of the others.
    """
    rows, loss = problem.train, problem.losses[0]
    weights = problem.weights.of(rows)
    w = np.ones(len(rows)) if weights is None else weights
    left = problem.residuals_on(rows) if loss.in_units_of_y else problem.Y[rows]
    left = left / _or_one(np.abs(left).max(axis=0))  # so that no square overflows
    Z = left / _or_one(np.sqrt(np.average(left**2, axis=0, weights=w)))
    along = np.linalg.eigh((Z.T * w) @ Z)[1][:, -1] if Z.shape[1] > 1 else np.ones(1)
    values = np.round(Z @ along, 9)  # equal but for rounding is equal
    skew, moment = float(w @ values**3), float(w @ np.abs(values) ** 3)
    if abs(skew) <= 1e-9 * moment:  # as often below as above: the first row says which is which
        skew = float(values[np.argmax(values != 0)])
    key = np.zeros(len(problem.Y))
    key[rows] = -values if skew < 0 else values
    return key


def _or_one(sizes: Floats) -> Floats:
    return np.where(sizes > 0, sizes, 1.0)


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
    stopping: Rule,
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
    return [results[at : at + len(methods)] for at in range(0, len(paths), len(methods))]


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


def select_by_ebic(
    folds: Sequence[Fold], walked: Sequence[Sequence[Result]], n_jobs: int | None
) -> list[Choice]:
    """What EBIC prefers on each fold of all that its paths visit; folds share passes over X."""
    if isinstance(folds[0].y, Response):
        return on_each(folds, lambda at: folds[at].by_ebic(walked[at]), n_jobs)
    searches = on_each(folds, lambda at: Asking(folds[at].choosing_by_ebic(walked[at])), n_jobs)
    return side_by_side(searches)
