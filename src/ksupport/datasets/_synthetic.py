"""Simulated regressions with correlated features and a known sparse model."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state

from .._common.checks import as_numbers, check_choice, check_count, check_interval

Seed = int | np.random.RandomState | None
"""What scikit-learn takes as ``random_state``."""


def make_correlated_data(
    n_samples: int | None = None,
    n_features: int | None = None,
    *,
    rho: float | None = None,
    snr: float = 3.0,
    w_true: ArrayLike | None = None,
    density: float = 0.2,
    X: Any = None,
    X_density: float = 1.0,
    n_tasks: int = 1,
    random_state: Seed = None,
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    r"""Draw ``y = X w + noise`` where features i and j correlate as :math:`\rho^{|i-j|}`.

    This is the data of the paper's synthetic experiments. For one ``random_state`` it equals,
    number for number, what ``benchopt.datasets.make_correlated_data`` draws.

    Parameters
    ----------
    n_samples, n_features : int, optional
        Shape of the design, 100 x 50 unless given. With ``X``, its own shape.
    rho : float in [0, 1), optional
        Correlation of neighbouring features, 0.6 unless given. Not with ``X``.
    snr : float in [0, inf], default=3.0
        Signal-to-noise ratio :math:`\|Xw\| / \|\varepsilon\|`, met exactly: ``inf`` adds no
        noise, and 0 leaves nothing but standard Gaussian noise.
    w_true : array-like of shape (n_features,) or (n_features, n_tasks), optional
        The model. Unless given, standard Gaussian on a support drawn uniformly.
    density : float in (0, 1], default=0.2
        The drawn support has ``int(density * n_features)`` features.
    X : ndarray or sparse matrix of shape (n_samples, n_features), optional
        A design to use as it is, for instance a real one, instead of a drawn one.
    X_density : float in (0, 1], default=1.0
        Probability of keeping an entry of the drawn design; below 1 the design is sparse.
    n_tasks : int, default=1
        Number of responses, all with the same support.
    random_state : int, RandomState or None, default=None
        Source of randomness.

    Returns
    -------
    X : ndarray or csc_matrix of shape (n_samples, n_features)
        Design.
    y : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        Response.
    w_true : ndarray of shape (n_features,) or (n_features, n_tasks)
        Model.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.datasets import make_correlated_data
    >>> X, y, w = make_correlated_data(30, 50, rho=0.5, snr=2.0, random_state=0)
    >>> X.shape, int(np.count_nonzero(w))
    ((30, 50), 10)
    >>> round(float(np.linalg.norm(X @ w) / np.linalg.norm(y - X @ w)), 12)
    2.0
    """
    check_interval("snr", snr, low=0.0, high=np.inf)
    check_interval("density", density, low=0.0, high=1.0, open_low=True)
    check_interval("X_density", X_density, low=0.0, high=1.0, open_low=True)
    check_count("n_tasks", n_tasks)
    rng = check_random_state(random_state)

    if X is None:
        n = 100 if n_samples is None else check_count("n_samples", n_samples)
        d = 50 if n_features is None else check_count("n_features", n_features)
        X = _autoregressive(n, d, 0.6 if rho is None else rho, rng)
        if X_density != 1:
            dropped = rng.binomial(n=1, p=1 - X_density, size=X.shape) == 1
            X = sparse.csc_matrix(np.where(dropped, 0.0, X))
    else:
        X = check_array(X, accept_sparse=True, input_name="X")
        n, d = _check_design(X, n_samples, n_features, rho, X_density)

    if w_true is None:
        w = np.zeros((d, n_tasks))
        support = rng.choice(d, int(density * d), replace=False)
        w[support] = rng.randn(support.size, n_tasks)
    else:
        w = _check_model(w_true, d, n_tasks)

    y = add_noise(X @ w, rng.randn(n, n_tasks), snr)
    return (X, y.ravel(), w.ravel()) if n_tasks == 1 else (X, y, w)


def make_block_data(
    n_samples: int = 100,
    n_features: int = 200,
    *,
    block_size: int = 10,
    n_active_blocks: int = 3,
    rho: float = 0.7,
    coef: Literal["equal", "gaussian"] = "equal",
    snr: float = 3.0,
    random_state: Seed = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""Draw a regression whose features come in correlated blocks, some of them wholly active.

    The grouped regime: the true support is large, and a method that keeps one representative
    of each group of correlated features misses most of it. Feature ``j`` belongs to block
    ``j // block_size``; two features have correlation ``rho`` in a block and 0 across blocks.

    Parameters
    ----------
    n_samples, n_features : int, default=100, 200
        Shape of the design. ``block_size`` must divide ``n_features``.
    block_size : int, default=10
        Features per block.
    n_active_blocks : int, default=3
        Blocks, drawn at random, whose every feature has a nonzero coefficient.
    rho : float in [0, 1], default=0.7
        Correlation in a block; at 1 its features are copies of each other.
    coef : {"equal", "gaussian"}, default="equal"
        Nonzero coefficients: all 1, or standard Gaussian.
    snr : float in [0, inf], default=3.0
        Signal-to-noise ratio, as in :func:`make_correlated_data`.
    random_state : int, RandomState or None, default=None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Design.
    y : ndarray of shape (n_samples,)
        Response.
    w_true : ndarray of shape (n_features,)
        Model.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.datasets import make_block_data
    >>> X, y, w = make_block_data(40, 30, block_size=5, n_active_blocks=2, random_state=0)
    >>> np.count_nonzero(w.reshape(6, 5), axis=1)
    array([0, 5, 0, 0, 5, 0])
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    check_count("block_size", block_size, high=n_features)
    check_interval("rho", rho, low=0.0, high=1.0)
    check_interval("snr", snr, low=0.0, high=np.inf)
    check_choice("coef", coef, ("equal", "gaussian"))
    if n_features % block_size:
        raise ValueError(
            f"block_size must divide n_features={n_features}, got {block_size}, "
            f"which leaves {n_features % block_size} features over"
        )
    n_blocks = n_features // block_size
    check_count("n_active_blocks", n_active_blocks, high=n_blocks)
    rng = check_random_state(random_state)

    # One factor shared by a block and one innovation per feature give equal correlations.
    factors = rng.randn(n_samples, n_blocks)
    own = rng.randn(n_samples, n_features)
    X = np.sqrt(rho) * np.repeat(factors, block_size, axis=1) + np.sqrt(1.0 - rho) * own

    w = np.zeros((n_blocks, block_size))
    active = rng.choice(n_blocks, n_active_blocks, replace=False)
    w[active] = 1.0 if coef == "equal" else rng.randn(n_active_blocks, block_size)
    w_true = w.ravel()
    return X, add_noise(X @ w_true, rng.randn(n_samples), snr), w_true


def _autoregressive(n: int, d: int, rho: float, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Gaussian rows with the covariance of a stationary AR(1): unit variances, rho^|i-j|."""
    check_interval("rho", rho, low=0.0, high=1.0, open_high=True)
    if rho == 0:
        return rng.randn(n, d)
    innovations = rng.randn(d, n)  # column after column of X: the order benchopt draws in
    X = np.empty((n, d), order="F")
    X[:, 0] = innovations[0]
    sigma = np.sqrt(1 - rho * rho)
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + sigma * innovations[j]
    return X


