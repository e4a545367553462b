"""Sets of features of which one matters: of a given probability, or at a rate of false ones.

Credible sets are the fewest correlated features of which one matters with a given probability.
`best_sets` chooses disjoint sets at several resolutions, so that at most a given share of them is
expected to be false (Spector and Janson 2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array, csr_array, vstack
from scipy.spatial.distance import squareform

from ..design import Floats, Ints

LEAST = 0.02  # probability of a feature around which a set is looked for
NEGLIGIBLE = 1e-4  # probability below which a feature is in no set
PURITY = 0.5  # least correlation with the leading feature; susieR asks as much of all pairs
PROBABLE = 0.5  # a set that is named is more probable than not
LARGEST = 25  # features of a set, whose weight is one over their number, as in the authors' package
GAP = 1e-9  # between the best sets and those found, as a share of the objective
DECIMALS = 9

Members = tuple[int, ...]


@dataclass(frozen=True)
class FeatureSet:
    """Correlated features of which one or more matter, as in ``AutoIRKSN.sets_``.

    Parameters
    ----------
    features : tuple of int
        The most probable first.
    probability : float
        That one or more of them matter.
    together : float
        The probability that two or more of them do: near 1, they act together; near 0, one of them
        acts and the others stand in for it.
    purity : float
        The least absolute correlation of two of them.

    Examples
    --------
    >>> from ksupport import FeatureSet
    >>> FeatureSet(features=(4, 7), probability=0.97).features
    (4, 7)
    """

    features: tuple[int, ...]
    probability: float
    together: float = 0.0
    purity: float = 1.0


def credible_sets(
    inside: NDArray[np.bool_], weights: Floats, features: Ints, correlations: Floats, level: float
) -> list[FeatureSet]:
    """Disjoint sets, found around the most probable features first.

    ``inside`` says which features, in columns, each model has.
    """
    p, free, found = weights @ inside, np.ones(features.size, bool), []
    by_feature = np.ascontiguousarray(inside.T)
    for lead in np.lexsort((features, -np.round(p, DECIMALS))).tolist():
        if p[lead] < LEAST:
            break
        if not free[lead]:
            continue
        may = np.flatnonzero((np.abs(correlations[lead]) >= PURITY) & free & (p > NEGLIGIBLE))
        if p[may].sum() < level:  # no union is more probable
            continue
        may = may[np.lexsort((features[may], -np.round(p[may], DECIMALS), may != lead))]
        members = _fewest(by_feature, weights, may, level)
        if not members.size:
            continue
        free[members] = False
        found.append(_set(inside, weights, features, correlations, tuple(members.tolist())))
    return sorted(found, key=lambda each: (-round(each.probability, DECIMALS), each.features))


def _fewest(by_feature: NDArray[np.bool_], weights: Floats, features: Ints, level: float) -> Ints:
    """The first of these features that reach the level together; none if all of them do not."""
    if weights[by_feature[features].any(axis=0)].sum() < level:
        return features[:0]
    covered = np.zeros(weights.size, bool)
    for count, j in enumerate(features.tolist()):
        covered |= by_feature[j]
        if weights[covered].sum() >= level:
            return features[: count + 1]
    return features


def best_sets(
    inside: NDArray[np.bool_], weights: Floats, features: Ints, correlations: Floats, fdr: float
) -> list[FeatureSet]:
    """Disjoint sets, single features among them, at an expected share of false ones.

    Arguments are those of `credible_sets`.
    """
    candidates = _candidates(inside, weights, features, correlations)
    p = np.array([_any(inside, weights, each) for each in candidates])
    kept = np.flatnonzero(p >= PROBABLE)
    candidates, p = [candidates[at] for at in kept], p[kept]
    chosen = best_disjoint(candidates, p, fdr)
    found = [_set(inside, weights, features, correlations, candidates[at]) for at in chosen]
    return sorted(found, key=lambda each: (-round(each.probability, DECIMALS), each.features))


def best_disjoint(sets: Sequence[Members], p: Floats, fdr: float) -> list[int]:
    """Which of these sets to name: disjoint, and a mean of 1 - p of at most ``fdr``.

    They maximise the sum of p over size, a linear programme in whole numbers.
    """
    if not sets:
        return []
    sizes = np.array([len(each) for each in sets])
    rows, columns = (
        np.concatenate([list(each) for each in sets]),
        np.repeat(range(len(sets)), sizes),
    )
    used, rows = np.unique(rows, return_inverse=True)
    once = csr_array((np.ones(rows.size), (rows, columns)), (used.size, len(sets)))
    false = csr_array(((1.0 - p) - fdr)[None])
    both = csc_array(vstack([once, false]))
    both.indices, both.indptr = both.indices.astype(np.intc), both.indptr.astype(np.intc)  # HiGHS's
    most = np.append(np.ones(used.size), 0.0)
    found = milp(
        -np.round(p, DECIMALS) / sizes, integrality=np.ones(len(sets)), bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(both, ub=most),
        options={"mip_rel_gap": GAP},
    )  # fmt: skip
    if found.x is None:
        raise RuntimeError(f"the linear programme for sets of features failed: {found.message}")
    return np.flatnonzero(found.x > 0.5).tolist()


def _candidates(
    inside: NDArray[np.bool_], weights: Floats, features: Ints, correlations: Floats
) -> list[Members]:
    """Sets to choose from, by columns of ``inside``.

    Single features; those nearest to a leading one, by probability; and nodes of trees, by
    correlation and by how seldom features are in a model together.
    """
    p = weights @ inside
    own = np.flatnonzero(p > NEGLIGIBLE)
    own = own[np.lexsort((features[own], -np.round(p[own], DECIMALS)))]
    found: dict[Members, None] = {(int(j),): None for j in own}
    C = np.minimum(np.abs(correlations[np.ix_(own, own)]), 1.0)
    for lead in np.flatnonzero(p[own] >= LEAST):
        may = own[np.flatnonzero(C[lead] >= PURITY)]  # most probable first
        order = [int(own[lead]), *(int(j) for j in may if j != own[lead])][:LARGEST]
        found |= {tuple(sorted(order[:m])): None for m in range(2, len(order) + 1)}
    if own.size > 1:
        apart = _apart(inside[:, own], weights)
        for distances, reach in ((1.0 - C, 1.0 - PURITY), (apart, 1.0)):
            for node in _nodes(distances, reach):
                found[tuple(sorted(own[list(node)].tolist()))] = None
    return list(found)


def _apart(inside: NDArray[np.bool_], weights: Floats) -> Floats:
    """1 + the correlation of being in a model: below 1, one feature stands in for the other."""
    p = weights @ inside
    both = (inside * weights[:, None]).T @ inside - np.outer(p, p)
    sizes = np.sqrt(np.maximum(p * (1.0 - p), np.finfo(float).tiny))
    return np.clip(1.0 + both / np.outer(sizes, sizes), 0.0, 2.0)


def _nodes(distances: Floats, reach: float) -> Iterator[Members]:
    """Nodes of the tree of average linkage whose features are nearer than this."""
    D = (distances + distances.T) / 2
    np.fill_diagonal(D, 0.0)
    tree = linkage(squareform(D, checks=False), "average")
    members: list[Members] = [(i,) for i in range(len(D))]
    for i, j, height, _ in tree.tolist():
        members.append(members[int(i)] + members[int(j)])
        if height <= reach and len(members[-1]) <= LARGEST:
            yield members[-1]


def _any(inside: NDArray[np.bool_], weights: Floats, members: Members) -> float:
    """The probability that one or more of these columns are in a model."""
    return min(float(weights @ inside[:, members].any(axis=1)), 1.0)


def _set(
    inside: NDArray[np.bool_], weights: Floats, features: Ints, correlations: Floats,
    members: Members,
) -> FeatureSet:  # fmt: skip
    """A set as users see it, its most probable feature first."""
    at = np.array(members)
    at = at[np.lexsort((features[at], -np.round(weights @ inside[:, at], DECIMALS)))]
    several = inside[:, at].sum(axis=1) > 1
    pure = float(np.abs(correlations[np.ix_(at, at)]).min())
    return FeatureSet(
        tuple(features[at].tolist()), _any(inside, weights, members),
        min(float(weights @ several), 1.0), min(pure, 1.0),
    )  # fmt: skip
