"""Groups by evidence: unions of clusters of features that go together.

Features are clustered by their correlations, from single ones up to large groups.  A model is a
few of these clusters, together with how their coefficients are believed to lie: all alike, or
each normal by itself, of some strength.  It is judged as few features are (`posterior`): by its
marginal likelihood, and by the number of models of so many clusters.  The search adds the cluster
that helps most until none does, then tries to drop or to exchange each; every model that it scores
takes part in the answer.

Where coefficients cannot be negative, features go together if they do so with the same sign, and
signs are judged as those of few features are (`signs`); no model has a cluster whose coefficients
would be negative on the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import linkage

from .._common.phases import phase
from ..design import Floats, Ints
from .criteria import ZERO, log_choose
from .policy import POLICY, Policy
from .posterior import Posterior, along, weights_of
from .several import log_left
from .signs import price_of_signs

STRENGTHS = np.array([1.0, 0.3, 0.1, 0.03, 0.01, 0.003])  # of coefficients of their own
ALIKE = 0.0  # in place of a strength: all coefficients are alike
SIGNED = 100  # models of most weight, in which signs of single coefficients are looked at
STEADY = 6  # decimals of scores, and
SAME = 9  # of heights that are compared

Part = tuple[int, float]  # a cluster and the strength of its coefficients
Parts = tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Unions:
    """What the evidence says of unions of clusters."""

    probability: Floats  # for each feature, the weight of the unions that have it
    best: float  # the least score: minus twice the log evidence, as in `Posterior`


def unions_of(posterior: Posterior, policy: Policy = POLICY) -> Unions:
    """Of the features that were looked at for few; of very many, those that go with y most."""
    with phase("weighing groups", 1) as update:
        columns, positive = posterior.columns, posterior.positive
        Y = posterior.y.reshape(-1, columns.shape[1])
        kept = _strongest(np.linalg.norm(along(columns @ Y.T, positive), axis=1), policy.clustered)
        found = Search.on(columns[kept], Y, posterior.n, posterior.d, policy, positive=positive)
        found.run()
        update(1)
    probability = np.zeros(posterior.d)
    probability[posterior.pool[kept]] = found.probability()
    return Unions(probability, found.best)


def _strongest(products: Floats, most: int) -> Ints:
    """So many features, of the largest products."""
    sizes = products / max(float(products.max(initial=0.0)), ZERO)
    return np.sort(np.argsort(-np.round(sizes, SAME), kind="stable")[:most])


# -- clusters ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Clusters:
    """Groups of features, the single ones included, that are more alike than apart."""

    members: list[Ints]

    @classmethod
    def of(
        cls, correlations: Floats, n: float, policy: Policy = POLICY, positive: bool = False
    ) -> Clusters:
        """By average linkage of |correlations|, as far as these exceed those of noise."""
        p = len(correlations)
        apart = np.maximum(1 - along(correlations, positive), 0.0)
        steps = linkage(apart[np.triu_indices(p, 1)], "average") if p > 1 else np.zeros((0, 4))
        heights = np.round(np.concatenate([np.zeros(p), steps[:, 2]]), SAME)
        above = np.full(heights.size, np.inf)
        members = [np.array([j]) for j in range(p)]
        for at, (a, b) in enumerate(steps[:, :2].astype(np.intp).tolist(), start=p):
            members.append(np.concatenate([members[a], members[b]]))
            above[[a, b]] = heights[at]
        # In which order equally distant features are joined is chance.
        kept = (heights < above) & (heights <= 1 - policy.tight / np.sqrt(n))
        pairs = zip(members, kept.tolist(), strict=True)
        return cls([np.sort(S) for S, ok in pairs if ok and S.size <= policy.most_clustered])

    @cached_property
    def sizes(self) -> Ints:
        return np.array([each.size for each in self.members], np.intp)

    def incidence(self, p: int) -> sp.csr_array:
        """Clusters x features: which has which."""
        ends = np.concatenate([[0], np.cumsum(self.sizes)])
        inside = np.concatenate([np.zeros(0, np.intp), *self.members])
        return sp.csr_array((np.ones(ends[-1]), inside, ends), shape=(len(self.members), p))


# -- the search ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _State:
    """A model: with V = (I + K)⁻¹ of the covariance K of what its parts explain, left = YVYᵀ."""

    parts: Parts
    V: Floats
    left: Floats
    log_det: float  # of I + K


@dataclass(frozen=True, eq=False)
class Search:
    """For the unions of most evidence; all that it scores are kept."""

    count: int  # of what clusters are made of, or of all groups: one among so many is chosen
    n: float
    squares: Floats  # YYᵀ
    columns: Floats  # as rows, of squared length n
    Y: Floats  # responses, as rows
    clusters: Clusters
    incidence: sp.csr_array
    policy: Policy
    positive: bool = False
    picked: float = 0.0  # log of how many groups there were, of which one was picked by y
    scores: dict[frozenset[Part], float] = field(default_factory=dict)
    means: dict[int, Floats] = field(default_factory=dict)  # of clusters that were looked at

    @classmethod
    def on(
        cls, columns: Floats, Y: Floats, n: float, d: int, policy: Policy,
        known: Sequence[Ints] | None = None, positive: bool = False,
    ) -> Search:  # fmt: skip
        """Among clusters of these columns, of d that there are; or among d known groups."""
        Y = np.atleast_2d(Y)
        squares = Y @ Y.T
        if len(columns) < Y.shape[1]:  # the same angles and lengths, in fewer coordinates
            basis = np.linalg.qr(columns.T)[0]
            columns, Y = columns @ basis, Y @ basis
        if known is not None:
            clusters, picked = Clusters(list(known)), 0.0
        else:
            # Where features were picked because they go with y, so were their clusters.
            clusters = Clusters.of(columns @ columns.T / n, n, policy, positive)
            picked = float(np.log(max(d / max(len(columns), 1), 1.0)))
        incidence = clusters.incidence(len(columns))
        return cls(d, n, squares, columns, Y, clusters, incidence, policy, positive, picked)

    def run(self) -> None:
        """Add, drop and exchange clusters until nothing gains."""
        state = self._state(())
        self._put((), self._score_of(state))
        if not len(self.columns) or not self.squares.any():
            return
        for _ in range(self.policy.unions):
            better = self._first_better(state)
            if better is None:
                return
            state = self._state(better)

    def _first_better(self, state: _State) -> Parts | None:
        """The best addition; if none gains, the best union with one cluster fewer or another."""
        now = self.scores[frozenset(state.parts)]
        score, parts = self._best_addition(state)
        if score >= now:
            score, parts = min(self._with_one_changed(state), default=(np.inf, ()))
        return parts if score < now else None

    def _with_one_changed(self, state: _State) -> Iterator[tuple[float, Parts]]:
        for at in range(len(state.parts)):
            rest = self._state(state.parts[:at] + state.parts[at + 1 :])
            score = self._score_of(rest)
            self._put(rest.parts, score)
            yield score, rest.parts
            yield self._best_addition(rest)

    def _best_addition(self, state: _State) -> tuple[float, Parts]:
        """Of the most promising clusters, that of most evidence."""
        L = np.asarray(np.linalg.cholesky(state.V), np.float64)
        M, Z = self.columns @ L, L.T @ self.Y.T
        u = along(M @ Z, self.positive)  # what each feature could explain of the rest of Y
        found = [(np.inf, state.parts)]
        for cluster in self._promising(state, u, np.einsum("ij,ij->i", M, M)):
            found.extend(self._larger(state, cluster, M, Z))
        for score, parts in found:
            self._put(parts, score)
        return min(found)

    def _larger(
        self, state: _State, cluster: int, M: Floats, Z: Floats
    ) -> Iterator[tuple[float, Parts]]:
        """Models with one cluster more, whose coefficients lie in any way, and their scores."""
        for strengths, directions, shrinks, bends in self._ways(cluster, M):
            larger = [(*state.parts, (cluster, strength)) for strength in strengths]
            along_y = directions @ Z
            left = state.left - np.einsum("wr,rt,ru->wtu", shrinks, along_y, along_y)
            scores = self._score(left, state.log_det + bends, larger[0])
            if self.positive:
                F = self._coefficients(larger[0], M)
                along_f = directions @ F.T
                inner = F @ Z - np.einsum("wr,rc,rt->wct", shrinks, along_f, along_y)
                squares = np.einsum("ij,ij->i", F, F) - shrinks @ along_f**2
                each = zip(larger, inner, squares, left, strict=True)
                scores = np.round(scores + [self._price_of_signs(*one) for one in each], STEADY)
            yield from zip(scores.tolist(), larger, strict=True)

    def _ways(
        self, cluster: int, M: Floats
    ) -> Iterator[tuple[list[float], Floats, Floats, Floats]]:
        """Strengths of a cluster's coefficients.

        Its directions; what each strength takes off along these, and adds to log det.
        """
        A = M[self.clusters.members[cluster]]
        wide = len(A) > A.shape[1]
        bent, U = np.linalg.eigh(A.T @ A if wide else A @ A.T)
        bent = np.maximum(bent, 0.0)
        by = STRENGTHS[:, None]
        # Directions of length one or, of A Aᵀ, as long as what they are eigenvectors of.
        directions, size = (U.T, bent) if wide else (U.T @ A, 1.0)
        bends = np.log1p(by * bent).sum(axis=1)
        yield STRENGTHS.tolist(), directions, by * size / (1 + by * bent), bends
        if len(A) > 1:
            mean = self._mean(cluster)[None] @ A
            bend = np.sum(mean**2, axis=1)
            yield [ALIKE], mean, 1 / (1 + bend[None]), np.log1p(bend)

    def _mean(self, cluster: int) -> Floats:
        """Coefficients that are alike, but for signs, of a column of squared length n."""
        if cluster not in self.means:
            S = self.clusters.members[cluster]
            R = self.columns[S] @ self.columns[S].T / self.n
            central = int(np.argmax(np.round(np.abs(R).sum(axis=0), SAME)))
            signs = np.where((R[central] < 0) & (not self.positive), -1.0, 1.0)
            self.means[cluster] = signs / np.sqrt(max(float(signs @ R @ signs), ZERO))
        return self.means[cluster]

    def _coefficients(self, parts: Parts, columns: Floats) -> Floats:
        """What coefficients of parts multiply, as rows: columns or, where alike, one for all."""
        rows = [
            self._mean(cluster)[None] @ columns[self.clusters.members[cluster]]
            if strength == ALIKE
            else columns[self.clusters.members[cluster]]
            for cluster, strength in parts
        ]
        return np.vstack([np.empty((0, columns.shape[1])), *rows])

    def _price_of_signs(self, parts: Parts, inner: Floats, squares: Floats, left: Floats) -> float:
        """Of coefficients that are positive, given fVYᵀ and fVfᵀ of what they multiply, f.

        They count by what the data say of them, the root of the share that these take off their
        variance: else neighbours of a feature that matters make a cluster by their signs alone.
        """
        sizes = [1 if s == ALIKE else int(self.clusters.sizes[at]) for at, s in parts]
        strengths = np.repeat([1.0 if s == ALIKE else s for _, s in parts], sizes)
        means = strengths[:, None] * inner
        spread = np.maximum(strengths - strengths**2 * squares, ZERO * strengths)[:, None]
        noise = np.maximum(left.diagonal(), ZERO * self.squares.diagonal())
        z = np.sqrt(self.n * np.log1p(means**2 / (spread * np.where(noise > 0, noise, 1.0))))
        ends = np.cumsum([0, *sizes])
        summed = np.array([means[i:j].sum(axis=0) for i, j in pairwise(ends.tolist())])
        counted = np.sqrt(np.clip(strengths * squares, 0.0, 1.0))[:, None]
        signed = np.where(means > 0, z, -z)
        return price_of_signs(summed.reshape(-1, len(self.Y)), signed, counted)

    def _promising(self, state: _State, u: Floats, lengths: Floats) -> list[int]:
        """Single features, and groups by mean and by sum, that go with the rest of y."""
        inside = np.zeros(len(u))
        for cluster, _ in state.parts:
            inside[self.clusters.members[cluster]] = 1.0
        toward, room = self.incidence @ np.sum(u**2, axis=1), self.incidence @ lengths
        free = (self.incidence @ inside == 0) & (room > ZERO * self.n)
        mean, sizes = toward / np.where(free, room, np.inf), self.clusters.sizes
        single, several = free & (sizes == 1), free & (sizes > 1)
        looks = ((mean, single), (mean * np.sqrt(sizes), several), (toward, several))
        found: dict[int, None] = {}
        for value, of in looks:
            order = np.argsort(-np.where(of, value, -1.0), kind="stable")[: self.policy.looked_at]
            found.update(dict.fromkeys(order[of[order]].tolist()))
        return list(found)

    def _state(self, parts: Parts) -> _State:
        V, left, log_det = np.eye(self.Y.shape[1]), self.squares, 0.0
        for cluster, strength in parts:
            S = self.clusters.members[cluster]
            B = self.columns[S] * np.sqrt(strength)
            if strength == ALIKE:
                B = self._mean(cluster)[None] @ self.columns[S]
            elif len(B) > B.shape[1]:  # as many squares, in fewer rows
                B = np.linalg.qr(B, mode="r")
            W = B @ V
            L = np.linalg.cholesky(np.eye(len(B)) + W @ B.T)
            H = np.linalg.solve(L, W)
            taken = H @ self.Y.T
            left = left - taken.T @ taken
            log_det += 2 * float(np.log(np.diag(L)).sum())
            V = V - H.T @ H
        return _State(parts, V, left, log_det)

    # -- scores

    def _score_of(self, state: _State) -> float:
        score = float(self._score(state.left, state.log_det, state.parts))
        if not self.positive:
            return score
        columns = self._coefficients(state.parts, self.columns)
        seen = columns @ state.V
        squares = np.einsum("ij,ij->i", seen, columns)
        signs = self._price_of_signs(state.parts, seen @ self.Y.T, squares, state.left)
        return float(np.round(score + signs, STEADY))

    def _score(self, left: Any, log_det: Any, parts: Parts) -> Any:
        volume = log_left(left, self.squares.diagonal(), self.n)
        score = volume + len(self.Y) * np.asarray(log_det) + self._price(parts)
        return np.round(score, STEADY)

    def _price(self, parts: Parts) -> float:
        """How many models of so many clusters there are."""
        several = np.count_nonzero([self.clusters.sizes[cluster] > 1 for cluster, _ in parts])
        chosen = log_choose(self.count, min(len(parts), self.count))
        return 2.0 * float(chosen + several * self.picked)

    def _put(self, parts: Parts, score: float) -> None:
        if np.isfinite(score):
            self.scores[frozenset(parts)] = float(score)

    @property
    def best(self) -> float:
        return min(self.scores.values())

    def n_ways(self, cluster: int) -> int:
        """In how many ways its coefficients may lie."""
        return STRENGTHS.size + bool(self.clusters.sizes[cluster] > 1)

    def features(self, parts: Iterable[Part]) -> Ints:
        """Of a union."""
        members = [self.clusters.members[cluster] for cluster, _ in parts]
        return np.unique(np.concatenate([np.zeros(0, np.intp), *members]))

    def coef(self, parts: Iterable[Part]) -> Floats:
        """Responses x columns: coefficients that are expected of a union, those of no sign cut."""
        state, w = self._state(tuple(sorted(parts))), np.zeros((len(self.Y), len(self.columns)))
        left = self.Y @ state.V @ self.columns.T
        for cluster, strength in state.parts:
            S, a = self.clusters.members[cluster], self._mean(cluster)
            w[:, S] += np.outer(left[:, S] @ a, a) if strength == ALIKE else strength * left[:, S]
        return np.maximum(w, 0.0) if self.positive else w

    def probability(self) -> Floats:
        """For each feature, the weight of the models that have it.

        Where coefficients cannot be negative, of those in which its own is not.
        """
        scores = np.fromiter(self.scores.values(), float)
        weights, models = weights_of(scores, self.policy), list(self.scores)
        order = np.argsort(scores, kind="stable")[: SIGNED if self.positive else scores.size]
        p, total = np.zeros(len(self.columns)), weights[order].sum()
        for at in order[weights[order] > 0].tolist():
            inside = np.zeros(p.size, bool)
            inside[self.features(models[at])] = True
            if self.positive:
                inside &= self.coef(models[at]).any(axis=0)
            p[inside] += weights[at] / total
        return p
