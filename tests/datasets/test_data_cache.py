"""The data directory: whole files or none, checked, and errors that tell what to do."""

import errno
import hashlib
import os
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ksupport.datasets import (
    DatasetUnavailableError,
    _cache,
    _download,
    data_home,
    dataset_path,
    fetch_dataset,
    fetch_leukemia,
    list_datasets,
)
from ksupport.datasets._registry import DATASETS, DatasetInfo, RemoteFile


def address(path):
    return path.as_uri().replace("file:", "https:")


@pytest.fixture(autouse=True)
def _origin(monkeypatch):
    """An origin that has the files of this disk."""
    monkeypatch.setattr(
        _download, "open_url", lambda url: urllib.request.urlopen(url.replace("https:", "file:"))
    )


@pytest.fixture
def toy(tmp_path):
    """A dataset of 6 x 2 whose raw file is served from the disk."""
    table = np.random.default_rng(0).normal(size=(6, 3))
    raw = tmp_path / "origin" / "toy.txt"
    raw.parent.mkdir()
    np.savetxt(raw, table, fmt="%.17g")
    digest = "sha256:" + hashlib.sha256(raw.read_bytes()).hexdigest()
    info = DatasetInfo(
        name="toy",
        description="a table",
        shape=(6, 2),
        files=(RemoteFile("toy.txt", (address(raw),), digest),),
        citation="nobody",
        licence="none",
    )
    return info, table, raw


@pytest.fixture(autouse=True)
def _registered(toy, monkeypatch):
    monkeypatch.setitem(DATASETS, "toy", toy[0])


def measured(table):
    return {"X": table[:, :2], "y": table[:, 2]}


def convert(raw):
    return measured(np.loadtxt(raw[0]))


def load(info, home, convert=convert, download_if_missing=True):
    return _cache.load_arrays(
        info, convert, data_home=home, download_if_missing=download_if_missing
    )


