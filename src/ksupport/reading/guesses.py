"""Columns that are taken as features, but look as if they were something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._common.names import listed, shown
from ..design import Genotypes
from .spelling import option

LOOKED_AT = 20  # columns in front, where such columns stand


def remarks_on(names: Sequence[str], X: Any) -> Iterator[str]:
    """A remark on columns that count the rows, and on genotypes, which fill themselves in."""
    if isinstance(X, Genotypes):
        yield "Where a genotype is missing, it is taken to be the mean of its column."
    if not isinstance(X, np.ndarray):
        return
    counting = [names[j] for j in range(min(LOOKED_AT, len(names))) if _counts(X[:, j])]
    for name in counting:
        yield (
            f"Column {listed([name])} counts the rows, and is taken as a feature; if it names "
            f"them, give {option('id', shown(name) or repr(name))}, else {option('ignore')} leaves "
            "it out."
        )


def _counts(column: Any) -> bool:
    """Whether entries are 0, 1, 2, ... or 1, 2, 3, ..., as in an index."""
    start = column[0] if column.size else np.nan
    return column.size > 3 and start in (0.0, 1.0) and bool((np.diff(column) == 1).all())
