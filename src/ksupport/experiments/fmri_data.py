"""The data of the fMRI experiment, and what is tuned over on them.

The data are a simulated brain, a real slice, and Haxby's whole brain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import train_test_split

from ..algorithms.enet import RATIOS
from ..datasets import dataset_path, fetch_haxby
from ..design import Floats, Ints, NormKind
from ..fmri import beyond, make_brain, z_map, z_threshold
from ..fmri.images import optional
from .experiment import Protocol, Row
from .prediction_data import Split
from .prediction_walk import Params, Walk

PARTS = ("brain", "slice", "haxby")  # simulated, one real slice, the published recordings
CONTRASTS = (("face", "house"), ("house", "shoe"))  # what counts as -1, and as 1
SEED = 42
N_VALID = 43  # of 216 rows, a fifth
FWER = 0.1
SIZES = {False: (216, 39912, 150), True: (72, 2000, 30)}  # n, d, k of the simulated brain; quick
ALPHA = 1e-3  # of IRKSN
SMALL = (1e-3, 1e-2, 1e-1)  # κ, α and η
STRENGTHS = (0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)  # of KSN; the paper names two
N_LAMBDAS = 100
STEPS: dict[Protocol, int] = {"paper": 10_000, "fair": 1_000}
EQUAL = (0.1, 0.99)  # of IRCR: √(sigma tau) ‖X‖ where both steps are the same
KAPPAS = (0.01, 0.1, 1.0)  # of SRDI, for weights of the order of 0.1


@dataclass(frozen=True)
class Recordings:
    """Rows to decode, and where their columns are."""

    X: Floats
    y: Floats
    run: Ints
    mask_img: Any
    truth: Floats | None  # w*, if it is known
    k: int


@lru_cache(maxsize=1)
def brain(quick: bool) -> Recordings:
    """The simulated brain, in the units of Example 2."""
    n, d, k = SIZES[quick]
    drawn = make_brain(n, d, n_active=k, random_state=0)
    return Recordings(drawn.data, drawn.target, drawn.run, drawn.mask_img, drawn.coef, k)


@lru_cache(maxsize=1)
def whole_haxby(contrast: str) -> Recordings:
    """Subject 2, all voxels, standardised over the session."""
    from nilearn.image import load_img

    first, second = contrast.split("/")
    bunch = fetch_haxby(conditions=(first, second), download_if_missing=False)
    return Recordings(bunch.data, bunch.target, bunch.run, load_img(bunch.mask_path), None, 150)


def split_of(recordings: Recordings, standardize: bool) -> Split:
    """Four fifths of the rows to walk on, the others to choose by; centred on the former."""
    state = np.random.RandomState(SEED)
    n = len(recordings.y)
    count = N_VALID if n == SIZES[False][0] else n // 5
    train, valid = train_test_split(np.arange(n), test_size=count, random_state=state)
    # In row order, in which products with all of X are fastest.
    X_train, X_valid = recordings.X[train], recordings.X[valid]
    mean = X_train.mean(axis=0)
    X_train -= mean
    X_valid -= mean
    if standardize:
        spread = X_train.std(axis=0)
        spread[spread == 0] = 1.0
        X_train /= spread
        X_valid /= spread
    d = X_train.shape[1]
    y = recordings.y
    nothing = np.empty((0, d))
    return Split(X_train, X_valid, nothing, y[train], y[valid], np.empty(0), d)


def missing(protocol: Protocol, quick: bool) -> dict[str, str]:
    """The parts that cannot run on this machine, each with how to get what it lacks."""
    try:
        for package in ("nilearn", "hidimstat"):
            optional(package)
    except ImportError as error:
        return dict.fromkeys(PARTS, str(error))
    lacking = {}
    if not dataset_path("haxby_slice").exists():
        lacking["slice"] = "the data directory lacks haxby_slice, which cannot be downloaded"
    if not quick and not dataset_path("haxby").exists():
        lacking["haxby"] = "`ksupport data fetch haxby` downloads the recordings (about 300 MB)"
    return lacking


# -- weights of whole brains as rows of results: only what is not zero, to a few digits --------


def packed(values: ArrayLike) -> dict[str, Any]:
    """A vector that JSON holds."""
    vector = np.asarray(values, np.float64)
    index = np.flatnonzero(vector)
    return {
        "size": len(vector),
        "index": index.tolist(),
        "value": [float(f"{value:.7g}") for value in vector[index]],
    }


def unpacked(stored: dict[str, Any]) -> Floats:
    """The vector again."""
    vector = np.zeros(stored["size"])
    vector[stored["index"]] = stored["value"]
    return vector


def z_of(row: Row) -> tuple[Floats, float]:
    """z-values and their threshold: EnCluDL's own, or those of weights taken as Gaussian."""
    if "z" in row:
        return unpacked(row["z"]), float(row["threshold"])
    w = unpacked(row["w"])
    return z_map(w), z_threshold(FWER, len(w))