def everything_under(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*")] if directory.exists() else []


def test_a_round_trip_through_the_cache_keeps_every_bit(toy, tmp_path):
    info, table, raw = toy
    first = load(info, tmp_path / "home")
    raw.unlink()  # from here on only the cache can answer
    os.utime(dataset_path("toy", tmp_path / "home"), (4e9, 4e9))  # the clock was set back
    second = load(info, tmp_path / "home", convert=None)
    for arrays in (first, second):
        np.testing.assert_array_equal(arrays["X"], table[:, :2])
        np.testing.assert_array_equal(arrays["y"], table[:, 2])


def test_only_the_converted_file_stays(toy, tmp_path):
    load(toy[0], tmp_path / "home")
    left = [path for path in everything_under(tmp_path / "home") if path.is_file()]
    assert left == [dataset_path("toy", tmp_path / "home")]


def test_a_wrong_checksum_leaves_nothing_behind(toy, tmp_path):
    info, _, raw = toy
    raw.write_bytes(raw.read_bytes() + b"\n")
    with pytest.raises(DatasetUnavailableError, match=r"sha256 is \w{64}, expected \w{64}"):
        load(info, tmp_path / "home")
    assert everything_under(tmp_path / "home") == []


def test_a_second_address_serves_where_the_first_one_fails(toy, tmp_path):
    info, table, raw = toy
    bad = tmp_path / "bad.txt"
    bad.write_text("not the data")
    urls = tuple(map(address, (tmp_path / "gone.txt", bad, raw)))
    file = replace(info.files[0], urls=urls)
    arrays = load(replace(info, files=(file,)), tmp_path / "home")
    np.testing.assert_array_equal(arrays["y"], table[:, 2])


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interruption_leaves_nothing_half_written(toy, tmp_path, monkeypatch, error):
    def write_some_then_stop(stream, **arrays):
        stream.write(b"PK half a file")
        raise error

    monkeypatch.setattr(np, "savez_compressed", write_some_then_stop)
    with pytest.raises(error):
        load(toy[0], tmp_path / "home")
    assert [path for path in everything_under(tmp_path / "home") if path.is_file()] == []


def test_a_full_disk_is_told_with_the_name_of_the_file_and_leaves_nothing(
    toy, tmp_path, monkeypatch
):
    def full(stream, **arrays):
        stream.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*toy\.npz'"):
        load(toy[0], tmp_path / "data")
    assert list((tmp_path / "data" / "toy").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")
def test_a_cache_can_be_shared_with_whoever_may_read_the_directory(toy, tmp_path):
    load(toy[0], tmp_path / "data")
    (tmp_path / "usual").touch()
    file = dataset_path("toy", tmp_path / "data")
    assert file.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_many_at_once_fetch_the_same_whole_file(toy, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: load(toy[0], tmp_path / "data"), range(8)))
    for arrays in found:
        np.testing.assert_array_equal(arrays["X"], toy[1][:, :2])
    assert [file.name for file in (tmp_path / "data" / "toy").iterdir()] == ["toy.npz"]


def test_an_interrupted_download_leaves_nothing_behind(toy, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    def copy_some_then_stop(source, target, update):
        target.write(source.read(5))
        assert everything_under(scratch)  # the beginning is there, in the scratch directory
        raise KeyboardInterrupt

    monkeypatch.setattr(_download, "_copy", copy_some_then_stop)
    with pytest.raises(KeyboardInterrupt):
        load(toy[0], tmp_path / "home")
    assert everything_under(scratch) == []
    assert everything_under(tmp_path / "home") == []


def test_a_connection_that_breaks_is_noticed_without_a_checksum(toy, tmp_path, monkeypatch):
    info = replace(toy[0], files=(replace(toy[0].files[0], digest=None),))
    monkeypatch.setattr(_download, "_copy", lambda source, target, _: target.write(source.read(5)))
    with pytest.raises(DatasetUnavailableError, match=r"broke after 5 of \d+ bytes"):
        load(info, tmp_path / "home")
    assert everything_under(tmp_path / "home") == []


def test_contents_of_another_shape_are_refused_and_not_cached(toy, tmp_path):
    with pytest.raises(DatasetUnavailableError, match=r"shape \(6, 5\).*got \(6, 2\)"):
        load(replace(toy[0], shape=(6, 5)), tmp_path / "home")
    assert everything_under(tmp_path / "home") == []


def test_other_numbers_than_the_tested_ones_are_announced(toy, tmp_path):
    info, table, _ = toy
    same = replace(info, content_sha256=_cache.content_sha256(measured(table)))
    load(same, tmp_path / "one")  # warnings are errors in these tests
    with pytest.warns(UserWarning, match="the numbers of toy differ"):
        load(replace(info, content_sha256="0" * 64), tmp_path / "two")


def test_the_digest_of_the_contents_is_that_of_the_numbers_alone():
    X, y = np.array([[0, 1], [1, 0]]), np.array([1.0, 2.0])
    digest = _cache.content_sha256({"X": X, "y": y})
    for same in (np.asfortranarray(X, dtype=np.float32), X.astype(np.int8), X.astype(">f8")):
        assert digest == _cache.content_sha256({"y": y, "X": same, "feature_names": np.array("a")})
    assert digest != _cache.content_sha256({"X": X.T[::-1], "y": y})


def test_a_raw_file_put_in_place_by_hand_is_used_and_kept(toy, tmp_path):
    info, table, raw = toy
    placed = tmp_path / "home" / "toy" / "toy.txt"
    placed.parent.mkdir(parents=True)
    raw.rename(placed)
    arrays = load(info, tmp_path / "home", download_if_missing=False)
    np.testing.assert_array_equal(arrays["y"], table[:, 2])
    assert placed.exists()


def test_a_wrong_raw_file_put_in_place_by_hand_is_named(toy, tmp_path):
    placed = tmp_path / "home" / "toy" / "toy.txt"
    placed.parent.mkdir(parents=True)
    placed.write_text("1 2 3")
    with pytest.raises(DatasetUnavailableError, match=r"toy\.txt: sha256 is .*, expected"):
        load(toy[0], tmp_path / "home")


def test_pickled_objects_are_refused(toy, tmp_path):
    path = dataset_path("toy", tmp_path)
    path.parent.mkdir()
    np.savez(path, X=np.array([{}], dtype=object), y=np.zeros(6), allow_pickle=True)
    with pytest.raises(DatasetUnavailableError, match=r"not an \.npz file of plain arrays"):
        load(toy[0], tmp_path)


def test_a_damaged_cache_is_named(toy, tmp_path):
    path = dataset_path("toy", tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(DatasetUnavailableError, match=r"toy\.npz .*remove it and fetch again"):
        load(toy[0], tmp_path)


@pytest.mark.parametrize("key", ["X", "y", "feature_names"])
def test_a_cache_that_was_changed_is_named_with_what_to_do(toy, key, tmp_path):
    names = np.array(["a", "b"])
    load(toy[0], tmp_path, convert=lambda raw: {**convert(raw), "feature_names": names})
    path = dataset_path("toy", tmp_path)
    arrays = _cache.read_arrays(path)
    last = arrays[key].flat[-1]
    arrays[key].flat[-1] = "c" if key == "feature_names" else np.nextafter(last, 9)
    np.savez(path, **arrays)
    with pytest.raises(DatasetUnavailableError, match=r"toy\.npz does not hold .*remove it and fe"):
        load(toy[0], tmp_path)


@pytest.mark.parametrize("damage", ["npy", "cut", "flipped"])
def test_a_cache_of_damaged_bytes_is_named_with_what_to_do(toy, damage, tmp_path):
    load(toy[0], tmp_path)
    path = dataset_path("toy", tmp_path)
    whole = path.read_bytes()
    if damage == "npy":
        with path.open("wb") as stream:
            np.save(stream, np.ones((6, 2)))
    else:
        half = len(whole) // 2
        path.write_bytes(whole[:half] if damage == "cut" else _flipped(whole, 60))
    with pytest.raises(DatasetUnavailableError, match=r"toy\.npz .*remove it and fetch again"):
        load(toy[0], tmp_path)


def _flipped(data, at):
    return data[:at] + bytes(255 - byte for byte in data[at : at + 20]) + data[at + 20 :]


@pytest.fixture
def offline(monkeypatch):
    calls = []

    def refuse(url):
        calls.append(url)
        raise urllib.error.URLError("the network is unreachable")

    monkeypatch.setattr(_download, "open_url", refuse)
    return calls


@pytest.mark.parametrize(
    "info", [i for i in list_datasets() if i.files and i.name != "toy"], ids=lambda info: info.name
)
def test_offline_one_error_says_what_from_where_and_where_to(info, tmp_path, offline):
    with pytest.raises(DatasetUnavailableError) as caught:
        fetch_dataset(info.name, data_home=tmp_path / "home")
    message = str(caught.value)
    assert isinstance(caught.value, OSError)
    assert "the network is unreachable" in message
    assert str(tmp_path / "home" / info.name) in message
    for file in info.files:
        assert f"Download {file.filename} from {file.urls[0]}" in message
        assert (file.digest or "") in message
    assert info.how_to_get in message
    assert everything_under(tmp_path / "home") == []
    assert set(offline) <= {url for file in info.files for url in file.urls}


@pytest.mark.parametrize("info", list_datasets(), ids=lambda info: info.name)
def test_nothing_is_downloaded_unless_allowed(info, tmp_path, offline):
    with pytest.raises(DatasetUnavailableError, match=f"'{info.name}' is not in"):
        fetch_dataset(info.name, data_home=tmp_path, download_if_missing=False)
    assert offline == []


def test_the_data_directory_is_the_argument_else_the_variable_else_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KSUPPORT_DATA", str(tmp_path / "variable"))
    assert data_home(tmp_path / "argument") == tmp_path / "argument"
    assert data_home() == tmp_path / "variable"
    monkeypatch.setenv("KSUPPORT_DATA", "")  # set to nothing is not set
    assert data_home().name == "ksupport"


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "set/ksupport"),
        ("linux", None, "home/.cache/ksupport"),
        ("darwin", None, "home/Library/Caches/ksupport"),
        ("win32", "LOCALAPPDATA", "set/ksupport"),
        ("win32", None, "home/AppData/Local/ksupport"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    platform, variable, expected, monkeypatch, tmp_path
):
    for name in ("KSUPPORT_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "set"))
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert data_home() == tmp_path / expected


def test_every_dataset_says_where_it_comes_from():
    for info in list_datasets():
        assert info.citation
        assert info.licence
        assert info.files or info.how_to_get
        for file in info.files:
            assert all(url.startswith("https://") for url in file.urls)
            assert Path(file.filename).name == file.filename  # nothing is put elsewhere


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"name must be one of .*'leukemia'.*, got 'leukaemia'"):
        dataset_path("leukaemia")


def test_a_cached_dataset_needs_no_network(tmp_path, offline):
    rng = np.random.default_rng(0)
    _cache.save_arrays(
        dataset_path("leukemia", tmp_path),
        {"X": rng.normal(size=(38, 7129)), "y": np.ones(38)},
    )
    X, y = fetch_leukemia(data_home=tmp_path, return_X_y=True)
    assert (X.shape, y.shape, offline) == ((38, 7129), (38,), [])


def test_downloading_and_converting_are_told(toy, tmp_path, heard):
    load(toy[0], tmp_path / "home")
    assert heard.shares("downloading") == [1.0]
    assert heard.shares("converting toy") == [None]
