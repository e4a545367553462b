"""IRKSN for matrices of low rank: the spectral k-support norm.

A. M. McDonald, M. Pontil, D. Stamos, "Spectral k-support norm regularization", NIPS 2014: the
k-support norm of the singular values.  A unitarily invariant function has the prox of the function
of singular values, on these; so the walk is that of IRKSN with another prox.  With k = 1 the norm
is the nuclear norm, with k = min(shape) that of Frobenius.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np

from .._common.levels import check_k
from ..design import Design, Floats
from ..norms import prox_ksupport
from ..walking import Path
from ..walking.structure import PLAIN
from ..walking.working_set import FOREVER, WorkingSetPath
from .base import Method
from .irksn import BySquares


@dataclass(frozen=True)
class MatrixIRKSN(Method):
    """Matrix sensing and completion: row i of X is a matrix A_i, flattened, and y_i = ⟨A_i, W⟩.

    The limit of the path is the W with the least
    ``(1-alpha)/2 * norm(W)**2 + alpha/2 * sum(W**2)`` that fits.  Coefficients are W, flattened.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of W; their product is the number of columns of X.
    k : int
        Level of the norm, about the rank that is looked for; 1 is the nuclear norm.
    alpha : float
        Weight of the squared Frobenius norm, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import path
    >>> from ksupport.algorithms import MatrixIRKSN
    >>> rng = np.random.default_rng(0)
    >>> W = np.outer([1.0, -2.0, 3.0, 0.5], [2.0, 1.0, -1.0, 1.0])
    >>> X = rng.standard_normal((14, 16))
    >>> method = MatrixIRKSN(shape=W.shape, k=1, alpha=0.05)
    >>> found = path(method, X, X @ W.ravel(), max_iter=1000, keep="last").coef.reshape(W.shape)
    >>> bool(np.linalg.norm(found - W) < 0.05), int(np.linalg.matrix_rank(found, tol=1e-2))
    (True, 1)
    """

    name: ClassVar[str] = "irksn-matrix"
    title: ClassVar[str] = "IRKSN, matrices"
    citation: ClassVar[str] = "McDonald, Pontil and Stamos 2014"
    every: ClassVar[int] = 2

    shape: tuple[int, int] = (1, 1)
    k: int = 1
    alpha: float = 1e-2

    def start(self, design: Design, y: Floats) -> Path:
        shape = tuple(self.shape)
        whole = len(shape) == 2 and all(isinstance(n, Integral) and n > 0 for n in shape)
        if not whole or shape[0] * shape[1] != design.d:
            raise ValueError(
                f"shape must be two positive integers whose product is the number of columns of "
                f"X, {design.d}, got {self.shape!r}"
            )
        check_k(self.k, min(shape), of="min(shape)")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must lie strictly between 0 and 1, got {self.alpha}")
        if y.size != design.n:
            raise ValueError(f"y must be one response, of {design.n} rows, got {y.size} numbers")
        design.check_magnitude()
        return _PlainPath(design, _Spectral(y, self.k, self.alpha, (shape[0], shape[1])))


class _Spectral(BySquares):
    """The state of IRKSN, with the prox of singular values."""

    def __init__(self, y: Floats, k: int, alpha: float, shape: tuple[int, int]) -> None:
        super().__init__(y, k, alpha, PLAIN)
        self.shape = shape

    def prox(self, p: Floats, scale: float) -> tuple[Floats, float]:
        U, s, Vt = np.linalg.svd(p.reshape(self.shape), full_matrices=False)
        shrunk: Floats = (U * prox_ksupport(s, self.lam, self.k)) @ Vt
        return shrunk.ravel() / -self.alpha, scale


class _PlainPath(WorkingSetPath):
    """Plain steps to the end: singular vectors have all features, and no few of them will do."""

    def attach(self, design: Design | None) -> None:
        super().attach(design)
        if design is not None:
            self.asked = self.chosen = None
            self._go_plain(FOREVER)
