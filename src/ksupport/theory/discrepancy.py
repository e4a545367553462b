"""What stopping at a given residual guarantees: the discrepancy principle.

Why it holds
------------
Let y = Xw* + ε, let w be any model, T the features of w and w* together, P the projection on their
columns, and let the residual ‖y - Xw‖ be at most η. As X(w - w*) lies in the span of these columns,

    ‖y - Xw‖² = ‖(I-P)ε‖² + ‖X(w - w*) - Pε‖²,    so
    ‖X(w - w*)‖ ≤ ‖Pε‖ + √(η² - ‖ε‖² + ‖Pε‖²),                                            (residual)

which is 2‖Pε‖ where η = ‖ε‖. That is true of every model, however it was found.

Let ε be normal with independent entries of standard deviation σ, x = log(2 / (1 - level)), and
L = log C(d, size) + log(d + 1), which counts the supports of this size and, because the size
depends on the data, the sizes. Two events, of probability 1 - (1 - level)/2 each, are

    ‖Pε‖ ≤ cσ,  c = √|T| + √(2 (L + x)),  for all supports of all sizes at once;
    ‖ε‖² ≥ mσ²,  m = n - 2 √(n x)                                    (Laurent and Massart 2000).

With σ known, (residual) is at most cσ + √(max(η² - mσ², 0) + c²σ²). With σ unknown, it is at most
the largest value of cσ + √(η² - (m - c²)σ²) over all σ, which by Cauchy-Schwarz is η √(m/(m - c²)).
"""

from __future__ import annotations

import math

from .._common.checks import check_count, check_interval


def discrepancy_bound(
    n_samples: int,
    n_features: int,
    size: int,
    sparsity: int,
    sigma: float | None = None,
    *,
    threshold: float | None = None,
    level: float = 0.95,
) -> float:
    """Bound ‖X(w_t - w*)‖ where the discrepancy principle stopped, for normal noise.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    size : int
        Number of features of the iterate that was kept.
    sparsity : int
        Number of features of the truth, at most.
    sigma : float, optional
        Standard deviation of the noise, which is independent and normal. Without it the bound
        holds for every sigma, also if `threshold` rests on a poor estimate.
    threshold : float, optional
        The residual norm at which the walk stopped, at most ``tau * delta`` of `Discrepancy`; by
        default ``sigma * sqrt(n_samples)``.
    level : float
        Probability with which the bound holds, for every support at once.

    Returns
    -------
    float
        Infinite if sigma is unknown and a model of this size can fit noise.

    Notes
    -----
    With sigma known and a residual of the size of the noise, the bound is of the order of
    ``sigma * sqrt((size + sparsity) * log(n_features))`` plus ``sigma * n_samples**0.25``; with
    sigma unknown, it is a little more than the residual. Divided by the least singular value of
    the columns of w_t and w* it bounds the error of the coefficients. The proof heads the source
    of this module.

    Examples
    --------
    >>> from ksupport.theory import discrepancy_bound
    >>> round(discrepancy_bound(1000, 200, size=5, sparsity=5, sigma=1.0), 1)
    26.6
    >>> round(discrepancy_bound(1000, 200, size=5, sparsity=5, threshold=31.6), 1)
    34.0
    """
    for name, value, most in (
        ("n_samples", n_samples, None),
        ("n_features", n_features, None),
        ("size", size, n_features),
        ("sparsity", sparsity, n_features),
    ):
        check_count(name, value, low=0 if name == "size" else 1, high=most)
    check_interval("level", level, low=0, high=1, open_low=True, open_high=True)
    if sigma is not None:
        check_interval("sigma", sigma, low=0, high=math.inf, open_high=True)
    if threshold is not None:
        check_interval("threshold", threshold, low=0, high=math.inf, open_high=True)
    c, m = _constants(n_samples, n_features, size, sparsity, level)
    if sigma is not None:
        eta = sigma * math.sqrt(n_samples) if threshold is None else threshold
        return c * sigma + math.sqrt(max(eta**2 - m * sigma**2, 0.0) + (c * sigma) ** 2)
    if threshold is None:
        raise ValueError(
            "sigma or threshold must be given, got neither: pass the noise level, or the "
            "residual norm ‖y - Xw‖ of the model"
        )
    return threshold * math.sqrt(m / (m - c**2)) if m > c**2 else math.inf


def _constants(
    n_samples: int, n_features: int, size: int, sparsity: int, level: float
) -> tuple[float, float]:
    """c and m of the proof: ‖Pε‖ ≤ cσ for all supports, and ‖ε‖² ≥ mσ²."""
    x = math.log(2 / (1 - level))
    supports = math.log(math.comb(n_features, size)) + math.log(n_features + 1)
    rank = min(size + sparsity, n_samples, n_features)
    c = math.sqrt(rank) + math.sqrt(2 * (supports + x))
    return c, n_samples - 2 * math.sqrt(n_samples * x)
