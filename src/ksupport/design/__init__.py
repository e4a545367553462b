"""What a path needs of X, for every kind of X: views, stores, norms."""

from .adjusting import Unpenalized
from .blocks import by_blocks
from .complexes import as_real, is_complex, paired, stacked, unstacked
from .genotypes import Genotypes
from .incomplete import Incomplete
from .leading import Leading, Query
from .passes import (
    centred_together,
    expect_together,
    leading_together,
    sharing,
    surveyed,
    use_products,
)
from .problem import Problem, Split
from .responses import UnseenByLoss
from .rounds import Round, forward_and_adjoint
from .rows import PreparedRows, Unseen, Weights, count_different, fetched, marks_of, refuse_dates
from .spectra import NormKind
from .stores import (
    Floats,
    Ints,
    OnEach,
    Survey,
    as_dask_array,
    is_dask,
    names_of,
    unwrapped,
)
from .view import Design

__all__ = [
    "Design",
    "Floats",
    "Genotypes",
    "Incomplete",
    "Ints",
    "Leading",
    "NormKind",
    "OnEach",
    "PreparedRows",
    "Problem",
    "Query",
    "Round",
    "Split",
    "Survey",
    "Unpenalized",
    "Unseen",
    "UnseenByLoss",
    "Weights",
    "as_dask_array",
    "as_real",
    "by_blocks",
    "centred_together",
    "count_different",
    "expect_together",
    "fetched",
    "forward_and_adjoint",
    "is_complex",
    "is_dask",
    "leading_together",
    "marks_of",
    "names_of",
    "paired",
    "refuse_dates",
    "sharing",
    "stacked",
    "surveyed",
    "unstacked",
    "unwrapped",
    "use_products",
]
