"""The prior: how many atoms, how many of them clusters, how much they explain.

The number of atoms is uniform, and so is the number of clusters among them.  Which features they
are is uniform, too; which clusters, `atoms` says.  Coefficients are normal with
precision lam / sigma², in units in which a column has squared length n: lam = 1 is the information
of one row.  However many atoms there are, the share of the variance that they explain is uniform
(Guan and Stephens 2011): s atoms explain s / (s + lam) of it where columns are uncorrelated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from ..design import Floats, Ints

# From effects of ten standard deviations of the noise to effects that no hundred rows show.
PRECISIONS = np.array([0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0])
TABLES = 4  # kept: a fit has those of all rows and of folds; at most 2 MB each, of 100 atoms


@dataclass(frozen=True, eq=False)
class Others:
    """Features that are no candidates: each adds little, but they are many.

    They are not sampled but summed over: a model that has some of them besides has the evidence of
    the one without, times their mean Bayes factors.

    Parameters
    ----------
    count : int
        How many there are.
    log_factors : array
        The log of their mean Bayes factor at each of ``PRECISIONS``.
    """

    count: int = 0
    log_factors: Floats = field(default_factory=lambda: np.zeros(PRECISIONS.size))


@dataclass(frozen=True, eq=False)
class Prior:
    """Of a precision and a set of atoms, other features summed over.

    Parameters
    ----------
    log : array of shape (precisions, most + 2, most + 2)
        By the numbers of features and of clusters; minus infinity beyond ``most`` of both.
    others : array of the same shape
        How many features are expected to matter that are no candidates.
    """

    log: Floats
    others: Floats


def prior_of(
    n_features: float, n_clusters: float, most: int, others: Others | None = None
) -> Prior:
    """Of atoms among so many, others included; ``n_clusters`` is as in `log_prior`."""
    if others is None or not others.count:
        return _without_others(n_features, n_clusters, most)
    return _prior(n_features, n_clusters, most, others)


@lru_cache(maxsize=TABLES)
def _without_others(n_features: float, n_clusters: float, most: int) -> Prior:
    return _prior(n_features, n_clusters, most, Others())


def _prior(n_features: float, n_clusters: float, most: int, others: Others) -> Prior:
    features = np.arange(most + 2)
    # In units of 1 / n_features for each feature, so that no power is beyond double precision.
    unit = np.log(max(n_features, 1.0)) * features
    without = np.exp(log_prior(n_features, n_clusters, most) + unit[:, None])
    more = features - features[:, None]  # from the number of features in rows
    some = np.clip(more, 0, min(others.count, most))
    ways = np.where(more == some, log_choose(float(others.count), some) - unit[some], -np.inf)
    weights = np.exp(ways + others.log_factors[:, None, None] * some)
    total, first = weights @ without, (weights * some) @ without
    possible = total > 0.0
    log = np.log(total, where=possible, out=np.full(total.shape, -np.inf))
    mean = np.divide(first, total, where=possible, out=np.zeros(total.shape))
    log -= unit[:, None]
    log.flags.writeable = mean.flags.writeable = False
    return Prior(log, mean)


@lru_cache(maxsize=TABLES)
def log_prior(n_features: float, n_clusters: float, most: int) -> Floats:
    """Log prior of a precision and one set of atoms, by its numbers of features and of clusters.

    ``n_clusters`` is the sum of the prior weights of all clusters.  Rows and columns go one beyond
    ``most``, where it is minus infinity.
    """
    features, clusters = np.meshgrid(np.arange(most + 2), np.arange(most + 2), indexing="ij")
    total = features + clusters
    if n_clusters > 0.0:
        which = clusters * np.log(n_clusters) - gammaln(clusters + 1) + np.log1p(total)
    else:
        which = np.where(clusters > 0, np.inf, 0.0)
    table = -(which + log_choose(n_features, features.astype(float)))
    table[(total > most) | (features > n_features)] = -np.inf
    log = np.asarray(table + log_precisions(total))
    log.flags.writeable = False
    return log


def log_precisions(sizes: Ints) -> Floats:
    """Log prior of ``PRECISIONS`` (rows), given numbers of atoms, by uniform shares explained."""
    s, lam = np.maximum(sizes, 1), PRECISIONS.reshape(-1, *[1] * np.ndim(sizes))
    explained = s / (s + lam)
    log = np.log(explained * (1.0 - explained) * np.gradient(np.log(lam), axis=0))
    return np.asarray(log - np.logaddexp.reduce(log))


def log_choose(n: float, k: Floats) -> Floats:
    """The log of a binomial coefficient; 0 of more than there are."""
    safe = np.minimum(k, n)
    return np.asarray(gammaln(n + 1) - gammaln(safe + 1) - gammaln(n - safe + 1))
