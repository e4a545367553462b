"""Choose among visited models: criteria, least-squares refits, exchange of features.

The functions here know nothing of estimators.  A path visits supports; each distinct support is
refitted by least squares and scored; the best ones are improved by exchanging features with those
left out, as long as the criterion improves.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf, dorgqr, dtrtri
from scipy.special import gammaln

from . import _kernels
from .algorithms import METHODS
from .algorithms.base import at_most, warn_beyond
from .design import Design, Floats, Ints
from .walking import Result

Support = tuple[int, ...]
Grid = Mapping[str, Any] | None
DEPENDENT = 1e-9  # a feature whose remaining square is below this share counts as dependent
EQUAL = 1e-7  # falls that differ by less than this share of the residual are equal
ZERO = 1e-13  # residuals below this share of ‖y‖² are rounding
SAME = 6  # scores that agree to so many decimals are equal
BLOCK = 32  # columns that LAPACK takes at a time
MOST_TWINS = 50  # alternatives one exchange away that are listed


# ----------------------------------------------------------------------------------------
# Criteria: functions of the residual sum of squares, sizes and shapes
# ----------------------------------------------------------------------------------------


def log_choose(d: int, size: Any) -> Any:
    """log of the number of supports of this size among d features."""
    return gammaln(d + 1) - gammaln(np.add(size, 1)) - gammaln(d - np.asarray(size) + 1)


@dataclass(frozen=True)
class Criterion:
    """An information criterion; smaller is better.

    Parameters
    ----------
    name : {"ebic", "bic", "aic", "gic", "cp"}
        ``ebic`` (Chen and Chen 2008) charges, besides log n a feature, for the number of
        supports of that size; ``gic`` (Fan and Tang 2013) charges log(log n) log d a feature;
        ``cp`` is Mallows's, with the noise level given.
    n, d : numbers
        Samples (a weight counts as a repetition) and features.
    total : float
        ‖y‖², from which the least residual that can be told from zero follows.
    noise : float, optional
        Noise variance, for ``cp``.
    """

    name: str
    n: float
    d: int
    total: float
    noise: float = np.nan

    def __call__(self, rss: Any, size: Any) -> Any:
        rss = np.maximum(rss, max(ZERO * self.total, np.finfo(float).tiny))
        if self.name == "cp":
            return rss / self.noise + 2 * np.asarray(size) - self.n
        return self.n * np.log(rss / self.n) + self.penalty(size)

    def penalty(self, size: Any) -> Any:
        size = np.asarray(size)
        if self.name == "aic":
            return 2.0 * size
        if self.name == "bic":
            return np.log(self.n) * size
        if self.name == "gic":
            return np.log(max(np.log(max(self.n, 3)), 1.0)) * np.log(max(self.d, 2)) * size
        if self.name == "ebic":
            return np.log(self.n) * size + 2 * log_choose(self.d, size)
        raise ValueError(
            f"criterion must be one of 'ebic', 'bic', 'aic', 'gic', 'cp'; got {self.name!r}"
        )


def noise_variance(rss: Floats, size: Ints, criterion: Criterion) -> float:
    """Noise variance from the refit that EBIC prefers: works for d > n.

    The residual of that model over its degrees of freedom; too large if features are missed,
    hardly ever too small, since EBIC guards against fitting noise.
    """
    best = int(np.argmin(criterion(rss, size)))
    least = max(ZERO * criterion.total, np.finfo(float).tiny)
    return float(max(rss[best], least) / freedom_left(criterion.n, int(size[best])))


def freedom_left(n: float, size: int) -> float:
    """Degrees of freedom of the residual beside an intercept and ``size`` features; at least 1."""
    return max(n - 1 - size, 1.0)


# ----------------------------------------------------------------------------------------
# Visited supports
# ----------------------------------------------------------------------------------------


def supports_of(iterates: sp.csr_array) -> list[Support]:
    """The support of every row."""
    index = (iterates if iterates.has_sorted_indices else iterates.sorted_indices()).indices
    known: dict[bytes, Support] = {}
    out: list[Support] = []
    for start, stop in pairwise(iterates.indptr.tolist()):
        row = index[start:stop]
        key = row.tobytes()
        if key not in known:
            known[key] = tuple(row.tolist())
        out.append(known[key])
    return out


@dataclass(frozen=True)
class Refits:
    """Least squares on many supports."""

    supports: list[Support]
    rss: Floats
    size: Ints  # numerical rank: what the model costs
    coef: sp.csr_array  # a row of coefficients for each support


def refit_all(design: Design, y: Floats, supports: Iterable[Support]) -> Refits:
    """Residual sums of squares of all supports, sharing one Gram matrix and its factors."""
    supports = list(supports)
    total, shape = float(y @ y), (len(supports), design.d)
    indptr = np.cumsum([0, *map(len, supports)])
    members = np.fromiter(chain.from_iterable(supports), np.intp, indptr[-1])
    if members.size == 0:
        rss, size = np.full(len(supports), total), np.zeros(len(supports), np.intp)
        return Refits(supports, rss, size, sp.csr_array(shape))
    # Frequent features first: then supports that differ little share long prefixes.
    counts = np.bincount(members)
    features = np.flatnonzero(counts)
    features = features[np.argsort(-counts[features], kind="stable")]
    places = np.empty(counts.size, np.intp)
    places[features] = np.arange(features.size)
    own = np.repeat(np.arange(len(supports)) * features.size, np.diff(indptr))
    indices = np.sort(own + places[members]) - own
    written = indices.astype(">i8").tobytes()  # bytes compare as the numbers they stand for
    keys = [written[8 * start : 8 * stop] for start, stop in pairwise(indptr.tolist())]
    order = np.array(sorted(range(len(supports)), key=keys.__getitem__))
    columns = design.columns(features)
    drop, size = np.empty(len(supports)), np.empty(len(supports), np.intp)
    coef = np.empty(indices.size)
    _kernels.refit_many(
        columns @ columns.T, columns @ y, indptr, indices, order, DEPENDENT, drop, size, coef
    )
    models = sp.csr_array((coef, features[indices], indptr), shape=shape)
    return Refits(supports, np.maximum(total - drop, 0.0), size, models)


def least_squares(design: Design, y: Floats, support: Support, ridge: float = 0.0) -> Floats:
    """Coefficients on all features of the (ridge) least-squares fit on a support, rank-safe."""
    w = np.zeros(design.d)
    if support:
        columns = design.columns(np.asarray(support, np.intp))
        if ridge > 0:
            gram = columns @ columns.T
            gram[np.diag_indices_from(gram)] += ridge
            w[list(support)] = np.linalg.solve(gram, columns @ y)
        else:
            w[list(support)] = np.linalg.lstsq(columns.T, y, rcond=None)[0]
    return w


def ridge_by_gcv(design: Design, y: Floats, support: Support, penalties: Sequence[float]) -> Floats:
    """Coefficients on all features of ridge regression on a support.

    Of the penalties, shares of n, the one is taken that generalised cross-validation prefers
    (Golub, Heath and Wahba 1979): the least ‖residual‖²/(n - degrees of freedom)².  Weights count
    as repetitions there, which they would not with leave-one-out.
    """
    w = np.zeros(design.d)
    if support:
        columns = design.columns(np.asarray(support, np.intp))
        V, s, Ut = np.linalg.svd(columns, full_matrices=False)
        b = Ut @ y
        kept = [s**2 / (s**2 + share * design.n_samples) for share in penalties]
        gcv = [
            (y @ y - (2 * each - each**2) @ b**2) / (design.n_samples - each.sum()) ** 2
            for each in kept
        ]
        best = kept[int(np.argmin(gcv))]
        w[list(support)] = V @ (best * b / np.where(s > 0, s, 1.0))
    return w


# ----------------------------------------------------------------------------------------
# Exchange of features
# ----------------------------------------------------------------------------------------


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


# ----------------------------------------------------------------------------------------
# Choosing
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """What a criterion says of the models that paths have visited.

    ``path`` and ``record`` say where each support of the table was first met; -1: only by
    exchanging features.
    """

    support: Support
    certain: Support  # those of its features that no near-tied support has exchanged
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

    def choice(
        self, where: Mapping[Support, tuple[int, int]], around: Mapping[Support, Around], tie: float
    ) -> Choice:
        scores, order = self.ranked()
        best = self.supports[order[0]]
        within = max(tie, 10.0**-SAME)
        certain = around[best].certain(self.rule, within) if best in around else best
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
        return Choice(best, certain, float(table["score"][0]), table)


def choose(
    design: Design,
    y: Floats,
    visited: Sequence[Sequence[Support]],
    criterion: str,
    largest: int,
    exchange: int = 3,
    tie: float = 0.0,
) -> Choice:
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
    rule = Criterion(criterion, design.n_samples, design.d, float(y @ y))
    if criterion == "cp":
        guide = replace(rule, name="ebic")
        rule = replace(rule, noise=noise_variance(refits.rss, refits.size, guide))
    found = _Candidates(rule, refits)
    around: dict[Support, Around] = {}
    if exchange and float(y @ y) > 0:
        most = MOST_TWINS if tie > 0 else 1
        if criterion != "aic":
            passed = improve(design, y, found.best(exchange), rule, largest, most)
            around = {each.support: each for each in passed}
            found.add(move for each in passed for move in each.moves(largest))
        if tie > 0:
            (best,) = found.best(1)
            if best not in around:
                around |= {each.support: each for each in Around.all(design, y, [best], most)}
            if best in around:  # not if its features are dependent
                found.add(around[best].twins(rule, tie))
    return found.choice(where, around, tie)


def largest_support(n: float) -> int:
    """The most features worth refitting on n rows: half of them, and one row to spare."""
    return max(min(int(n) // 2, int(n) - 2), 0)


def different_rows(design: Design, y: Floats) -> int:
    """How many rows of (X̃, y) differ: one that is repeated, or has weight, says the same as once.

    Where values of y recur, which those of measurements hardly ever do, one product of X̃ with a
    random vector tells rows apart.
    """
    if design.compact:
        return round(design.n_samples)
    root = np.ones(design.n) if design.sqrt_weights is None else design.sqrt_weights
    values = _to_unit_size(y / root)
    if _distinct(values) < design.n:
        g = np.random.default_rng(0).standard_normal(design.d)
        values += _to_unit_size(design.matvec(g) / root)
    return _distinct(values)


def _to_unit_size(values: Floats) -> Floats:
    return values / (np.abs(values).max() or 1.0)


def _distinct(values: Floats) -> int:
    """How many values of about unit size differ by more than rounding."""
    return 1 + int(np.count_nonzero(np.diff(np.sort(values)) > 1e-10))


def sizes_up_to(most: int) -> list[int]:
    """1, 2, 4, 8, then steps of about a quarter: the sparsity levels tried by default."""
    levels = [1, 2, 4, 8, 12, 16, 20, 25, 30]
    while levels[-1] < most:
        levels.append(int(np.ceil(levels[-1] * 1.25)))
    return [k for k in levels if k <= most] or [1]


def expand(grid: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All combinations of a grid of parameters; a scalar stands for itself."""
    combinations: list[dict[str, Any]] = [{}]
    for name, values in grid.items():
        listed = list(values) if np.ndim(values) == 1 else [values]
        combinations = [{**c, name: value} for c in combinations for value in listed]
    return combinations


def levels_of(k: Any, auto: list[int]) -> list[int]:
    """The sparsity levels that a parameter k stands for."""
    if isinstance(k, str):
        if k != "auto":
            raise ValueError(f"k must be 'auto', an integer or a sequence of them, got {k!r}")
        return auto
    return [int(k)] if isinstance(k, numbers.Integral) else [int(each) for each in k]


def settings_of(method: str, grid: Grid, n: int, d: int) -> list[dict[str, Any]]:
    """All parameters that a grid stands for; None takes the method's own grid."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    return expand(METHODS[method].grid(n, d) if grid is None else grid)


def settings_within(settings: Iterable[Mapping[str, Any]], d: int) -> list[dict[str, Any]]:
    """The settings that differ on d features, where a level beyond them means all of them."""
    distinct: list[dict[str, Any]] = []
    for setting in settings:
        warn_beyond(setting, d)
        known = at_most(setting, d)
        if known not in distinct:
            distinct.append(known)
    return distinct


def visited_by(results: Sequence[Result]) -> list[list[Support]]:
    """The supports on each path, record by record."""
    return [supports_of(result.iterates) for result in results]
