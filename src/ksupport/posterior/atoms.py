"""Atoms: what a model is made of, single features and clusters that act together.

A cluster acts as one, by the leading principal component of its features, which all share; the
most distinct clusters may also have coefficients that are normal by themselves, by several
components.  Equal columns are one atom with as many chances as they are.  Known groups take the
place of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from scipy.special import expit

from .._kernels import posterior as kernels
from ..design import Floats, Ints
from .likelihood import Likelihood

COPY = 1.0 - 1e-10  # correlation of equal columns
# Clusters whose features have coefficients of their own, at most, how distinct these are (see
# `_clusters`), and their components: chosen for the time that they take, not varied.
MOST_FREE, DISTINCT, RANK = 40, 0.05, 10
# That features of a cluster are one thing measured several times, and what else is left of their
# partial correlations, as in designs of genes; and that features act together which are not.
# .02 to .1 and .003 to .05 were tried on development draws of blocks and genes (seed 1000).
ONE_FACTOR, PARTIAL, ANYWAY = 0.1, 0.2, 0.003
RANK_OF_GROUP = 8  # of a known group, which need not be correlated
LARGEST = 100  # features of a cluster
TIGHT, LOOSE_NOISE = 0.3, 2.0  # least mean correlation of a cluster: this, or that of noise / √n
NEIGHBOURS = (3, 5, 10, 20)  # features of the balls around leading ones
FACTOR_STEPS = 10  # of the fit of one factor to correlations
LEADING = 30  # features that are such

Members = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class AtomSet:
    """Atoms of some features, and the likelihood in their columns.

    Parameters
    ----------
    members : list of tuples of int
        The features of each atom, by places in the likelihood.
    loadings : array of shape (m, columns)
        What each column has of each feature.
    n_features, n_clusters : float
        How many atoms there are to choose from, those of features that are no candidates included.
    """

    members: list[Members]
    copies: dict[int, Members]
    loadings: Floats
    n_features: float
    n_clusters: float
    data: kernels.Quadratic
    atoms: kernels.Atoms

    @cached_property
    def widths(self) -> Ints:
        """How many columns each atom has."""
        return np.concatenate([np.ones(self.atoms.n_simple, np.int64), self.atoms.rank])

    @cached_property
    def _firsts(self) -> Ints:
        return np.concatenate([np.arange(self.atoms.n_simple), self.atoms.first])

    def columns_of(self, atoms: Ints) -> Ints:
        """The columns of some atoms."""
        parts = [self._firsts[j] + np.arange(self.widths[j]) for j in atoms.tolist()]
        return np.concatenate([np.zeros(0, np.int64), *parts])


def atoms_of(
    likelihood: Likelihood, d: int, clustered: bool = True, positive: bool = False
) -> AtomSet:
    """Features, copies of features, and clusters of them."""
    R, n = likelihood.correlations, float(likelihood.S[0, 0]) if likelihood.S.size else 1.0
    copies = _copies(R, positive)
    singles = list(copies)
    clusters = _clusters(R, singles, n, positive) if clustered and len(singles) > 1 else {}
    masses = {each: mass * _acts_together(R, each, n) for each, mass in clusters.items()}
    found = sorted(masses)
    free = [] if positive else _distinct(clusters)
    columns = [_one_hot(len(R), j) for j in singles]
    columns += [_sum(R, each) if positive else _components(R, each, 1)[:, 0] for each in found]
    blocks = [_components(R, each, RANK) for each in free]
    members = [(j,) for j in singles] + found + free
    share = np.array([masses[each] for each in found + free])
    share[[*map(found.index, free), *range(len(found), len(share))]] /= 2  # as one, or each
    bonus = np.log([*(len(copies[j]) for j in singles), *share])
    n_clusters = sum(clusters.values()) * d / max(len(singles), 1)
    return _assembled(
        likelihood, members, columns, blocks, copies, bonus, float(d), n_clusters, len(singles)
    )


def _distinct(masses: dict[Members, float]) -> list[Members]:
    """The clusters that are most distinct, whose features have coefficients of their own."""
    order = sorted(masses, key=lambda each: (-round(masses[each], 9), each))
    return [each for each in order[:MOST_FREE] if masses[each] >= DISTINCT]


def groups_of(likelihood: Likelihood, labels: Ints, count: int, positive: bool = False) -> AtomSet:
    """One atom for each known group, of ``count`` groups in all."""
    R = likelihood.correlations
    own = labels[likelihood.features]
    found = [tuple(np.flatnonzero(own == g).tolist()) for g in dict.fromkeys(own.tolist())]
    blocks = [_components(R, each, 1 if positive else RANK_OF_GROUP) for each in found]
    if positive:
        columns, blocks = [_sum(R, each) for each in found], []
    else:
        columns = []
    copies: dict[int, Members] = {j: (j,) for j in range(len(R))}
    return _assembled(
        likelihood, found, columns, blocks, copies, np.zeros(len(found)), float(count), 0.0,
        len(found),
    )  # fmt: skip


def _assembled(
    likelihood: Likelihood, members: list[Members], columns: list[Floats], blocks: list[Floats],
    copies: dict[int, Members], bonus: Floats, n_features: float, n_clusters: float, n_single: int,
) -> AtomSet:  # fmt: skip
    m = len(likelihood.S)
    simple = np.array(columns).T if columns else np.zeros((m, 0))
    W = np.hstack([simple, *blocks])
    rank = np.array([each.shape[1] for each in blocks], np.int64)
    first = len(columns) + np.cumsum(rank) - rank
    G = W.T @ likelihood.S @ W
    data = kernels.Quadratic(
        np.ascontiguousarray((G + G.T) / 2), np.ascontiguousarray(W.T @ likelihood.c),
        np.ascontiguousarray(likelihood.total), float(likelihood.nu),
    )  # fmt: skip
    cluster = (np.arange(len(members)) >= n_single).astype(np.int64)
    flat = np.array([j for each in members for j in each], np.int64)
    indptr = np.cumsum([0, *(len(each) for each in members)]).astype(np.int64)
    atoms = kernels.Atoms(len(columns), first, rank, cluster, bonus, indptr, flat)
    return AtomSet(members, copies, W, n_features, n_clusters, data, atoms)


def _copies(R: Floats, positive: bool) -> dict[int, Members]:
    """Each feature that is no copy of one before it, with its copies."""
    same = (R if positive else np.abs(R)) >= COPY
    first = np.argmax(same, axis=1)
    return {int(j): tuple(np.flatnonzero(first == j).tolist()) for j in np.unique(first)}


def _clusters(R: Floats, singles: list[int], n: float, positive: bool) -> dict[Members, float]:
    """Clusters of features, and how probable each is beside a single feature.

    A cluster is as probable as it is distinct, by the range of correlations at which it is one:
    that between the node of the tree (average linkage) and the node above it, or between the
    last feature of a ball around a leading feature and the next one.  A block whose features
    correlate by .9, and with others by .1, is distinct; a part of it is not.
    """
    at = np.array(singles)
    C = R[np.ix_(at, at)]
    C = np.clip(C, 0.0, 1.0) if positive else np.minimum(np.abs(C), 1.0)
    least = max(TIGHT, LOOSE_NOISE / np.sqrt(n))
    found: dict[Members, float] = {}
    for members, mass in (*_nodes(C, least), *_balls(C, least)):
        own = tuple(at[list(members)].tolist())
        found[own] = found.get(own, 0.0) + 0.5 * mass
    return found


def _acts_together(R: Floats, members: Members, n: float) -> float:
    """How probable it is that features of a cluster act together, if one of them does.

    That they do is plausible where they are one thing measured several times, with errors: a
    block of which each feature tells as much as another.  Correlations are then products of
    loadings, r_ij = l_i l_j, and what is left of them is sampling error; elsewhere (genes in
    pathways, neighbours on a chromosome) partial correlations are left.
    """
    m = len(members)
    if m < 4:  # loadings fit any three correlations
        return ANYWAY
    off = R[np.ix_(members, members)].copy()
    np.fill_diagonal(off, 0.0)
    left, freedom = _misfit(off), m * (m - 3) / 2
    spread = n * PARTIAL**2
    log_odds = 0.5 * (freedom * np.log1p(spread) - n * left * spread / (1.0 + spread))
    prior = np.log(ONE_FACTOR / (1.0 - ONE_FACTOR))
    return float(ANYWAY + (1.0 - ANYWAY) * expit(log_odds + prior))


def _misfit(off: Floats) -> float:
    """The sum of squared partial correlations that one factor leaves, by least squares."""
    lead = np.abs(off).sum(axis=1).argmax()
    loadings = np.sqrt(np.abs(off).max(axis=1)) * np.where(off[lead] < 0, -1.0, 1.0)
    for _ in range(FACTOR_STEPS):
        squares = np.maximum(loadings @ loadings - loadings**2, 1e-12)
        new = np.clip(off @ loadings / squares, -0.999, 0.999)
        loadings = (loadings + new) / 2
    own = 1.0 - loadings**2
    partial = (off - np.outer(loadings, loadings)) / np.sqrt(np.outer(own, own))
    np.fill_diagonal(partial, 0.0)
    return float(np.sum(partial**2)) / 2


def _nodes(C: Floats, least: float) -> Iterator[tuple[Members, float]]:
    """Nodes of the tree, and over how many correlations their features are one cluster."""
    D = 1.0 - (C + C.T) / 2
    np.fill_diagonal(D, 0.0)
    tree = linkage(squareform(D, checks=False), "average")
    members: list[Members] = [(i,) for i in range(len(C))]
    height, parent = np.zeros(2 * len(C) - 1), np.full(2 * len(C) - 1, 1.0 - least)
    for at, (i, j, own, _) in enumerate(tree.tolist()):
        members.append(tuple(sorted(members[int(i)] + members[int(j)])))
        height[len(C) + at] = own
        parent[[int(i), int(j)]] = min(own, 1.0 - least)
    for at in range(len(C), len(members)):
        if len(members[at]) <= LARGEST and parent[at] > height[at]:
            yield members[at], float(parent[at] - height[at])


def _balls(C: Floats, least: float) -> Iterator[tuple[Members, float]]:
    """A leading feature with those nearest to it, and over how many correlations it has these."""
    order = np.argsort(-np.round(C, 9), axis=1, kind="stable")
    sizes = [m for m in NEIGHBOURS if m <= len(C)]
    for i in range(min(LEADING, len(C)) if sizes else 0):
        reach = np.array([C[i, order[i, m - 1]] for m in sizes])
        until = np.append(reach[1:], reach[-1:] if len(sizes) == len(C) else 0.0)
        for m, upper, lower in zip(sizes, reach, until, strict=True):
            if upper > max(lower, least):
                yield tuple(sorted(order[i, :m].tolist())), float(upper - max(lower, least))


def _one_hot(m: int, j: int) -> Floats:
    column = np.zeros(m)
    column[j] = 1.0
    return column


def _components(R: Floats, members: Members, rank: int) -> Floats:
    """Leading principal components, with a mean square of 1 in all."""
    at = list(members)
    values, vectors = np.linalg.eigh(R[np.ix_(at, at)])
    count = max(min(rank, int(np.sum(values > 1e-9 * values[-1]))), 1)
    W = np.zeros((len(R), count))
    W[at] = vectors[:, ::-1][:, :count] / np.sqrt(len(at))
    return W


def _sum(R: Floats, members: Members) -> Floats:
    """The sum of features, of unit length."""
    column = np.zeros(len(R))
    at = list(members)
    column[at] = 1.0 / np.sqrt(R[np.ix_(at, at)].sum())
    return column
