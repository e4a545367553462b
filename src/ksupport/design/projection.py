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
        """For these rows of X alone."""
        return replace(self, basis=self.basis[part])

    def taken_off(self, block: Floats, rows: Any, columns: Any) -> Floats:
        """A block of X, these rows and columns, less its share."""
        return np.asarray(block - self.basis[rows] @ self.share[:, columns])


@dataclass(frozen=True)
class Basis:
    """An orthonormal basis of some columns U on some rows, as it comes from U on any."""

    mean: Floats  # of U on those rows; zeros without an intercept
    turn: Floats  # (U - mean) turn is the basis

    @classmethod
    def of(cls, U: Floats, weights: Floats | None, center: bool) -> tuple[Basis, Ints]:
        """Of U on these rows, and the columns that depend on others and are left out."""
        mean = np.zeros(U.shape[1])
        if center:
            # Beside one of them: then the mean of a constant is exact.
            mean = U[0] + np.average(U - U[0], axis=0, weights=weights)
        left = U - mean
        left = left if weights is None else left * np.sqrt(weights)[:, None]
        size = np.linalg.norm(left, axis=0)
        size[size == 0] = 1.0
        _, R, order = qr(left / size, mode="economic", pivoting=True)
        rank = int(np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT))
        turn = np.zeros((U.shape[1], rank))
        turn[order[:rank]] = solve_triangular(R[:rank, :rank], np.eye(rank))
        return cls(mean, turn / size[:, None]), np.sort(order[rank:])

    @property
    def rank(self) -> int:
        return self.turn.shape[1]

    def rows(self, U: Floats) -> Floats:
        """The basis on these rows of U."""
        return np.asarray((U - self.mean) @ self.turn)
