"""The way through `AutoIRKSN.fit`, as a profiler sees it: it must not grow unnoticed."""

import numpy as np

from benchmarks.walkthrough import WayThrough
from ksupport import AutoIRKSN


def test_a_fit_takes_no_more_calls_than_it_did():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2000))
    y = X[:, :5] @ np.ones(5) + rng.standard_normal(100)
    AutoIRKSN().fit(X, y)  # what is imported or made once
    found = WayThrough.of(lambda: AutoIRKSN().fit(X, y))
    assert found.modules <= 65
    assert found.calls <= 22_000
    assert found.changes <= 8_000
