"""Known groups of features: which unions of them have evidence.

What single features are to few of them (`posterior`), groups are here: a model is a union of known
groups, and one among all unions of so many.  They are sought as unions of clusters are
(`clusters`), but for the groups being told; the evidence of a union is about the mean over the
ways in which coefficients of its groups may lie, as far as the search has met them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from .._common.phases import phase
from ..design import Floats, Ints, Survey, surveyed
from ..walking.threads import Workers
from .clusters import STEADY, Part, Search
from .policy import POLICY, Policy
from .posterior import FITTED, Models, Posterior, Ready, Sought, all_fit, along, room_for

FEWEST = 5  # groups that are looked at, however large they are
Union = frozenset[int]  # of groups


def explored_by_group(
    sought: Sequence[Sought], labels: Ints, count: int, n_jobs: int | None = None,
    policy: Policy = POLICY,
) -> list[Posterior]:  # fmt: skip
    """What the evidence says of unions of so many groups; views of one store share a pass."""
    with phase("weighing groups", len(sought)) as update:
        pools = _pools(sought, labels)
        for each, pool in zip(sought, pools, strict=True):
            each.design.store.expect(pool)
        ready = [
            Ready.of(each, [()], pool, policy) for each, pool in zip(sought, pools, strict=True)
        ]
        with Workers(n_jobs) as workers:
            found = workers.each(partial(_explore, labels, count, policy), ready)
        update(len(sought))
    return found


def _pools(sought: Sequence[Sought], labels: Ints) -> list[Ints]:
    """The features to look at: all, or those of the groups that go with y most."""
    asked = [each for each in sought if not all_fit(each)]
    surveys = [
        Survey(each.design, each.Y.T, partial(_with_y, each.positive), _all) for each in asked
    ]
    sizes = iter(surveyed(surveys))
    return [
        np.arange(each.design.d)
        if all_fit(each)
        else _strongest(next(sizes), labels, room_for(each))
        for each in sought
    ]


def _with_y(positive: bool, first: int, products: Floats, norms: Floats) -> Floats:
    """How much each feature goes with y."""
    sizes = np.linalg.norm(along(products, positive), axis=1)
    return np.asarray(sizes / np.where(norms > 0, norms, np.inf))


def _all(parts: list[Floats]) -> Floats:
    return np.concatenate(parts)


def _strongest(sizes: Floats, labels: Ints, room: int) -> Ints:
    """Whole groups, those of the largest mean squares; beyond a few, as there is room for them."""
    members = np.bincount(labels)
    means = np.bincount(labels, sizes**2) / members
    kept = np.zeros(members.size, bool)
    for group in np.argsort(-means, kind="stable").tolist():
        if members[group] <= room or np.count_nonzero(kept) < FEWEST:
            kept[group] = True
            room -= members[group]
    return np.flatnonzero(kept[labels])


def _explore(labels: Ints, count: int, policy: Policy, ready: Ready) -> Posterior:
    search = Search.on(
        ready.columns, ready.Y, max(ready.n - ready.centred, 1.0), count, policy,
        _members(labels[ready.pool]), ready.positive,
    )  # fmt: skip
    search.run()
    found = _by_union(search)

    def rank(union: Union) -> Any:  # as `Posterior.order` has them
        return found[union].score, found[union].features.size, sorted(union)

    leading = [found[union] for union in sorted(found, key=rank)]
    supports = [tuple(each.features.tolist()) for each in leading]
    scores = np.array([each.score for each in leading])
    models = Models.listed(supports, scores, search.scores[frozenset()])
    coefs = [search.coef(each.parts)[:, each.features] for each in leading[:FITTED]]
    return Posterior.of(ready, policy, models, coefs=coefs)


@dataclass(frozen=True, eq=False)
class _Found:
    """A union, by the mean of its evidence, and where that is largest."""

    score: float
    features: Ints
    parts: frozenset[Part]


def _by_union(search: Search) -> dict[Union, _Found]:
    met: dict[Union, list[frozenset[Part]]] = {}
    for parts in search.scores:
        met.setdefault(frozenset(group for group, _ in parts), []).append(parts)
    found = {}
    for union, ways in met.items():
        scores = np.array([search.scores[parts] for parts in ways])
        # Neighbouring strengths are nearly one: half the price of a choice among all.
        price = sum(np.log(search.n_ways(group)) for group in union)
        score = round(float(price - 2 * logsumexp(-scores / 2)), STEADY)
        best = ways[int(np.argmin(scores))]
        found[union] = _Found(score, search.features(best), best)
    return found


def _members(labels: Ints) -> list[Ints]:
    """The places of each label."""
    _, counts = np.unique(labels, return_counts=True)
    ordered = np.argsort(labels, kind="stable")
    return [each for each in np.split(ordered, np.cumsum(counts)[:-1]) if each.size]
