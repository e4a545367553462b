"""The prior: how many atoms, how many of them clusters, how large their coefficients.

The number of atoms is uniform, and so is the number of clusters among them.  Which features they
are is uniform, too; which clusters, `atoms` says.  Coefficients are normal with
precision lam / sigma², in units in which a column has squared length n: lam = 1 is the information
of one row (the unit information prior of Kass and Wasserman 1995).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ..design import Floats

# From effects of ten standard deviations of the noise to effects of a tenth; one row's information
# is the most probable, and each step away from it half as probable.
PRECISIONS = np.array([0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0])
LOG_PRECISIONS = -np.log(2.0) * np.abs(np.arange(PRECISIONS.size) - 2)


def log_prior(n_features: float, n_clusters: float, most: int) -> Floats:
    """Log prior of one set of atoms, by its numbers of features and of clusters.

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
    return np.asarray(table)


def log_choose(n: float, k: Floats) -> Floats:
    """The log of a binomial coefficient; 0 of more than there are."""
    safe = np.minimum(k, n)
    return np.asarray(gammaln(n + 1) - gammaln(safe + 1) - gammaln(n - safe + 1))
