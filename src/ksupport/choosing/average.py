"""What predictions are made with: the average over sampled models, and ridge regression.

Some responses depend on few features, others a little on many: held-out rows decide how much each
of the two models counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..design import Floats, Ints
from ..losses import Loss

SHARES = np.linspace(0.0, 1.0, 21)  # of ridge regression, of which held-out rows tell


@dataclass(frozen=True, eq=False)
class Average:
    """Two models whose expectations of the response are averaged."""

    features: Ints  # that any sampled model has: s
    mean: Floats  # of coefficients, over sampled models: s, or outputs x s
    ridge: Floats | None  # ridge regression on all of them; None: there is one model only
    spread: Floats  # r x s: a root of the covariance of coefficients over sampled models
    share: float = 0.5  # what ridge regression counts; a half where no rows were held out

    @classmethod
    def of_one(cls, features: Ints, coef: Floats) -> Self:
        """One model alone."""
        return cls(features, coef, None, np.zeros((0, features.size)), 0.0)

    def counting(self, share: float) -> Average:
        """Return a copy with another share of ridge regression."""
        return replace(self, share=share)

    def models(self, loss: Loss) -> list[Floats]:
        """Return the coefficients of both models, or of their average where that is the same."""
        if self.ridge is None:
            return [self.mean]
        if loss.averages_eta:
            return [(1.0 - self.share) * self.mean + self.share * self.ridge]
        return [self.mean, self.ridge]

    @property
    def uncertainty(self) -> Floats:
        """As ``spread``, for the average of both models."""
        if self.ridge is None or not len(self.spread):
            return self.spread
        apart = np.sqrt(self.share * (1.0 - self.share)) * (self.mean - self.ridge)
        return np.vstack([self.spread, apart])

    def whole(self, coef: Floats, d: int) -> Floats:
        """Return coefficients of all d features, given those of ``features``."""
        found = np.zeros((*coef.shape[:-1], d))
        found[..., self.features] = coef
        return found


def averaged(loss: Loss, models: list[Any], spread: Any, share: float) -> Any:
    """Return the linear predictor whose expected response is the average of the models'.

    ``models`` are their linear predictors, ``spread`` those of differences of sampled models.
    """
    if len(models) == 1:
        return models[0]
    first, second = models
    return loss.averaged(first, second, (spread**2).sum(axis=-1), share)
