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
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from . import _kernels
from .algorithms import METHODS
from .design import Design, Floats, Ints
from .path import Result

Support = tuple[int, ...]
Grid = Mapping[str, Any] | None
DEPENDENT = 1e-9  # a feature whose remaining square is below this share counts as dependent
ZERO = 1e-13  # residuals below this share of ‖y‖² are rounding
SAME = 6  # scores that agree to so many decimals are equal
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
    ptr, index = iterates.indptr, iterates.indices
    last, key = index[:0], cast(Support, ())
    out: list[Support] = []
    for row in range(iterates.shape[0]):
        support = index[ptr[row] : ptr[row + 1]]
        if support.size != last.size or (support != last).any():
            last, key = support, tuple(np.sort(support).tolist())
        out.append(key)
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
    features, counts = np.unique(
        np.concatenate([np.asarray(S, np.intp) for S in supports] or [np.empty(0, np.intp)]),
        return_counts=True,
    )
    total, shape = float(y @ y), (len(supports), design.d)
    if features.size == 0:
        rss, size = np.full(len(supports), total), np.zeros(len(supports), np.intp)
        return Refits(supports, rss, size, sp.csr_array(shape))
    columns = design.columns(features)
    # Frequent features first: then supports that differ little share long prefixes.
    rank = np.empty(features.size, np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(features.size)
    by_rank = np.argsort(rank)
    columns = columns[by_rank]
    lists = [sorted(rank[np.searchsorted(features, S)].tolist()) if S else [] for S in supports]
    order = sorted(range(len(lists)), key=lists.__getitem__)
    indptr = np.cumsum([0, *(len(lists[i]) for i in order)])
    indices = np.array([j for i in order for j in lists[i]], np.intp)
    drop, size = np.empty(len(lists)), np.empty(len(lists), np.intp)
    coef = np.empty(indices.size)
    _kernels.refit_many(
        columns @ columns.T, columns @ y, indptr, indices, DEPENDENT, drop, size, coef
    )
    back = np.argsort(order)
    models = sp.csr_array((coef, features[by_rank][indices], indptr), shape=shape)[back]
    return Refits(supports, np.maximum(total - drop[back], 0.0), size[back], models)


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


# ----------------------------------------------------------------------------------------
# Exchange of features
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Move:
    """A neighbouring support and its residual sum of squares."""

    support: Support
    rss: float


def independent(design: Design, support: Support) -> Support:
    """The support without the features that depend on others before them."""
    S = list(support)
    while S:
        columns = design.columns(np.asarray(S, np.intp))
        pivots = np.abs(np.diag(np.linalg.qr(columns.T, mode="r")))
        norms = np.linalg.norm(columns[: len(pivots)], axis=1)
        dependent = np.flatnonzero(pivots <= np.sqrt(DEPENDENT) * norms)
        if dependent.size:
            del S[dependent[0]]
        elif len(S) > len(pivots):  # more features than samples
            del S[len(pivots)]
        else:
            break
    return tuple(S)


@dataclass(frozen=True)
class Gains:
    """The features worth taking in: for nothing, and in exchange for one of the support."""

    added: tuple[float, int]  # the largest fall of the residual, and its feature
    falls: Floats  # those of the best exchanges, largest first
    out: Ints  # positions in the support
    into: Ints  # features

    @classmethod
    def best(cls, most: int, parts: list[Gains]) -> Gains:
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
        cls, S: Ints, b: Floats, rounding: float, most: int,
        first: int, products: Floats, norms: Floats,
    ) -> Gains:  # fmt: skip
        """Among consecutive features: ``products`` are those with r, Q and U (see `Around`)."""
        norms2 = norms**2
        c, QX, UX = products[:, 0], products[:, 1 : 1 + S.size].T, products[:, 1 + S.size :].T
        left = np.maximum(norms2 - np.einsum("ij,ij->j", QX, QX), 0.0)  # ‖(I - QQᵀ) x_l‖²
        own = S[(first <= S) & (first + norms.size > S)] - first
        left[own] = np.inf
        least = np.maximum(DEPENDENT * norms2, rounding)
        added = c**2 / np.where(left > least, left, np.inf)
        without = left + UX**2  # the same if the feature of the row is left out
        exchanged = (c + UX * b[:, None]) ** 2 / np.where(without > least, without, np.inf)
        exchanged -= b[:, None] ** 2
        exchanged[:, own] = -np.inf
        at = int(np.argmax(added))
        falls = exchanged.ravel()
        some = np.argpartition(-falls, min(most, falls.size - 1))[:most] if S.size else S
        out, into = np.divmod(some, norms.size)
        found = cls((float(added[at]), first + at), falls[some], out, first + into)
        return cls.best(most, [found])


