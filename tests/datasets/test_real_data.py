"""Facts about the real datasets, checked where the data directory holds them."""

from pathlib import Path

import numpy as np
import pytest

from ksupport.datasets import (
    DatasetUnavailableError,
    dataset_path,
    fetch_california_housing,
    fetch_colon,
    fetch_dataset,
    fetch_finemapping_n3,
    fetch_haxby,
    fetch_hiv_nnrti,
    fetch_hiv_pi,
    fetch_khan,
    fetch_leukemia,
    fetch_rhee2006,
    fetch_riboflavin,
    fetch_scheetz2006,
    fetch_spike_in_u133,
    list_datasets,
)
from ksupport.datasets._cache import content_sha256, read_arrays
from ksupport.datasets._haxby import recordings


def needs(name):
    path = dataset_path(name)
    return pytest.mark.skipif(not path.exists(), reason=f"{name} is not in the data directory")


EVERY = [pytest.param(info, marks=needs(info.name), id=info.name) for info in list_datasets()]


@pytest.mark.parametrize("info", EVERY)
def test_shapes_names_and_types(info):
    data = fetch_dataset(info.name, download_if_missing=False)
    assert data.data.shape == info.shape
    n_targets = [] if info.n_targets is None else [info.n_targets]
    assert data.target.shape == (info.shape[0], *n_targets)
    assert len(data.target_names) == max([1, *n_targets])
    assert data.data.dtype == data.target.dtype == np.float64
    assert np.isfinite(data.data).all()
    assert np.isfinite(data.target).any(axis=0).all()
    assert np.isfinite(data.target).all() or info.name.startswith("hiv")  # not all were measured
    assert len(set(data.feature_names)) == info.shape[1]
    assert all(data.feature_names)
    assert info.citation in data.DESCR
    assert data.filename == str(dataset_path(info.name))


@pytest.mark.parametrize("info", EVERY)
def test_the_numbers_are_those_of_the_registry(info):
    if info.content_sha256 is None:
        pytest.skip("no digest is registered")
    assert content_sha256(read_arrays(dataset_path(info.name))) == info.content_sha256


@pytest.mark.parametrize("info", EVERY)
@pytest.mark.parametrize(
    "key", ["X", "y", "X_test", "X_all", "labels_all", "Y", "truth", "true_coef"]
)
def test_a_changed_number_in_a_cache_from_elsewhere_is_noticed(info, key, tmp_path):
    arrays = read_arrays(dataset_path(info.name))
    if key not in arrays or info.content_sha256 is None:
        pytest.skip("there is nothing to change, or no digest is registered")
    last = arrays[key].flat[-1]
    other = {"labels_all": "shoe", "truth": not last}
    arrays[key].flat[-1] = other[key] if key in other else last + 1
    path = dataset_path(info.name, tmp_path)
    path.parent.mkdir()
    np.savez(path, **arrays)
    with pytest.raises(DatasetUnavailableError, match=r"\.npz does not hold .*remove it and fetch"):
        fetch_dataset(info.name, data_home=tmp_path, download_if_missing=False)


@pytest.mark.parametrize("info", EVERY)
def test_frames_hold_the_same_numbers(info):
    pytest.importorskip("pandas")
    X, y = fetch_dataset(info.name, return_X_y=True)
    data = fetch_dataset(info.name, as_frame=True)
    np.testing.assert_array_equal(data.data.to_numpy(), X)
    np.testing.assert_array_equal(data.target.to_numpy(), y)
    assert list(data.frame.columns) == [*data.feature_names, *data.target_names]
    assert fetch_dataset(info.name, as_frame=True, return_X_y=True)[0].equals(data.data)


