"""Refitted supports and their scores, and those that differ from the best by a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Design, Floats, Ints
from ..walking.structure import PLAIN, Structure
from .criteria import Criterion
from .exchange import Move
from .refits import Refits, least_squares, refit_all
from .supports import Support

SAME = 6  # scores that agree to so many decimals are equal
TRIED = 8  # groups that are tried for those of a support, or beside them
ROUNDS = 20  # of exchanges from one support on


@dataclass(frozen=True)
class Choice:
    """What a criterion says of the models that paths have visited.

    ``path`` and ``record`` say where each support of the table was first met; -1: only by
    exchanging features.
    """

    support: Support
    score: float
    table: dict[str, NDArray[Any]]  # support, size, rss, score, path, record; best first

    @classmethod
    def of(
        cls,
        supports: Sequence[Support],
        scores: Floats,
        where: Mapping[Support, tuple[int, int]],
        **columns: NDArray[Any],
    ) -> Choice:
        """Of supports, best first, and where paths met them."""
        named = np.empty(len(supports), object)
        named[:] = supports
        path, record = np.array([where.get(support, (-1, -1)) for support in supports]).T
        table = {"support": named, **columns, "score": scores, "path": path, "record": record}
        return cls(supports[0], float(scores[0]), table)

    def alternatives(self, within: float) -> list[tuple[Support, float]]:
        """Other supports whose score is at most so much worse, best first."""
        near = np.flatnonzero(self.table["score"] <= self.score + within)
        pairs = ((self.table["support"][i], float(self.table["score"][i])) for i in near)
        return [pair for pair in pairs if pair[0] != self.support]


class Scored:
    """Refitted supports and their scores."""

    def __init__(
        self,
        rule: Criterion,
        refits: Refits,
        structure: Structure = PLAIN,
        weigh: Callable[[Support], float] | None = None,  # instead of the criterion
    ) -> None:
        self.rule = rule
        self.structure = structure
        self.weigh = None if weigh is None else cache(weigh)
        self.supports = list(refits.supports)
        self.rss, self.size = refits.rss, refits.size

    def add(self, moves: Iterable[Move]) -> None:
        known = set(self.supports)
        new = {move.support: move.rss for move in moves if move.support not in known}
        self.supports += new
        self.rss = np.append(self.rss, [*new.values()])
        self.size = np.append(self.size, np.array([*map(len, new)], np.intp))

    def refit(self, design: Design, y: Floats, supports: Iterable[Support]) -> None:
        """Add those supports that are new."""
        known = set(self.supports)
        new = [support for support in dict.fromkeys(supports) if support not in known]
        refits = refit_all(design, y, new, self.structure.positive)
        self.supports += new
        self.rss = np.append(self.rss, refits.rss)
        self.size = np.append(self.size, refits.size)

    def ranked(self) -> tuple[Floats, Ints]:
        """Scores, and their order; of equal ones that of fewer features comes first."""
        scores = self._scores()
        lengths = np.array([len(support) for support in self.supports])
        return scores, np.lexsort((lengths, np.round(scores, SAME)))

    def _scores(self) -> Floats:
        if self.weigh is not None:
            return np.array([self.weigh(support) for support in self.supports])
        picked = None
        if not self.structure.plain:
            picked = np.array([self.structure.picked(support) for support in self.supports])
        return np.asarray(self.rule(self.rss, self.size, picked))

    def best(self, count: int) -> list[Support]:
        _, order = self.ranked()
        return [self.supports[i] for i in order[:count]]

    def choice(self, where: Mapping[Support, tuple[int, int]]) -> Choice:
        scores, order = self.ranked()
        supports = [self.supports[i] for i in order]
        return Choice.of(supports, scores[order], where, size=self.size[order], rss=self.rss[order])


# -- groups one by one ---------------------------------------------------------------------


def exchange_groups(design: Design, y: Floats, found: Scored, starts: int, largest: int) -> None:
    """From the best supports on: add, leave out and exchange groups as long as that is better.

    All that is met is added to what was found.  Groups to add are those most correlated with what
    the support leaves of y.
    """
    for support in found.best(starts):
        for _ in range(ROUNDS):
            near = _neighbours(design, y, support, found.structure)
            found.refit(design, y, (S for S in near if len(S) <= largest))
            better = _best_of([support, *near], found)
            if better == support:
                break
            support = better


def _best_of(supports: Iterable[Support], found: Scored) -> Support:
    """The one that ranks first."""
    wanted, (_, order) = set(supports), found.ranked()
    return next(S for i in order.tolist() if (S := found.supports[i]) in wanted)


def _neighbours(design: Design, y: Floats, support: Support, structure: Structure) -> list[Support]:
    """Supports with one group more, one fewer, or one for another."""
    labels = np.arange(design.d) if structure.labels is None else structure.labels
    inside = np.unique(labels[list(support)]).tolist()
    outside = _correlated(design, y, support, labels, structure)
    return list(_exchanges(labels, inside, outside))


def _exchanges(labels: Ints, inside: list[int], outside: list[int]) -> Iterator[Support]:
    for out in [None, *inside]:
        for into in [None, *outside]:
            groups = [group for group in [*inside, into] if group not in (out, None)]
            if out is not None or into is not None:
                yield tuple(np.flatnonzero(np.isin(labels, groups)).tolist())


def _correlated(
    design: Design, y: Floats, support: Support, labels: Ints, structure: Structure
) -> list[int]:
    """The groups outside a support that go most with what it leaves of y."""
    w = least_squares(design, y, support, 0.0, structure.positive)
    left = design.matmat(w.reshape(-1, design.d).T) - y.reshape(-1, design.n).T
    products = np.ascontiguousarray(design.rmatmat(left).T).reshape(1, -1)
    sizes = structure.sides(products)[0][0]
    sizes[np.isin(labels, labels[list(support)])] = 0.0
    leading = labels[np.argsort(-sizes, kind="stable")]
    first = np.unique(leading, return_index=True)[1]
    order = leading[np.sort(first)][:TRIED]
    return [int(group) for group in order if sizes[labels == group].any()]
