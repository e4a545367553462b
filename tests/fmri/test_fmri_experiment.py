"""The fMRI experiment in its quick version."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from ksupport.datasets import dataset_path
from ksupport.experiments import EXPERIMENTS, fmri_data
from ksupport.experiments.compare import compare
from ksupport.experiments.experiment import PAPER_METHODS
from ksupport.experiments.fmri_data import unpacked

FMRI = EXPERIMENTS["fmri"]


def rows_of(part, method, protocol="fair"):
    where = "simulated" if part == "brain" else "face/house"
    return FMRI.compute(part=part, contrast=where, method=method, protocol=protocol, quick=True)


def needs_slice():
    if not dataset_path("haxby_slice").exists():
        pytest.skip("the slice of Haxby's recordings is not in the data directory")


def test_importing_the_package_and_its_experiments_imports_no_nilearn():
    code = (
        "import sys, ksupport, ksupport.experiments, ksupport.fmri; "
        "assert not {'nilearn', 'hidimstat', 'nibabel'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_published_distances_cover_every_method_and_contrast():
    published = FMRI.reference()  # type: ignore[misc]
    assert {row["method"] for row in published} == set(PAPER_METHODS)
    assert len(published) == 2 * len(PAPER_METHODS)


@pytest.mark.parametrize(
    ("method", "contrast", "ours", "agrees"),
    [
        ("lasso", "face/house", 0.42549, True),
        ("lasso", "face/house", 0.4256, False),
        ("enet", "house/shoe", 0.5004, True),  # printed as .500
        ("enet", "house/shoe", 0.5006, False),
        ("irksn", "face/house", 0.24404, True),  # printed as .2440
        ("irksn", "face/house", 0.2441, False),
    ],
)
def test_distances_agree_to_the_digits_that_were_printed(method, contrast, ours, agrees):
    line = {"part": "haxby", "contrast": contrast, "method": method, "distance_mean": ours}
    (difference,) = compare(replace(FMRI, table=lambda rows: rows), [line])
    assert difference.agrees == agrees


def test_parts_without_recordings_are_left_out_and_named(tmp_path, monkeypatch, nibabel):
    monkeypatch.setenv("KSUPPORT_DATA", str(tmp_path))
    left_out = FMRI.left_out("paper", False)
    assert set(left_out) == {"slice", "haxby"}
    assert "ksupport data fetch haxby" in left_out["haxby"]
    assert {cell["part"] for cell in FMRI.runnable("paper", False)} == {"brain"}


def test_without_the_packages_every_part_is_left_out(monkeypatch):
    def absent(module):
        raise ImportError(f"this needs {module}: pip install 'ksupport[fmri]'")

    monkeypatch.setattr(fmri_data, "optional", absent)
    assert FMRI.runnable("paper", False) == []
    assert set(FMRI.left_out("paper", False)) == {"brain", "slice", "haxby"}


@pytest.mark.parametrize("protocol", ["paper", "fair"])
@pytest.mark.parametrize("method", PAPER_METHODS)
def test_every_method_is_scored_on_the_simulated_brain(nibabel, method, protocol):
    (row,) = rows_of("brain", method, protocol)
    assert 0 <= row["f1"] <= 1
    assert row["error"] >= 0
    assert np.isfinite(row["validation"])


def test_irksn_and_iht_come_closer_to_the_truth_than_l1_methods_and_omp(nibabel):
    error = {m: rows_of("brain", m)[0]["error"] for m in ("irksn", "iht", "lasso", "enet", "omp")}
    assert max(error["irksn"], error["iht"]) < min(error["lasso"], error["enet"], error["omp"])


# nilearn takes percentiles of masked arrays.
@pytest.mark.filterwarnings("ignore:.*'partition' will ignore the 'mask'")
def test_table_and_figures_of_the_simulated_brain(nibabel, tmp_path):
    pytest.importorskip("matplotlib")
    rows = [row for m in ("irksn", "lasso", "encludl") for row in rows_of("brain", m)]
    table = {line["method"]: line for line in FMRI.table(rows)}
    assert table["irksn"]["distance_mean"] == pytest.approx(rows[0]["error"], abs=1e-4)
    assert table["zero"]["distance_mean"] == pytest.approx(1.0)
    FMRI.plot(rows, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    stem = "fmri-brain-simulated"
    assert {"fmri.png", "fmri.svg", f"{stem}.png", f"{stem}-glass.png"} <= names
    assert {f"{stem}-hits.png", f"{stem}-irksn.html"} <= names


@pytest.mark.filterwarnings("ignore:.*'partition' will ignore the 'mask'")
def test_runs_left_out_of_the_real_slice(nibabel, tmp_path):
    needs_slice()
    pytest.importorskip("matplotlib")
    rows = [row for m in ("irksn", "svm", "encludl") for row in rows_of("slice", m)]
    assert min(row["accuracy_mean"] for row in rows[:2]) > 0.8
    irksn, svm, reference = (unpacked(row["w"]) for row in rows)
    assert min(irksn @ svm, irksn @ reference) > 0  # positive weights speak for the same class
    assert rows[0]["runs"] == 2
    FMRI.plot(rows, tmp_path)
    assert (tmp_path / "fmri-slice-face-house.png").exists()
