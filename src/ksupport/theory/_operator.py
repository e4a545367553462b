"""What the theory needs of a design matrix: some columns, and products with its transpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator, svds

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

BLOCK = 64  # columns handled at once: every temporary is at most d x BLOCK or n x BLOCK


@dataclass(frozen=True)
class Columns:
    """A design matrix X (n x d) of any kind, seen through its columns.

    Dense arrays, SciPy sparse matrices and linear operators answer the same few questions;
    nothing here is ever larger than X itself, and no d x d matrix is formed.
    """

    X: Any
    shape: tuple[int, int]

    def columns(self, S: Indices) -> Array:
        """X_S as a dense n x |S| array."""
        if isinstance(self.X, np.ndarray):
            return self.X[:, S]
        if sp.issparse(self.X):
            return np.asarray(self.X[:, S].todense(), dtype=float)
        E = np.zeros((self.shape[1], len(S)))
        E[S, np.arange(len(S))] = 1.0
        return np.asarray(self.X.matmat(E), dtype=float)

    def rmatmat(self, V: Array) -> Array:
        """Xᵀ V for a vector or an n x m block."""
        if isinstance(self.X, LinearOperator):
            return np.asarray(self.X.rmatvec(V) if V.ndim == 1 else self.X.rmatmat(V), dtype=float)
        return np.asarray(self.X.T @ V, dtype=float)

    def blocks(self) -> Iterator[tuple[Indices, Array]]:
        """All the columns, in consecutive dense blocks."""
        d = self.shape[1]
        for start in range(0, d, BLOCK):
            S = np.arange(start, min(start + BLOCK, d))
            yield S, self.columns(S)

    def column_norms(self) -> Array:
        """‖x_j‖ for every feature."""
        if isinstance(self.X, np.ndarray):
            return np.sqrt(np.einsum("ij,ij->j", self.X, self.X))
        return np.concatenate([np.linalg.norm(block, axis=0) for _, block in self.blocks()])

    def rows(self, index: Indices) -> Columns:
        """The design restricted to some samples."""
        if isinstance(self.X, LinearOperator):
            n, d = self.shape
            pick = sp.csr_matrix((np.ones(len(index)), (range(len(index)), index)), (len(index), n))
            return Columns(aslinearoperator(pick) @ self.X, (len(index), d))
        return Columns(self.X[index], (len(index), self.shape[1]))

    def norm(self, kind: str) -> float:
        """‖X‖, the spectral or the nuclear norm (the latter works on a dense copy of X)."""
        if kind not in ("spectral", "nuclear"):
            raise ValueError(f"norm must be 'spectral' or 'nuclear', got {kind!r}")
        n, d = self.shape
        if kind == "nuclear":
            dense = self.X if isinstance(self.X, np.ndarray) else self.columns(np.arange(d))
            return float(np.linalg.norm(dense, "nuc"))
        if min(n, d) <= 32:
            dense = self.X if isinstance(self.X, np.ndarray) else self.columns(np.arange(d))
            return float(np.linalg.norm(dense, 2))
        v0 = np.random.default_rng(0).standard_normal(min(n, d))  # same answer at every call
        return float(svds(self.X, k=1, v0=v0, return_singular_vectors=False)[0])


def as_columns(X: Any) -> Columns:
    """Check X and wrap it; a :class:`Columns` passes through."""
    if isinstance(X, Columns):
        return X
    if isinstance(X, LinearOperator):
        return Columns(X, _checked_shape(X.shape))
    if sp.issparse(X):
        X = sp.csc_matrix(X, dtype=float)
        _check_finite("X", X.data)
        return Columns(X, _checked_shape(X.shape))
    X = np.asarray(X, dtype=float)
    if X.ndim != 2:
        raise ValueError(
            f"X must have two dimensions (samples, features), got shape {X.shape}; "
            "reshape a single feature with X.reshape(-1, 1)"
        )
    _check_finite("X", X)
    return Columns(X, _checked_shape(X.shape))


def _checked_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    n, d = shape
    if n < 1 or d < 1:
        raise ValueError(f"X must have at least one sample and one feature, got shape {(n, d)}")
    return int(n), int(d)


def _check_finite(name: str, values: Array) -> None:
    # A sum is finite exactly when every term is, short of overflow: no n x d mask is needed.
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; impute or drop those values")


def as_vector(name: str, value: Any, length: int, what: str) -> Array:
    """Check a vector against the side of X that it must match."""
    vector = np.asarray(value, dtype=float)
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must be a vector with one entry per {what} of X, shape ({length},), "
            f"got shape {vector.shape}"
        )
    _check_finite(name, vector)
    return vector
