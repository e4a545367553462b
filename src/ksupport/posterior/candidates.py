"""Candidates: the features among which models are sampled.

All of them where they are few.  Of many: those that paths visit, those that correlate most with the
response, and those that correlate most with what the best visited models leave of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..choosing.criteria import Criterion
from ..choosing.refits import refit_all
from ..choosing.supports import Support, largest_support, response_of
from ..design import Design, Floats, Ints, Survey, surveyed
from ..losses import Response
from .chains import FULL, Budget
from .coefficients import AVERAGED
from .prior import Others

# Of 1000 features on development draws of real designs, models sampled among 400 and among all
# had the same F1; 250 take a third of the time.
CANDIDATES = 250
VISITED = 100  # of these, features of visited supports, at most
FEWEST_GROUPS, IN_GROUPS = 5, 1000  # known groups that are candidates; and features of all groups


@dataclass(frozen=True, eq=False)
class Task:
    """Data whose posterior is asked for.

    Parameters
    ----------
    design : Design
        X.
    target : array, or Response
        Centred responses side by side, or the response of a loss that is not of squares.
    visited : list of supports
        By paths.
    share : float
        Of the rows, those that count (`Problem.effective_share`).
    positive : bool
        Whether coefficients cannot be negative.
    labels, n_groups
        The known group of each feature, if there are any, and how many there are to choose from.
    row_groups : array of int, optional
        Which rows belong together.
    """

    design: Design
    target: Any
    visited: Sequence[Support]
    share: float = 1.0
    positive: bool = False
    labels: Ints | None = None
    n_groups: int = 0
    row_groups: Ints | None = None
    seed: int = 0
    budget: Budget = FULL
    check: bool = True  # whether features that were left out are looked at once more
    averaged: int = AVERAGED  # models whose coefficients are averaged

    @property
    def response(self) -> Response | None:
        """Of a loss that is not of squares."""
        return self.target if isinstance(self.target, Response) else None

    @property
    def Y(self) -> Floats:
        """Responses as rows; of a loss, its negative gradient without features."""
        return np.asarray(response_of(self.target)).reshape(-1, self.design.n)

    def shorter(self, budget: Budget, averaged: int) -> Task:
        return replace(self, budget=budget, check=False, averaged=averaged)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The features among which models are sampled, and what is known of them and of all others.

    Parameters
    ----------
    features : array of int
        The candidates, ascending.
    visited : list of supports
        The best ones that paths have visited.
    others : Others
        Features that are no candidates.
    probable : array of int
        Those that the models of short chains have most often, the most frequent first.
    """

    features: Ints
    visited: list[Support]
    others: Others = field(default_factory=Others)
    probable: Ints = field(default_factory=lambda: np.zeros(0, np.intp))


def candidates_of(tasks: Sequence[Task]) -> list[Candidates]:
    """Candidates of each task; views of one store share a pass."""
    best = [best_visited(task) for task in tasks]
    asked = [(task, own) for task, own in zip(tasks, best, strict=True) if not _all_fit(task)]
    answers = iter(surveyed([_survey(task, own) for task, own in asked]))
    found = []
    for task, own in zip(tasks, best, strict=True):
        if _all_fit(task):
            found.append(Candidates(np.arange(task.design.d), own))
        elif task.labels is not None:
            found.append(Candidates(_of_groups(next(answers), task.labels), own))
        else:
            strongest, _ = next(answers)
            parts = [_frequent(task.visited), strongest.ravel()]
            features = np.unique(np.concatenate(parts)).astype(np.intp)
            found.append(Candidates(features, own))
    return found


