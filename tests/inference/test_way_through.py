"""The way through `AutoIRKSN.fit`, as a profiler sees it: it must not grow unnoticed."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

import ksupport
from ksupport import AutoIRKSN

HOME = str(Path(ksupport.__file__).parent)


def way_through(fit):
    """How many modules of ours are called, how many calls there are, and changes of module."""
    modules = []

    def called(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            modules.append(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        fit()
    finally:
        sys.setprofile(before)
    changes = sum(a != b for a, b in pairwise(modules))
    return len(set(modules)), len(modules), changes


def test_a_fit_takes_no_more_calls_than_it_did():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2000))
    y = X[:, :5] @ np.ones(5) + rng.standard_normal(100)
    AutoIRKSN().fit(X, y)  # what is imported or made once
    modules, calls, changes = way_through(lambda: AutoIRKSN().fit(X, y))
    assert modules <= 65
    assert calls <= 22_000
    assert changes <= 8_000
