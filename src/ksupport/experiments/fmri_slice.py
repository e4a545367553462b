"""The real slice: leave one run out, for every method and for nilearn's own decoders."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneGroupOut

from ..datasets import fetch_haxby
from ..fmri import KSupportDecoder, encludl
from .experiment import PAPER_METHODS, Row
from .fmri_data import KAPPAS, packed

NILEARN = {"svm": "SVM (nilearn)", "spacenet": "SpaceNet (nilearn)"}
DECODERS = (*PAPER_METHODS, "auto", *NILEARN)
INNER_FOLDS = 4  # by runs, for what each decoder chooses
# With the default kappa no voxel enters within the steps of a decoder.
PARAMS = {"srdi": {"kappa": KAPPAS}}
VOXELS_PER_CLUSTER = 5  # of EnCluDL; in a whole brain there are 80


@lru_cache(maxsize=1)
def images(contrast: str) -> tuple[Any, NDArray[Any], NDArray[Any], str]:
    """The volumes of two conditions, their labels, their runs, and the path of the mask."""
    from nilearn.image import index_img, load_img

    first, second = contrast.split("/")
    bunch = fetch_haxby(subset="slice", conditions=(first, second))
    labels, runs = _labels(bunch.attributes_path)
    keep = np.isin(labels, (first, second))
    return index_img(load_img(bunch.bold_path), keep), labels[keep], runs[keep], bunch.mask_path


def _labels(path: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The condition and the run of each volume: one line of two words each."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    words = np.array([line.split() for line in lines if line.strip()])
    return words[:, 0], words[:, 1].astype(int)


def _fit(name: str, mask: str, volumes: Any, labels: Any, runs: Any) -> Any:
    """A fitted decoder: folds by runs tune whatever it has to tune."""
    from nilearn.decoding import Decoder, SpaceNetClassifier

    if name == "spacenet":  # takes no runs
        return SpaceNetClassifier(mask=mask, standardize="zscore_sample").fit(volumes, labels)
    decoder: Any = KSupportDecoder(name, mask=mask, cv=INNER_FOLDS, params=PARAMS.get(name))
    if name == "svm":
        decoder = Decoder("svc", mask=mask, standardize="zscore_sample", scoring="accuracy")
    return decoder.fit(volumes, labels, groups=runs)


def left_out_runs(contrast: str, method: str, most_runs: int | None) -> list[Row]:
    """The accuracy on each run of a decoder fitted on the others, and its map of all runs."""
    from nilearn.image import index_img

    volumes, labels, runs, mask = images(contrast)
    accuracy = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nilearn's on small masks and few iterations
        folds = list(LeaveOneGroupOut().split(labels, labels, runs))[:most_runs]
        for train, test in folds:
            fitted = _fit(method, mask, index_img(volumes, train), labels[train], runs[train])
            accuracy.append(
                float(np.mean(fitted.predict(index_img(volumes, test)) == labels[test]))
            )
        fitted = _fit(method, mask, volumes, labels, runs)
    row = {"accuracy_mean": float(np.mean(accuracy)), "accuracy_std": float(np.std(accuracy))}
    return [{**row, "runs": len(accuracy), "w": packed(_weights(method, fitted, contrast, mask))}]


def _weights(method: str, decoder: Any, contrast: str, mask: str) -> Any:
    """Weights that are positive for the second condition."""
    from nilearn.masking import apply_mask

    if method == "spacenet":  # one image, where the others have one for each class
        w = np.ravel(apply_mask(decoder.coef_img_, mask))
    else:
        # Not by class: nilearn 0.14 gives each of two classes the image of the other.
        w = np.ravel(decoder.coef_[0])
    return w if decoder.classes_[1] == contrast.split("/")[1] else -w


def slice_encludl(contrast: str, members: int) -> list[Row]:
    """EnCluDL on the slice: the reference of the distances there."""
    from nilearn.image import get_data
    from nilearn.maskers import NiftiMasker

    volumes, labels, runs, mask = images(contrast)
    masker = NiftiMasker(mask, standardize="zscore_sample", reports=False)
    X = masker.fit_transform(volumes)
    found = encludl(
        X, np.where(labels == contrast.split("/")[1], 1.0, -1.0), get_data(mask),
        n_clusters=X.shape[1] // VOXELS_PER_CLUSTER, groups=runs, n_members=members,
    )  # fmt: skip
    return [{"w": packed(found.coef), "z": packed(found.z), "threshold": found.threshold}]
