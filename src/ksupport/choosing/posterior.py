"""Few features: which supports have evidence, found by exchanging features.

A support S is judged by its marginal likelihood under a normal prior of its coefficients, and
by the number of supports of its size: no more than data of one's own can say of a small set of
features, near-copies included.  The search goes on from supports that paths have visited, always
around the best one that it has not looked at yet; every neighbour that it scores (one feature
more, one fewer, one exchanged) takes part in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _evidence_kernels as kernels
from .. import limits
from .._common.phases import phase
from ..design import Design, Floats, Ints, Survey, surveyed
from ..walking.threads import Workers
from .criteria import ZERO, Criterion, log_choose
from .policy import POLICY, Policy
from .refits import refit_all, solved
from .several import log_nothing
from .supports import Support, independent_rows, largest_support, supports_of

AVERAGED = 30  # models over which coefficients are averaged, and
FITTED = 10  # of those that a loss has fitted


@dataclass(frozen=True)
class Sought:
    """What is sought: supports of (design, y), from supports that were visited on.

    Several responses, which stand side by side in y, have one support.
    """

    design: Design
    y: Floats
    visited: Sequence[Support]
    rounds: int = POLICY.rounds  # supports whose neighbours are looked at
    weighed: int = POLICY.weighed  # models that a loss other than squares weighs itself
    counted: float = 1.0  # share of the rows that say something of their own: `Problem.counted`
    alike: bool = False  # whether noise of several responses is of one size, and independent
    positive: bool = False  # whether coefficients cannot be negative

    @property
    def Y(self) -> Floats:
        """The responses, as rows."""
        return self.y.reshape(-1, self.design.n)


@dataclass(frozen=True, eq=False)
class Models:
    """The part of a `Posterior` that tells which models there are, and their evidence."""

    empty: float
    scores: Floats
    parent: Ints
    out: Ints
    into: Ints
    place: Ints
    sizes: Ints
    expanded: Ints

    @classmethod
    def listed(cls, supports: Sequence[Support], scores: Floats, empty: float) -> Models:
        """These, by places in the pool; none is told as a neighbour."""
        sizes = np.array([len(each) for each in supports], np.int64)
        expanded = np.zeros((len(supports), max(sizes.max(initial=0), 1)), np.int64)
        for row, each in zip(expanded, supports, strict=True):
            row[: len(each)] = each
        alone = np.full(len(supports), -1, np.int64)
        return cls(empty, scores, alone, alone, alone, np.arange(alone.size), sizes, expanded)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Supports and their evidence.

    A model is told by the one of which it is a neighbour, the feature that left and the one that
    came (-1: none); ``expanded`` has the features of those that were started from or looked at.
    """

    d: int
    pool: Ints  # the features that were looked at
    columns: Floats  # theirs, as rows of squared length n
    lengths: Floats  # by which they were divided
    y: Floats
    n: float
    policy: Policy
    empty: float  # the score of the empty support
    scores: Floats  # minus twice the log evidence, but for a constant; infinite: not to be had
    parent: Ints
    out: Ints
    into: Ints
    place: Ints
    sizes: Ints
    expanded: Ints
    dispersion: float = 1.0  # of the response, see `Response`
    coefs: Sequence[Floats] = ()  # of the first models at least, where these were fitted
    positive: bool = False  # whether coefficients cannot be negative
    prior: float = POLICY.prior  # samples that the prior of coefficients is worth

    @classmethod
    def of(cls, ready: Ready, policy: Policy, models: Models, **more: Any) -> Posterior:
        """Of models of a problem."""
        return cls(
            ready.d, ready.pool, ready.columns, ready.lengths, np.ravel(ready.Y), ready.n, policy,
            positive=ready.positive, **vars(models), **more,
        )  # fmt: skip

    def of_models(self, models: Models, coefs: Sequence[Floats]) -> Posterior:
        """The same features, and only these models, as a loss has them."""
        return replace(self, **vars(models), coefs=coefs)

    @cached_property
    def weights(self) -> Floats:
        """What each model counts; they sum to 1."""
        return weights_of(self.scores, self.policy)

    @property
    def best(self) -> float:
        """The least score."""
        return float(self.scores.min())

    @property
    def gain(self) -> float:
        """How much better than the empty support's the best score is."""
        return self.empty - self.best

    def probability(self) -> Floats:
        """For each feature, the weight of the models that have it."""
        rows = self.place[np.where(self.parent < 0, np.arange(self.scores.size), self.parent)]
        by_row = np.bincount(rows, self.weights, len(self.expanded))
        inside = np.arange(self.expanded.shape[1]) < self._row_sizes[:, None]
        p = np.zeros(self.pool.size)
        np.add.at(p, self.expanded[inside], np.repeat(by_row, self._row_sizes))
        for features, sign in ((self.out, -1.0), (self.into, 1.0)):
            moved = (self.parent >= 0) & (features >= 0)
            np.add.at(p, features[moved], sign * self.weights[moved])
        out = np.zeros(self.d)
        out[self.pool] = np.clip(p, 0.0, 1.0)
        return out

    @property
    def _row_sizes(self) -> Ints:
        sizes = np.zeros(len(self.expanded), np.intp)
        there = self.place >= 0
        sizes[self.place[there]] = self.sizes[there]
        return sizes

    def order(self, most: int) -> Ints:
        """The models of most weight, best first; of equal ones the smaller first."""
        leading = np.flatnonzero(self.scores < np.inf)
        if leading.size > most:
            limit = np.partition(self.scores, most - 1)[most - 1]
            leading = np.flatnonzero(self.scores <= limit)
        return leading[np.lexsort((self.sizes[leading], self.scores[leading]))][:most]

    def inclusions(self, features: Ints, most: int) -> tuple[Floats, Floats]:
        """Models x features: who has whom, for the models of most weight; and their weights."""
        order = self.order(most)
        place = np.full(self.d, -1)
        place[features] = np.arange(features.size)
        inside = np.zeros((order.size, features.size + 1))  # the last for all others
        for row, members in zip(inside, self._members(order), strict=True):
            row[place[self.pool[members]]] = 1.0
        weights = self.weights[order]
        return inside[:, :-1], weights / weights.sum()

    def places(self, features: Sequence[int] | Ints) -> Ints:
        """Where features are in the pool; -1 for those that are not."""
        features = np.asarray(features, np.intp)
        return np.where(np.isin(features, self.pool), np.searchsorted(self.pool, features), -1)

    def correlations(self, features: Ints) -> Floats:
        """How much features correlate, by size; 0 of those outside the pool."""
        at = self.places(features)
        known = at >= 0
        C = self.columns[at[known]]
        out, found = np.zeros((features.size, features.size)), C @ C.T / self.n
        # What goes the other way cannot stand in where effects have one sign.
        out[np.ix_(known, known)] = np.maximum(found, 0.0) if self.positive else np.abs(found)
        return out

    def supports(self, models: Ints) -> list[Support]:
        """The features of models."""
        found, ends = self._joined(models)
        return [tuple(each) for each in parts_of(self.pool[found].tolist(), ends)]

    def leading(self, most: int) -> list[Support]:
        """The models of most weight, by places in the pool."""
        return [tuple(sorted(each.tolist())) for each in self._members(self.order(most))]

    def _members(self, models: Ints) -> list[Ints]:
        """The features of models, by places in the pool."""
        return parts_of(*self._joined(models))

    def _joined(self, models: Ints) -> tuple[Ints, list[int]]:
        """The same one after the other, and where each ends."""
        found, ends = kernels.members_of(
            models, self.parent, self.out, self.into, self.expanded, self.place, self.sizes
        )
        return found, ends.tolist()

    def mean(self) -> Floats:
        """The coefficients, averaged over the models of most weight."""
        if self.coefs:
            order = self.order(FITTED)
            return self._averaged([self.coefs[at] for at in order.tolist()], order)
        order = self.order(AVERAGED)
        features = np.unique(self._joined(order)[0])
        C = self.columns[features]
        gram, products = C @ C.T, C @ self.y.reshape(-1, C.shape[1]).T
        gram[np.diag_indices_from(gram)] += self.prior

        def ridge(members: Ints) -> Floats:
            at = np.searchsorted(features, members)
            return solved(gram[np.ix_(at, at)], products[at], self.positive).T

        return self._averaged([ridge(each) for each in self._members(order)], order)

    def _averaged(self, coefs: Sequence[Floats], order: Ints) -> Floats:
        """Coefficients of models, averaged by their weights.

        Of several responses, or classes, those of each stand side by side.
        """
        weights = self.weights[order] / self.weights[order].sum()
        fits = [np.atleast_2d(each) for each in coefs]
        w = np.zeros((len(fits[0]), self.d))
        for weight, each, coef in zip(weights.tolist(), self._members(order), fits, strict=True):
            w[:, self.pool[each]] += weight * coef
        w[:, self.pool] /= self.lengths
        return w.ravel()


