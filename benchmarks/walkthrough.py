"""The way through a fit, as a profiler sees it: modules, calls and changes of module."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import ksupport
from ksupport import AutoIRKSN, AutoIRKSNClassifier

from .measure import Row, at_most, once
from .selection import quietly_fitted
from .selection_designs import problem, standardised

HOME = str(Path(ksupport.__file__).parent)


class WayThrough(NamedTuple):
    """How many modules of the package are called, how many calls there are, and how often the
    module of a call is not that of the call before.
    """

    modules: int
    calls: int
    changes: int

    @classmethod
    def of(cls, fit: Callable[[], Any]) -> WayThrough:
        """Of what this function does; compiled code is not seen."""
        files: list[str] = []

        def called(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(HOME):
                files.append(frame.f_code.co_filename)

        before = sys.getprofile()
        sys.setprofile(called)
        try:
            fit()
        finally:
            sys.setprofile(before)
        changes = sum(a != b for a, b in pairwise(files))
        return cls(len(set(files)), len(files), changes)


def main() -> list[Row]:
    """Of `AutoIRKSN`, and of its classifier, at 100 x 2000."""
    X, y, _ = problem("ar1", 0, n=100, d=2000, k=10, rho=0.5, snr=3.0)
    X, rows = standardised(X), []
    for make, target, most in (
        (AutoIRKSN, y, WayThrough(35, 2500, 900)),
        (AutoIRKSNClassifier, y > np.median(y), WayThrough(35, 8000, 3000)),
    ):
        quietly_fitted(make, X, target)  # what is imported or made once
        found = WayThrough.of(partial(quietly_fitted, make, X, target))
        for name, count, limit in zip(WayThrough._fields, found, most, strict=True):
            rows.append(Row(f"{make.__name__}: {name}", once(count), None, at_most(limit), ""))
    return rows
