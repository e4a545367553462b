"""Knockoffs by hidimstat, with an estimator of this package as the statistic.

They hold the false discovery rate without any prior, if the distribution of X is known or can be
estimated from many rows; hidimstat takes it to be Gaussian.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.checks import check_interval
from .._common.errors import warn
from .._common.extra import extra

__all__ = ["knockoffs"]


def knockoffs(
    estimator: Any, X: ArrayLike, y: ArrayLike, *, fdr: float = 0.1, random_state: int = 0
) -> NDArray[np.bool_]:
    """Name features at a false discovery rate by model-X knockoffs.

    Each feature competes with a knockoff, a column that correlates with the others as it does and
    knows nothing of y; the statistic is the difference of sizes of both coefficients.

    Parameters
    ----------
    estimator : estimator with ``coef_`` after ``fit``
        Fitted on features and knockoffs, for instance `ksupport.IRKSNCV`.
    X : array of shape (n, d)
        The measurements; their distribution is taken to be Gaussian, with a covariance that is
        estimated from them: with fewer than hundreds of rows it is known badly.
    y : array of shape (n,)
        The response.
    fdr : float, default=0.1
        The expected share of false features among those named.
    random_state : int, default=0
        Of the knockoffs.

    Returns
    -------
    ndarray of bool, shape (d,)

    Warns
    -----
    UserWarning
        If nothing is named: knockoffs name no feature, or at least 1 / fdr.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson, J. Lv, "Panning for gold: model-X knockoffs for high
       dimensional controlled variable selection", Journal of the Royal Statistical Society B 80,
       2018.
    """
    check_interval("fdr", fdr, low=0, high=1, open_low=True, open_high=True)
    with extra("knockoffs", "knockoffs need"):
        import hidimstat
    found = hidimstat.ModelXKnockoff(
        estimator=estimator, preconfigure_lasso_path=False, random_state=random_state
    )
    found.fit_importance(np.asarray(X, np.float64), np.asarray(y))
    named = np.asarray(found.fdr_selection(fdr=fdr) != 0)
    if not named.any():
        fewest = math.ceil(1 / fdr)
        warn(
            f"knockoffs name nothing at fdr={fdr:g}: they name no feature or at least 1 / fdr, "
            f"{fewest}; where fewer matter, ask for a larger rate, or for "
            "posterior_.select(fdr), which rests on a prior instead",
            UserWarning,
        )
    return named
