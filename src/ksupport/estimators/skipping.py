"""``loss="huber"`` where features are chosen: rows that are far off are left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..choosing.chosen import Chosen
from ..choosing.outliers import far_off
from ..design import Floats, Ints, Problem, Weights, fetched
from ..losses import Huber, Loss
from .base import SQUARES, RegressorByLoss, SelectingModel


class SkipsFarRows(RegressorByLoss, SelectingModel):
    """A model of numbers that is chosen without those that are far off, where that is asked for.

    They are told by y alone at first, and then by what the model leaves of it, if these are others.
    """

    outliers_: Ints
    _far: Ints | None = None  # rows to leave out; None: those that y tells

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        self._far = None if self._skips else np.empty(0, np.intp)
        super()._fit(X, y, sample_weight, groups)
        if self._skips and not self._complex:
            fitted = np.asarray(self._linear(X))
            left = np.asarray(fetched(y), np.float64).reshape(fitted.shape) - fitted
            weights = self._weights(sample_weight, len(left)).plain
            far = far_off(left, weights, float(self.support_.sum()))
            if not np.array_equal(far, self.outliers_):
                self._far = far
                super()._fit(X, y, sample_weight, groups)

    @property
    def _skips(self) -> bool:
        """Whether rows that are far off are left out."""
        loss = super()._asked_loss()
        return isinstance(loss, Huber) and loss.delta is None

    def _asked_loss(self) -> Loss:
        return SQUARES if self._skips else super()._asked_loss()

    def _weights_for(self, y: Floats, sample_weight: ArrayLike | None) -> Weights:
        """Those that were given, and none for rows that are far off: of y alone, to begin with."""
        weights = super()._weights_for(y, sample_weight)
        if self._far is None:
            self._far = far_off(y, weights.plain)
        if not self._far.size:
            return weights
        own = np.ones(len(y)) if weights.values is None else weights.values.copy()
        own[self._far] = 0.0
        return self._weights(own, len(y))

    def _keep(self, problem: Problem, chosen: Chosen) -> None:
        assert self._far is not None
        self.outliers_ = self._far
        if self.outliers_.size:
            rows = "1 row is" if self.outliers_.size == 1 else f"{self.outliers_.size} rows are"
            told = f"{chosen.decision} {rows} far off, and left out."
            chosen = replace(chosen, decision=told)
        super()._keep(problem, chosen)