def found_by(row: Row) -> Floats:
    """The z-values beyond the threshold."""
    return beyond(*z_of(row))


# -- what is tuned over ------------------------------------------------------------------------


def walk_of(method: str, protocol: Protocol, k: int, quick: bool) -> Walk:
    """The paths of one method.

    As in the paper, k is given, and the model with the least error on the validation rows is kept.
    Our protocol has the same grids with steps from the spectral norm, models of both signs for
    IROSR, and fewer steps, as these steps go further.  IRCR chooses between its default steps and
    two pairs of equal ones, which the paper has: which suit depends on the size of the weights.
    """
    steps = 100 if quick else STEPS[protocol]
    norm: NormKind = "nuclear" if protocol == "paper" else "spectral"
    every = {"iht": 1, "ksn": None if protocol == "paper" else 5}.get(method, 5)
    if method == "lasso":
        return Walk("lasso", lambda split: [{}], steps=N_LAMBDAS, every=1, first=1)
    if method == "enet":
        ratios = RATIOS[::3] if quick else RATIOS
        settings = [{"l1_ratio": ratios}]
        return Walk("enet", lambda split: settings, N_LAMBDAS * len(ratios), every=1, first=1)
    if method == "omp":
        return Walk("omp", lambda split: [{"n_atoms": k}], steps=k, every=None)
    settings_of = partial(_settings, method, protocol, k, norm)
    average = method == "ircr" and protocol == "paper"
    return Walk(method, settings_of, steps, every, published_average=average)


def _settings(
    method: str, protocol: Protocol, k: int, norm: NormKind, split: Split
) -> list[Params]:
    if method == "irksn":
        return [{"k": k, "alpha": ALPHA, "step": norm}]
    if method == "iht":
        return [{"k": k, "norm": norm}]
    if method == "ksn":
        return [{"k": k, "lam": lam, "norm": norm} for lam in STRENGTHS]
    if method == "ircr":
        if protocol == "fair":
            return [{}, *_equal_steps(split)]
        return [{"norm": norm}]
    if method == "srdi":
        if protocol == "fair":
            return [{"kappa": kappa} for kappa in KAPPAS]
        return [
            {"kappa": kappa, "alpha": alpha, "scale": "d"} for kappa, alpha in product(SMALL, SMALL)
        ]
    if method == "irosr":
        if protocol == "fair":
            return [{"alpha": alpha} for alpha in SMALL]
        return [
            {"eta": eta, "alpha": alpha, "init": "published"}
            for eta, alpha in product(SMALL, SMALL)
        ]
    raise ValueError(f"no grid for method {method!r}")


def _equal_steps(split: Split) -> list[Params]:
    """sigma = tau, as in the paper, but stable steps that are not as short."""
    norm = split.design.norm("spectral")
    return [{"sigma": share / norm, "tau": share / norm} for share in EQUAL]
