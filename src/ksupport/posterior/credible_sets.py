"""Credible sets: the fewest correlated features of which one matters, with a given probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..design import Floats, Ints

LEAST = 0.02  # probability of a feature around which a set is looked for
NEGLIGIBLE = 1e-4  # probability below which a feature is in no set
PURITY = 0.5  # least correlation with the leading feature, as susieR has it
DECIMALS = 9


@dataclass(frozen=True)
class FeatureSet:
    """Correlated features of which one or more matter, as in ``AutoIRKSN.sets_``.

    Parameters
    ----------
    features : tuple of int
        The most probable first.
    probability : float
        That one or more of them matter.
    together : float
        The probability that two or more of them do: near 1, they act together; near 0, one of them
        acts and the others stand in for it.
    purity : float
        The least absolute correlation of two of them.

    Examples
    --------
    >>> from ksupport import FeatureSet
    >>> FeatureSet(features=(4, 7), probability=0.97).features
    (4, 7)
    """

    features: tuple[int, ...]
    probability: float
    together: float = 0.0
    purity: float = 1.0


def credible_sets(
    inside: NDArray[np.bool_], weights: Floats, features: Ints, correlations: Floats, level: float
) -> list[FeatureSet]:
    """Disjoint sets, found around the most probable features first.

    ``inside`` says which features, in columns, each model has.
    """
    p, free, found = weights @ inside, np.ones(features.size, bool), []
    for lead in np.lexsort((features, -np.round(p, DECIMALS))).tolist():
        if p[lead] < LEAST:
            break
        if not free[lead]:
            continue
        may = np.flatnonzero((np.abs(correlations[lead]) >= PURITY) & free & (p > NEGLIGIBLE))
        if p[may].sum() < level:  # no union is more probable
            continue
        may = may[np.lexsort((features[may], -np.round(p[may], DECIMALS), may != lead))]
        reached = weights @ np.maximum.accumulate(inside[:, may], axis=1)
        if reached[-1] < level:
            continue
        members = may[: int(np.argmax(reached >= level)) + 1]
        free[members] = False
        several = inside[:, members].sum(axis=1) > 1
        pure = float(np.abs(correlations[np.ix_(members, members)]).min())
        found.append(
            FeatureSet(
                tuple(features[members].tolist()), min(float(reached[members.size - 1]), 1.0),
                min(float(weights @ several), 1.0), min(pure, 1.0),
            )
        )  # fmt: skip
    return sorted(found, key=lambda each: (-round(each.probability, DECIMALS), each.features))
