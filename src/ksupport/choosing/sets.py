"""Features that stand in for each other: one of these, we cannot say which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design import Floats
from ..theory.report import NEAR_COPY
from .posterior import Posterior

WORTH = 0.05  # probability from which a feature has a set
SLIGHT = 0.005  # and from which it may belong to that of another
MOST = 500  # features looked at, the most probable ones
COVERED = 0.95  # of the probability of all that may belong to a set, what its members have
# Correlation from which one feature may stand in for another: where few features matter, and where
# many do, which are often alike as well.
ALIKE, MUCH_ALIKE = 0.5, 0.9
RARELY = 0.5  # of the times that chance would have both, stand-ins are there together
MODELS = 500  # of most weight, from which that is told
STEADY = 9  # decimals of probabilities that are compared


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

    Two features stand in for each other if they are near-copies, or if they correlate and models
    that have one of them seldom have the other.  A set ends with the features that it hardly needs
    for being true.
    """
    among = np.flatnonzero(probability >= SLIGHT)
    among = among[np.lexsort((among, -np.round(probability[among], STEADY)))][:MOST]
    worth = probability[among] >= WORTH
    inside, weights = posterior.inclusions(among, MODELS)
    alone, both = weights @ inside, inside.T @ (weights[:, None] * inside)
    correlations = posterior.correlations(among)
    alike = correlations >= (ALIKE if few else MUCH_ALIKE)
    apart = alike & (both <= RARELY * np.outer(alone, alone))
    stand_in = apart | (correlations >= NEAR_COPY)
    left = np.ones(among.size, bool)
    found = []
    for lead in np.flatnonzero(worth):
        if not left[lead]:
            continue
        joins = left & stand_in[lead]
        joins[lead] = True
        left &= ~joins
        may = np.flatnonzero(joins)
        # That one of the first belongs to the model, for ever more of them.
        some = np.round(weights @ np.maximum.accumulate(inside[:, may], axis=1), STEADY)
        count = max(np.searchsorted(some, COVERED * some[-1]) + 1, np.count_nonzero(worth[may]))
        members = among[may[:count]]
        p = max(float(some[count - 1]), float(probability[members[0]]))
        found.append(FeatureSet(tuple(members.tolist()), min(p, 1.0)))
    return sorted(found, key=lambda each: -each.probability)
