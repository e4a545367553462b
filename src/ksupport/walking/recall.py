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
    left open.  A u of several responses, side by side, has the products of each side by side.
    """

    Q: Floats  # p x n
    products: Floats  # p x d
    rounding: float  # of a product, relative to ‖x_i‖

    def __call__(self, U: Floats) -> tuple[Floats, Floats]:
        """About X̃ᵀu of each row u, and by how many times ‖x_i‖ it may be wrong."""
        each = U.reshape(-1, self.Q.shape[1])
        C = each @ self.Q.T
        missed = np.linalg.norm(each - C @ self.Q, axis=1)
        wrong = missed + self.rounding * np.abs(C).sum(axis=1)
        count = len(U)
        return (C @ self.products).reshape(count, -1), np.linalg.norm(
            wrong.reshape(count, -1), axis=1
        )

    def knows(self, u: Floats) -> bool:
        """Whether u lies in the span, up to rounding."""
        each = u.reshape(-1, self.Q.shape[1])
        missed = np.linalg.norm(each - (each @ self.Q.T) @ self.Q)
        return float(missed) <= SPANNED * float(np.linalg.norm(u))


def orthonormal(vectors: Sequence[Floats] | Floats) -> Floats:
    """An orthonormal basis, as rows, of the span of vectors; one row of zeros if all are zero."""
    units = [u / size for u in vectors if (size := float(np.linalg.norm(u))) > 0]
    if not units:
        return np.zeros((1, vectors[0].size))
    Q, R, _ = qr(np.column_stack(units), mode="economic", pivoting=True)
    rank = np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT)
    return np.ascontiguousarray(Q[:, :rank].T)