@dataclass(frozen=True)
class Around:
    """What one feature more, one fewer, or one exchanged does to the residual sum of squares.

    With Q an orthonormal basis of the support's columns and r the residual, adding feature l
    lowers it by (x_lᵀr)²/‖(I-QQᵀ)x_l‖².  Let u_i be the unit vector of what feature i alone
    contributes; without i, r becomes r + u_i u_iᵀy, and both terms follow from u_iᵀX: so all
    exchanges are scored in one pass over X.
    """

    support: Ints
    rss: float
    dropped: Floats  # rise for each feature of the support
    gains: Gains  # the best features to add, and the best exchanges

    @classmethod
    def of(cls, design: Design, y: Floats, support: Support, most: int = 1) -> Around:
        """Of a support whose features are independent, with so many of the best exchanges."""
        S = np.asarray(support, np.intp)
        columns = design.columns(S) if S.size else np.empty((0, design.n))
        Q, R = np.linalg.qr(columns.T)
        U = Q @ np.linalg.inv(R).T
        U /= np.linalg.norm(U, axis=0)
        r, b = y - Q @ (Q.T @ y), U.T @ y
        # A column that is constant but for rounding has a norm, and nothing to say.
        rounding = 1e-20 * float(design.column_norms.max()) ** 2 + np.finfo(float).tiny
        gains = design.over_features(
            np.column_stack([r, Q, U]),
            partial(Gains.among, S, b, rounding, most),
            partial(Gains.best, most),
        )
        return cls(S, float(r @ r), b**2, gains)

    def with_one_more(self) -> Move:
        fall, feature = self.gains.added
        return Move(tuple(np.sort(np.r_[self.support, feature]).tolist()), self.rss - fall)

    def with_one_fewer(self) -> Move:
        at = int(np.argmin(self.dropped))
        support = np.delete(self.support, at)
        return Move(tuple(support.tolist()), self.rss + float(self.dropped[at]))

    def with_one_exchanged(self, rank: int) -> Move:
        """The exchange that comes so far down the list of the best ones."""
        kept = np.delete(self.support, self.gains.out[rank])
        support = np.sort(np.r_[kept, self.gains.into[rank]])
        return Move(tuple(support.tolist()), self.rss - float(self.gains.falls[rank]))


def neighbours(design: Design, y: Floats, support: Support) -> Iterator[Move]:
    """The best support with one feature more, one fewer, and one exchanged, where they help."""
    around = Around.of(design, y, support)
    if around.gains.added[0] > 0:
        yield around.with_one_more()
    if support:
        yield around.with_one_fewer()
        if around.gains.falls[0] > 0:
            yield around.with_one_exchanged(0)


def twins(
    design: Design, y: Floats, support: Support, criterion: Callable[[Any, Any], Any], within: float
) -> list[Move]:
    """Supports one exchange away whose score is at most so much worse, best first."""
    if not support:
        return []
    around = Around.of(design, y, support, MOST_TWINS)
    worse = criterion(around.rss - around.gains.falls, len(support))
    worse -= criterion(around.rss, len(support))
    return [around.with_one_exchanged(rank) for rank in np.flatnonzero(worse <= within).tolist()]


def improve(
    design: Design,
    y: Floats,
    support: Support,
    score: float,
    criterion: Callable[[Any, Any], Any],
    largest: int,
    max_moves: int = 50,
) -> dict[Support, Move]:
    """Exchange features while the criterion improves; all supports seen on the way."""
    passed: dict[Support, Move] = {}
    start = independent(design, support)
    if start != support:
        support = start
        rss = Around.of(design, y, support).rss
        passed[support] = Move(support, rss)
        score = float(criterion(rss, len(support)))
    for _ in range(max_moves):
        moves = [m for m in neighbours(design, y, support) if len(m.support) <= largest]
        passed.update({move.support: move for move in moves})
        scores = [float(criterion(move.rss, len(move.support))) for move in moves]
        if not moves or min(scores) >= score - 1e-8 * max(abs(score), 1.0):
            break
        score = min(scores)
        support = moves[scores.index(score)].support
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
        new = [move for move in moves if move.support not in known]
        self.supports += [move.support for move in new]
        self.rss = np.r_[self.rss, [move.rss for move in new]]
        self.size = np.r_[self.size, [len(move.support) for move in new]].astype(np.intp)

    def ranked(self) -> tuple[Floats, Ints]:
        """Scores, and their order; of equal ones that of fewer features comes first."""
        scores = np.asarray(self.rule(self.rss, self.size))
        lengths = np.array([len(support) for support in self.supports])
        return scores, np.lexsort((lengths, np.round(scores, SAME)))

    def best(self, count: int) -> list[tuple[Support, float]]:
        scores, order = self.ranked()
        return [(self.supports[i], float(scores[i])) for i in order[:count]]

    def choice(self, where: Mapping[Support, tuple[int, int]]) -> Choice:
        scores, order = self.ranked()
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
        return Choice(table["support"][0], float(table["score"][0]), table)


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
    if exchange and float(y @ y) > 0:
        if criterion != "aic":
            for support, score in found.best(exchange):
                found.add(improve(design, y, support, score, rule, largest).values())
        ((best, _),) = found.best(1)
        if tie > 0 and independent(design, best) == best:
            found.add(twins(design, y, best, rule, tie))
    return found.choice(where)


def largest_support(n: float) -> int:
    """The most features worth refitting on n samples: half of them, and one sample to spare."""
    return max(min(int(n) // 2, int(n) - 2), 0)


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


def visited_by(results: Sequence[Result]) -> list[list[Support]]:
    """The supports on each path, record by record."""
    return [supports_of(result.iterates) for result in results]
