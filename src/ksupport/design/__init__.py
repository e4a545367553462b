"""What a path needs of X, for every kind of X: views, stores, norms."""

from .blocks import by_blocks
from .leading import Leading, Query
from .problem import Problem
from .rounds import Round, there_and_back
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
from .view import Design, centred_together, sharing

__all__ = [
    "Design",
    "Floats",
    "Ints",
    "Leading",
    "NormKind",
    "Problem",
    "Query",
    "Round",
    "Unseen",
    "Weights",
    "as_dask_array",
    "by_blocks",
    "centred_together",
    "fetched",
    "is_dask",
    "names_of",
    "sharing",
    "there_and_back",
    "unwrapped",
]
