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
        estimated from them, poorly if there are fewer than some hundred rows.
    y : array of shape (n,)
        The response.
    fdr : float, default=0.1
        The false discovery rate: the expected share of false features among those selected.
    random_state : int, default=0
        Of the knockoffs.

    Returns
    -------
    ndarray of bool, shape (d,)

    Warns
    -----
    UserWarning
        If no feature is selected: knockoffs select none, or at least 1 / fdr.

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
    selected = np.asarray(found.fdr_selection(fdr=fdr) != 0)
    if not selected.any():
        fewest = math.ceil(1 / fdr)
        warn(
            f"knockoffs selected no feature at fdr={fdr:g}: they select none or at least 1 / fdr = "
            f"{fewest}; if fewer matter, use a larger fdr, or posterior_.select(fdr), which relies "
            "on a prior instead",
            UserWarning,
        )
    return selected