@needs("leukemia")
def test_leukemia_is_standardised_over_training_and_test_samples_together():
    data = fetch_leukemia()
    assert set(data.target) == set(data.target_test) == {-1.0, 1.0}
    both = np.vstack([data.data, data.data_test])
    assert both.shape == (72, 7129)
    np.testing.assert_allclose(both.mean(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(both.std(axis=0, ddof=1), 1.0, atol=1e-5)
    assert np.abs(data.data.mean(axis=0)).max() > 0.5


@needs("california_housing")
def test_housing_values_are_censored_above_five():
    data = fetch_california_housing()
    assert data.feature_names[0] == "MedInc"
    assert data.target.max() == 5.00001
    assert np.corrcoef(data.data[:, 0], data.target)[0, 1] == pytest.approx(0.688, abs=1e-3)


@needs("scheetz2006")
def test_scheetz_is_on_a_log_scale():
    X, y = fetch_scheetz2006(return_X_y=True)
    assert 0 < X.min() < X.max() < 16  # log2 of 16-bit intensities
    assert X.min() < y.min() < y.max() < X.max()


@needs("rhee2006")
def test_rhee_holds_indicators_of_mutations():
    data = fetch_rhee2006()
    assert set(np.unique(data.data)) == {0.0, 1.0}
    assert all(name.startswith("P") for name in data.feature_names)


@needs("riboflavin")
def test_riboflavin_has_named_genes_and_samples():
    data = fetch_riboflavin()
    assert all(gene.endswith("_at") for gene in data.feature_names)
    assert len(data.sample_names) == 71
    assert data.target.max() < 0  # logarithms of small rates


@needs("colon")
def test_colon_holds_intensities_of_tumours_and_normal_tissues():
    X, y = fetch_colon(return_X_y=True)
    assert np.bincount(y.astype(int)).tolist() == [22, 40]
    assert 0 < X.min() < X.max() < 2**16


@needs("khan")
def test_khan_has_four_classes_of_the_published_sizes():
    y = fetch_khan(return_X_y=True)[1]
    assert np.bincount(y.astype(int)).tolist() == [8, 23, 12, 20]


@pytest.mark.parametrize(
    ("fetch", "strongest"),
    [
        pytest.param(fetch_hiv_pi, {"NFV": 90, "SQV": 90}, marks=needs("hiv_pi")),
        pytest.param(fetch_hiv_nnrti, {"EFV": 103, "NVP": 103}, marks=needs("hiv_nnrti")),
    ],
)
def test_the_mutation_best_known_for_a_drug_has_the_largest_correlation(fetch, strongest):
    data = fetch()
    assert set(np.unique(data.data)) == {0.0, 1.0}
    names = [f"P{position}." for position in data.position]
    assert all(map(str.startswith, data.feature_names, names))
    for drug, position in strongest.items():
        y = data.target[:, data.target_names.index(drug)]
        measured = np.isfinite(y)
        X = data.data[measured] - data.data[measured].mean(axis=0)
        scale = np.linalg.norm(X, axis=0)
        r = np.abs(X.T @ np.log(y[measured])) / np.where(scale > 0, scale, np.inf)
        best = int(np.argmax(r))
        assert data.position[best] == position
        assert data.truth[best]
        assert position in data.truth_positions


@needs("spike_in_u133")
def test_each_spiked_profile_correlates_most_with_its_own_probe_sets():
    data = fetch_spike_in_u133()
    assert (data.truth.sum(axis=1) == 3).all()
    assert data.truth.sum(axis=0).max() == 1
    r = np.corrcoef(data.data.T, data.target.T)[:500, 500:]
    for j, truth in enumerate(data.truth):
        assert truth[np.argmax(r[:, j])]


@needs("finemapping_n3")
def test_the_traits_are_the_causes_and_noise():
    data = fetch_finemapping_n3()
    assert (data.true_coef != 0).sum(axis=0).tolist() == [3, 3]
    residual = data.target - data.data @ data.true_coef
    assert (residual.var(axis=0) < data.target.var(axis=0)).all()


@needs("haxby_slice")
def test_the_slice_agrees_with_the_arrays_and_images_it_came_with():
    data = fetch_haxby(subset="slice")
    arrays = read_arrays(dataset_path("haxby_slice"))
    np.testing.assert_allclose(data.data, arrays["X_zscored"], atol=1e-6)
    np.testing.assert_array_equal(data.target, arrays["y"])
    np.testing.assert_array_equal(data.run, arrays["run"])
    raw = fetch_haxby(subset="slice", standardize=False)
    np.testing.assert_array_equal(raw.data, arrays["X"])

    nibabel = pytest.importorskip("nibabel")
    i, j, k = data.voxel_ijk.T
    mask = np.asarray(nibabel.load(data.mask_path).dataobj)
    np.testing.assert_array_equal(np.argwhere(mask), data.voxel_ijk)
    bold = np.asarray(nibabel.load(data.bold_path).dataobj)
    np.testing.assert_array_equal(bold[i, j, k].T, arrays["X_all"])


@needs("haxby_slice")
def test_the_slice_is_cached_as_its_images_are_converted():
    data = fetch_haxby(subset="slice")
    cached = read_arrays(dataset_path("haxby_slice"))
    arrays = recordings(
        cached["X_all"].astype(float), cached["voxel_ijk"], Path(data.attributes_path)
    )
    for key, value in arrays.items():
        assert value.dtype == cached[key].dtype
        np.testing.assert_array_equal(value, cached[key])
