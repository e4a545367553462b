"""Rows that were not walked on, as losses other than squares measure them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..losses import Response
from .rows import Predicting, Unseen
from .stores import Floats
from .view import Design


@dataclass(frozen=True)
class UnseenByLoss(Unseen):
    """Unseen rows, measured by the deviance of a loss.

    ``truth`` is the response as it is.  What is not penalised is settled on the rows walked on, so
    that models are asked for their fitted values there, too.
    """

    walked: Design | None = None  # the rows walked on, and
    response: Response | None = None  # the loss on them
    unpenalized: Floats | None = None  # columns, as rows, of the unseen rows

    def __call__(self, models: Predicting) -> Floats:
        return self._average(self.each(models))

    def each(self, models: Predicting) -> Floats:
        """The deviance of each unseen row for each model, R x n."""
        assert self.walked is not None
        return self._deviances(models.predict(self.walked), models.predict(self.design))

    def errors(self, predictions: Floats) -> Floats:
        raise TypeError("a loss measures models, by `errors_of`, and not predictions")

    def errors_of(self, models: Any) -> Floats:
        return self._average(self.each_of(models))

    def each_of(self, models: Any) -> Floats:
        """The deviance of each unseen row for each row of coefficients."""
        assert self.walked is not None
        used = np.unique(models.indices if sp.issparse(models) else np.nonzero(models)[1])
        few = models[:, used]
        return self._deviances(few @ self.walked.columns(used), few @ self.design.columns(used))

    def _deviances(self, fitted: Floats, new: Floats) -> Floats:
        assert self.response is not None
        assert self.unpenalized is not None
        return self.response.deviance_of_new(fitted, new, self.truth, self.unpenalized)

    def _average(self, each: Floats) -> Floats:
        return np.asarray(np.average(each, -1, self.weights))
