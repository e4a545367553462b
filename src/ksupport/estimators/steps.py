"""Functions of time that are constant between times: survival, and cumulative hazard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..design import Floats


@dataclass(frozen=True, eq=False)
class StepFunction:
    """``y[i]`` from time ``x[i]`` on, and up to ``x[0]`` from the start of time.

    Called with times, which ascend in x, as scikit-survival's.

    >>> survival = StepFunction(np.array([1.0, 3.0]), np.array([0.9, 0.4]))
    >>> survival([2.0, 3.0])
    array([0.9, 0.4])
    """

    x: Floats
    y: Floats

    @property
    def domain(self) -> tuple[float, float]:
        """The times between which it is known."""
        return 0.0, float(self.x[-1])

    def __call__(self, times: ArrayLike) -> Any:
        """The values at times, one or many."""
        t = np.asarray(times, np.float64)
        low, high = self.domain
        if not ((t >= low) & (t <= high)).all():
            raise ValueError(
                f"times must lie between {low:g} and {high:g}, the last time of the fit; got "
                f"{np.nanmin(t):g} to {np.nanmax(t):g}"
            )
        at = np.maximum(np.searchsorted(self.x, t, side="right") - 1, 0)
        return self.y[at]
