"""Likelihoods that are quadratic in the coefficients of candidate features.

That of squares is; those of other losses are to second order around a model (a Newton or IRLS
step), with unpenalised coefficients at their best.  Features are in units in which each has
squared length n, or as much information as n rows of unit variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design import Floats, Ints
from ..losses import Response

UNUSABLE = 1e-10  # share of the longest column below which one is constant but for rounding


@dataclass(frozen=True, eq=False)
class Likelihood:
    """-b'Sb/2 + c'b for coefficients b of features, and the noise.

    Parameters
    ----------
    features : array of int
        Which columns of X; those of most evidence first.
    S : array of shape (m, m)
        Products of features; the diagonal is ``rows``.
    c : array of shape (m, n_responses)
        Products with the responses.
    total : array of shape (n_responses, n_responses)
        Products of responses.
    nu : float
        Rows that count where the noise is unknown; 0 where it is known.
    scale : array of shape (m,)
        Coefficients in these units, divided by it, are those of the design's columns.
    correlations : array of shape (m, m)
        Of the columns, whatever the loss: where a few large counts have most of the information,
        products in ``S`` say little of how features are related.
    """

    features: Ints
    S: Floats
    c: Floats
    total: Floats
    nu: float
    scale: Floats
    correlations: Floats

    @property
    def known_noise(self) -> bool:
        return self.nu == 0.0


def of_squares(features: Ints, columns: Floats, Y: Floats, nu: float, rows: float) -> Likelihood:
    """Normal noise of unknown variance: columns and responses as rows, centred."""
    S = columns @ columns.T
    return _in_units(features, S, S, columns @ Y.T, Y @ Y.T, nu, rows)


def of_loss(
    features: Ints, columns: Floats, response: Response, coef: Floats, share: float
) -> Likelihood:
    """The log likelihood of a loss to second order at coefficients of these columns.

    ``share`` is that of the rows that count.  Several classes have one response for each contrast,
    with noise that is independent and of variance 1.
    """
    weight, products = share / response.dispersion, columns @ columns.T
    if response.n_dual > 1:
        fitted = np.ravel(coef.reshape(response.n_dual, -1) @ columns)
        Y = response.working_response(fitted).reshape(-1, response.n)
        S, c = products, columns @ Y.T
    elif response.loss.in_units_of_y:  # far from all rows it may have no curvature: a mean one
        fitted = coef @ columns
        c = (columns @ response.working_response(fitted))[:, None]
        S = response.curvature_at(fitted) * products
    else:
        eta = response.whole(coef @ columns)
        g = response.unweighted(columns) @ response.loss.gradient(eta, response.y, response.weights)
        S = profiled_hessian(response, columns, eta)
        c = (S @ coef - g)[:, None]
    rows = share * float(response.weights.sum())
    return _in_units(features, products, weight * S, weight * c, np.eye(c.shape[1]), 0.0, rows)


def profiled_hessian(response: Response, columns: Floats, eta: Floats) -> Floats:
    """Second derivatives in coefficients of columns, unpenalised ones at their optimum.

    Of a loss that has one fitted value a row.
    """
    q = len(response.unpenalized)
    A = np.concatenate([response.unpenalized, response.unweighted(columns)])
    H = response.compiled.hessian_of(np.ascontiguousarray(eta), np.ascontiguousarray(A))
    S = H[q:, q:]
    return S - H[q:, :q] @ _inverse(H[:q, :q]) @ H[:q, q:] if q else S


def _inverse(H: Floats) -> Floats:
    """The pseudo-inverse of a symmetric matrix; mostly it is that of an intercept."""
    if H.size == 1 and H[0, 0] > 0.0:
        return np.asarray(1.0 / H)
    return np.asarray(np.linalg.pinv(H, hermitian=True))


def _in_units(
    features: Ints, products: Floats, S: Floats, c: Floats, total: Floats, nu: float, rows: float
) -> Likelihood:
    """Usable features only, each of squared length ``rows``, most evident first."""
    lengths = np.sqrt(np.maximum(S.diagonal(), 0.0))
    usable = np.flatnonzero(lengths > UNUSABLE * lengths.max(initial=0.0))
    scale = lengths[usable] / np.sqrt(rows)
    found = np.sqrt(np.sum((c[usable] / scale[:, None]) ** 2, axis=1))
    # The order is that of the data and not of columns: what is drawn does not depend on it.
    order = np.lexsort(
        (features[usable], -np.round(found / max(found.max(initial=0.0), 1e-300), 9))
    )
    kept, scale = usable[order], scale[order]
    own = np.ix_(kept, kept)
    in_units = S[own] / np.outer(scale, scale)
    if S is products:
        correlations = in_units / rows
    else:
        norms = np.sqrt(products.diagonal()[kept])
        correlations = products[own] / np.outer(norms, norms)
    return Likelihood(
        features[kept], in_units, c[kept] / scale[:, None], total, nu, scale, correlations
    )
