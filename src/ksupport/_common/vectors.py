"""Checks of vectors, and of batches of them in rows, for the norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.floating[Any]]
Value = np.floating[Any] | FloatArray  # one number for a vector, an array for a batch


def check_vectors(w: ArrayLike, name: str) -> FloatArray:
    """A C-ordered float32 or float64 array of one or two dimensions."""
    w = np.asarray(w)
    if w.dtype.kind not in "fiubO":
        raise TypeError(f"{name} must hold real numbers, got dtype {w.dtype}")
    if w.ndim not in (1, 2):
        raise ValueError(
            f"{name} must be a vector or a batch of rows (1-D or 2-D), got shape {w.shape}"
        )
    if w.shape[-1] == 0:
        raise ValueError(f"{name} must have at least one feature, got shape {w.shape}")
    dtype = np.float32 if w.dtype.type is np.float32 else np.float64
    try:
        return np.ascontiguousarray(w, dtype=dtype)
    except (TypeError, ValueError) as error:  # object arrays of other things
        raise TypeError(f"{name} must hold real numbers: {error}") from error


def check_strength(value: Any, name: str = "lam", positive: bool = False) -> float:
    """The factor of a norm, as a float."""
    if np.ndim(value):
        raise TypeError(
            f"{name} must be one number for the whole vector, got shape {np.shape(value)}"
        )
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be a number, got the text {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}") from error
    if not (0.0 < number < np.inf or (number == 0.0 and not positive)):
        allowed = "positive" if positive else "non-negative"
        raise ValueError(f"{name} must be {allowed} and finite, got {value!r}")
    return number


def check_directions(w: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """w and u in one dtype; u has the shape of w, or is a batch of directions at a vector w."""
    if u.shape != w.shape and (w.ndim != 1 or u.shape[-1] != w.size):
        raise ValueError(
            f"u must have the shape of w, {w.shape}, or be a batch of directions at a vector w, "
            f"got shape {u.shape}"
        )
    dtype = np.result_type(w, u)
    return w.astype(dtype, copy=False), u.astype(dtype, copy=False)


def scaled_by_power_of_two(w: FloatArray) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Rows of w as float64, each divided by a power of two to entries below 1; the exponents.

    Nothing is rounded, and the sum of squares of a nonzero row neither overflows nor underflows.
    """
    rows = np.atleast_2d(w).astype(np.float64, copy=False)
    exponents = np.frexp(np.max(np.abs(rows), axis=1, initial=0.0))[1]
    return np.ldexp(rows, -exponents[:, None]), exponents


def like(w: FloatArray, values: NDArray[np.float64]) -> Value:
    """One value per row, in the dtype of w; a scalar if w is a vector."""
    values = values.astype(w.dtype, copy=False)
    return values if w.ndim == 2 else values[0]
