"""Intervals that hold after selection without any prior: by splitting rows, or by fission.

Features are chosen on one part of the data, and their coefficients estimated on another, which
knows nothing of the choice; so the usual intervals hold there.  Parts are halves of the rows, or
all rows with noise added to the response and with the same noise taken off (data fission, Leiner
et al. 2023), which are independent if noise is normal and of that variance.  Many are merged by
majority vote (Gasparin and Ramdas 2024): values that lie in more than half of the intervals, each
of half the error, are in the merged interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.stats import norm, t
from sklearn.utils import check_consistent_length, check_random_state

from .._common.checks import check_count, check_interval
from .._common.extra import extra
from .._common.phases import phase
from .._common.progress import show_progress
from ..choosing.stability import rows_of
from ..design import Floats, Ints, fetched, names_of, unwrapped
from .permutation import fitted_again, judging_copy

METHODS = ("splitting", "fission")
FEWEST = 8  # rows: four to choose on, and four to estimate on


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of the features that are selected most often, as returned by `intervals`.

    Attributes
    ----------
    features : ndarray of int
        Selected in more than half of the splits, the most frequent first.
    estimate : ndarray
        The median of the estimates.
    lower, upper : ndarray
        Ends of the merged intervals; NaN if no value is in more than half of the intervals.
    frequency : ndarray
        The share of the splits in which each was selected.
    level : float
        Lower bound on the probability that an interval covers its coefficient.
    feature_names : tuple of str
        Names of these features.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import Intervals
    >>> one = np.ones(1)
    >>> found = Intervals(np.array([4]), one, one - 0.2, one + 0.2, one, 0.95, ("dose",))
    >>> print(found)
    dose  1 [0.8, 1.2]
    """

    features: Ints
    estimate: Floats
    lower: Floats
    upper: Floats
    frequency: Floats
    level: float
    feature_names: tuple[str, ...] = field(repr=False)

    def __str__(self) -> str:
        parts = zip(self.feature_names, self.estimate, self.lower, self.upper, strict=True)
        lines = [f"{name}  {at:.4g} [{low:.4g}, {high:.4g}]" for name, at, low, high in parts]
        return "\n".join(lines) or "no feature was chosen more than half of the times"

    def to_frame(self) -> Any:
        """A table, a row for each feature.

        Returns
        -------
        pandas.DataFrame
        """
        with extra("data", "a data frame needs"):
            import pandas as pd
        return pd.DataFrame(
            {
                "feature": self.features, "name": self.feature_names, "estimate": self.estimate,
                "lower": self.lower, "upper": self.upper, "frequency": self.frequency,
            }
        )  # fmt: skip


