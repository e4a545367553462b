"""Features that stand in for each other: one of these, we cannot say which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design import Floats
from ..theory.report import NEAR_COPY
from .posterior import Posterior

WORTH = 0.05  # probability from which a feature may belong to a set
ALIKE = 0.5  # correlation from which one feature may stand in for another
RARELY = 0.5  # of the times that chance would have both, stand-ins are there together
MODELS = 500  # of most weight, from which that is told


@dataclass(frozen=True)
class FeatureSet:
    """Features of which the model needs one, as in ``AutoIRKSN.sets_``.

    Parameters
    ----------
    features : tuple of int
        The most probable first.
    probability : float
        That one of them belongs to the model.

    Examples
    --------
    >>> from ksupport import FeatureSet
    >>> FeatureSet(features=(4, 7), probability=0.9).features
    (4, 7)
    """

    features: tuple[int, ...]
    probability: float


def sets_of(posterior: Posterior, probability: Floats, few: bool = True) -> list[FeatureSet]:
    """Every probable feature with those that stand in for it, most probable sets first.

    Two features stand in for each other if they are near-copies or, where few features matter, if
    they correlate and models that have one of them seldom have the other.
    """
    worth = np.flatnonzero(probability >= WORTH)
    worth = worth[np.lexsort((worth, -np.round(probability[worth], 9)))]
    inside, weights = posterior.inclusions(worth, MODELS)
    alone, both = weights @ inside, inside.T @ (weights[:, None] * inside)
    correlations = posterior.correlations(worth)
    apart = few & (correlations >= ALIKE) & (both <= RARELY * np.outer(alone, alone))
    stand_in = apart | (correlations >= NEAR_COPY)
    left = np.ones(worth.size, bool)
    found = []
    for lead in range(worth.size):
        if not left[lead]:
            continue
        joins = left & stand_in[lead]
        joins[lead] = True
        left &= ~joins
        members = worth[joins]
        some = float(weights @ inside[:, joins].any(axis=1))
        p = max(some, float(probability[members].max()))
        found.append(FeatureSet(tuple(members.tolist()), min(p, 1.0)))
    return sorted(found, key=lambda each: -each.probability)
