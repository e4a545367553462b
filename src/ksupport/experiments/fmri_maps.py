"""Weights of whole brains as rows of results: only what is not zero, to a few digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..design import Floats
from ..fmri import beyond, z_map, z_threshold
from .experiment import Row

FWER = 0.1


def packed(values: ArrayLike) -> dict[str, Any]:
    """A vector that JSON holds."""
    vector = np.asarray(values, np.float64)
    index = np.flatnonzero(vector)
    return {
        "size": len(vector),
        "index": index.tolist(),
        "value": [float(f"{value:.7g}") for value in vector[index]],
    }


def unpacked(stored: dict[str, Any]) -> Floats:
    """The vector again."""
    vector = np.zeros(stored["size"])
    vector[stored["index"]] = stored["value"]
    return vector


def z_of(row: Row) -> tuple[Floats, float]:
    """z-values and their threshold: EnCluDL's own, or those of weights taken as Gaussian."""
    if "z" in row:
        return unpacked(row["z"]), float(row["threshold"])
    w = unpacked(row["w"])
    return z_map(w), z_threshold(FWER, len(w))


def found_by(row: Row) -> Floats:
    """The z-values beyond the threshold."""
    return beyond(*z_of(row))
