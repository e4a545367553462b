"""The simulated brain is the paper's Example 2, in the shape of a brain."""

import numpy as np
import pytest
from scipy.ndimage import label

from ksupport import path
from ksupport.fmri import brain_mask, make_brain
from ksupport.metrics import support_f1
from ksupport.theory import irksn_condition


@pytest.fixture(autouse=True)
def _extra(nibabel):
    """The template is nilearn's."""


@pytest.fixture(scope="module")
def noiseless():
    pytest.importorskip("nilearn", reason="the extra 'fmri' is not installed")
    return make_brain(48, 2000, n_active=30, noise=0.0, n_runs=6, random_state=0)


def test_without_noise_it_is_example_2(noiseless):
    X, y, w = noiseless.data, noiseless.target, noiseless.coef
    np.testing.assert_allclose(X @ w, y)
    assert np.linalg.norm(w) == pytest.approx(1.0)
    assert np.linalg.matrix_rank(X[:, w != 0]) == 1
    assert irksn_condition(X, w).holds


def test_without_noise_irksn_recovers_it(noiseless):
    result = path("irksn", noiseless.data, noiseless.target, k=30, alpha=1e-2, max_iter=500)
    assert support_f1(noiseless.coef, result.coef) == 1.0
    np.testing.assert_allclose(result.coef, noiseless.coef, atol=1e-3)


def test_every_run_holds_both_classes_equally_often(noiseless):
    for run in range(6):
        assert noiseless.target[noiseless.run == run].sum() == 0


def test_regions_are_in_one_piece_each(noiseless):
    image = np.zeros(noiseless.mask_img.shape)
    image[noiseless.mask_img.get_fdata() != 0] = noiseless.coef
    corners = np.ones((3, 3, 3))
    assert label(image > 0, corners)[1] <= 2
    assert label(image < 0, corners)[1] == 1


@pytest.mark.parametrize("n_voxels", [1500, 39912])
def test_mask_has_as_many_voxels_as_asked_for_in_one_piece(n_voxels):
    mask = brain_mask(n_voxels).get_fdata() != 0
    assert mask.sum() == n_voxels
    assert label(mask)[1] == 1


def test_noise_has_the_size_asked_for():
    brain = make_brain(24, 1500, n_active=30, n_other_regions=0, noise=0.3, random_state=1)
    noise = brain.data - np.outer(brain.target, brain.coef)
    assert noise.std() == pytest.approx(0.3, rel=0.01)


def test_too_many_regions_are_refused():
    with pytest.raises(ValueError, match="n_other_regions must be an integer between 0 and"):
        make_brain(24, 1500, n_active=300, n_other_regions=50)
