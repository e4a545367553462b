"""The effective sample size: rows that are independent of each other, and vary.

Evidence grows with the number of rows, so only independent rows may count.  Copies of rows add
nothing, nor do weights that repeat a few rows (Kish 1965); rows of one group are correlated (the
design effect); and where covariates were projected out beforehand, X and y vary in fewer dimensions
than they have rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..choosing.supports import independent_rows
from ..design import Design, Floats, Ints

INSIDE = 1e-8  # share of y that rounding may leave outside of the range of X
CLEARLY_OUTSIDE = 1e-4  # the same, of lengths whose squares have lost half of their digits
ZERO = 1e-10  # share of the largest eigenvalue below which one is zero but for rounding
MOST_ROWS = 3000  # for the time that a decomposition takes
MOST_ALIKE = 0.999  # largest correlation of rows of a group, for the inverse of 1 - it to exist


@dataclass(frozen=True)
class EffectiveRows:
    """The effective sample size, and the range in which the data lie.

    Parameters
    ----------
    count : float
        Effective sample size, less the degrees of freedom of means and unpenalised columns.
    of : float
        Number of rows, less the same degrees of freedom.
    why : str
        The reason why ``count`` is smaller than ``of``; empty if it is not.
    basis : array of shape (n, rank), optional
        Orthonormal columns in whose range both X and y lie, where that has fewer dimensions than
        there are rows.
    """

    count: float
    of: float
    why: str = ""
    basis: Floats | None = None

    @property
    def words(self) -> str:
        """A sentence if the effective sample size is clearly smaller than the number of rows."""
        if not self.why or self.count > 0.95 * self.of:
            return ""
        return f"The effective sample size is {self.count:.0f} of {self.of:.0f} rows: {self.why}"


def effective_rows(
    design: Design, Y: Floats, columns: Floats, share: float = 1.0, row_groups: Ints | None = None
) -> EffectiveRows:
    """Of a centred response and some columns of the design, both as rows.

    ``share`` is the effective share of weighted rows (`Problem.effective_share`), ``row_groups``
    numbers the rows that belong together.
    """
    centred = float(design.is_centred)
    rows = max(design.freedom - centred, 1.0)
    count, why = max(share * independent_rows(design, Y.ravel()) - centred, 1.0), ""
    if count < 0.95 * rows:
        why = "rows are repeated, or weights are unequal"
    if row_groups is not None:
        found = rows / design_effect(Y, row_groups)
        if found < count:
            count, why = max(found, 1.0), "rows within a group are correlated"
    basis = None if design.compact else common_range(columns, Y)
    if basis is not None and basis.shape[1] < count:
        count, why = (
            max(float(basis.shape[1]), 1.0),
            "X and y vary in fewer dimensions, as if covariates had been projected out of both",
        )
    return EffectiveRows(count, rows, why, basis)


def common_range(columns: Floats, Y: Floats) -> Floats | None:
    """A basis of the range of X, if it has fewer dimensions than rows and Y lies in it.

    Cheaper tests come first, as it hardly ever is so.
    """
    m, n = columns.shape
    if m == 0 or n > MOST_ROWS:
        return None
    if m < n:
        basis, lengths = _range(columns @ columns.T)
        if _share_outside(Y, Y @ columns.T @ basis / lengths) > CLEARLY_OUTSIDE:
            return None
    K = columns.T @ columns
    if m >= n and _nearly_full_rank(K):
        return None
    basis, _ = _range(K)
    inside = basis.shape[1] < n - 1 and _share_outside(Y, Y @ basis) <= INSIDE
    return basis if inside else None


def _range(gram: Floats) -> tuple[Floats, Floats]:
    """Orthonormal columns that span the range of a Gram matrix, and the lengths along them."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > ZERO * values[-1]
    return vectors[:, kept], np.sqrt(values[kept])


def _share_outside(Y: Floats, along: Floats) -> float:
    """The largest share of a response's square that its coordinates in a range leave."""
    total = np.sum(Y**2, axis=1)
    left = total - np.sum(along**2, axis=1)
    return float((left / np.maximum(total, np.finfo(float).tiny)).max())


def _nearly_full_rank(K: Floats) -> bool:
    """Whether all eigenvalues but the smallest are positive: if not, perhaps they are.

    By Cholesky's decomposition, with one direction filled in.  That of ones is the direction in
    which centred rows do not vary; whichever it is, it raises the smallest eigenvalue to the second
    smallest at most.
    """
    trace = float(K.trace())
    filled = K + trace / K.size
    filled[np.diag_indices(len(K))] -= ZERO * trace
    return bool(lapack.dpotrf(filled, lower=1, overwrite_a=1)[1] == 0)


def intraclass_correlation(Y: Floats, row_groups: Ints) -> tuple[float, float]:
    """By analysis of variance, the mean over responses; and the size of a group that it is of."""
    sizes = np.bincount(row_groups)
    sizes = sizes[sizes > 0]
    n, count = sizes.sum(), sizes.size
    if count < 2 or count == n:
        return 0.0, 1.0
    typical = float((n - np.sum(sizes**2) / n) / (count - 1))
    found = []
    for y in np.atleast_2d(Y):
        means = (np.bincount(row_groups, y) / np.maximum(np.bincount(row_groups), 1))[row_groups]
        between = float(np.sum((means - y.mean()) ** 2)) / (count - 1)
        within = float(np.sum((y - means) ** 2)) / (n - count)
        total = between + (typical - 1) * within
        found.append((between - within) / total if total > 0 else 0.0)
    return float(np.clip(np.mean(found), 0.0, MOST_ALIKE)), typical


def design_effect(Y: Floats, row_groups: Ints) -> float:
    """How many rows of a group are worth one: 1 + (m - 1) times their correlation."""
    correlation, size = intraclass_correlation(Y, row_groups)
    return 1.0 + (size - 1.0) * correlation


def whitened(rows: Floats, row_groups: Ints, correlation: float) -> Floats:
    """Vectors of the rows, turned so that rows of a group are as if they were independent.

    Noise with a random effect for each group has covariance I + t J within it, whose inverse root
    takes off a share of the group's mean.
    """
    sizes = np.bincount(row_groups)
    t = correlation / (1.0 - correlation)
    share = 1.0 - 1.0 / np.sqrt(1.0 + sizes * t)
    sums = [np.bincount(row_groups, each, sizes.size) for each in rows]
    means = np.reshape(sums, (len(rows), sizes.size)) / np.maximum(sizes, 1)
    return np.asarray(rows - (share * means)[:, row_groups])


def kish(weights: Floats) -> float:
    """Kish's effective share of the rows, (sum w)² / (n sum w²)."""
    return float(weights.sum() ** 2 / (weights.size * np.sum(weights**2)))
