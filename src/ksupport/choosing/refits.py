"""Least squares and ridge regression on supports, one or many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls

from .._common.phases import phase
from .._kernels.refits import refit_many
from ..design import Design, Floats, Ints
from ..losses import Response
from .supports import Support

SMALL = 1e-4  # ridge of a refit by another loss, over a coefficient's second derivative: classes
# that features separate have no likeliest model
DEPENDENT = 1e-9  # a feature whose remaining square is below this share counts as dependent


@dataclass(frozen=True)
class Refits:
    """Least squares on many supports."""

    supports: list[Support]
    rss: Floats
    size: Ints  # numerical rank: what the model costs
    coef: sp.csr_array  # a row of coefficients for each support


@phase("refitting the supports")
def refit_all(
    design: Design, y: Floats, supports: Iterable[Support], positive: bool = False
) -> Refits:
    """Residual sums of squares of all supports; of several responses, their sums.

    With ``positive``, by coefficients that are not negative; those at zero cost nothing.
    """
    known = list(supports)
    refit = _refit_positive if positive else _refit_one
    each = [refit(design, part, known) for part in y.reshape(-1, design.n)]
    if len(each) == 1:
        return each[0]
    return Refits(
        known,
        np.sum([part.rss for part in each], axis=0),
        np.sum([part.size for part in each], axis=0),
        sp.csr_array(sp.hstack([part.coef for part in each], "csr")),
    )


def _refit_positive(design: Design, y: Floats, supports: list[Support]) -> Refits:
    """One by one: which coefficients are at zero is another question for each support."""
    coef = np.array([least_squares(design, y, S, 0.0, True) for S in supports])
    models = sp.csr_array(coef.reshape(len(supports), design.d))
    features = np.unique(models.indices)
    fitted = models[:, features] @ design.columns(features)
    return Refits(supports, ((fitted - y) ** 2).sum(axis=1), np.diff(models.indptr), models)


def _refit_one(design: Design, y: Floats, supports: list[Support]) -> Refits:
    """Of one response, sharing one Gram matrix and its factors."""
    total, shape = float(y @ y), (len(supports), design.d)
    indptr = np.cumsum([0, *map(len, supports)])
    members = np.fromiter(chain.from_iterable(supports), np.intp, indptr[-1])
    if members.size == 0:
        rss, size = np.full(len(supports), total), np.zeros(len(supports), np.intp)
        return Refits(supports, rss, size, sp.csr_array(shape))
    # Frequent features first: then supports that differ little share long prefixes.
    counts = np.bincount(members)
    features = np.flatnonzero(counts)
    features = features[np.argsort(-counts[features], kind="stable")]
    places = np.empty(counts.size, np.intp)
    places[features] = np.arange(features.size)
    own = np.repeat(np.arange(len(supports)) * features.size, np.diff(indptr))
    indices = np.sort(own + places[members]) - own
    written = indices.astype(">i8").tobytes()  # bytes compare as the numbers they stand for
    keys = [written[8 * start : 8 * stop] for start, stop in pairwise(indptr.tolist())]
    order = np.array(sorted(range(len(supports)), key=keys.__getitem__))
    columns = design.columns(features)
    drop, size = np.empty(len(supports)), np.empty(len(supports), np.intp)
    coef = np.empty(indices.size)
    gram, products = np.ascontiguousarray(columns @ columns.T), columns @ y
    refit_many(gram, products, indptr, indices, order, DEPENDENT, drop, size, coef)
    models = sp.csr_array((coef, features[indices], indptr), shape=shape)
    return Refits(supports, np.maximum(total - drop, 0.0), size, models)


def least_squares(
    design: Design, y: Floats, support: Support, ridge: float = 0.0, positive: bool = False
) -> Floats:
    """Coefficients on all features of the (ridge) least-squares fit on a support, rank-safe.

    Those of several responses, whose y stand side by side, stand side by side as well.
    """
    responses = y.reshape(-1, design.n)
    return np.concatenate([_least(design, each, support, ridge, positive) for each in responses])


def _least(design: Design, y: Floats, support: Support, ridge: float, positive: bool) -> Floats:
    w = np.zeros(design.d)
    if support:
        columns = design.columns(np.asarray(support, np.intp))
        if positive:
            w[list(support)] = _nonnegative(columns, y, ridge)
        elif ridge > 0:
            gram = columns @ columns.T
            gram[np.diag_indices_from(gram)] += ridge
            w[list(support)] = np.linalg.solve(gram, columns @ y)
        else:
            # Of the samples, whatever rows stand for them.
            rank = np.finfo(float).eps * max(design.n_samples, len(support))
            w[list(support)] = np.linalg.lstsq(columns.T, y, rcond=rank)[0]
    return w


def _nonnegative(columns: Floats, y: Floats, ridge: float) -> Floats:
    """The best coefficients of columns (as rows) that are not negative."""
    below = np.sqrt(ridge) * np.eye(len(columns))[: len(columns) if ridge > 0 else 0]
    A, b = np.vstack([columns.T, below]), np.append(y, np.zeros(len(below)))
    return np.asarray(nnls(A, b)[0])


def solved(gram: Floats, products: Floats, positive: bool = False) -> Floats:
    """Coefficients, a column a response, given XᵀX with a ridge, and Xᵀy."""
    found = np.asarray(np.linalg.solve(gram, products))
    if not positive or (found >= 0).all():
        return found
    L = np.linalg.cholesky(gram)  # ‖Lᵀw - L⁻¹Xᵀy‖² is the same but for a constant
    return np.column_stack([nnls(L.T, each)[0] for each in np.linalg.solve(L, products).T])


def refit_by_loss(
    design: Design, response: Response, support: Support, strength: float = SMALL,
    positive: bool = False,
) -> Floats:  # fmt: skip
    """Coefficients on all features of the likeliest model on a support, with a ridge.

    The strength is a share of the mean second derivative in a coefficient.
    """
    w = np.zeros((response.n_dual, design.d))
    S = np.asarray(support, np.intp)
    columns = design.columns(S)
    if (size := curvature_of(response, columns)) > 0:
        ridge = strength * size
        kept = kept_of(response, columns, ridge, positive)
        (fit,) = response.refits(columns, [ridge], [kept] if positive else None)
        w[:, S[kept]] = fit.coef
    return w.ravel()


def kept_of(response: Response, columns: Floats, ridge: float, positive: bool) -> list[int]:
    """Of columns, as rows, those that the likeliest model has: all, but for signs.

    Without coefficients below zero, as in non-negative least squares (Lawson and Hanson 1974):
    those below zero leave, and one whose gradient points upwards comes back, until there is
    neither.
    """
    kept, seen, inside = np.arange(len(columns)), set[Support](), response.unweighted(columns)
    while positive:
        coef, eta = np.empty(0), response.whole(np.zeros(response.size))
        if kept.size:
            (fit,) = response.refits(columns[kept], [ridge])
            coef, eta = np.ravel(fit.coef), fit.eta
        if (coef <= 0).any():
            kept = kept[coef > 0]
            continue
        if tuple(kept.tolist()) in seen:  # but for rounding as good as the others on the way
            break
        seen.add(tuple(kept.tolist()))
        slopes = -inside @ response.loss.gradient(eta, response.y, response.weights)
        largest = np.abs(slopes).max(initial=0.0)
        slopes[kept] = 0.0
        if slopes.max(initial=0.0) <= 1e-9 * largest:
            break
        kept = np.sort(np.append(kept, int(np.argmax(slopes))))
    return [int(at) for at in kept]


def curvature_of(response: Response, columns: Floats) -> float:
    """The mean second derivative in a coefficient of columns (as rows), at no feature."""
    return response.curvature * float(np.einsum("ij,ij->", columns, columns)) / max(len(columns), 1)


def refitted(
    design: Design,
    target: Floats | Response,
    support: Support,
    ridge: float,
    positive: bool = False,
) -> Floats:
    """Least squares, or the likeliest model by a loss; a ridge is a share of the samples."""
    if isinstance(target, Response):
        return refit_by_loss(design, target, support, max(ridge, SMALL))
    return least_squares(design, target, support, ridge * design.n_samples, positive)
