"""What a few full products say of other vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dpstrf

from .. import limits
from ..design import Design, Floats, Ints, OnEach, use_products

SLACK = {4: 1e-4, 8: 1e-11}  # relative rounding of a full product, by the bytes of a number
SPANNED = 1e-12  # share of a vector outside the span that is rounding
DEPENDENT = 1e-13  # share of a vector outside the span of others that counts as none
FORESEEN = 3e-3  # the same of vectors that may never come: below, hardly a feature enters for it
SINGLE = 1e20  # norms of columns up to which products are well within single precision
# Vectors that are remembered, or so many samples for each: with more of them, to recall a product
# costs as much as to take it.
FEW, SHARE = 64, 8


@dataclass(frozen=True)
class Look:
    """Vectors, as rows, whose products with X̃ᵀ a path needs; and some that it may need next."""

    wanted: Floats
    foreseen: Floats  # `leading` ones of those


class Recall:
    """The products X̃ᵀQᵀ with a few orthonormal vectors, the rows of Q, for all paths on a view.

    For u = Qᵀc + e, feature i obeys |x_iᵀu - (X̃ᵀQᵀc)_i| <= ‖x_i‖ ‖e‖: within the span nothing is
    left open.  A u of several responses, side by side, has the products of each side by side.
    Where features are very many, products are kept in single precision, and count as so exact.
    """

    def __init__(self, design: Design) -> None:
        self.n, self.d = design.shape
        self.slack = SLACK[design.store.products_in.itemsize]
        self.Q = np.empty((0, design.n))
        few = design.d <= limits.RECALLED_DOUBLE
        self.double = few or not 1 / SINGLE < design.magnitude < SINGLE
        self._room = np.empty((0, design.d), np.float64 if self.double else np.float32)
        room = limits.RECALLED // (self._room.itemsize * design.d)
        # Vectors to remember; more only where all of them are wanted.
        self.most = max(min(room, max(design.n // SHARE, FEW)), 1)
        if design.known is not None:
            self._begin(*design.known)

    @classmethod
    def of(cls, design: Design) -> Recall:
        """What is remembered of a view, by all who walk there."""
        recall: Recall = design.once("recall", lambda: cls(design))
        return recall

    def _begin(self, vectors: Floats, products: Floats) -> None:
        """With these products, of few vectors."""
        Q, R = np.linalg.qr(vectors.T)
        sizes = np.abs(np.diag(R))
        if sizes.min(initial=np.inf) > DEPENDENT * np.linalg.norm(vectors):
            self.make_room(Q.T)[:] = np.linalg.solve(R.T, products)

    # -- what is known -------------------------------------------------------------------------

    @property
    def products(self) -> Floats:
        """One a row, in the order of Q."""
        return self._room[: len(self.Q)]

    @property
    def rounding(self) -> float:
        """Of a product, relative to ‖x_i‖."""
        kept = 0.0 if self.double else (len(self.Q) + 2) * float(np.finfo(np.float32).eps)
        return self.slack + kept

    def __call__(self, U: Floats) -> tuple[Floats, Floats]:
        """About X̃ᵀu of each row u, and by how many times ‖x_i‖ it may be wrong."""
        each = U.reshape(-1, self.n)
        C = each @ self.Q.T
        missed = np.linalg.norm(each - C @ self.Q, axis=1)
        wrong = missed + self.rounding * np.abs(C).sum(axis=1)
        count = len(U)
        products = C.astype(self._room.dtype, copy=False) @ self.products
        return products.reshape(count, -1), np.linalg.norm(wrong.reshape(count, -1), axis=1)

    def missed(self, u: Floats) -> float:
        """How much of u, as a share, lies outside the span."""
        each, size = u.reshape(-1, self.n), float(np.linalg.norm(u))
        missed = np.linalg.norm(each - (each @ self.Q.T) @ self.Q)
        return float(missed) / size if size > 0 else 0.0

    def knows(self, u: Floats) -> bool:
        """Whether u lies in the span, up to rounding."""
        return self.missed(u) <= SPANNED

    # -- more of it ----------------------------------------------------------------------------

    def beyond(self, looks: Sequence[Look]) -> Floats:
        """What to multiply with so that all that is wanted is known, and most that is foreseen.

        Orthonormal vectors, as rows, orthogonal to those known; none if nothing is missing.  Where
        there is not room for all, the older half of what is known is forgotten, or all of it.
        """
        wanted = units(np.vstack([look.wanted for look in looks]), self.n)
        foreseen = np.vstack([look.foreseen for look in looks])
        for stay in (len(self.Q), self.most // 2, 0):
            known = self.Q[len(self.Q) - min(stay, len(self.Q)) :]
            first = orthonormal(wanted, known)
            if not len(first):
                return first
            if stay and len(known) + len(first) > self.most:
                continue
            both = np.vstack([known, first])
            C = foreseen @ both.T
            rest = orthonormal(foreseen[_first(foreseen @ foreseen.T - C @ C.T)], both)
            if len(known) + len(first) + len(rest) <= self.most:
                break
        self._forget_all_but(len(known))
        return np.vstack([first, rest])[: max(self.most, len(first))]

    def _forget_all_but(self, count: int) -> None:
        """The newest."""
        if count < len(self.Q):
            self._room[:count] = self.products[len(self.Q) - count :].copy()
            self.Q = self.Q[len(self.Q) - count :]

    def make_room(self, Q: Floats) -> Floats:
        """Where to put products with vectors from `beyond`."""
        before, count = len(self.Q), len(self.Q) + len(Q)
        if count > len(self._room):
            larger = np.empty((max(count, self.most), self.d), self._room.dtype)
            larger[:before] = self.products
            self._room = larger
        self.Q = np.vstack([self.Q, Q])
        return self._room[before:count]


def learn(views: Sequence[Design], news: Sequence[Floats], each: OnEach) -> None:
    """Take products with vectors from `Recall.beyond`, on views of one store: one pass for all."""
    rooms = [Recall.of(view).make_room(Q) for view, Q in zip(views, news, strict=True)]

    def keep(columns: slice, products: list[Floats]) -> None:
        for room, part in zip(rooms, products, strict=True):
            room[:, columns] = part.T

    use_products(views, [Q.T for Q in news], keep, each)


def units(vectors: Floats, n: int) -> Floats:
    """Vectors of size n as rows, each of length 1; those of several responses one by one."""
    each = vectors.reshape(-1, n)
    sizes = np.linalg.norm(each, axis=1)
    return np.asarray(each[sizes > 0] / sizes[sizes > 0, None])


def leading(vectors: Floats, n: int) -> Floats:
    """Few orthogonal vectors, as rows, near whose span all of these are; the longest first.

    Each is as long as the most that any of these, of length 1, has of it.
    """
    each = units(vectors, n)
    Q, sizes = _pivoted(each[_first(each @ each.T)], FORESEEN)
    return np.asarray(sizes[:, None] * Q)


def orthonormal(vectors: Floats, known: Floats) -> Floats:
    """A basis, as rows, of what vectors have beyond orthonormal ones; the most important first."""
    for _ in range(2):  # once leaves rounding, as large as what is left may be
        vectors = vectors - (vectors @ known.T) @ known
    Q, _ = _pivoted(vectors, DEPENDENT)
    if len(Q) and len(known):  # what little was left of a vector is not quite orthogonal
        Q = np.linalg.qr((Q - (Q @ known.T) @ known).T)[0].T
    return np.ascontiguousarray(Q)


def _first(G: Floats) -> Ints:
    """Of vectors with these scalar products one, and as many as leave little of the others."""
    if not len(G):
        return np.empty(0, np.intp)
    _, order, rank, _ = dpstrf(G, tol=FORESEEN**2)
    return np.asarray(order[:rank] - 1)


def _pivoted(vectors: Floats, least: float) -> tuple[Floats, Floats]:
    """An orthonormal basis of vectors, as rows, and how far they reach along each."""
    if not len(vectors):
        return vectors, np.empty(0)
    Q, R, _ = qr(vectors.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = np.count_nonzero(sizes > least)
    return Q[:, :rank].T, sizes[:rank]
