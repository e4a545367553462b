"""Second derivatives of a loss in the fitted values of all rows, as an operator.

They are as many as the square of the rows, and never needed as such: products with vectors, Gram
matrices of columns and the curvature along each column take time linear in the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import limits
from .._kernels.cox import Cox

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hessian:
    """diag(diagonal): of a loss that is a sum over rows.

    Parameters
    ----------
    diagonal : array of shape (n,)
        The second derivative of each row.
    """

    diagonal: Floats

    def product(self, V: Floats) -> Floats:
        """Times each vector along the last axis: (..., n) gives (..., n)."""
        return np.asarray(V * self.diagonal)

    def gram(self, columns: Floats) -> Floats:
        """In the coefficients of columns (as rows): q x n gives q x q."""
        return np.asarray((columns * self.diagonal) @ columns.T)

    def along(self, columns: Floats) -> Floats:
        """In the coefficient of each column (as rows) by itself: the diagonal of `gram`."""
        return np.asarray(np.square(columns) @ self.diagonal)


@dataclass(frozen=True, eq=False)
class CoxHessian(Hessian):
    """diag(diagonal) - BᵀB: B has the mean among those at risk, in a row for each event.

    The diagonal has each row's risk times the hazard that it has lived through, and a row of B the
    root of its event's weight as a factor.

    Parameters
    ----------
    rows : Cox
        The loss on its rows, compiled.
    eta : array of shape (n,)
        Where.
    """

    rows: Cox
    eta: Floats

    @classmethod
    def at(cls, rows: Cox, eta: Floats) -> CoxHessian:
        """The second derivatives at eta."""
        here = np.ascontiguousarray(eta, np.float64)
        return cls(rows.diagonal_at(here), rows, here)

    def means(self, columns: Floats) -> Floats:
        """B times columns (as rows): q x n gives q x events."""
        T = np.ascontiguousarray(np.asarray(columns, np.float64).T)
        return np.asarray(self.rows.means_at(self.eta, T).T)

    def product(self, V: Floats) -> Floats:
        rows = np.reshape(np.asarray(V, np.float64), (-1, len(self.diagonal)))
        spread = self.rows.spread_at(self.eta, np.ascontiguousarray(self.means(rows).T))
        return np.asarray((rows * self.diagonal - spread.T).reshape(np.shape(V)))

    def gram(self, columns: Floats) -> Floats:
        F = self.means(columns)
        return np.asarray(super().gram(columns) - F @ F.T)

    def along(self, columns: Floats) -> Floats:
        width = max(1, limits.CHUNK // max(1, len(self.diagonal)))  # whose means fit in memory
        blocks = [columns[at : at + width] for at in range(0, len(columns), width)]
        squares = [np.square(self.means(block)).sum(axis=1) for block in blocks]
        return np.asarray(super().along(columns) - np.concatenate([np.zeros(0), *squares]))
