"""Checks at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ..blocks import by_blocks
from ..design import Design, Floats, is_dask, unwrapped

BLOCK = 64  # columns handled at once: every temporary is at most d x BLOCK or n x BLOCK


def as_design(X: Any) -> Design:
    """Check X and wrap it in double precision; a `Design` passes through as it is."""
    X = unwrapped(X)
    # What is read by blocks, here or elsewhere, is checked in doing so.
    if isinstance(X, Design | LinearOperator) or is_dask(X) or by_blocks(X):
        return Design.of(X)
    if not sp.issparse(X):
        X = np.asarray(X)
    elif X.format not in ("csr", "csc"):
        X = X.tocsc()
    if X.dtype.kind != "c":  # complex numbers are refused below, with words
        X = X.astype(np.float64, copy=False)
        _check_finite("X", X.data if sp.issparse(X) else X)
    return Design.of(X)


def as_vector(name: str, value: Any, length: int, what: str) -> Floats:
    """Check a vector against the side of X that it must match."""
    vector = np.asarray(value, dtype=float)
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must be a vector with one entry per {what} of X, shape ({length},), "
            f"got shape {vector.shape}"
        )
    _check_finite(name, vector)
    return vector


def _check_finite(name: str, values: Floats) -> None:
    # A sum is finite exactly when every term is, short of overflow: no n x d mask is needed.
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; impute or drop those values")
