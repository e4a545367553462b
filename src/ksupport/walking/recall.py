"""What a few full products say of other vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from ..design import Floats

DEPENDENT = 1e-10  # share of a vector outside the span of others that counts as none


@dataclass(frozen=True)
class Recall:
    """The products X̃ᵀQᵀ with a few orthonormal vectors, the rows of Q.

    For u = Qᵀc + e, feature i obeys |x_iᵀu - (X̃ᵀQᵀc)_i| <= ‖x_i‖ ‖e‖: within the span nothing is
    left open.
    """

    Q: Floats  # p x n
    products: Floats  # p x d
    rounding: float  # of a product, relative to ‖x_i‖

    def __call__(self, u: Floats) -> tuple[Floats, float]:
        """About X̃ᵀu, and by how many times ‖x_i‖ it may be wrong."""
        c = self.Q @ u
        missed = float(np.linalg.norm(u - c @ self.Q))
        return c @ self.products, missed + self.rounding * float(np.abs(c).sum())


def orthonormal(vectors: Sequence[Floats]) -> Floats:
    """An orthonormal basis, as rows, of the span of vectors; one row of zeros if all are zero."""
    units = [u / size for u in vectors if (size := float(np.linalg.norm(u))) > 0]
    if not units:
        return np.zeros((1, vectors[0].size))
    Q, R, _ = qr(np.column_stack(units), mode="economic", pivoting=True)
    rank = np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT)
    return np.ascontiguousarray(Q[:, :rank].T)
