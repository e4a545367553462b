"""``ksupport data``: datasets that are here, or not, or damaged."""

import re

import numpy as np
import pytest

from ksupport import datasets
from ksupport.datasets._cache import save_arrays


def test_data_list_shows_every_dataset_and_whether_it_is_here(run, tmp_path):
    here = tmp_path / "rhee2006" / "rhee2006.npz"
    here.parent.mkdir()
    here.touch()
    done = run("data", "list", cwd=tmp_path, KSUPPORT_DATA=str(tmp_path))
    assert done.returncode == 0
    rows = dict(re.findall(r"^(\w+) +\d+ +\d+ +(yes|no) ", done.stdout, re.MULTILINE))
    expected = {info.name: "no" for info in datasets.list_datasets()}
    assert rows == expected | {"rhee2006": "yes"}


def test_data_path_prints_the_directory_or_one_file_on_one_line(run, tmp_path):
    long_name = tmp_path / ("a long [bold] name " * 8).strip()
    directory = run("data", "path", cwd=tmp_path, KSUPPORT_DATA=str(long_name))
    file = run("data", "path", "leukemia", cwd=tmp_path, KSUPPORT_DATA=str(long_name))
    assert directory.stdout == f"{long_name}\n"
    assert file.stdout == f"{long_name / 'leukemia' / 'leukemia.npz'}\n"
    assert directory.returncode == file.returncode == 0


def test_an_unknown_dataset_is_answered_with_the_known_ones(run, tmp_path):
    done = run("data", "fetch", "iris", cwd=tmp_path)
    assert done.returncode == 2
    assert "'iris'" in done.stderr
    assert "rhee2006" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "name", ["rhee2006", "haxby_slice", "hiv_pi"]
)  # from an origin, from nowhere
def test_an_absent_dataset_is_answered_with_what_to_do(name, run, tmp_path):
    done = run("data", "fetch", name, "--no-download", cwd=tmp_path, KSUPPORT_DATA=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"'{name}' is not in {tmp_path}" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_fails_is_answered_with_the_reason(run, tmp_path):
    done = run(
        "data", "fetch", "leukemia", cwd=tmp_path,
        KSUPPORT_DATA=str(tmp_path), https_proxy="http://127.0.0.1:9", no_proxy="",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "leu.bz2" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_dataset_at_hand_is_loaded_and_checked(run, tmp_path):
    file = tmp_path / "rhee2006" / "rhee2006.npz"
    save_arrays(file, {"X": np.zeros((842, 361)), "y": np.zeros(842)})
    done = run(
        "data", "fetch", "rhee2006", "--no-download", cwd=tmp_path, KSUPPORT_DATA=str(tmp_path)
    )
    assert (done.returncode, done.stdout) == (0, f"rhee2006: 842 x 361, in {file}\n")


def test_a_damaged_dataset_is_refused_with_a_message(run, tmp_path):
    file = tmp_path / "rhee2006" / "rhee2006.npz"
    file.parent.mkdir()
    file.write_bytes(b"not an archive")
    done = run("data", "fetch", "rhee2006", cwd=tmp_path, KSUPPORT_DATA=str(tmp_path))
    assert done.returncode == 1
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr
