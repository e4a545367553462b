"""Exchange of features: what one more, one fewer or another one does to a support."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dtrtri

from .. import _kernels
from .._common.phases import phase
from ..design import Design, Floats, Ints
from .refits import DEPENDENT
from .supports import Support

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


@dataclass(frozen=True)
class Gains:
    """The features worth taking in: for nothing, and in exchange for one of the support."""

    added: tuple[float, int]  # the largest fall of the residual, and its feature
    falls: Floats  # those of the best exchanges, largest first; -inf: there are no more
    out: Ints  # positions in the support
    into: Ints  # features
    each: Floats  # the largest fall for each feature of the support that is exchanged

    @classmethod
    def best(cls, most: int, parts: Sequence[Gains]) -> Gains:
        """The best of several lists, in order of the pairs where they are equal."""
        falls, out, into = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("falls", "out", "into")
        )
        first = np.lexsort((into, out, -falls))[:most]
        added = max((part.added for part in parts), key=lambda each: each[0])
        each = np.max([part.each for part in parts], axis=0)
        return cls(added, falls[first], out[first], into[first], each)

    @classmethod
    def among(
        cls, leaving: Leaving, rounding: float, most: int, first: int,
        products: Floats, norms: Floats,
    ) -> Gains:  # fmt: skip
        """Among consecutive features; the rows of ``products`` are those with r and Q."""
        own = leaving.support - first
        own = own[(own >= 0) & (own < norms.size)]
        falls, out, into = np.empty(most), np.empty(most, np.intp), np.empty(most, np.intp)
        each = np.empty(leaving.b.size)
        fall, feature = _kernels.best_gains(
            products, leaving.W @ products[1:], leaving.b, norms, own, DEPENDENT, rounding,
            EQUAL * leaving.rss, falls, out, into, each,
        )  # fmt: skip
        return cls((fall, first + feature), falls, out, first + into, each)


def _gains(
    leaving: list[Leaving], rounding: float, most: int, first: int, products: Floats, norms: Floats
) -> list[Gains]:
    """`Gains.among` of several supports, whose products stand side by side."""
    ends = np.cumsum([0, *(1 + each.support.size for each in leaving)])
    parts = (np.ascontiguousarray(products[:, start:stop].T) for start, stop in pairwise(ends))
    return [
        Gains.among(each, rounding, most, first, part, norms)
        for each, part in zip(leaving, parts, strict=True)
    ]


def _merge_gains(most: int, parts: list[list[Gains]]) -> list[Gains]:
    """The same of all features, from consecutive parts of them."""
    return [Gains.best(most, each) for each in zip(*parts, strict=True)]


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
    def all(
        cls, design: Design, y: Floats, supports: Iterable[Support], most: int = 1
    ) -> list[Around]:
        """Of several supports in one pass, with so many of the best exchanges."""
        leaving, vectors = [], []
        for support in supports:
            S, Q, W = independent(design, support)
            W /= np.linalg.norm(W, axis=1, keepdims=True)
            c = Q.T @ y
            r = y - Q @ c
            leaving.append(Leaving(np.asarray(S, np.intp), float(r @ r), W, W @ c))
            vectors.append(np.column_stack([r, Q]))
        # A column that is constant but for rounding has a norm, and nothing to say.
        rounding = 1e-20 * float(design.column_norms.max()) ** 2 + np.finfo(float).tiny
        gains = design.over_features(
            np.hstack(vectors),
            partial(_gains, leaving, rounding, most),
            partial(_merge_gains, most),
        )
        return [
            cls(tuple(each.support.tolist()), each.rss, each.b**2, found)
            for each, found in zip(leaving, gains, strict=True)
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

    def certain(self, criterion: Callable[[Any, Any], Any], within: float) -> Support:
        """The features that no exchange replaces by another at a score at most so much worse."""
        size = len(self.support)
        worse = criterion(self.rss - self.gains.each, size) - criterion(self.rss, size)
        return tuple(np.asarray(self.support, np.intp)[worse > within].tolist())

    def twins(self, criterion: Callable[[Any, Any], Any], within: float) -> list[Move]:
        """Supports one exchange away whose score is at most so much worse, best first."""
        size = len(self.support)
        worse = criterion(self.rss - self.gains.falls, size) - criterion(self.rss, size)
        return [self.with_one_exchanged(rank) for rank in np.flatnonzero(worse <= within).tolist()]


@phase("exchanging features")
def improve(
    design: Design,
    y: Floats,
    starts: Iterable[Support],
    criterion: Callable[[Any, Any], Any],
    largest: int,
    most: int = 1,
    max_moves: int = 50,
) -> list[Around]:
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
        here = Around.all(design, y, chains, most)
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
