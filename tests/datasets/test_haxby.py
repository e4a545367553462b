"""The Haxby recordings, on a made-up session and on a stand-in for nilearn."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from ksupport.datasets import DatasetUnavailableError, _haxby, dataset_path, fetch_haxby
from ksupport.datasets._cache import save_arrays
from ksupport.datasets._registry import DATASETS

KINDS = ("rest", "face", "house", "shoe")


@pytest.fixture
def session(tmp_path):
    """48 scans of 530 voxels, 12 of each kind, and the file that labels them."""
    rng = np.random.default_rng(0)
    bold = rng.integers(0, 2000, size=(48, 530)).astype(float)
    labels = np.array(KINDS * 12)
    run = np.repeat(np.arange(4), 12)
    voxels = np.column_stack([np.arange(530), np.zeros(530, int), np.zeros(530, int)])
    attributes = tmp_path / "attributes.txt"
    attributes.write_text("".join(f"{a} {b}\n" for a, b in zip(labels, run, strict=True)))
    return bold, labels, run, voxels, attributes


@pytest.fixture
def home(session, tmp_path, monkeypatch):
    bold, _, _, voxels, attributes = session
    info = DATASETS["haxby_slice"]
    monkeypatch.setitem(DATASETS, info.name, type(info)(**{**vars(info), "shape": (24, 530)}))
    save_arrays(dataset_path(info.name, tmp_path), _haxby.recordings(bold, voxels, attributes))
    return tmp_path


@pytest.mark.parametrize("conditions", [("face", "house"), ("house", "shoe"), ("shoe", "house")])
def test_the_second_condition_is_plus_one(conditions, session, home):
    bold, labels, run, _, _ = session
    data = fetch_haxby(subset="slice", conditions=conditions, standardize=False, data_home=home)
    kept = np.isin(labels, conditions)
    np.testing.assert_array_equal(data.data, bold[kept])
    np.testing.assert_array_equal(data.target, np.where(labels[kept] == conditions[1], 1, -1))
    np.testing.assert_array_equal(data.run, run[kept])


def test_voxels_are_standardised_over_the_whole_session_rest_included(session, home):
    bold, labels, _, _, _ = session
    X, _ = fetch_haxby(subset="slice", data_home=home, return_X_y=True)
    kept = np.isin(labels, ("face", "house"))
    np.testing.assert_allclose(X * bold.std(axis=0) + bold.mean(axis=0), bold[kept], atol=1e-9)
    assert np.abs(X.mean(axis=0)).max() > 1e-3  # the kept scans alone are not centred


def test_a_constant_voxel_becomes_zero():
    X = _haxby.standardized(np.column_stack([np.full(5, 3.0), np.arange(5.0)]))
    np.testing.assert_array_equal(X[:, 0], 0.0)
    assert X[:, 1].std() == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_whole_numbers_are_stored_small_and_without_loss(scale, session):
    bold, _, _, voxels, attributes = session
    arrays = _haxby.recordings(scale * bold, voxels, attributes)
    assert arrays["X_all"].dtype == (np.int16 if scale == 1.0 else np.float32)
    np.testing.assert_allclose(arrays["X_all"], scale * bold, rtol=1e-6)


def test_a_heading_of_the_labels_is_skipped(session):
    bold, labels, run, voxels, attributes = session
    attributes.write_text("labels chunks\n" + attributes.read_text())
    arrays = _haxby.recordings(bold, voxels, attributes)
    np.testing.assert_array_equal(arrays["labels_all"], labels)
    np.testing.assert_array_equal(arrays["run_all"], run)


@pytest.mark.parametrize("conditions", [("face", "hose"), ("face", "face")])
def test_unknown_conditions_are_refused(conditions, home):
    with pytest.raises(ValueError, match=r"two different ones of \['face', .*got"):
        fetch_haxby(subset="slice", conditions=conditions, data_home=home)


def test_the_images_are_found_beside_the_arrays(home):
    assert fetch_haxby(subset="slice", data_home=home).mask_path is None
    mask = home / "haxby_slice" / "mask.nii.gz"
    mask.write_bytes(b"")
    assert fetch_haxby(subset="slice", data_home=home).mask_path == str(mask)


def test_the_slice_cannot_be_downloaded_and_says_so(tmp_path):
    with pytest.raises(DatasetUnavailableError, match="not published anywhere") as caught:
        fetch_haxby(subset="slice", data_home=tmp_path)
    assert str(tmp_path / "haxby_slice") in str(caught.value)


def nilearn_stand_in(monkeypatch, fetch, apply_mask=None, get_data=None):
    package = ModuleType("nilearn")
    package.datasets = SimpleNamespace(fetch_haxby=fetch)  # type: ignore[attr-defined]
    package.masking = SimpleNamespace(apply_mask=apply_mask)  # type: ignore[attr-defined]
    package.image = SimpleNamespace(get_data=get_data)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nilearn", package)


def test_nilearn_is_asked_once_for_subject_two(session, tmp_path, monkeypatch):
    bold, labels, _, _, attributes = session
    info = DATASETS["haxby"]
    monkeypatch.setitem(DATASETS, "haxby", type(info)(**{**vars(info), "shape": (24, 530)}))
    asked = []

    def fetch(data_dir, subjects, verbose):
        asked.append(subjects)
        mask = tmp_path / "some_mask.nii.gz"
        mask.write_bytes(b"a mask")
        return SimpleNamespace(func=["bold"], mask=str(mask), session_target=[str(attributes)])

    nilearn_stand_in(
        monkeypatch, fetch, lambda func, mask, dtype: bold, lambda mask: np.ones((530, 1, 1))
    )
    for _ in range(2):  # the second time from the cache
        data = fetch_haxby(data_home=tmp_path, standardize=False)
    assert asked == [[2]]
    np.testing.assert_array_equal(data.data, bold[np.isin(labels, ("face", "house"))])
    assert data.feature_names[-1] == "voxel_529_0_0"
    with open(data.mask_path, "rb") as mask:
        assert mask.read() == b"a mask"


def test_nilearn_offline_is_the_one_error(tmp_path, monkeypatch):
    def fetch(**_):
        raise ConnectionError("no route to host")

    nilearn_stand_in(monkeypatch, fetch)
    with pytest.raises(DatasetUnavailableError, match="could not download it: no route to host"):
        fetch_haxby(data_home=tmp_path)
    assert not dataset_path("haxby", tmp_path).exists()


def test_a_missing_nilearn_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nilearn", None)
    with pytest.raises(ImportError, match=r"needs nilearn: pip install 'ksupport\[fmri\]'"):
        fetch_haxby(data_home=tmp_path)
