"""A whole brain with known truth: the paper's Example 2 in three dimensions.

    x_i = y_i w* + γ_i

The functional region w* is where the stimulus y shows; γ holds other regions, each active for
reasons of its own, and noise.  Regions are round and smooth, in the shape of a real brain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import Bunch, check_random_state

from .._common.checks import check_count, check_interval
from ..design import Floats, Ints
from .images import optional

BRAIN = 1.85e6  # mm³ in the template's mask
# Centres in MNI space (mm) and signs: both parahippocampal gyri prefer houses, and the right
# fusiform gyrus prefers faces.
ACTIVE = (((-26.0, -46.0, -8.0), 1.0), ((26.0, -46.0, -8.0), 1.0), ((42.0, -54.0, -18.0), -1.0))
EDGE = 0.5  # weight at the edge of a region, as a share of that at its centre


def make_brain(
    n_samples: int = 216,
    n_features: int = 39912,
    *,
    n_active: int = 150,
    n_other_regions: int = 8,
    noise: float = 0.1,
    smoothness: float = 1.0,
    n_runs: int = 12,
    random_state: Any = None,
) -> Bunch:
    """Draw recordings of a brain with known active voxels.

    With ``noise=0`` it is the paper's Example 2, where Xw* = y and IRKSN's recovery condition
    holds while that of l1 methods cannot.

    Parameters
    ----------
    n_samples : int, default=216
        Volumes.
    n_features : int, default=39912
        Voxels in the mask.
    n_active : int, default=150
        Voxels of the functional region, which has three parts.
    n_other_regions : int, default=8
        Regions with an activation of their own, each of ``n_active // 3`` voxels.
    noise : float, default=0.1
        Standard deviation of the noise of each voxel; the weights of the functional region,
        and so its activation, are of the order of ``1 / sqrt(n_active)``.
    smoothness : float, default=1.0
        Width (standard deviation, in voxels) of the filter that noise has passed; 0: none.
    n_runs : int, default=12
        Recordings of equal length, one after the other.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (n_samples x n_features), ``target`` (-1 and 1), ``coef`` (w*, of norm 1),
        ``run``, ``mask_img``.

    Examples
    --------
    >>> from ksupport.fmri import make_brain
    >>> brain = make_brain(24, 3000, n_active=30, random_state=0)  # doctest: +SKIP
    >>> brain.data.shape, int((brain.coef != 0).sum())  # doctest: +SKIP
    ((24, 3000), 30)
    """
    check_count("n_samples", n_samples, low=2)
    check_count("n_active", n_active, low=3, high=n_features // 4)
    largest = (n_features - n_active) // (n_active // 3) // 2
    check_count("n_other_regions", n_other_regions, low=0, high=largest)
    check_count("n_runs", n_runs, high=n_samples)
    check_interval("noise", noise, low=0.0, high=np.inf, open_high=True)
    check_interval("smoothness", smoothness, low=0.0, high=np.inf, open_high=True)
    rng = check_random_state(random_state)
    mask_img = brain_mask(n_features)
    mask = np.asarray(mask_img.dataobj) != 0
    places = np.argwhere(mask) @ mask_img.affine[:3, :3].T + mask_img.affine[:3, 3]  # in mm

    w, others = _regions(places, n_active, n_other_regions, rng)
    run = np.arange(n_samples) * n_runs // n_samples
    y = _stimulus(run, rng)
    X = rng.randn(n_samples, n_other_regions) @ others
    for row, label in zip(X, y, strict=True):  # one at a time: X is large
        row += label * w
        if noise > 0:
            row += noise * _noise(mask, smoothness, rng)
    return Bunch(data=X, target=y, coef=w, run=run, mask_img=mask_img)


def brain_mask(n_voxels: int) -> Any:
    """A mask with a given number of voxels, in the shape of nilearn's MNI152 template.

    Parameters
    ----------
    n_voxels : int
        Number of voxels in the mask; it determines their size.

    Returns
    -------
    3-D image
    """
    # Somewhat smaller voxels than it takes, so that there are enough; the outermost go.
    size = 0.97 * (BRAIN / n_voxels) ** (1 / 3)
    image = optional("nilearn.image")
    fine = optional("nilearn.datasets").load_mni152_brain_mask(resolution=2)
    depth = gaussian_filter(np.asarray(fine.dataobj, np.float64), size / 2)  # 2 mm a voxel
    whole = image.resample_img(
        image.new_img_like(fine, depth), target_affine=np.diag([size] * 3), interpolation="linear"
    )
    depth = np.asarray(whole.dataobj)
    keep = np.argsort(-depth, axis=None, kind="stable")[:n_voxels]
    mask = np.zeros(depth.shape, np.uint8)
    mask.flat[keep] = 1
    return image.new_img_like(whole, mask)


def _stimulus(run: Ints, rng: np.random.RandomState) -> Floats:
    """In each run a block of -1 and a block of 1, in random order."""
    y = np.empty(len(run))
    for each in np.unique(run):
        rows = np.flatnonzero(run == each)
        y[rows] = np.where(np.arange(len(rows)) < len(rows) // 2, 1.0, -1.0) * rng.choice([-1, 1])
    return y


def _regions(
    places: Floats, n_active: int, n_others: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """w*, and the patterns of the other regions: all of norm 1, with disjoint supports."""
    free = np.ones(len(places), bool)
    w = np.zeros(len(places))
    for number, (centre, sign) in enumerate(ACTIVE):
        size = (n_active + number) // len(ACTIVE)
        w += sign * _bump(places, np.array(centre), size, free)
    others = np.zeros((n_others, len(places)))
    for pattern in others:
        centre = places[rng.choice(np.flatnonzero(free))]
        pattern += _bump(places, centre, n_active // len(ACTIVE), free)
    lengths = np.linalg.norm(others, axis=1, keepdims=True)
    return w / np.linalg.norm(w), others / np.where(lengths > 0, lengths, 1.0)


def _bump(places: Floats, centre: Floats, size: int, free: NDArray[np.bool_]) -> Floats:
    """Weights that fall from 1 to `EDGE` over the free voxels nearest to a centre; takes them."""
    distance = np.where(free, np.linalg.norm(places - centre, axis=1), np.inf)
    nearest = np.argsort(distance, kind="stable")[:size]
    free[nearest] = False
    pattern = np.zeros(len(places))
    reach = max(float(distance[nearest].max()), 1.0)
    pattern[nearest] = 1.0 - (1.0 - EDGE) * (distance[nearest] / reach) ** 2
    return pattern


def _noise(mask: NDArray[np.bool_], smoothness: float, rng: np.random.RandomState) -> Floats:
    """Noise of unit variance over the mask, smooth in space."""
    volume = rng.randn(*mask.shape)
    if smoothness > 0:
        volume = gaussian_filter(volume, smoothness, mode="wrap")
    values = volume[mask]
    return np.asarray(values / values.std())
