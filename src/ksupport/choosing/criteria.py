"""Information criteria: functions of the residual sum of squares, sizes and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from ..design import Floats, Ints

ZERO = 1e-13  # residuals below this share of ‖y‖² are rounding


def log_choose(d: int, size: Any) -> Any:
    """log of the number of supports of this size among d features."""
    return gammaln(d + 1) - gammaln(np.add(size, 1)) - gammaln(d - np.asarray(size) + 1)


@dataclass(frozen=True)
class Criterion:
    """An information criterion; smaller is better.

    Parameters
    ----------
    name : {"ebic", "bic", "aic", "gic", "cp"}
        ``ebic`` (Chen and Chen 2008) charges, besides log n a feature, for the number of
        supports of that size; ``gic`` (Fan and Tang 2013) charges log(log n) log d a feature;
        ``cp`` is Mallows's, with the noise level given.
    n, d : numbers
        Samples (a weight counts as a repetition) and features, or groups of features.
    total : float
        ‖y‖², from which the least residual that can be told from zero follows.
    noise : float, optional
        Noise variance, for ``cp``.
    """

    name: str
    n: float
    d: int
    total: float
    noise: float = np.nan

    def __call__(self, rss: Any, size: Any, picked: Any = None) -> Any:
        """Of models of this many degrees of freedom and, where features come in groups, groups."""
        rss = np.maximum(rss, max(ZERO * self.total, np.finfo(float).tiny))
        if self.name == "cp":
            return rss / self.noise + 2 * np.asarray(size) - self.n
        return self.n * np.log(rss / self.n) + self.penalty(size, picked)

    def penalty(self, size: Any, picked: Any = None) -> Any:
        """What a support of this size pays, in units of the deviance."""
        size = np.asarray(size)
        picked = size if picked is None else np.asarray(picked)
        if self.name == "aic":
            return 2.0 * size
        if self.name == "bic":
            return np.log(self.n) * size
        if self.name == "gic":
            return np.log(max(np.log(max(self.n, 3)), 1.0)) * np.log(max(self.d, 2)) * size
        if self.name == "ebic":
            return np.log(self.n) * size + 2 * log_choose(self.d, picked)
        raise ValueError(
            "criterion must be one of 'auto', 'ebic', 'evidence', 'bic', 'aic', 'gic', 'cp'; got "
            f"{self.name!r}"
        )


def noise_variance(rss: Floats, size: Ints, criterion: Criterion) -> float:
    """Noise variance from the refit that EBIC prefers: works for d > n.

    The residual of that model over its degrees of freedom; too large if features are missed,
    hardly ever too small, since EBIC guards against fitting noise.
    """
    best = int(np.argmin(criterion(rss, size)))
    least = max(ZERO * criterion.total, np.finfo(float).tiny)
    return float(max(rss[best], least) / freedom_left(criterion.n, int(size[best])))


def freedom_left(n: float, size: int) -> float:
    """Degrees of freedom of the residual beside an intercept and ``size`` features; at least 1."""
    return max(n - 1 - size, 1.0)
