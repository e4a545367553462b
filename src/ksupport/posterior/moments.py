"""Mean and standard deviation of coefficients, over models."""

from __future__ import annotations

import numpy as np

from ..design import Floats
from .atoms import AtomSet
from .chains import Sample
from .likelihood import Likelihood
from .prior import PRECISIONS

AVERAGED = 200  # models, those of most weight


def moments(
    likelihood: Likelihood, atoms: AtomSet, drawn: Sample, weights: Floats, d: int, most: int
) -> tuple[Floats, Floats]:
    """Of each feature, and of each response where there are several, in units of the design."""
    order = np.argsort(-np.round(weights, 12), kind="stable")[:most]
    data, m = atoms.data, len(likelihood.S)
    T = data.c.shape[1]
    first, second = np.zeros((m, T)), np.zeros((m, T))
    share = weights[order] / weights[order].sum()
    for at, weight in zip(order.tolist(), share.tolist(), strict=True):
        columns = atoms.columns_of(drawn.sets[at][drawn.sets[at] >= 0])
        if not columns.size:
            continue
        A = data.G[np.ix_(columns, columns)] + PRECISIONS[drawn.precisions[at]] * np.eye(
            columns.size
        )
        inverse = np.linalg.inv(A)
        mean = inverse @ data.c[columns]
        noise = np.ones(T)
        if data.nu > 0:
            left = data.total.diagonal() - np.einsum("ij,ij->j", data.c[columns], mean)
            noise = np.maximum(left, 0.0) / data.nu
        loadings = atoms.loadings[:, columns]
        used = np.flatnonzero(loadings.any(axis=1))
        L = loadings[used]
        own = L @ mean
        spread = np.sum((L @ inverse) * L, axis=1)[:, None] * noise
        first[used] += weight * own
        second[used] += weight * (own**2 + spread)
    for lead, copies in atoms.copies.items():
        if len(copies) > 1:
            first[list(copies)], second[list(copies)] = (
                first[lead] / len(copies), second[lead] / len(copies),
            )  # fmt: skip
    sd = np.sqrt(np.maximum(second - first**2, 0.0))
    out = np.zeros((2, T, d))
    out[0][:, likelihood.features] = (first / likelihood.scale[:, None]).T
    out[1][:, likelihood.features] = (sd / likelihood.scale[:, None]).T
    return (out[0], out[1]) if T > 1 else (out[0][0], out[1][0])
