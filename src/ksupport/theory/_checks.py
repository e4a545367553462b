"""Validation of X, w and y."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from .. import limits
from .._common.checks import as_numbers
from ..design import Design, Floats, by_blocks, is_dask, unwrapped

BLOCK = 64  # columns handled at once: every temporary is at most d x BLOCK or n x BLOCK


def as_design(X: Any) -> Design:
    """Check X and wrap it in double precision; a `Design` passes through as it is."""
    if isinstance(X, Design):  # before it is taken for an operator, as it has products
        return X
    X = unwrapped(X)
    # What is read by blocks, here or elsewhere, is checked in doing so.
    if isinstance(X, LinearOperator) or is_dask(X) or by_blocks(X):
        return Design.of(X)
    if not sp.issparse(X):
        X = as_numbers("X", X)
    elif X.format not in ("csr", "csc"):
        X = X.tocsc()
    if X.dtype.kind != "c":  # complex numbers are refused below
        X = X.astype(np.float64, copy=False)
        _check_size("X", X.data if sp.issparse(X) else X)
    return Design.of(X)


def as_vector(name: str, value: Any, length: int, what: str) -> Floats:
    """Check a vector against the side of X that it must match."""
    vector = as_numbers(name, value)
    if vector.dtype.kind == "c":
        raise ValueError(f"{name} must be real, got dtype {vector.dtype}")
    vector = vector.astype(np.float64, copy=False)
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must be a vector with one entry per {what} of X, shape ({length},), "
            f"got shape {vector.shape}"
        )
    _check_size(name, vector)
    return vector


def _check_size(name: str, values: Floats) -> None:
    """Refuse entries that are not finite or whose squares overflow or underflow."""
    # No n x d temporary: NaN and infinity show in the extremes.
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if not np.isfinite(largest):
        raise ValueError(f"{name} must be finite, got NaN or infinity; impute or drop those values")
    if largest and not limits.SMALLEST < largest < limits.LARGEST:
        raise ValueError(
            f"{name} must have entries that can be squared, between {limits.SMALLEST:g} and "
            f"{limits.LARGEST:g} in size, got {largest:.3g} for the largest; rescale it"
        )
