"""How large the noise is, when nobody says so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.levels import doubling
from ..algorithms.irksn import IRKSNMethod
from ..design import Design, Floats
from ..walking import run
from .choice import choose
from .criteria import freedom_left
from .supports import different_rows, largest_support, visited_by

ALPHA, MAX_ITER, EVERY = 1e-2, 500, 10  # of the paths that propose supports


def noise_level(X: Any, y: ArrayLike) -> float:
    """Estimate the standard deviation of the noise in y = Xw + noise; d > n is fine.

    The residual sum of squares of the least-squares model that the extended BIC prefers, among
    all supports that paths of IRKSN visit, over its degrees of freedom.  If that support contains
    all features that matter, the estimate is that of ordinary regression; features that it
    misses make it too large.  It is hardly ever much too small: the criterion charges for the
    number of supports there are, so noise rarely pays for its fit.

    Parameters
    ----------
    X : array, memmap, Zarr, sparse matrix, LinearOperator or Design, of shape (n, d)
        The measurements, centred.
    y : array of shape (n,)
        The response, centred.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.stopping import noise_level
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 300))
    >>> y = X[:, :3] @ [3.0, -2.0, 2.0] + 0.5 * rng.standard_normal(100)
    >>> round(noise_level(X - X.mean(axis=0), y - y.mean()), 1)
    0.5
    """
    design, target = Design.of(X), np.asarray(y, np.float64)
    n = round(design.n_samples)
    methods = [IRKSNMethod(k=k, alpha=ALPHA) for k in doubling(n, design.d)]
    paths = [method.start(design, target) for method in methods]
    results = run(paths, max_iter=MAX_ITER, every=EVERY)
    largest = largest_support(different_rows(design, target))
    table = choose(design, target, visited_by(results), "ebic", largest).table
    freedom = freedom_left(design.freedom, int(table["size"][0]))
    return float(np.sqrt(max(table["rss"][0], 0.0) / freedom))


def noise_norm(design: Design, y: Floats) -> float:
    """The norm of the noise, ‖y - Xw*‖, at the estimated level; of all responses in y."""
    levels = [noise_level(design, each) for each in y.reshape(-1, design.n)]
    return float(np.linalg.norm(levels) * np.sqrt(max(design.freedom - 1, 1)))