def intervals(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    method: str = "splitting",
    level: float = 0.95,
    n_splits: int = 25,
    noise: float | None = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> Intervals:
    """Intervals of coefficients that are valid after selection, and do not depend on a prior.

    Parameters
    ----------
    estimator : AutoIRKSN, AutoIRKSNClassifier or AutoIRKSNSurvival
        Selects the features on one part; for one response or two classes.
    X : array, data frame or sparse matrix of shape (n, d)
        The measurements.
    y : array
        The response, as in ``fit``.
    method : {"splitting", "fission"}
        "splitting": features are selected on one half of the rows, and estimated on the other.
        "fission": features are selected with y plus simulated noise, and estimated with y minus
        it, on all rows; for ``loss="squared"`` and normal noise of equal variance.
    level : float, default=0.95
        The probability of each interval.
    n_splits : int, default=25
        Number of random splits.
    noise : float, optional
        The variance of the noise of y, for fission; None takes the estimate of a fit on all rows.
    random_state : int, RandomState or None, default=0
        Seed of the splits.
    verbose : bool, default=False
        Whether to show the time left, once two seconds have passed.

    Returns
    -------
    Intervals

    Notes
    -----
    On the other part, coefficients are estimated by least squares or maximum likelihood on the
    selected features and unpenalised columns.  The intervals cover the coefficients of that model,
    which are the true ones if all features that matter are selected, or if those that are missed
    are uncorrelated with the selected ones.  Rows must be independent.  Fission uses all rows for
    both purposes, at twice the variance of the noise.

    References
    ----------
    .. [1] M. Gasparin, A. Ramdas, "Merging uncertainty sets via majority vote", 2024.
    .. [2] J. Leiner, B. Duan, L. Wasserman, A. Ramdas, "Data fission: splitting a single data
       point", Journal of the American Statistical Association, 2023.
    .. [3] N. Meinshausen, L. Meier, P. Bühlmann, "p-values for high-dimensional regression",
       Journal of the American Statistical Association 104, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import AutoIRKSN, intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 20))
    >>> y = 2 * X[:, 3] + rng.standard_normal(80)
    >>> found = intervals(AutoIRKSN(), X, y, n_splits=3)
    >>> found.features
    array([3])
    >>> bool(found.lower[0] < 2 < found.upper[0])
    True
    >>> by_fission = intervals(AutoIRKSN(), X, y, method="fission", n_splits=3)
    >>> bool(by_fission.lower[0] < 2 < by_fission.upper[0])
    True
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    if noise is not None:
        check_interval("noise", noise, low=0, high=np.inf, open_low=True, open_high=True)
    check_interval("level", level, low=0, high=1, open_low=True, open_high=True)
    check_count("n_splits", n_splits)
    names, X, y = names_of(X), unwrapped(X), np.asarray(fetched(y))
    check_consistent_length(X, y)
    n = len(y)
    if n < FEWEST:
        raise ValueError(f"intervals need at least {FEWEST} samples, got n_samples={n}")
    judging_copy(estimator)
    rng, each = check_random_state(random_state), []
    with show_progress(wanted=verbose), phase("splits", n_splits) as update:
        parts = _halves(X, y, rng)
        if method == "fission":
            known = _noise_variance(estimator, X, y) if noise is None else noise
            parts = _fissions(X, y, rng, np.sqrt(known))
        for at in range(n_splits):
            each.append(_on_parts(estimator, next(parts), next(parts), (1.0 - level) / 2))
            update(at + 1)
    found = np.stack(each)  # splits x (estimate, lower, upper) x features
    frequency = np.isfinite(found[:, 0]).mean(axis=0)
    named = np.flatnonzero(frequency > 0.5)
    named = named[np.argsort(-frequency[named], kind="stable")]
    ends = [majority(found[:, 1, j], found[:, 2, j]) for j in named]
    return Intervals(
        named, np.nanmedian(found[:, 0, named], axis=0), np.array([low for low, _ in ends]),
        np.array([high for _, high in ends]), frequency[named], level,
        tuple(f"x{j}" if names is None else names[j] for j in named.tolist()),
    )  # fmt: skip


def majority(lower: Floats, upper: Floats) -> tuple[float, float]:
    """The least and the largest value that lie in more than half of some intervals."""

    def voted(values: Floats) -> Floats:
        inside = (lower <= values[:, None]) & (values[:, None] <= upper)
        return values[2 * inside.sum(axis=1) > lower.size]

    low, high = voted(lower), voted(upper)
    return (float(low.min()), float(high.max())) if low.size and high.size else (np.nan, np.nan)


Part = tuple[Any, Any]  # X and y


def _halves(X: Any, y: Any, rng: Any) -> Iterator[Part]:
    """Halves of the rows, two by two."""
    n = len(y)
    while True:
        order = rng.permutation(n)
        for rows in (np.sort(order[: n // 2]), np.sort(order[n // 2 :])):
            yield rows_of(X, rows), y[rows]


def _fissions(X: Any, y: Any, rng: Any, deviation: float) -> Iterator[Part]:
    """All rows with noise added to y, and taken off it."""
    while True:
        added = deviation * rng.standard_normal(y.shape)
        yield X, y + added
        yield X, y - added


def _noise_variance(estimator: Any, X: Any, y: Any) -> float:
    """That of the sampled models of a fit on all rows; where there is no signal, that of y."""
    model = fitted_again(estimator, X, y)
    if model._loss.name != "squared" or y.ndim > 1:
        raise ValueError(
            f"method='fission' requires one response and loss='squared', got "
            f"loss={model._loss.name!r} and y of shape {y.shape}: use method='splitting'"
        )
    known = model.posterior_.coefficients
    found = sum(each.weight * float(each.noise[0]) for each in known.models)
    return found if found > 0 else float(np.var(y))


def _on_parts(estimator: Any, choosing: Part, estimating: Part, error: float) -> Floats:
    """Estimates and intervals by features, chosen on one part and estimated on another.

    Those that were not chosen may have any coefficient.
    """
    model = fitted_again(estimator, *choosing)
    if model.levels_:
        raise ValueError(
            f"intervals requires numeric unpenalised columns, got categories in "
            f"{', '.join(model.levels_)}: encode them as columns of zeros and ones"
        )
    out = np.empty((3, model.n_features_in_))
    out[0], out[1], out[2] = np.nan, -np.inf, np.inf
    chosen = model.get_support(indices=True)
    others, response = model._validated(*estimating, reset=False)
    wanted = np.concatenate([chosen, model.unpenalized_])
    columns = others[:, wanted].toarray() if issparse(others) else others[:, wanted]
    found = _estimated(model._loss, np.asarray(columns, np.float64), response, model.fit_intercept)
    if chosen.size and found is not None:
        b, se, freedom = found
        far = se * (norm.ppf(1 - error / 2) if freedom is None else t.ppf(1 - error / 2, freedom))
        out[:, chosen] = np.stack([b, b - far, b + far])[:, : chosen.size]
    return out


def _estimated(
    loss: Any, columns: Floats, y: Floats, intercept: bool
) -> tuple[Floats, Floats, float | None] | None:
    """Coefficients of the largest likelihood, standard errors, and degrees of freedom.

    None where there are too few rows, or where the likelihood has no curvature.
    """
    n, first = len(columns), int(intercept and loss.has_constant)
    A = np.hstack([np.ones((n, first)), columns])
    freedom = n - A.shape[1]
    if freedom < 1 or np.linalg.matrix_rank(A) < A.shape[1]:
        return None
    if loss.name == "squared":
        b = np.asarray(np.linalg.lstsq(A, y, rcond=None)[0], np.float64)
        noise = float(np.sum((y - A @ b) ** 2)) / freedom
        C = np.linalg.inv(A.T @ A) * noise
        return b[first:], np.sqrt(C.diagonal()[first:]), float(freedom)
    if loss.n_dual > 1:
        raise ValueError(
            f"intervals supports two classes, got {loss.n_dual}: compare one class with the others"
        )
    response = loss.on(y, None, np.ascontiguousarray(A.T))
    b = response.null_coef
    H = loss.reduced_hessian(A.T, A @ b, y, np.ones(n))
    if not np.isfinite(b).all() or np.linalg.cond(H) > 1 / np.finfo(float).eps:
        return None
    return b[first:], np.sqrt(np.linalg.inv(H).diagonal()[first:]), None
