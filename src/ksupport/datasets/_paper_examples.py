"""The two illustrating examples of the paper: recovery by IRKSN where the l1 norm fails."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ksupport._checks import check_choice, check_count, check_interval
from ksupport.datasets._synthetic import Seed, add_noise

_W3 = np.array([9.0, 6.0, 2.0]) / 11.0  # the fourth feature in terms of the first three
_W4 = np.array([5.0, 14.0, 2.0]) / 15.0  # and the fifth
_WY = np.array([1.0, 1.0, -4.0])  # and the response


def make_example1(
    random_state: Seed = 2,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""Draw Example 1 of the paper: 4 samples, 5 features, 3 of them true.

    Three Gaussian features generate everything else without noise: two further features,
    :math:`x_3 = X_S w^{(3)}` and :math:`x_4 = X_S w^{(4)}`, and the response
    :math:`y = X_S w^{(y)}`. The three vectors are such that the recovery condition of IRKSN holds
    (:math:`|\langle w^{(3)}, w^{(y)} \rangle| = 7/11` and
    :math:`|\langle w^{(4)}, w^{(y)} \rangle| = 11/15`, below 1) and that of the l1 norm does not
    (13/11 and 17/15 with the signs of :math:`w^{(y)}`).

    Parameters
    ----------
    random_state : int, RandomState or None, default=2
        Source of randomness. 2 gives the data of the paper's figures.

    Returns
    -------
    X : ndarray of shape (4, 5)
        Design, of rank 3, the draws divided by 4.
    y : ndarray of shape (4,)
        Response, exactly ``X @ w_true`` up to rounding.
    w_true : ndarray of shape (5,)
        The model (1, 1, -4, 0, 0).

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.datasets import make_example1
    >>> X, y, w = make_example1()
    >>> w
    array([ 1.,  1., -4.,  0.,  0.])
    >>> bool(np.allclose(X @ w, y))
    True
    """
    rng = check_random_state(random_state)
    X_S = rng.randn(3, 4).T  # four draws of the first feature, then of the second, the third
    X = np.column_stack([X_S, X_S @ _W3, X_S @ _W4]) / 4.0
    return X, X_S @ _WY / 4.0, np.concatenate([_WY, np.zeros(2)])


def make_fmri_process(
    n_samples: int = 100,
    n_features: int = 500,
    *,
    region_size: int = 20,
    n_other_regions: int = 3,
    background: float = 0.1,
    target: Literal["gaussian", "labels"] = "gaussian",
    snr: float = np.inf,
    random_state: Seed = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""Draw Example 2 of the paper: a simple generating process of fMRI recordings.

    Voxels are features. Observation i is :math:`x_i = y_i w^* + \gamma_i`: the stimulus
    :math:`y_i` modulates the functional region, which is the support of :math:`w^*`, and
    :math:`\gamma_i`, independent of the stimulus, is whatever else the brain does, in voxels
    outside that region. As :math:`\|w^*\| = 1`, :math:`X w^* = y` holds exactly. The columns of the
    region are multiples of one vector: no l1 recovery condition can hold there, whereas that
    of IRKSN does as soon as y is nearly uncorrelated with the other voxels.

    Here :math:`\gamma` is made of other regions, each with its own pattern and its own Gaussian
    activation, plus independent noise of each voxel. The voxels are on a line, each region is
    an interval of it, and the weights of a region vary by a factor of at most 3.

    Parameters
    ----------
    n_samples, n_features : int, default=100, 500
        Number of recordings and of voxels.
    region_size : int, default=20
        Voxels in the functional region and in every other region.
    n_other_regions : int, default=3
        Regions active for reasons of their own. All regions are disjoint.
    background : float >= 0, default=0.1
        Standard deviation of the noise of each voxel outside the functional region.
    target : {"gaussian", "labels"}, default="gaussian"
        Stimulus: standard Gaussian, or -1 and 1 equally often, in random order.
    snr : float in [0, inf], default=inf
        Signal-to-noise ratio of the returned response, as in :func:`make_correlated_data`:
        ``inf`` is the paper's noiseless stimulus.
    random_state : int, RandomState or None, default=None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Recordings.
    y : ndarray of shape (n_samples,)
        Stimulus, with noise if ``snr`` is finite.
    w_true : ndarray of shape (n_features,)
        The model, of norm 1, supported on one region.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.datasets import make_fmri_process
    >>> X, y, w = make_fmri_process(n_samples=60, n_features=200, random_state=0)
    >>> bool(np.allclose(X @ w, y)), int(np.linalg.matrix_rank(X[:, w != 0]))
    (True, 1)
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    check_count("n_other_regions", n_other_regions, low=0)
    n_regions = 1 + n_other_regions
    check_count("region_size", region_size, high=n_features // n_regions)
    check_interval("background", background, low=0.0, high=np.inf, open_high=True)
    check_choice("target", target, ("gaussian", "labels"))
    check_interval("snr", snr, low=0.0, high=np.inf)
    rng = check_random_state(random_state)

    stimulus = rng.randn(n_samples) if target == "gaussian" else _labels(n_samples, rng)
    # Patterns of the regions, one per row: rows have norm 1 and disjoint supports.
    patterns = np.zeros((n_regions, n_features))
    starts = _disjoint_starts(n_features, region_size, n_regions, rng)
    for pattern, start in zip(patterns, starts, strict=True):
        pattern[start : start + region_size] = rng.uniform(0.5, 1.5, size=region_size)
    patterns /= np.linalg.norm(patterns, axis=1, keepdims=True)
    w = patterns[0]

    gamma = rng.randn(n_samples, n_other_regions) @ patterns[1:]
    gamma += background * rng.randn(n_samples, n_features)
    gamma[:, w != 0] = 0.0
    X = np.outer(stimulus, w) + gamma
    return X, add_noise(stimulus, rng.randn(n_samples), snr), w.copy()


def _labels(n: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """As many -1 as 1, give or take one, in random order."""
    return rng.permutation(np.where(np.arange(n) % 2 == 0, -1.0, 1.0))


def _disjoint_starts(
    d: int, size: int, count: int, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """First voxels of ``count`` disjoint intervals, uniform over all placements, in random order.

    Shrinking each interval to a point turns placements into subsets of ``d - count*(size-1)``.
    """
    points = np.sort(rng.choice(d - count * (size - 1), count, replace=False))
    return rng.permutation(points + np.arange(count) * (size - 1))
