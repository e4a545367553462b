"""Whether all features together tell something of a response, though none need do so alone.

The squared slopes of a loss at no feature, in the coefficients of all features, sum up to rᵀXXᵀr,
where r is what features could explain (`Response.pull`): the best statistic against many effects
that are small (Goeman, van de Geer, de Kort and van Houwelingen, "A global test for groups of
genes", 2004).  It is large if r lies along the directions in which X has most of its length.  If
nothing can be told, r lies in any direction.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import orth
from scipy.optimize import brentq
from scipy.special import ndtr

from .. import limits
from ..design import Design, Floats
from ..losses import Response
from .supports import independent_rows

ROUNDING = 1e-10  # lengths and differences below this share are none


def evidence_together(design: Design, response: Response) -> float:
    """The most -2 log evidence against knowing nothing that all features have together.

    None is counted where X is so large that only a part of the features is looked at.
    """
    if design.n * design.d > limits.POOL:
        return 0.0
    return most_evidence(chance_of(design, response))


def most_evidence(p: float) -> float:
    """-2 log of the least Bayes factor that a p-value can stand for (Sellke and others 2001)."""
    p = max(p, np.finfo(float).tiny)
    return float(-2.0 * (1.0 + np.log(-p * np.log(p)))) if p < np.exp(-1.0) else 0.0


def chance_of(design: Design, response: Response) -> float:
    """How often a response that nothing can be told of goes as much with all features."""
    columns, pull = design.columns(np.arange(design.d)), response.pull
    fixed = orth((np.vstack([np.ones(response.n), response.unpenalized]) * response.roots).T)
    X, R = _off(fixed, columns), _off(fixed, pull.reshape(-1, response.n))
    lengths, total = _lengths(X), float(np.sum(R**2))
    usable = lengths > ROUNDING * _lengths(columns)
    if not usable.any() or total == 0.0:
        return 1.0
    X = X[usable] / lengths[usable, None]
    rows = min(round(independent_rows(design, pull)) + design.absorbed, response.n)
    squares = _squares(X, max(rows - fixed.shape[1], 1))
    if np.ptp(squares) <= ROUNDING * squares.max():
        return 1.0  # X is as long in all directions
    return chance_above_zero(np.tile(squares, len(R)) - float(np.sum((X @ R.T) ** 2)) / total)


def _lengths(rows: Floats) -> Floats:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def _off(basis: Floats, rows: Floats) -> Floats:
    return np.asarray(rows - (rows @ basis) @ basis.T)


def _squares(X: Floats, directions: int) -> Floats:
    """Squared lengths of X, as rows, in so many directions."""
    found = np.linalg.eigvalsh(X @ X.T if len(X) < X.shape[1] else X.T @ X)
    squares = np.zeros(directions)
    kept = found[::-1][:directions]
    squares[: kept.size] = np.maximum(kept, 0.0)
    return squares


def chance_above_zero(a: Floats) -> float:
    """P(Σ a_i z_i² > 0) for independent standard normal z (Lugannani and Rice; Kuonen 1999)."""
    if a.max() <= 0.0:
        return 0.0
    if a.min() >= 0.0:
        return 1.0
    a = a / np.abs(a).max()
    ends = (1 - 1e-9) / (2 * a.min()), (1 - 1e-9) / (2 * a.max())
    s = float(brentq(lambda s: float(np.sum(a / (1 - 2 * s * a))), *ends))
    bend = 2.0 * float(np.sum((a / (1 - 2 * s * a)) ** 2))
    v = s * np.sqrt(bend)
    if abs(v) < 1e-5:
        return 0.5
    w = np.sign(s) * np.sqrt(float(np.log1p(-2 * s * a).sum()))
    return float(ndtr(-(w + np.log(v / w) / w)))
