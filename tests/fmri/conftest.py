"""Small brains for the tests; all of this directory needs the extra ``fmri``."""

import numpy as np
import pytest

REASON = "the extra 'fmri' is not installed"


@pytest.fixture
def nibabel():
    pytest.importorskip("nilearn", reason=REASON)
    pytest.importorskip("hidimstat", reason=REASON)
    return pytest.importorskip("nibabel", reason=REASON)


class Session:
    """Images of a grid of 6 x 5 x 4 voxels, of which two respond to each class."""

    shape = (6, 5, 4)
    affine = np.array([[-3.5, 0, 0, 10], [0, 3.75, 0, -20], [0, 0, 3.75, 5], [0, 0, 0, 1.0]])

    def __init__(self, nibabel, classes=("face", "house"), n_runs=4, seed=0):
        rng = np.random.default_rng(seed)
        self.nibabel = nibabel
        self.mask = np.zeros(self.shape, bool)
        self.mask[1:5, 1:4, 1:3] = True  # 24 voxels
        self.labels = np.tile(np.repeat(classes, 5), n_runs)
        self.runs = np.repeat(np.arange(n_runs), 5 * len(classes))
        self.data = rng.normal(100.0, 1.0, (*self.shape, len(self.labels)))
        self.places = {}
        for number, name in enumerate(classes):
            i, j, k = 1 + number, 1 + number % 3, 1
            self.places[name] = [(i, j, k), (i, j, k + 1)]
            self.data[i, j, k : k + 2] += 3.0 * (self.labels == name)

    @property
    def bold(self):
        return self.nibabel.Nifti1Image(self.data, self.affine)

    @property
    def mask_img(self):
        return self.nibabel.Nifti1Image(self.mask.astype(np.uint8), self.affine)


@pytest.fixture
def session(nibabel):
    return Session(nibabel)


@pytest.fixture
def three_classes(nibabel):
    return Session(nibabel, classes=("cat", "face", "house"))
