"""Several views of one store, in one pass over X."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.phases import phase
from .leading import Leading, Query, leaders, merge_leaders
from .stores import Floats, Ints, OnEach, Survey

if TYPE_CHECKING:
    from .view import Design

# For each of several views vectors, side by side, with which products are taken on the way.
Asked = Sequence[Floats] | None


@phase("centring X", one_pass=True)
def centred_together(
    views: Sequence[Design], *, standardize: bool = False, asked: Asked = None
) -> list[Design]:
    """Center views of one store by their own rows, and scale them if asked."""
    weights = [view.row_weights for view in views]
    store = views[0].store
    lifted = lifted_together(views, asked)
    moments: Any
    with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
        if lifted:
            moments, products = store.moments_and_products(weights, np.hstack(lifted))
        elif standardize or store.has_columns:  # of an operator variances cost more than means
            moments = store.all_moments(weights)
        else:
            moments = [(mean, None) for mean in store.all_means(weights)]
    pairs = zip(views, moments, strict=True)
    centred = [view._centred(standardize, *each) for view, each in pairs]
    if lifted:
        get_to_know(centred, asked, lifted, products)
    return centred


def lifted_together(views: Sequence[Design], asked: Asked) -> list[Floats]:
    """Return the vectors asked about, on all rows of X, if products are worth keeping."""
    if asked is None or not views[0].remembers:
        return []
    return [view.on_all_rows(u.reshape(-1, view.n).T) for view, u in zip(views, asked, strict=True)]


def get_to_know(
    views: Sequence[Design], asked: Asked, lifted: Sequence[Floats], products: Floats
) -> None:
    """Keep X̃ᵀu for each view and the vectors asked about, given all of XᵀV."""
    sums = [view.sums(V) for view, V in zip(views, lifted, strict=True)]
    found = finish_together(views, products, sums)
    for view, u, each in zip(views, asked or (), found, strict=True):
        view._cache["known"] = u.reshape(-1, view.n), each.T.copy()


def rmatmat_together(views: Sequence[Design], Us: Sequence[Floats]) -> list[Floats]:
    """Return X̃ᵀ U for each view of one store and its U; an empty list for no views."""
    out: list[Floats] = []
    for columns, parts in products_together(views, Us):
        if len(parts[0]) == views[0].d:
            return parts
        out = out or [np.empty((U.shape[1], views[0].d)).T for U in Us]
        for whole, part in zip(out, parts, strict=True):
            whole[columns] = part
    return out


def products_together(
    views: Sequence[Design], Us: Sequence[Floats]
) -> Iterator[tuple[slice, list[Floats]]]:
    """X̃ᵀ U for each view, in blocks of consecutive features, as the store reads them."""
    if not views:
        return
    V, sums = _side_by_side(views, Us)
    for columns, product in views[0].store.rmatmat_parts(V):
        yield columns, finish_together(views, product, sums, columns)


def use_products(
    views: Sequence[Design], Us: Sequence[Floats], use: Callable[[slice, list[Floats]], None],
    each: OnEach,
) -> None:  # fmt: skip
    """Use these blocks; ``each`` may do so in threads where X lies in memory."""
    V, sums = _side_by_side(views, Us)

    def finish(columns: slice, product: Floats) -> None:
        use(columns, finish_together(views, product, sums, columns))

    views[0].store.rmatmat_each(V, finish, each)


def _side_by_side(views: Sequence[Design], Us: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
    """Return V with XᵀV for all views of one store and their U, and its sums for each."""
    lifted = [view.on_all_rows(U) for view, U in zip(views, Us, strict=True)]
    V = lifted[0] if len(lifted) == 1 else np.hstack(lifted)
    return V, [view.sums(part) for view, part in zip(views, lifted, strict=True)]


def finish_together(
    views: Sequence[Design],
    product: Floats,
    sums: Sequence[Floats],
    columns: slice = slice(None),
) -> list[Floats]:
    """X̃ᵀ U for each view from XᵀV, the V's side by side on all rows of X, and their sums."""
    ends = np.cumsum([0, *(each.shape[1] for each in sums)])
    parts = [product[:, a:b] for a, b in pairwise(ends)]
    for view, part, ours in zip(views, parts, sums, strict=True):
        for column, each in zip(part.T, ours.T, strict=True):  # nothing of the product's size
            if view.mean is not None:
                column -= each[0] * view.mean[columns]
            if view.off is not None:
                column -= each[1:] @ view.off.share[:, columns]
            if view.scale is not None:
                column /= view.scale[columns]
    return parts


def surveyed(surveys: Sequence[Survey]) -> list[Any]:
    """Return the result of each survey; those on views of one store share a pass."""
    found: list[Any] = [None] * len(surveys)
    for places in by_store([asked.view for asked in surveys]):
        store = surveys[places[0]].view.store
        answers = store.survey([surveys[at] for at in places], products_together)
        for at, answer in zip(places, answers, strict=True):
            found[at] = answer
    return found


def leading_together(
    views: Sequence[Design], queries: Sequence[Sequence[Query]]
) -> list[list[Leading]]:
    """Return, for each view, the features most correlated with each vector asked about."""
    surveys = [
        Survey(
            view,
            np.column_stack([query.vector for query in asked]),
            partial(leaders, asked),
            partial(merge_leaders, asked),
        )
        for view, asked in zip(views, queries, strict=True)
    ]
    found: list[list[Leading]] = surveyed(surveys)
    wanted = [np.concatenate([each.features for each in those]) for those in found]
    expect_together(views, wanted)
    return found


def expect_together(views: Sequence[Design], wanted: Sequence[Ints]) -> None:
    """Tell stores which columns each view will ask for next."""
    for places in by_store(views):
        index = np.unique(np.concatenate([wanted[at] for at in places]))
        views[places[0]].store.expect(index)


def by_store(views: Sequence[Design]) -> list[list[int]]:
    """Group views by store; return the indices of each group."""
    places: dict[int, list[int]] = {}
    for at, view in enumerate(views):
        places.setdefault(id(view.store), []).append(at)
    return list(places.values())


def matmat_together(views: Sequence[Design], Ws: Sequence[Floats]) -> list[Floats]:
    """X̃ W for each view of one store and its W, reading only columns that some W uses."""
    used = np.any([W.any(axis=1) for W in Ws], axis=0)
    index = np.flatnonzero(used)
    if index.size == 0:
        return [np.zeros((view.n, W.shape[1])) for view, W in zip(views, Ws, strict=True)]
    whole = index.size == views[0].d
    values = [
        view.unscaled(W if whole else W.T[:, index].T, index)
        for view, W in zip(views, Ws, strict=True)
    ]
    product = views[0].store.matmat(index, values[0] if len(values) == 1 else np.hstack(values))
    ends = np.cumsum([0, *(W.shape[1] for W in Ws)])
    parts = [product[:, a:b] for a, b in pairwise(ends)]
    return [
        view.of_rows(part, index, each)
        for view, part, each in zip(views, parts, values, strict=True)
    ]


def sharing(views: Sequence[Design]) -> list[Design]:
    """Link views of one store, so that the pass for one view's norm serves all."""
    family: list[Design] = []
    family += [replace(view, family=family) for view in views]
    return family
