"""What a path needs of X, for every kind of X: views, stores, norms."""

from .blocks import by_blocks
from .leading import Leading, Query
from .problem import Problem
from .rows import Unseen, Weights, fetched
from .spectra import NormKind
from .stores import (
    Floats,
    Ints,
    as_dask_array,
    is_dask,
    names_of,
    unwrapped,
)
from .view import Design, centred_together, matmat_together, rmatmat_together, sharing

__all__ = [
    "Design",
    "Floats",
    "Ints",
    "Leading",
    "NormKind",
    "Problem",
    "Query",
    "Unseen",
    "Weights",
    "as_dask_array",
    "by_blocks",
    "centred_together",
    "fetched",
    "is_dask",
    "matmat_together",
    "names_of",
    "rmatmat_together",
    "sharing",
    "unwrapped",
]
