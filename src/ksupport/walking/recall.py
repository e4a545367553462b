"""What a few full products say of other vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from ..design import Floats

SPANNED = 1e-12  # share of a vector outside the span that is rounding
DEPENDENT = 1e-13  # share of a vector outside the span of others that counts as none


@dataclass(frozen=True)
class Recall:
    """The products X̃ᵀQᵀ with a few orthonormal vectors, the rows of Q.

    For u = Qᵀc + e, feature i obeys |x_iᵀu - (X̃ᵀQᵀc)_i| <= ‖x_i‖ ‖e‖: within the span nothing is
    left open.
    """

    Q: Floats  # p x n
    products: Floats  # p x d
    rounding: float  # of a product, relative to ‖x_i‖

    def __call__(self, U: Floats) -> tuple[Floats, Floats]:
        """About X̃ᵀu of each row u, and by how many times ‖x_i‖ it may be wrong."""
        C = U @ self.Q.T
        missed = np.linalg.norm(U - C @ self.Q, axis=1)
        return C @ self.products, missed + self.rounding * np.abs(C).sum(axis=1)

    def knows(self, u: Floats) -> bool:
        """Whether u lies in the span, up to rounding."""
        return float(np.linalg.norm(u - (self.Q @ u) @ self.Q)) <= SPANNED * float(
            np.linalg.norm(u)
        )


def orthonormal(vectors: Sequence[Floats]) -> Floats:
    """An orthonormal basis, as rows, of the span of vectors; one row of zeros if all are zero."""
    units = [u / size for u in vectors if (size := float(np.linalg.norm(u))) > 0]
    if not units:
        return np.zeros((1, vectors[0].size))
    Q, R, _ = qr(np.column_stack(units), mode="economic", pivoting=True)
    rank = np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT)
    return np.ascontiguousarray(Q[:, :rank].T)
