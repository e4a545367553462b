"""What is taken off columns and responses: an orthonormal basis, and the share each has of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from .stores import Floats, Ints

DEPENDENT = 1e-7  # of a column's size: what is left below is rounding; R's lm says the same


@dataclass(frozen=True)
class Projection:
    """Z B, which a view takes off X: off each column what it has of the columns of Z."""

    basis: Floats  # Z: a row for each of X, orthonormal on the rows where it was learned
    share: Floats  # B: a column for each of X

    def within(self, part: slice) -> Projection:
        """Return the projection for these rows of X alone."""
        return replace(self, basis=self.basis[part])

    def subtract_from(self, block: Floats, rows: Any, columns: Any) -> Floats:
        """Subtract the projection from a block of X with these rows and columns."""
        return np.asarray(block - self.basis[rows] @ self.share[:, columns])


@dataclass(frozen=True)
class Basis:
    """An orthonormal basis of columns U on some rows, which can be computed on any rows."""

    mean: Floats  # of U on those rows; zeros without an intercept
    transform: Floats  # the basis is (U - mean) @ transform

    @classmethod
    def of(cls, U: Floats, weights: Floats | None, center: bool) -> tuple[Basis, Ints]:
        """Return the basis of U, and the columns that depend on others and were omitted."""
        mean = np.zeros(U.shape[1])
        if center:
            # Relative to the first row, so that the mean of a constant is exact.
            mean = U[0] + np.average(U - U[0], axis=0, weights=weights)
        centered = U - mean
        centered = centered if weights is None else centered * np.sqrt(weights)[:, None]
        size = np.linalg.norm(centered, axis=0)
        size[size == 0] = 1.0
        _, R, order = qr(centered / size, mode="economic", pivoting=True)
        rank = int(np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT))
        transform = np.zeros((U.shape[1], rank))
        transform[order[:rank]] = solve_triangular(R[:rank, :rank], np.eye(rank))
        return cls(mean, transform / size[:, None]), np.sort(order[rank:])

    @property
    def rank(self) -> int:
        return self.transform.shape[1]

    def rows(self, U: Floats) -> Floats:
        """The basis on these rows of U."""
        return np.asarray((U - self.mean) @ self.transform)
