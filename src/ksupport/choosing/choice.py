"""Choose among visited models: criteria, least-squares refits, exchange of features.

The functions here know nothing of estimators.  A path visits supports; each distinct support is
refitted by least squares and scored; the best ones are improved by exchanging features with those
left out, as long as the criterion improves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Design, Floats, Ints
from .criteria import Criterion, noise_variance
from .exchange import Around, Asked, Asking, Move, Wanted, improve, side_by_side
from .refits import Refits, refit_all
from .supports import Support

SAME = 6  # scores that agree to so many decimals are equal
MOST_TWINS = 50  # alternatives one exchange away that are listed


@dataclass(frozen=True)
class Choice:
    """What a criterion says of the models that paths have visited.

    ``path`` and ``record`` say where each support of the table was first met; -1: only by
    exchanging features.
    """

    support: Support
    score: float
    table: dict[str, NDArray[Any]]  # support, size, rss, score, path, record; best first

    def alternatives(self, within: float) -> list[tuple[Support, float]]:
        """Other supports whose score is at most so much worse, best first."""
        near = np.flatnonzero(self.table["score"] <= self.score + within)
        pairs = ((self.table["support"][i], float(self.table["score"][i])) for i in near)
        return [pair for pair in pairs if pair[0] != self.support]


class _Candidates:
    """Refitted supports and their scores."""

    def __init__(self, rule: Criterion, refits: Refits) -> None:
        self.rule = rule
        self.supports = list(refits.supports)
        self.rss, self.size = refits.rss, refits.size

    def add(self, moves: Iterable[Move]) -> None:
        known = set(self.supports)
        new = {move.support: move.rss for move in moves if move.support not in known}
        self.supports += new
        self.rss = np.append(self.rss, [*new.values()])
        self.size = np.append(self.size, np.array([*map(len, new)], np.intp))

    def ranked(self) -> tuple[Floats, Ints]:
        """Scores, and their order; of equal ones that of fewer features comes first."""
        scores = np.asarray(self.rule(self.rss, self.size))
        lengths = np.array([len(support) for support in self.supports])
        return scores, np.lexsort((lengths, np.round(scores, SAME)))

    def best(self, count: int) -> list[Support]:
        _, order = self.ranked()
        return [self.supports[i] for i in order[:count]]

    def choice(self, where: Mapping[Support, tuple[int, int]]) -> Choice:
        scores, order = self.ranked()
        best = self.supports[order[0]]
        named = np.empty(len(order), object)
        named[:] = self.supports
        places = np.array([where.get(support, (-1, -1)) for support in self.supports])
        table = {
            "support": named[order],
            "size": self.size[order],
            "rss": self.rss[order],
            "score": scores[order],
            "path": places[order, 0],
            "record": places[order, 1],
        }
        return Choice(best, float(table["score"][0]), table)


def choose(*args: Any, **options: Any) -> Choice:
    """What `choosing` finds, alone."""
    return side_by_side([Asking(choosing(*args, **options))])[0]


def choosing(
    design: Design,
    y: Floats,
    visited: Sequence[Sequence[Support]],
    criterion: str,
    largest: int,
    exchange: int = 3,
    tie: float = 0.0,
) -> Asked[Choice]:
    """Refit every support that the paths visited, score, and improve the best by exchange.

    Parameters
    ----------
    visited : one sequence of supports for each path
        As `supports_of` gives them.
    criterion : str
        See `Criterion`.
    largest : int
        Larger supports are not considered.
    exchange : int
        From how many of the best supports to start exchanging features; 0 for none.  AIC does
        without: it would go on adding features.
    tie : float
        Supports one exchange away from the chosen one are listed too if their score is at most
        so much worse; 0 for none.
    """
    where: dict[Support, tuple[int, int]] = {(): (0, 0)}
    for path, supports in enumerate(visited):
        for record, support in enumerate(supports):
            if len(support) <= largest:
                where.setdefault(support, (path, record))
    refits = refit_all(design, y, where)
    rule = Criterion(criterion, design.freedom, design.d, float(y @ y))
    if criterion == "cp":
        guide = replace(rule, name="ebic")
        rule = replace(rule, noise=noise_variance(refits.rss, refits.size, guide))
    found = _Candidates(rule, refits)
    around: dict[Support, Around] = {}
    if exchange and float(y @ y) > 0:
        most = MOST_TWINS if tie > 0 else 1
        if criterion != "aic":
            passed = yield from improve(design, y, found.best(exchange), rule, largest, most)
            around = {each.support: each for each in passed}
            found.add(move for each in passed for move in each.moves(largest))
        if tie > 0:
            (best,) = found.best(1)
            if best not in around:
                (found_around,) = yield Wanted(design, y, [best], most)
                around[found_around.support] = found_around
            if best in around:  # not if its features are dependent
                found.add(around[best].twins(rule, tie))
    return found.choice(where)
