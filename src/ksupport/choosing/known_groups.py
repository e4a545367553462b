"""Known groups of features: which unions of them have evidence.

What single features are to few of them (`posterior`), groups are here: a model is a union of known
groups, each with coefficients of some strength, and is one among all unions of so many groups.
They are sought as unions of clusters are (`clusters`), but for the groups being told.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .._common.phases import phase
from ..design import Floats, Ints, Survey, surveyed
from ..walking.threads import Workers
from .clusters import Part, Search
from .policy import POLICY, Policy
from .posterior import FITTED, Posterior, Ready, Sought, all_fit, room_for


def explored_by_group(
    sought: Sequence[Sought], labels: Ints, n_jobs: int | None = None, policy: Policy = POLICY
) -> list[Posterior]:
    """What the evidence says of unions of groups; views of one store share a pass over X."""
    with phase("weighing groups", len(sought)) as update:
        pools = _pools(sought, labels)
        for each, pool in zip(sought, pools, strict=True):
            each.design.store.expect(pool)
        ready = [
            Ready.of(each, [()], pool, policy) for each, pool in zip(sought, pools, strict=True)
        ]
        with Workers(n_jobs) as workers:
            found = workers.each(partial(_explore, labels, policy), ready)
        update(len(sought))
    return found


def _pools(sought: Sequence[Sought], labels: Ints) -> list[Ints]:
    """The features to look at: all, or those of the groups that go with y most."""
    asked = [each for each in sought if not all_fit(each)]
    sizes = iter(surveyed([Survey(each.design, each.Y.T, _with_y, _all) for each in asked]))
    return [
        np.arange(each.design.d)
        if all_fit(each)
        else _strongest(next(sizes), labels, room_for(each))
        for each in sought
    ]


def _with_y(first: int, products: Floats, norms: Floats) -> Floats:
    """How much each feature goes with y."""
    return np.asarray(np.abs(products[:, 0]) / np.where(norms > 0, norms, np.inf))


def _all(parts: list[Floats]) -> Floats:
    return np.concatenate(parts)


def _strongest(sizes: Floats, labels: Ints, room: int) -> Ints:
    """Whole groups, those of the largest mean squares that there is room for; one at least."""
    members = np.bincount(labels)
    means = np.bincount(labels, sizes**2) / members
    kept = np.zeros(members.size, bool)
    for group in np.argsort(-means, kind="stable").tolist():
        if members[group] <= room or not kept.any():
            kept[group] = True
            room -= members[group]
    return np.flatnonzero(kept[labels])


def _explore(labels: Ints, policy: Policy, ready: Ready) -> Posterior:
    search = Search.on(
        ready.columns, ready.Y[0], ready.n, int(labels.max()) + 1, policy,
        _members(labels[ready.pool]),
    )  # fmt: skip
    search.run()

    def rank(parts: frozenset[Part]) -> Any:  # as `Posterior.order` has them
        return search.scores[parts], search.features(parts).size, sorted(parts)

    leading = sorted(search.scores, key=rank)[: policy.weighed]
    models = [search.features(parts) for parts in leading]
    fitted = zip(leading[:FITTED], models, strict=False)
    return Posterior.listing(
        ready, policy, [tuple(S.tolist()) for S in models],
        np.array([search.scores[parts] for parts in leading]), search.scores[frozenset()],
        [search.coef(parts)[S] for parts, S in fitted],
    )  # fmt: skip


def _members(labels: Ints) -> list[Ints]:
    """The places of each label."""
    _, counts = np.unique(labels, return_counts=True)
    ordered = np.argsort(labels, kind="stable")
    return [each for each in np.split(ordered, np.cumsum(counts)[:-1]) if each.size]
