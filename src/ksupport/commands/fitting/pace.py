"""How long a fit of large data may take, told before it: by the time of a part of one pass."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..._common.telling import duration
from ...design import Design, Genotypes
from ...reading import Data

LARGE = 10**8  # entries of X from which on a fit may take minutes
SHARE = 0.02  # of the columns that are looked at
PASSES = (6, 20)  # of 2000 x 200 000 genotypes AutoIRKSN took 13


def pace(data: Data) -> str | None:
    """A sentence on the time to expect; None where it is short."""
    n, d = data.shape
    if n * d < LARGE:
        return None
    seconds = _seconds_of(_some(data.X, max(1, int(SHARE * data.n_features)))) / SHARE
    low, high = (duration(count * seconds) for count in PASSES)
    return (
        f"a pass over these data takes about {duration(seconds)}, and a fit mostly {PASSES[0]} to "
        f"{PASSES[1]} of them: expect {low} to {high}"
    )


def _some(X: Any, count: int) -> Any:
    """The first columns, as they are stored."""
    return X.select(np.arange(count)) if isinstance(X, Genotypes) else X[:, :count]


def _seconds_of(X: Any) -> float:
    """One product with all rows, the second: what is opened once does not count."""
    design, ones = Design.of(X), np.ones(X.shape[0])
    design.rmatvec(ones)
    started = time.perf_counter()
    design.rmatvec(ones)
    return time.perf_counter() - started
