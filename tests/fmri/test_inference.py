"""z-values, thresholds, and EnCluDL on a brain whose truth is known."""

import numpy as np
import pytest
from scipy.stats import norm

from ksupport.fmri import beyond, encludl, z_map, z_threshold


@pytest.fixture(autouse=True)
def _extra(nibabel):
    """All of this needs hidimstat."""


def test_z_values_are_weights_in_units_of_their_scale(rng):
    w = rng.normal(size=500) * (rng.random(500) < 0.5)
    np.testing.assert_allclose(z_map(w), w * np.sqrt(500) / np.linalg.norm(w), rtol=1e-8)


def test_z_values_do_not_depend_on_units(rng):
    w = rng.normal(size=50)
    np.testing.assert_allclose(z_map(1e-6 * w), z_map(w), rtol=1e-8)
    np.testing.assert_allclose(z_map(-w), -z_map(w), rtol=1e-8)


def test_no_weights_no_z_values():
    assert not z_map(np.zeros(10)).any()


def test_z_values_of_a_single_voxel_are_finite():
    z = z_map(np.eye(1, 40_000)[0])
    assert np.isfinite(z).all()
    assert z[0] > z_threshold(0.1, 40_000)
    assert not z[1:].any()


@pytest.mark.parametrize(("fwer", "n_tests"), [(0.1, 39912), (0.05, 500), (0.1, 1)])
def test_threshold_is_that_of_bonferroni(fwer, n_tests):
    assert 2 * n_tests * norm.sf(z_threshold(fwer, n_tests)) == pytest.approx(fwer)


def test_noise_rarely_passes_the_threshold(rng):
    """At most a tenth of maps of pure noise show any voxel, up to three standard errors."""
    passed = [beyond(z_map(rng.normal(size=200)), z_threshold(0.1, 200)).any() for _ in range(300)]
    assert np.mean(passed) < 0.1 + 3 * np.sqrt(0.09 / 300)


@pytest.mark.parametrize("fwer", [0, 1, -1])
def test_error_rates_are_shares(fwer):
    with pytest.raises(ValueError, match="fwer must lie strictly between 0 and 1"):
        z_threshold(fwer, 10)


def test_encludl_finds_a_region_and_little_else(rng):
    mask = np.ones((8, 8, 2), bool)
    pattern = np.zeros(mask.shape)
    pattern[:3, :3] = 1.0
    truth = pattern[mask]
    y = rng.permutation(np.repeat([-1.0, 1.0], 40))
    X = np.outer(y, truth) + rng.normal(size=(80, truth.size))
    found = encludl(X, y, mask, n_clusters=20, n_members=3, groups=np.repeat(range(8), 10))
    shown = found.thresholded != 0
    assert shown[truth != 0].mean() > 0.6
    assert shown[truth == 0].mean() < 0.1
    assert found.threshold == z_threshold(0.1, 20)
    assert (found.z[shown] * found.coef[shown] > 0).all()


def test_encludl_penalises_its_nodewise_regressions(rng):
    """Neighbouring clusters that correlate share no credit, as they would without them."""
    mask = np.ones((6, 1, 1), bool)
    X = rng.normal(size=(200, 6))
    X[:, 1] = X[:, 0] + 0.5 * rng.normal(size=200)
    y = X[:, 0] + 0.5 * rng.normal(size=200)
    found = encludl(X, y, mask, n_clusters=6, n_members=1)
    np.testing.assert_allclose(found.coef, [1, 0, 0, 0, 0, 0], atol=0.15)


def test_encludl_names_what_does_not_fit(rng):
    X, y = rng.normal(size=(10, 8)), np.tile([-1.0, 1.0], 5)
    with pytest.raises(ValueError, match="as many voxels as X has columns, 8, got 9"):
        encludl(X, y, np.ones((3, 3, 1)))
    with pytest.raises(ValueError, match="n_clusters must be between 2 and n_voxels=8"):
        encludl(X, y, np.ones((2, 2, 2)))
