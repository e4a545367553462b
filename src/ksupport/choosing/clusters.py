"""Groups by evidence: unions of clusters of features that go together.

Features are clustered by their correlations, from single ones up to large groups.  A model is a
few of these clusters, together with how their coefficients are believed to lie: all alike, or
each normal by itself, of some strength.  It is judged as few features are (`posterior`): by its
marginal likelihood, and by the number of models of so many clusters.  The search adds the cluster
that helps most until none does, then tries to drop or to exchange each; every model that it scores
takes part in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import linkage

from .._common.phases import phase
from ..design import Floats, Ints
from .criteria import ZERO, log_choose
from .policy import POLICY, Policy
from .posterior import Posterior, weights_of

STRENGTHS = np.array([1.0, 0.3, 0.1, 0.03, 0.01, 0.003])  # of coefficients of their own
ALIKE = 0.0  # in place of a strength: all coefficients are alike
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
        kept = _strongest(posterior.columns @ posterior.y, policy.clustered)
        found = Search.on(posterior.columns[kept], posterior.y, posterior.n, posterior.d, policy)
        found.run()
        update(1)
    probability = np.zeros(posterior.d)
    probability[posterior.pool[kept]] = found.probability()
    return Unions(probability, found.best)


def _strongest(products: Floats, most: int) -> Ints:
    """So many features, of the largest products."""
    sizes = np.abs(products) / max(float(np.abs(products).max(initial=0.0)), ZERO)
    return np.sort(np.argsort(-np.round(sizes, SAME), kind="stable")[:most])


# -- clusters ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Clusters:
    """Groups of features, the single ones included, that are more alike than apart."""

    members: list[Ints]

    @classmethod
    def of(cls, correlations: Floats, n: float, policy: Policy = POLICY) -> Clusters:
        """By average linkage of |correlations|, as far as these exceed those of noise."""
        p = len(correlations)
        apart = np.maximum(1 - np.abs(correlations), 0.0)
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
    """A model: with V = (I + K)⁻¹ of the covariance K of what its parts explain, q = yᵀVy."""

    parts: Parts
    V: Floats
    q: float
    log_det: float  # of I + K


@dataclass(frozen=True, eq=False)
class Search:
    """For the unions of most evidence; all that it scores are kept."""

    count: int  # of what clusters are made of, or of all groups: one among so many is chosen
    n: float
    total: float  # ‖y‖²
    columns: Floats  # as rows, of squared length n
    y: Floats
    clusters: Clusters
    incidence: sp.csr_array
    policy: Policy
    picked: float = 0.0  # log of how many groups there were, of which one was picked by y
    scores: dict[frozenset[Part], float] = field(default_factory=dict)

    @classmethod
    def on(
        cls, columns: Floats, y: Floats, n: float, d: int, policy: Policy,
        known: Sequence[Ints] | None = None,
    ) -> Search:  # fmt: skip
        """Among clusters of these columns, of d that there are; or among d known groups."""
        total = float(y @ y)
        if len(columns) < y.size:  # the same angles and lengths, in fewer coordinates
            basis = np.linalg.qr(columns.T)[0]
            columns, y = columns @ basis, y @ basis
        if known is not None:
            clusters, picked = Clusters(list(known)), 0.0
        else:
            # Where features were picked because they go with y, so were their clusters.
            clusters = Clusters.of(columns @ columns.T / n, n, policy)
            picked = float(np.log(max(d / max(len(columns), 1), 1.0)))
        incidence = clusters.incidence(len(columns))
        return cls(d, n, total, columns, y, clusters, incidence, policy, picked)

    def run(self) -> None:
        """Add, drop and exchange clusters until nothing gains."""
        state = self._state(())
        self._put((), float(self._score(state.q, state.log_det, ())))
        if not len(self.columns) or self.total == 0:
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
            score = float(self._score(rest.q, rest.log_det, rest.parts))
            self._put(rest.parts, score)
            yield score, rest.parts
            yield self._best_addition(rest)

    def _best_addition(self, state: _State) -> tuple[float, Parts]:
        """Of the most promising clusters, that of most evidence."""
        L = np.linalg.cholesky(state.V)
        M, z = self.columns @ L, L.T @ self.y
        u = M @ z  # what each feature could explain of the rest of y
        found = [(np.inf, state.parts)]
        for cluster in self._promising(state, u, np.einsum("ij,ij->i", M, M)):
            strengths, gains, bends = self._ways(self.clusters.members[cluster], M, z)
            larger = [(*state.parts, (cluster, strength)) for strength in strengths]
            scores = self._score(state.q - gains, state.log_det + bends, larger[0])
            found.extend(zip(scores.tolist(), larger, strict=True))
        for score, parts in found:
            self._put(parts, score)
        return min(found)

    def _ways(self, S: Ints, M: Floats, z: Floats) -> tuple[list[float], Floats, Floats]:
        """Strengths of a cluster's coefficients: what each takes off q and adds to log det."""
        A = M[S]
        wide = len(A) > z.size
        bent, U = np.linalg.eigh(A.T @ A if wide else A @ A.T)
        bent = np.maximum(bent, 0.0)
        along = bent * (U.T @ z) ** 2 if wide else (U.T @ (A @ z)) ** 2
        by = STRENGTHS[:, None]
        gains, bends = (by * along / (1 + by * bent)).sum(1), np.log1p(by * bent).sum(1)
        if S.size == 1:
            return STRENGTHS.tolist(), gains, bends
        mean = self._mean(S) @ A
        bend = float(mean @ mean)
        return (
            [*STRENGTHS.tolist(), ALIKE],
            np.append(gains, (mean @ z) ** 2 / (1 + bend)),
            np.append(bends, np.log1p(bend)),
        )

    def _mean(self, S: Ints) -> Floats:
        """Coefficients that are alike, but for signs, of a column of squared length n."""
        R = self.columns[S] @ self.columns[S].T / self.n
        central = int(np.argmax(np.round(np.abs(R).sum(axis=0), SAME)))
        signs = np.where(R[central] < 0, -1.0, 1.0)
        return np.asarray(signs / np.sqrt(max(float(signs @ R @ signs), ZERO)))

    def _promising(self, state: _State, u: Floats, lengths: Floats) -> list[int]:
        """Single features, and groups by mean and by sum, that go with the rest of y."""
        inside = np.zeros(u.size)
        for cluster, _ in state.parts:
            inside[self.clusters.members[cluster]] = 1.0
        along, room = self.incidence @ u**2, self.incidence @ lengths
        free = (self.incidence @ inside == 0) & (room > ZERO * self.n)
        mean, sizes = along / np.where(free, room, np.inf), self.clusters.sizes
        single, several = free & (sizes == 1), free & (sizes > 1)
        looks = ((mean, single), (mean * np.sqrt(sizes), several), (along, several))
        found: dict[int, None] = {}
        for value, of in looks:
            order = np.argsort(-np.where(of, value, -1.0), kind="stable")[: self.policy.looked_at]
            found.update(dict.fromkeys(order[of[order]].tolist()))
        return list(found)

    def _state(self, parts: Parts) -> _State:
        V, q, log_det = np.eye(self.y.size), self.total, 0.0
        for cluster, strength in parts:
            S = self.clusters.members[cluster]
            B = self.columns[S] * np.sqrt(strength)
            if strength == ALIKE:
                B = self._mean(S)[None] @ self.columns[S]
            elif len(B) > B.shape[1]:  # as many squares, in fewer rows
                B = np.linalg.qr(B, mode="r")
            W = B @ V
            L = np.linalg.cholesky(np.eye(len(B)) + W @ B.T)
            H = np.linalg.solve(L, W)
            q -= float(np.sum((H @ self.y) ** 2))
            log_det += 2 * float(np.log(np.diag(L)).sum())
            V = V - H.T @ H
        return _State(parts, V, q, log_det)

    # -- scores

    def _score(self, q: Any, log_det: Any, parts: Parts) -> Any:
        q = np.maximum(q, max(ZERO * self.total, np.finfo(float).tiny))
        return np.round(self.n * np.log(q / self.n) + log_det + self._price(parts), STEADY)

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
        """Coefficients of all columns, as expected of a union where noise is of one size."""
        state, w = self._state(tuple(sorted(parts))), np.zeros(len(self.columns))
        left = self.columns @ (state.V @ self.y)
        for cluster, strength in state.parts:
            S = self.clusters.members[cluster]
            a = self._mean(S)
            w[S] += (a @ left[S]) * a if strength == ALIKE else strength * left[S]
        return w

    def probability(self) -> Floats:
        """For each feature, the weight of the models that have it."""
        weights = weights_of(np.fromiter(self.scores.values(), float), self.policy)
        p = np.zeros(len(self.columns))
        for parts, weight in zip(self.scores, weights.tolist(), strict=True):
            for cluster, _ in parts if weight else ():
                p[self.clusters.members[cluster]] += weight
        return p