def add_noise(
    signal: NDArray[np.float64], noise: NDArray[np.float64], snr: float
) -> NDArray[np.float64]:
    """Scale the noise so that norm(signal) / norm(noise) is exactly ``snr``."""
    if snr == 0:
        return noise
    if np.isinf(snr):
        return signal
    with np.errstate(over="ignore"):
        noisy = signal + noise / np.linalg.norm(noise) * np.linalg.norm(signal) / snr
    if not np.isfinite(noisy).all():
        raise ValueError(f"snr must leave the noise finite, got {snr!r}; 0 gives noise alone")
    return noisy


def _check_design(
    X: Any, n_samples: int | None, n_features: int | None, rho: float | None, X_density: float
) -> tuple[int, int]:
    shape: tuple[int, int] = X.shape
    for name, given, actual in zip(
        ("n_samples", "n_features"), (n_samples, n_features), shape, strict=True
    ):
        if given is not None and given != actual:
            raise ValueError(f"{name} must be left out or be X's own {actual}, got {given}")
    if rho is not None or X_density != 1:
        raise ValueError(
            f"rho and X_density describe a drawn design and cannot change the given X, "
            f"got rho={rho} and X_density={X_density}"
        )
    return shape


def _check_model(w_true: ArrayLike, d: int, n_tasks: int) -> NDArray[np.float64]:
    w = as_numbers("w_true", w_true)
    if w.dtype.kind == "c" or not np.isfinite(w).all():
        raise ValueError("w_true must be real and finite, got complex numbers, NaN or infinity")
    w = np.array(w, dtype=np.float64)
    w = w[:, None] if w.ndim == 1 else w
    if w.shape != (d, n_tasks):
        raise ValueError(
            f"w_true must have shape ({d}, {n_tasks}), for n_features={d} and "
            f"n_tasks={n_tasks}, got {np.shape(w_true)}"
        )
    return w