def parts_of(joined: Any, ends: list[int]) -> list[Any]:
    """Parts of a sequence, given where each ends."""
    return [joined[first:end] for first, end in pairwise([0, *ends])]


def weights_of(scores: Floats, policy: Policy) -> Floats:
    """What models of these scores count, in sum 1."""
    worse = scores - scores.min()
    # Which models beyond the window were met hangs on the order of features.
    relative = np.exp(-worse / 2 * policy.trust) * (worse <= policy.window)
    return np.asarray(relative / relative.sum())


def explored(
    sought: Sequence[Sought], n_jobs: int | None = None, policy: Policy = POLICY
) -> list[Posterior]:
    """What the evidence says of each problem; views of one store share passes over X."""
    with phase("weighing supports", len(sought)) as update:
        starts = [_starts(each, policy) for each in sought]
        pools = _pools(sought, starts)
        for each, pool in zip(sought, pools, strict=True):
            each.design.store.expect(pool)
        ready = [Ready.of(*each, policy) for each in zip(sought, starts, pools, strict=True)]
        with Workers(n_jobs) as workers:
            found = workers.each(partial(_explore, policy), ready)
        update(len(sought))
    return found


def _starts(sought: Sought, policy: Policy) -> list[Support]:
    """The visited supports that EBIC prefers, and the empty one."""
    design, y, samples = sought.design, sought.y, len(sought.Y) * sought.design.n_samples
    largest = _largest(design, policy)
    visited = [S for S in dict.fromkeys(sought.visited) if 0 < len(S) <= largest]
    if not visited or not y.any():
        return [()]
    refits = refit_all(design, y, visited, sought.positive)
    rule, picked = Criterion("ebic", samples, design.d, float(y @ y)), refits.size // len(sought.Y)
    scores = rule(refits.rss, refits.size, picked)
    order = np.lexsort((refits.size, np.round(scores, 6)))[: policy.starts]
    if not sought.positive:
        return [tuple(sorted(visited[i])) for i in order] + [()]
    kept = supports_of(refits.coef[order], len(sought.Y))  # those whose coefficients are above zero
    return list(dict.fromkeys([*kept, ()]))


