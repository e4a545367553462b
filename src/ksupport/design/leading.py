"""Which features are most correlated with a vector: the question, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._kernels.working_set import choose_columns
from .stores import Floats, Ints


@dataclass(frozen=True)
class Query:
    """Which features are most correlated with u?  About so many, besides those in use."""

    vector: Floats  # u
    count: int
    in_use: Ints


@dataclass(frozen=True)
class Leading:
    """The features that a `Query` asks for, and bounds on all others."""

    features: Ints  # ascending
    sizes: Floats  # their |x̃_iᵀu|
    norms: Floats  # their ‖x̃_i‖
    edge: float  # the largest |x̃_iᵀu| among the others
    reach: float  # the largest ‖x̃_i‖ among the others; 0: there are none

    @classmethod
    def of(cls, query: Query, features: Ints, products: Floats, norms: Floats) -> Leading:
        """Return the answer among these ascending features, which include those in use."""
        chosen = np.zeros(features.size, bool)
        if query.in_use.size:
            here = query.in_use[(query.in_use >= features[0]) & (query.in_use <= features[-1])]
            chosen[np.searchsorted(features, here)] = True
        count = min(query.count, features.size)
        edge, reach = choose_columns(products, norms, count, chosen)
        at = np.flatnonzero(chosen)
        return cls(features[at], np.abs(products[at]), norms[at], edge, reach)


def leaders(queries: Sequence[Query], first: int, products: Floats, norms: Floats) -> list[Leading]:
    """Return the answers among consecutive features, given their products and norms."""
    features = np.arange(first, first + norms.size)
    columns = (np.ascontiguousarray(column, np.float64) for column in products.T)
    return [Leading.of(q, features, c, norms) for q, c in zip(queries, columns, strict=True)]


def merge_leaders(queries: Sequence[Query], parts: list[list[Leading]]) -> list[Leading]:
    """Combine answers among consecutive parts of the features into those among all."""
    merged = []
    for query, answers in zip(queries, zip(*parts, strict=True), strict=True):
        features, sizes, norms = (
            np.concatenate([getattr(answer, name) for answer in answers])
            for name in ("features", "sizes", "norms")
        )
        best = Leading.of(query, features, sizes, norms)
        edge = max(best.edge, *(answer.edge for answer in answers))
        reach = max(best.reach, *(answer.reach for answer in answers))
        merged.append(replace(best, edge=edge, reach=reach))
    return merged
