"""What predictions go by: the average over sampled models, and ridge regression.

Few features, or a little of all that any model has: responses are of both kinds, and rows held out
tell how much each of the two ways should count.
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
        """With another share of ridge regression."""
        return replace(self, share=share)

    def models(self, loss: Loss) -> list[Floats]:
        """Coefficients of two models, or of one where expectations are linear in them."""
        if self.ridge is None:
            return [self.mean]
        if loss.averages_eta:
            return [(1.0 - self.share) * self.mean + self.share * self.ridge]
        return [self.mean, self.ridge]

    @property
    def uncertainty(self) -> Floats:
        """As ``spread``, of the average of both models."""
        if self.ridge is None or not len(self.spread):
            return self.spread
        apart = np.sqrt(self.share * (1.0 - self.share)) * (self.mean - self.ridge)
        return np.vstack([self.spread, apart])

    def whole(self, coef: Floats, d: int) -> Floats:
        """Of all features, given coefficients of these."""
        found = np.zeros((*coef.shape[:-1], d))
        found[..., self.features] = coef
        return found


def averaged(loss: Loss, models: list[Any], spread: Any, share: float) -> Any:
    """Where the response is expected to be what these models expect on average.

    ``models`` have what each predicts of rows, ``spread`` how far sampled models differ.
    """
    if len(models) == 1:
        return models[0]
    first, second = models
    return loss.averaged(first, second, (spread**2).sum(axis=-1), share)