def best_visited(task: Task) -> list[Support]:
    """Visited supports by EBIC of squares, the two best ones."""
    design, Y = task.design, task.Y
    largest = largest_support(design.n_samples)
    visited = [S for S in dict.fromkeys(task.visited) if 0 < len(S) <= largest]
    if not visited or not Y.any() or task.labels is not None:
        return []
    y = Y.ravel()
    refits = refit_all(design, y, visited, task.positive)
    rule = Criterion("ebic", len(Y) * design.n_samples, design.d, float(y @ y))
    scores = rule(refits.rss, refits.size, refits.size // len(Y))
    order = np.lexsort((refits.size, np.round(scores, 6)))[:2]
    return [tuple(sorted(visited[at])) for at in order]


def _all_fit(task: Task) -> bool:
    return task.design.d <= (IN_GROUPS if task.labels is not None else CANDIDATES)


def _survey(task: Task, best: list[Support]) -> Survey:
    """Which features go most with y, and with what the best visited supports leave of it."""
    if task.labels is not None:
        return Survey(task.design, task.Y.T, partial(_sizes, task.positive), np.concatenate)
    vectors = np.vstack([task.Y, *(residual(task, S) for S in best)])
    count = (CANDIDATES - VISITED // 2) // len(vectors)
    find = partial(_strongest, count, task.positive)
    return Survey(task.design, np.ascontiguousarray(vectors.T), find, partial(_strongest_of, count))


def residual(task: Task, support: Support) -> Floats:
    """What least squares on a support leaves of the responses."""
    if not support:
        return task.Y
    columns = task.design.columns(np.asarray(support, np.intp))
    coef = np.linalg.lstsq(columns.T, task.Y.T, rcond=None)[0]
    return np.asarray(task.Y - coef.T @ columns)


def _frequent(visited: Sequence[Support]) -> Ints:
    """Features that are in most of the visited supports."""
    members = np.array([j for S in dict.fromkeys(visited) for j in S], np.intp)
    features, counts = np.unique(members, return_counts=True)
    return features[np.lexsort((features, -counts))][:VISITED]


def _along(products: Floats, positive: bool) -> Floats:
    return np.asarray(np.maximum(products, 0.0) if positive else np.abs(products))


def _strongest(
    count: int, positive: bool, first: int, products: Floats, norms: Floats
) -> tuple[Ints, Floats]:
    """The features most correlated with each vector: vectors x features, and how much."""
    sizes = _along(products.T, positive) / np.where(norms > 0, norms, np.inf)
    order = largest_first(sizes, count)
    return first + order, np.take_along_axis(sizes, order, axis=1)


def largest_first(sizes: Floats, count: int) -> Ints:
    """Where the largest of each row are, in order; equal ones by place."""
    count = min(count, sizes.shape[1])
    order = np.empty((len(sizes), count), np.intp)
    for own, row in zip(order, sizes if count else (), strict=False):
        least = np.partition(row, row.size - count)[row.size - count]
        near = np.flatnonzero(row >= least)
        own[:] = near[np.argsort(-row[near], kind="stable")[:count]]
    return order


def _strongest_of(count: int, parts: list[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    """Of all features, from consecutive parts of them."""
    features, sizes = (np.hstack(each) for each in zip(*parts, strict=True))
    order = largest_first(sizes, count)
    return np.take_along_axis(features, order, 1), np.take_along_axis(sizes, order, 1)


def _sizes(positive: bool, first: int, products: Floats, norms: Floats) -> Floats:
    """How much each feature correlates with the responses."""
    sizes = np.linalg.norm(_along(products, positive), axis=1)
    return np.asarray(sizes / np.where(norms > 0, norms, np.inf))


def _of_groups(sizes: Floats, labels: Ints) -> Ints:
    """Whole groups, those of the largest mean squares, as there is room for them."""
    members = np.bincount(labels)
    means = np.bincount(labels, sizes**2) / np.maximum(members, 1)
    kept, room = np.zeros(members.size, bool), IN_GROUPS
    for group in np.argsort(-means, kind="stable").tolist():
        if members[group] <= room or np.count_nonzero(kept) < FEWEST_GROUPS:
            kept[group] = True
            room -= members[group]
    return np.flatnonzero(kept[labels])
