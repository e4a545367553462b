"""What a path needs of X, for every kind of X: views, stores, norms."""

from .blocks import by_blocks
from .leading import Leading, Query
from .problem import Problem, Split
from .rounds import Round, there_and_back
from .rows import Unseen, Walked, Weights, count_different, fetched, marks_of
from .spectra import NormKind
from .stores import (
    Floats,
    Ints,
    Survey,
    as_dask_array,
    is_dask,
    names_of,
    unwrapped,
)
from .view import Design, centred_together, expect_together, leading_together, sharing, surveyed

__all__ = [
    "Design",
    "Floats",
    "Ints",
    "Leading",
    "NormKind",
    "Problem",
    "Query",
    "Round",
    "Split",
    "Survey",
    "Unseen",
    "Walked",
    "Weights",
    "as_dask_array",
    "by_blocks",
    "centred_together",
    "count_different",
    "expect_together",
    "fetched",
    "is_dask",
    "leading_together",
    "marks_of",
    "names_of",
    "sharing",
    "surveyed",
    "there_and_back",
    "unwrapped",
]
