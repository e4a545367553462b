"""``loss="huber"`` where features are chosen: outlying rows are left out (Huber-skip).

A response that is off by many standard deviations says nothing of features, and least squares on
the other rows lose next to nothing (Johansen and Nielsen 2013).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..choosing.selection import Selection
from ..design import Floats, Ints, Problem, Weights, fetched
from ..losses import Huber, Loss
from ..losses.separable import robust_scale
from .base import SQUARES
from .selecting import RegressorByLoss, SelectingModel

FAR = 4.0  # robust standard deviations: of normal errors one in 16 000 is as far off
NONE = np.empty(0, np.intp)
MOST_TIMES = 2  # that rows are left out, by the model before


class SkipsFarRows(RegressorByLoss, SelectingModel):
    """A model of numbers that is chosen without those that are far off, where that is asked for.

    They are told by what a model of all rows leaves of y, and then by what a model without them
    does, if these are others: a row is not far off if its features explain it.
    """

    outliers_: Ints
    _far: Ints = NONE  # rows to leave out

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        self._far = NONE
        super()._fit(X, y, sample_weight, groups)
        for _ in range(MOST_TIMES if self._skips and not self._complex else 0):
            fitted = np.asarray(self._linear(X))
            left = np.asarray(fetched(y), np.float64).reshape(fitted.shape) - fitted
            weights = self._weights(sample_weight, len(left)).plain
            self._far = far_off(left, weights, float(self.support_.sum()))
            if np.array_equal(self._far, self.outliers_):
                break
            super()._fit(X, y, sample_weight, groups)

    @property
    def _skips(self) -> bool:
        """Whether rows that are far off are left out."""
        loss = super()._asked_loss()
        return isinstance(loss, Huber) and loss.delta is None

    def _asked_loss(self) -> Loss:
        return SQUARES if self._skips else super()._asked_loss()

    def _weights_for(self, y: Floats, sample_weight: ArrayLike | None) -> Weights:
        """Those that were given, and none for rows that are far off."""
        weights = super()._weights_for(y, sample_weight)
        if not self._far.size:
            return weights
        own = np.ones(len(y)) if weights.values is None else weights.values.copy()
        own[self._far] = 0.0
        return self._weights(own, len(y))

    def _keep(self, problem: Problem, chosen: Selection) -> None:
        self.outliers_ = self._far
        if self.outliers_.size:
            rows = "1 row is" if self.outliers_.size == 1 else f"{self.outliers_.size} rows are"
            told = f"{chosen.decision} {rows} far off, and left out."
            chosen = replace(chosen, decision=told)
        super()._keep(problem, chosen)


def far_off(left: Floats, weights: Floats | None = None, freedom: float = 0.0) -> Ints:
    """The rows of which a model of so many degrees of freedom leaves far more than of others.

    Of several responses, those of which it does of any.
    """
    if left.ndim > 1:
        found = [far_off(np.ascontiguousarray(each), weights, freedom) for each in left.T]
        return np.unique(np.concatenate(found))
    counted = np.arange(left.size) if weights is None else np.flatnonzero(weights)
    own = None if weights is None else weights[counted]
    centre, scale = robust_scale(left[counted], own)
    scale /= np.sqrt(max(1.0 - freedom / counted.size, 0.1))
    return np.asarray(counted[np.abs(left[counted] - centre) > FAR * scale])
