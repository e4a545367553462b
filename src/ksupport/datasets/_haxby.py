"""The Haxby recordings: all voxels of subject 2 through nilearn, or one small slice."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._common.checks import check_choice
from .._common.extra import extra
from .._common.phases import phase
from ._bunch import to_bunch
from ._cache import (
    Arrays,
    DatasetUnavailableError,
    PathLike,
    absent_message,
    cached_arrays,
    check_shape,
    dataset_path,
    save_arrays,
)
from ._registry import DatasetInfo, dataset_info

_SUBJECT = 2  # the paper's
_FACE_HOUSE = ("face", "house")


def fetch_haxby(
    *,
    subset: Literal["full", "slice"] = "full",
    conditions: tuple[str, str] = _FACE_HOUSE,
    standardize: bool = True,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load fMRI recordings of a subject who looks at images of two kinds.

    As in the paper: every voxel is standardised over the whole session, then the scans of the
    two conditions are kept. There is no smoothing.

    Parameters
    ----------
    subset : {"full", "slice"}, default="full"
        All 39912 voxels of the brain, through nilearn; or one slice of 530 voxels, which cannot
        be downloaded but may be in the data directory, with its images.
    conditions : tuple of two str, default=("face", "house")
        The kinds of images that count as -1 and as 1.
    standardize : bool, default=True
        Whether to give each voxel mean 0 and variance 1 over the session.
    data_home, download_if_missing, as_frame, return_X_y
        As in :func:`fetch_leukemia`.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (n_scans x n_voxels), ``target`` (-1 or 1), ``run`` (the recording of each scan,
        for splits by run), ``voxel_ijk`` (indices of each voxel in the image), ``mask_path``
        (NIfTI image of the voxels), ``bold_path`` and ``attributes_path`` (the recordings and
        their labels; None where the file is gone), ``conditions``, ``feature_names``,
        ``target_names``, ``DESCR``, ``filename``.

    Examples
    --------
    >>> from ksupport.datasets import fetch_haxby
    >>> fetch_haxby(subset="slice", conditions=("house", "shoe")).data.shape  # doctest: +SKIP
    (216, 530)
    """
    check_choice("subset", subset, ("full", "slice"))
    info = dataset_info("haxby" if subset == "full" else "haxby_slice")
    path = dataset_path(info.name, data_home)
    if not path.exists():
        if subset == "slice" or not download_if_missing:
            reasons = [] if subset == "slice" else ["download_if_missing is False."]
            raise DatasetUnavailableError(absent_message(info, path.parent, reasons))
        save_arrays(path, _download(info, path.parent))
    arrays = cached_arrays(info, path)

    scans = _scans_of(conditions, arrays["labels_all"])
    X = arrays["X_all"].astype(np.float64)
    X = (standardized(X) if standardize else X)[scans]
    voxels = arrays["voxel_ijk"]
    return to_bunch(
        info,
        X,
        np.where(arrays["labels_all"][scans] == conditions[1], 1.0, -1.0),
        feature_names=["voxel_" + "_".join(map(str, ijk)) for ijk in voxels],
        target_names=[f"{conditions[1]}_vs_{conditions[0]}"],
        filename=path,
        as_frame=as_frame,
        return_X_y=return_X_y,
        run=arrays["run_all"][scans],
        voxel_ijk=voxels,
        conditions=tuple(conditions),
        mask_path=_if_exists(path.with_name("mask.nii.gz")),
        bold_path=_if_exists(path.with_name("bold.nii.gz"))
        or _if_exists(_nilearn_subject(path.parent) / "bold.nii.gz"),
        attributes_path=_if_exists(path.with_name("attributes_literal.txt"))
        or _if_exists(_nilearn_subject(path.parent) / "labels.txt"),
    )


def standardized(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns of mean 0 and variance 1; a constant column becomes 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _scans_of(conditions: tuple[str, str], labels: NDArray[Any]) -> NDArray[np.bool_]:
    known = sorted({str(label) for label in labels})
    if len(set(conditions)) != 2 or not set(conditions) <= set(known):
        raise ValueError(f"conditions must be two different ones of {known}, got {conditions!r}")
    return np.isin(labels, list(conditions))


@phase("downloading the recordings")
def _download(info: DatasetInfo, directory: Path) -> Arrays:
    """Let nilearn fetch and mask the recordings; it verifies and resumes its downloads itself."""
    with extra("fmri", "fetch_haxby needs"):
        from nilearn import datasets, image, masking
    try:
        # nilearn keeps what it downloads: a plot of the recordings needs the images themselves.
        files = datasets.fetch_haxby(
            data_dir=str(directory / "nilearn"), subjects=[_SUBJECT], verbose=0
        )
    except OSError as error:
        reason = f"nilearn could not download it: {error}"
        raise DatasetUnavailableError(absent_message(info, directory, [reason])) from error
    arrays = recordings(
        masking.apply_mask(files.func[0], files.mask, dtype=np.float64),
        np.argwhere(image.get_data(files.mask)),
        Path(files.session_target[0]),
    )
    check_shape(info, arrays, f"nilearn, in {directory / 'nilearn'}")
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(files.mask, directory / "mask.nii.gz")
    return arrays


def recordings(bold: NDArray[np.float64], voxel_ijk: NDArray[np.int64], attributes: Path) -> Arrays:
    """The cache's arrays, from scans x voxels and the text file with a label and a run per scan."""
    lines = [line.split() for line in attributes.read_text().splitlines() if line.strip()]
    rows = [line for line in lines if line[-1].isdigit()]  # nilearn's file has a heading
    labels = np.array([row[0] for row in rows])
    run = np.array([int(row[-1]) for row in rows])
    # Scanners count: whole numbers take a quarter of the space and lose nothing.
    whole = np.abs(bold).max() < 2**15 and np.array_equal(bold, np.rint(bold))
    X_all = bold.astype(np.int16 if whole else np.float32)
    scans = _scans_of(_FACE_HOUSE, labels)
    return {
        "X": X_all[scans],
        "y": np.where(labels[scans] == _FACE_HOUSE[1], 1.0, -1.0),
        "run": run[scans],
        "voxel_ijk": voxel_ijk,
        "X_all": X_all,
        "labels_all": labels,
        "run_all": run,
    }


def _nilearn_subject(directory: Path) -> Path:
    return directory / "nilearn" / "haxby2001" / f"subj{_SUBJECT}"


def _if_exists(path: Path) -> str | None:
    return str(path) if path.exists() else None
