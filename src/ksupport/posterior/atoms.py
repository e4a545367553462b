"""Atoms: what a model is made of, single features and clusters that act together.

A cluster acts as one, by the signed sum of its features; where columns come in blocks, the most
distinct clusters may also have coefficients that are normal by themselves, by several
principal components.  What most features have in common, the background, is an atom that stands
for no feature.  Equal columns are one atom with as many chances as they are.  Known groups take the
place of all of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from scipy.special import expit

from .._kernels import posterior as kernels
from .._kernels.products import Products, signed_sums
from ..design import Floats, Ints
from .likelihood import Likelihood
from .prior import Others

COPY = 1.0 - 1e-10  # correlation of equal columns
TIGHT = 0.3  # least correlation of features that may act together; not varied
# Features of the neighbourhood of a leading one, and how many lead: those that correlate most with
# y.  Of 72 problems with groups of 4, 7 or 14 (seeds 910000 on) .12 of what is selected at .1 is
# false, and 264 of 276 sets hold; with 60 that lead 3, 5, 10 or 20 features, .25 and 245 of 289.
NEIGHBOURS = (3, 4, 6, 8, 11, 16, 23, 32)  # the last is where neighbourhoods of the one before end
LEADING = 100
# Of the most probable leaders neighbourhoods of every size are atoms: one feature too many is a
# false set.  On 96 development problems (seeds 5000 on: counts, groups, mixed truths, survival
# times) 408 of 419 sets hold; with the sizes above alone 378 of 404.
EVERY_SIZE = tuple(range(3, NEIGHBOURS[-1] + 1))
EXACTLY = 30  # 0 and 30 were tried
RANK = 10  # principal components of a block, or known group, whose coefficients differ
PARTIAL = np.geomspace(0.01, 1.0, 13) ** 2  # squared size of partial correlations, where any are
FACTOR_STEPS = 10  # of the least-squares fit of one factor; not varied
TINY = float(np.finfo(float).tiny)
RULED_OUT = -20.0  # log odds at which a hypothesis is looked at no further
# Prior probability that an effect is shared by a neighbourhood, where columns come in no blocks.
# 30 development problems of a kind (seeds 2000 on), F1 with .003, .02, .1: scattered features .422
# .420 .403, groups .714 .744, both .437 .478, classes .233 .241; as many sets hold.
SHARED = 0.02

Members = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class AtomSet:
    """Atoms of some features, and the likelihood in their columns.

    Parameters
    ----------
    members : list of tuples of int
        The features of each atom, by places in the likelihood.
    by_column : array of shape (columns, m)
        What each column has of each feature.
    n_features, n_clusters : float
        How many atoms there are to choose from, those of features that are no candidates included.
    others : Others
        Features that are no candidates.
    """

    members: list[Members]
    copies: dict[int, Members]
    by_column: Floats
    n_features: float
    n_clusters: float
    data: kernels.Quadratic
    atoms: kernels.Atoms
    others: Others = field(default_factory=Others)

    @cached_property
    def widths(self) -> Ints:
        """How many columns each atom has."""
        return np.concatenate([np.ones(self.atoms.n_simple, np.int64), self.atoms.rank])

    @cached_property
    def _firsts(self) -> Ints:
        return np.concatenate([np.arange(self.atoms.n_simple), self.atoms.first])

    @property
    def loadings(self) -> Floats:
        """What each column has of each feature, columns side by side."""
        return self.by_column.T

    @cached_property
    def alone(self) -> Ints:
        """Of each column the feature whose own it is, without copies; -1 of all others."""
        found = np.full(len(self.by_column), -1)
        own = [at for at, each in enumerate(self.members[: self.atoms.n_simple]) if len(each) == 1]
        found[own] = [self.members[at][0] for at in own]
        copied = [lead for lead, equal in self.copies.items() if len(equal) > 1]
        return np.where(np.isin(found, copied), -1, found)

    def columns_of(self, atoms: Ints) -> Ints:
        """The columns of some atoms."""
        if not atoms.size or atoms.max() < self.atoms.n_simple:  # each is its own
            return atoms.astype(np.int64)
        parts = [self._firsts[j] + np.arange(self.widths[j]) for j in atoms.tolist()]
        return np.concatenate([np.zeros(0, np.int64), *parts])


def atoms_of(
    likelihood: Likelihood, d: int, clustered: bool = True, positive: bool = False,
    probable: Sequence[int] = (),
) -> AtomSet:  # fmt: skip
    """Features, copies of features, and clusters of them.

    ``probable`` are places of features that lead neighbourhoods, besides those that correlate most
    with the responses.
    """
    R, n = likelihood.correlations, float(likelihood.S[0, 0]) if likelihood.S.size else 1.0
    copies = _copies(R, positive)
    singles = list(copies)
    clusters = clusters_of(R, singles if clustered else [], n, positive, probable)
    found = sorted(clusters.shared)
    free = [] if positive else sorted(clusters.blocks)
    shares = [clusters.shared[each] for each in found]
    summed = list(found)
    if clusters.background > 0.0:  # a sum of all features, which stands for none of them
        summed.append(tuple(singles))
        found.append(())
        shares.append(clusters.background)
    shares += [clusters.blocks[each] for each in free]
    bonus = np.log([*map(len, copies.values()), *shares])
    columns = [_singles(singles), _sums(likelihood, summed, positive)]
    return _assembled(
        likelihood, len(singles), [(j,) for j in singles] + found + free, columns,
        [_components(likelihood, each) for each in free], copies, bonus, float(d),
        d / len(singles) if shares else 0.0,
    )  # fmt: skip


def groups_of(likelihood: Likelihood, labels: Ints, count: int, positive: bool = False) -> AtomSet:
    """One atom for each known group, of ``count`` groups in all."""
    own = labels[likelihood.features]
    found = [tuple(np.flatnonzero(own == g).tolist()) for g in dict.fromkeys(own.tolist())]
    sums = [_sums(likelihood, found, positive)] if positive else []
    blocks = [] if positive else [_components(likelihood, each) for each in found]
    copies: dict[int, Members] = {j: (j,) for j in range(len(likelihood.S))}
    return _assembled(
        likelihood, len(found), found, sums, blocks, copies, np.zeros(len(found)), float(count),
        0.0,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Columns:
    """Some columns, by the features of each.

    Parameters
    ----------
    sizes : array of int
        How many features each column has.
    features, loadings : array
        Which these are, column after column, and what it has of each.
    """

    sizes: Ints
    features: Ints
    loadings: Floats


def _assembled(
    likelihood: Likelihood, n_single: int, members: list[Members], simple: list[Columns],
    blocks: list[Columns], copies: dict[int, Members], bonus: Floats, n_features: float,
    n_clusters: float,
) -> AtomSet:  # fmt: skip
    """Atoms of a column each, the first of which are features, and blocks, which have several."""
    parts = [*simple, *blocks] or [_singles([])]
    sizes, features, loadings = (
        np.concatenate([getattr(each, name) for each in parts])
        for name in ("sizes", "features", "loadings")
    )
    rank = np.array([each.sizes.size for each in blocks], np.int64)
    n_simple = sum(each.sizes.size for each in simple)
    first = n_simple + np.cumsum(rank) - rank
    products = Products(likelihood.S, _ends(sizes), features, loadings, first, rank)
    W = np.zeros((sizes.size, len(likelihood.S)))
    W[np.repeat(np.arange(sizes.size), sizes), features] = loadings
    data = kernels.Quadratic(
        products, W @ likelihood.c, np.ascontiguousarray(likelihood.total), float(likelihood.nu)
    )
    cluster = (np.arange(len(members)) >= n_single).astype(np.int64)
    flat = np.array([j for each in members for j in each], np.int64)
    atoms = kernels.Atoms(
        n_simple, first, rank, cluster, bonus, _ends(list(map(len, members))), flat
    )
    return AtomSet(members, copies, W, n_features, n_clusters, data, atoms)


def _ends(sizes: Ints | list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _copies(R: Floats, positive: bool) -> dict[int, Members]:
    """Each feature that is no copy of one before it, with its copies."""
    same = (R if positive else np.abs(R)) >= COPY
    if np.count_nonzero(same) == len(R):  # the diagonal
        return {j: (j,) for j in range(len(R))}
    found: dict[int, list[int]] = {}
    for j, first in enumerate(np.argmax(same, axis=1).tolist()):
        found.setdefault(first, []).append(j)
    return {first: tuple(found[first]) for first in sorted(found)}


@dataclass(frozen=True)
class Clusters:
    """Clusters of features, and how probable each is among all clusters.

    Parameters
    ----------
    shared : dict
        Of clusters whose features share one effect.
    blocks : dict
        Of blocks whose features have effects of their own.
    background : float
        That the response goes with what most features have in common.
    """

    shared: dict[Members, float]
    blocks: dict[Members, float]
    background: float = 0.0


def clusters_of(
    R: Floats, singles: list[int], n: float, positive: bool = False, probable: Sequence[int] = ()
) -> Clusters:
    """Blocks where columns come in blocks, neighbourhoods where they do not.

    A cluster is as probable as it is distinct, by the range of correlations at which it is one; a
    range below the standard error of a correlation makes none.  In a block features share one
    effect, or each has its own.  Of neighbourhoods those of m features have 1 / m of that
    probability: a feature is as likely to be the last of a small one as of a large one.  That an
    effect is shared at all is improbable there (`SHARED`).

    No cluster has more than half of the features: a response that goes with most of them tells none
    from the others.  What most features have in common is the background, as distinct as the
    correlations with its nearest half of the features are large, each feature with its share.
    """
    at = np.array(singles, np.intp)
    C = np.clip(R, 0.0, 1.0) if positive else np.minimum(np.abs(R), 1.0)
    C = C if at.size in (0, len(C)) else C[np.ix_(at, at)]
    all_nodes = _summed(_nodes(C, at)) if len(singles) > 1 else {}
    # Where all columns correlate alike (a common background) linkage finds nodes in sampling error.
    # One standard error was tried on 18 such designs (seeds 5000 on) and on development draws.
    nodes = {each: mass for each, mass in all_nodes.items() if mass > 1.0 / np.sqrt(n)}
    distinct = _disjoint(nodes)
    in_blocks = _made_of_blocks(R, _disjoint(all_nodes), n) if distinct else 0.0
    shared, blocks, background = dict[Members, float](), dict[Members, float](), 0.0
    if in_blocks > SHARED:
        total = sum(nodes.values())
        blocks = {each: 0.5 * in_blocks * nodes[each] / total for each in distinct}
        for each, mass in nodes.items():
            shared[each] = in_blocks * mass / total - blocks.get(each, 0.0)
    if in_blocks < 1.0 - SHARED and len(singles) > 1:
        place = {j: k for k, j in enumerate(singles)}
        likely = [place[j] for j in probable if j in place]
        leading = dict.fromkeys([*range(min(LEADING, at.size)), *likely])
        exactly = likely[:EXACTLY]
        found, common = _neighbourhoods(C, at, [j for j in leading if j not in exactly], NEIGHBOURS)
        exact, own = _neighbourhoods(C, at, exactly, EVERY_SIZE)
        found, common = found + exact, common + own
        near, of_all = _summed(found), common / len(singles)
        total = sum([mass / len(each) for each, mass in near.items()]) + of_all
        unit = (1.0 - in_blocks) * SHARED / max(total, TINY)
        for each, mass in near.items():
            shared[each] = shared.get(each, 0.0) + unit * mass / len(each)
        background = unit * of_all
    return Clusters(shared, blocks, background)


def _summed(found: Iterable[tuple[Members, float]]) -> dict[Members, float]:
    """Masses of distinct clusters."""
    masses: dict[Members, float] = {}
    for members, mass in found:
        masses[members] = masses.get(members, 0.0) + mass
    return masses


def _disjoint(masses: dict[Members, float]) -> list[Members]:
    """The most distinct clusters that share no feature, of four or more features."""
    found, used = [], set[int]()
    large = [(-round(mass, 9), each) for each, mass in masses.items() if len(each) >= 4]
    for _, members in sorted(large):
        if not used.intersection(members):
            used.update(members)
            found.append(members)
    return found


def _made_of_blocks(R: Floats, distinct: list[Members], n: float) -> float:
    """The probability that columns come in blocks: several measurements of one thing each.

    In a block correlations are products of loadings, r_ij = l_i l_j, and what is left of them is
    sampling error; elsewhere (genes in pathways, neighbours on a chromosome) partial correlations
    of some unknown size are left.  Either holds for all distinct clusters, and both are equally
    probable beforehand.  (Loadings fit any three correlations: clusters have four or more.)
    """
    log_odds = 0.0
    for members in distinct:
        freedom = len(members) * (len(members) - 3) / 2
        spread = n * PARTIAL
        left = n * _misfit(R[np.ix_(members, members)])
        log_ratios = 0.5 * (left * spread / (1.0 + spread) - freedom * np.log1p(spread))
        log_odds -= float(np.logaddexp.reduce(log_ratios)) - np.log(PARTIAL.size)
        if log_odds < RULED_OUT:
            return 0.0
    return float(expit(log_odds)) if distinct else 0.0


def _misfit(C: Floats) -> float:
    """The sum of squared partial correlations that one factor leaves, by least squares."""
    off = C - np.diag(C.diagonal())
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


def _nodes(C: Floats, at: Ints) -> list[tuple[Members, float]]:
    """Nodes of the tree (average linkage), and the range of correlations at which each is one.

    A block whose features correlate by .9, and with others by .1, is distinct; a part of it is not.
    """
    D = 1.0 - (C + C.T) / 2
    np.fill_diagonal(D, 0.0)
    tree = linkage(squareform(D, checks=False), "average")
    members: list[list[int]] = [[j] for j in at.tolist()]
    height, parent = [0.0] * (2 * len(C) - 1), [1.0 - TIGHT] * (2 * len(C) - 1)
    for i, j, apart, _ in tree.tolist():  # nodes are joined at ever lower correlations
        parent[int(i)] = parent[int(j)] = min(apart, 1.0 - TIGHT)
        if apart >= 1.0 - TIGHT:
            break
        height[len(members)] = apart
        members.append(members[int(i)] + members[int(j)])
    joined = zip(members[len(C) :], height[len(C) :], parent[len(C) :], strict=False)
    return [
        (tuple(sorted(own)), high - low)
        for own, low, high in joined if len(own) <= len(C) // 2 and high > low
    ]  # fmt: skip


def _neighbourhoods(
    C: Floats, at: Ints, leading: list[int], all_sizes: tuple[int, ...]
) -> tuple[list[tuple[Members, float]], float]:
    """A leading feature with those nearest to it, and the correlations within which these are.

    The last size is where neighbourhoods of the one before end.

    Also the sum of the correlations within which half of the features are.
    """
    if not leading:
        return [], 0.0
    half = len(C) // 2
    sizes = [m for m in all_sizes[:-1] if m <= half]
    # By correlations to nine digits, equal ones by place: integers sort faster than a stable sort.
    own = C[leading]
    keys = np.rint(own * -1e9).astype(np.int64) * len(C) + np.arange(len(C))
    keys.sort(axis=1)
    beyond = all_sizes[len(sizes)]  # the next larger size, where there are as many features
    ends = np.array([*sizes, min(beyond, len(C)), half]) - 1
    order, last = keys[:, : max(sizes, default=0)] % len(C), keys[:, ends] % len(C)
    reach = np.take_along_axis(own, last, axis=1)
    width = reach[:, :-2] - np.maximum(reach[:, 1:-1], TIGHT)
    found: list[tuple[Members, float]] = []
    for m, masses in zip(sizes, width.T, strict=True):
        is_one = masses > 0.0
        members = at[np.sort(order[is_one, :m], axis=1)]
        found += zip(map(tuple, members.tolist()), masses[is_one].tolist(), strict=True)
    return found, float(np.maximum(reach[:, -1] - TIGHT, 0.0).sum())


def _components(likelihood: Likelihood, members: Members) -> Columns:
    """Leading principal components, with a mean square of 1 in all."""
    at, S = np.array(members, np.int64), likelihood.S
    values, vectors = np.linalg.eigh(S[np.ix_(at, at)] / S[0, 0])
    count = max(min(RANK, int(np.sum(values > 1e-9 * values[-1]))), 1)
    loadings = vectors[:, ::-1][:, :count].T / np.sqrt(at.size)
    return Columns(np.full(count, at.size), np.tile(at, count), loadings.ravel())


def _singles(features: list[int]) -> Columns:
    at = np.array(features, np.int64)
    return Columns(np.ones(at.size, np.int64), at, np.ones(at.size))


def _sums(likelihood: Likelihood, clusters: list[Members], positive: bool) -> Columns:
    """Sums of features with a mean square of 1; where effects are positive, without signs."""
    sizes = np.array(list(map(len, clusters)), np.int64)
    flat = np.array([j for each in clusters for j in each], np.int64)
    R = np.ascontiguousarray(likelihood.correlations)
    return Columns(sizes, flat, signed_sums(R, likelihood.S, _ends(sizes), flat, positive))
