"""Exchange of features: what one more, one fewer or another one does to a support."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dtrtri

from .._common.phases import phase
from .._kernels.refits import best_gains
from ..design import Design, Floats, Ints, Survey, surveyed
from .refits import DEPENDENT
from .supports import Support

Found = TypeVar("Found")

EQUAL = 1e-7  # falls that differ by less than this share of the residual are equal
BLOCK = 32  # columns that LAPACK takes at a time


@dataclass(frozen=True)
class Move:
    """A neighbouring support and its residual sum of squares."""

    support: Support
    rss: float


def independent(design: Design, support: Support) -> tuple[Support, Floats, Floats]:
    """The support without the features that depend on others before them; Q and R⁻¹ of X_S = QR."""
    S = list(support)
    while S:
        columns = design.columns(np.asarray(S, np.intp))
        work = BLOCK * len(S)
        reflectors, tau, _, _ = dgeqrf(columns.T, lwork=work)
        pivots, norms = np.abs(reflectors.diagonal()), np.linalg.norm(columns, axis=1)
        dependent = np.flatnonzero(pivots <= np.sqrt(DEPENDENT) * norms[: len(pivots)])
        if dependent.size:
            del S[dependent[0]]
        elif len(S) > len(pivots):  # more features than samples
            del S[len(pivots)]
        else:
            inverse, _ = dtrtri(np.triu(reflectors[: len(S)]))
            return tuple(S), dorgqr(reflectors, tau, lwork=work)[0], inverse
    return (), np.empty((design.n, 0)), np.empty((0, 0))


@dataclass(frozen=True)
class Leaving:
    """What leaving out each feature of a support does to the residual r.

    With Q an orthonormal basis of the support's columns, u_i = Q w_i is the unit vector of what
    feature i alone contributes; without i, r becomes r + b_i u_i.
    """

    support: Ints
    rss: float  # ‖r‖²
    W: Floats  # the w_i, as rows
    b: Floats  # u_iᵀy

    @classmethod
    def of(cls, design: Design, y: Floats, support: Support) -> tuple[Leaving, Floats]:
        """For a support and a response; also r and Q, side by side."""
        S, Q, W = independent(design, support)
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        c = Q.T @ y
        r = y - Q @ c
        leaving = cls(np.asarray(S, np.intp), float(r @ r), W, W @ c)
        return leaving, np.column_stack([r, Q])


@dataclass(frozen=True)
class Gains:
    """The features worth taking in: for nothing, and in exchange for one of the support."""

    added: tuple[float, int]  # the largest fall of the residual, and its feature
    falls: Floats  # those of the best exchanges, largest first; -inf: there are no more
    out: Ints  # positions in the support
    into: Ints  # features

    @classmethod
    def best(cls, most: int, parts: Sequence[Gains]) -> Gains:
        """The best of several lists, in order of the pairs where they are equal."""
        falls, out, into = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("falls", "out", "into")
        )
        first = np.lexsort((into, out, -falls))[:most]
        added = max((part.added for part in parts), key=lambda each: each[0])
        return cls(added, falls[first], out[first], into[first])

    @classmethod
    def among(
        cls, leaving: Leaving, rounding: float, most: int, first: int,
        products: Floats, norms: Floats,
    ) -> Gains:  # fmt: skip
        """Among consecutive features; the rows of ``products`` are those with r and Q."""
        own = leaving.support - first
        own = own[(own >= 0) & (own < norms.size)]
        falls, out, into = np.empty(most), np.empty(most, np.intp), np.empty(most, np.intp)
        fall, feature = best_gains(
            products, leaving.W @ products[1:], leaving.b, np.ascontiguousarray(norms), own,
            DEPENDENT, rounding, EQUAL * leaving.rss, falls, out, into,
        )  # fmt: skip
        return cls((fall, first + feature), falls, out, first + into)


def _gains(
    leaving: Sequence[Leaving], rounding: float, most: int, first: int,
    products: Floats, norms: Floats,
) -> list[Gains]:  # fmt: skip
    """`Gains.among` of several supports, whose products stand side by side."""
    ends = np.cumsum([0, *(1 + each.support.size for each in leaving)])
    parts = (np.ascontiguousarray(products[:, start:stop].T) for start, stop in pairwise(ends))
    return [
        Gains.among(each, rounding, most, first, part, norms)
        for each, part in zip(leaving, parts, strict=True)
    ]


def _merge_gains(most: int, parts: list[list[Gains]]) -> list[Gains]:
    """The best gains for each support, from those on consecutive parts of the features."""
    return [Gains.best(most, each) for each in zip(*parts, strict=True)]


@dataclass(frozen=True)
class Wanted:
    """Supports whose surroundings are asked for, with so many of the best exchanges."""

    design: Design
    y: Floats
    supports: Sequence[Support]
    most: int


@dataclass(frozen=True)
class Around:
    """What one feature more, one fewer, or one exchanged does to the residual sum of squares.

    With Q an orthonormal basis of the support's columns and r the residual, adding feature l
    lowers it by (x_lᵀr)²/‖(I-QQᵀ)x_l‖².  If feature i is left out (see `Leaving`), both terms
    follow from u_iᵀX = w_iᵀQᵀX: so all exchanges are scored in one pass over X.
    """

    support: Support  # without the features that depend on others before them
    rss: float
    dropped: Floats  # rise for each feature of the support
    gains: Gains  # the best features to add, and the best exchanges

    @classmethod
    def all(cls, wanted: Sequence[Wanted]) -> list[list[Around]]:
        """What is wanted, on one design or several: one pass for those on views of one store."""
        leaving, surveys = [], []
        for each in wanted:
            known, vectors = zip(
                *(Leaving.of(each.design, each.y, support) for support in each.supports),
                strict=True,
            )
            # A column that is constant but for rounding has a norm, and nothing to say.
            rounding = 1e-20 * float(each.design.column_norms.max()) ** 2 + np.finfo(float).tiny
            gains = partial(_gains, known, rounding, each.most)
            merge = partial(_merge_gains, each.most)
            leaving.append(known)
            surveys.append(Survey(each.design, np.hstack(vectors), gains, merge))
        return [
            [
                cls(tuple(one.support.tolist()), one.rss, one.b**2, found)
                for one, found in zip(known, gains, strict=True)
            ]
            for known, gains in zip(leaving, surveyed(surveys), strict=True)
        ]

    def with_one_more(self) -> Move:
        fall, feature = self.gains.added
        return Move(tuple(sorted((*self.support, feature))), self.rss - fall)

    def with_one_fewer(self) -> Move:
        at = int(np.argmin(self.dropped))
        return Move(self._without(at), self.rss + float(self.dropped[at]))

    def with_one_exchanged(self, rank: int) -> Move:
        """The exchange that comes so far down the list of the best ones."""
        out, into = int(self.gains.out[rank]), int(self.gains.into[rank])
        support = tuple(sorted((*self._without(out), into)))
        return Move(support, self.rss - float(self.gains.falls[rank]))

    def _without(self, at: int) -> Support:
        return self.support[:at] + self.support[at + 1 :]

    def moves(self, largest: int) -> Iterator[Move]:
        """To stay, and to the neighbours."""
        yield Move(self.support, self.rss)
        yield from self.neighbours(largest)

    def neighbours(self, largest: int) -> Iterator[Move]:
        """The best supports with one feature more, one fewer, and one exchanged, if they help."""
        if self.gains.added[0] > 0 and len(self.support) < largest:
            yield self.with_one_more()
        if self.support:
            yield self.with_one_fewer()
            if self.gains.falls[0] > 0:
                yield self.with_one_exchanged(0)

    def twins(self, criterion: Callable[[Any, Any], Any], within: float) -> list[Move]:
        """Supports one exchange away whose score is at most so much worse, best first."""
        size = len(self.support)
        worse = criterion(self.rss - self.gains.falls, size) - criterion(self.rss, size)
        return [self.with_one_exchanged(rank) for rank in np.flatnonzero(worse <= within).tolist()]


Asked = Generator[Wanted, list[Around], Found]


class Asking(Generic[Found]):
    """A search for the best support, halted where it asks for what lies around some."""

    def __init__(self, steps: Asked[Found]) -> None:
        self.steps = steps
        self.answer(None)

    def answer(self, around: Any) -> None:
        """Go on, to the next question or to the end."""
        self.wanted: Wanted | None
        try:
            self.wanted = self.steps.send(around)
        except StopIteration as end:
            self.wanted, self.found = None, end.value


@phase("exchanging features")
def side_by_side(searches: Sequence[Asking[Found]]) -> list[Found]:
    """What searches find that go on together, so that they share passes over X."""
    while waiting := [(each, each.wanted) for each in searches if each.wanted is not None]:
        answers = Around.all([wanted for _, wanted in waiting])
        for (each, _), around in zip(waiting, answers, strict=True):
            each.answer(around)
    return [each.found for each in searches]


def improve(
    design: Design,
    y: Floats,
    starts: Iterable[Support],
    criterion: Callable[[Any, Any], Any],
    largest: int,
    most: int = 1,
    max_moves: int = 50,
) -> Asked[list[Around]]:
    """From each start, exchange features while the criterion improves.

    Returns what lies around the supports on the way, with so many of the best exchanges.  The
    chains go side by side, so that they share passes over X; one that comes to where another has
    been would only follow it, and ends.
    """
    passed: list[Around] = []
    been: set[Support] = set()
    chains = list(starts)
    for _ in range(max_moves):
        chains = [support for support in dict.fromkeys(chains) if support not in been]
        if not chains:
            break
        here = yield Wanted(design, y, chains, most)
        passed += here
        been.update(chains, (around.support for around in here))
        ahead: list[Support] = []
        for around in here:
            moves = list(around.moves(largest))
            scores = criterion([m.rss for m in moves], [len(m.support) for m in moves])
            best = int(np.argmin(scores))
            if scores[best] < scores[0] - 1e-8 * max(abs(scores[0]), 1.0):
                ahead.append(moves[best].support)
        chains = ahead
    return passed