def _largest(design: Design, policy: Policy) -> int:
    return min(policy.most_few, largest_support(design.n_samples), design.d)


def _pools(sought: Sequence[Sought], starts: Sequence[list[Support]]) -> list[Ints]:
    """The features to look at: all, or those that go with y and with what starts leave of it."""
    pairs = list(zip(sought, starts, strict=True))
    answers = iter(surveyed([_survey(each, own) for each, own in pairs if not all_fit(each)]))
    return [
        np.arange(each.design.d)
        if all_fit(each)
        else np.union1d(next(answers)[0].ravel(), np.array([j for S in own for j in S], int))
        for each, own in pairs
    ]


def room_for(sought: Sought) -> int:
    """How many features can be looked at."""
    return max(limits.POOL // max(sought.design.n, 1), limits.FEWEST_IN_POOL)


def all_fit(sought: Sought) -> bool:
    return sought.design.d <= room_for(sought)


def _survey(sought: Sought, starts: list[Support]) -> Survey:
    """Which features go most with y, and with what the first starts leave of it."""
    residuals = np.vstack([sought.Y, *(_residual(sought, S) for S in starts[:2])])
    count = room_for(sought) // len(residuals)
    find, merge = partial(_strongest, count, sought.positive), partial(_strongest_of, count)
    return Survey(sought.design, np.ascontiguousarray(residuals.T), find, merge)


def along(products: Floats, positive: bool) -> Floats:
    """How large products are; where coefficients cannot be negative, those of that sign."""
    return np.asarray(np.maximum(products, 0.0) if positive else np.abs(products))


def _residual(sought: Sought, support: Support) -> Floats:
    columns = sought.design.columns(np.asarray(support, np.intp))
    if not support:
        return sought.Y
    coef = np.linalg.lstsq(columns.T, sought.Y.T, rcond=None)[0]
    return np.asarray(sought.Y - coef.T @ columns)


def _strongest(
    count: int, positive: bool, first: int, products: Floats, norms: Floats
) -> tuple[Ints, Floats]:
    """The features most correlated with each vector: vectors x features, and how much."""
    sizes = along(products.T, positive) / np.where(norms > 0, norms, np.inf)
    order = np.argsort(-sizes, axis=1, kind="stable")[:, :count]
    return first + order, np.take_along_axis(sizes, order, axis=1)


def _strongest_of(count: int, parts: list[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    """The same of all features, from consecutive parts of them."""
    features, sizes = (np.hstack(each) for each in zip(*parts, strict=True))
    order = np.argsort(-sizes, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(features, order, 1), np.take_along_axis(sizes, order, 1)


@dataclass(frozen=True)
class Ready:
    """A problem with its columns at hand; features are numbered within the pool."""

    d: int
    n: float
    pool: Ints
    columns: Floats
    lengths: Floats
    Y: Floats
    starts: list[Ints]
    largest: int
    rounds: int
    centred: bool  # whether a mean was taken off y, and with it a degree of freedom
    alike: bool = False
    positive: bool = False

    @classmethod
    def of(cls, sought: Sought, starts: list[Support], pool: Ints, policy: Policy) -> Ready:
        design = sought.design
        # A row that is repeated says no more.
        n = max(sought.counted * independent_rows(design, sought.y), 1.0)
        columns = np.array(design.columns(pool), np.float64, order="C")
        lengths = np.sqrt(np.einsum("ij,ij->i", columns, columns) / n)
        # A column that is constant but for rounding has a length, and nothing to say.
        usable = lengths > 1e-10 * lengths.max(initial=0.0)
        if not usable.all():
            pool, columns, lengths = pool[usable], columns[usable], lengths[usable]
        columns /= lengths[:, None]
        place = np.full(design.d, -1)
        place[pool] = np.arange(pool.size)
        places = [place[np.asarray(S, np.intp)] for S in starts]
        kept = [at for at in places if at.min(initial=0) >= 0]
        largest = min(_largest(design, policy), pool.size)
        centred = design.mean is not None
        return cls(
            design.d, n, pool, columns, lengths, sought.Y, kept, largest, sought.rounds, centred,
            sought.alike, sought.positive,
        )  # fmt: skip

    @cached_property
    def rows(self) -> Floats:
        """The responses, as kernels take them."""
        return np.ascontiguousarray(self.Y)

    @cached_property
    def floor(self) -> float:
        """The least sum of squares that is more than rounding."""
        return max(ZERO * float(np.sum(self.Y**2)), float(np.finfo(float).tiny))


def _explore(policy: Policy, ready: Ready) -> Posterior:
    """Search; and again as if effects were of the size that they have in the best model."""
    found = _searched(ready, policy, policy.prior)
    for _ in range(policy.turns):
        prior = _evident_prior(ready, policy, found)
        if prior == found.prior:
            break
        leading = [np.array(each, np.intp) for each in found.leading(policy.starts)]
        again = _searched(replace(ready, starts=leading), policy, prior)
        if again.best >= found.best:
            break
        found = again
    return found


def _evident_prior(ready: Ready, policy: Policy, found: Posterior) -> float:
    """Of all priors that of most evidence at the best model."""
    best = np.array(found.leading(1)[0], np.intp)
    if not best.size:
        return found.prior
    prices = np.array([_price(policy, each) for each in policy.priors])
    scores = kernels.scores_under(
        np.array(policy.priors), ready.columns[best], ready.rows, ready.n, prices, ready.floor,
        ready.alike, ready.positive,
    )  # fmt: skip
    return policy.priors[int(np.argmin(scores))]


def _price(policy: Policy, prior: float) -> float:
    """Of a prior: each is half as probable as the one before."""
    return 2.0 * np.log(2.0) * policy.priors.index(prior)


def _searched(ready: Ready, policy: Policy, prior: float) -> Posterior:
    indptr = np.cumsum([0, *(each.size for each in ready.starts)])
    starts = np.concatenate([np.zeros(0, np.intp), *ready.starts]).astype(np.int64)
    marks = np.random.default_rng(0).integers(0, 1 << 63, ready.d, dtype=np.uint64)[ready.pool]
    prices = 2.0 * log_choose(ready.d, np.arange(ready.largest + 1)) + _price(policy, prior)
    found = kernels.explore(
        ready.columns, ready.rows, ready.n, prior, prices, ready.floor, marks, indptr, starts,
        ready.rounds, policy.window, limits.MODELS, ready.alike, ready.positive,
    )  # fmt: skip
    nothing = log_nothing(ready.rows, ready.n, ready.alike) if ready.Y.any() else found[0].min()
    return Posterior.of(ready, policy, Models(float(nothing), *found), prior=prior)
