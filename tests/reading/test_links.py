"""AnnData files that lead out of themselves: to any file that whoever reads them may read."""

import numpy as np
import pytest

import ksupport

h5py = pytest.importorskip("h5py")
anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")


@pytest.fixture
def file(tmp_path):
    """An AnnData file, and another beside it whose numbers are nobody's business."""
    obs = pd.DataFrame({"y": [1.0, 2, 3, 4]}, index=list("abcd"))
    for name, X in (("data", np.zeros((4, 3))), ("secret", np.ones((4, 3)))):
        anndata.AnnData(X, obs=obs).write_h5ad(tmp_path / f"{name}.h5ad")
    return tmp_path / "data.h5ad"


def as_array(dataset):
    dataset.attrs["encoding-type"], dataset.attrs["encoding-version"] = "array", "0.2.0"


def by_link(data):
    data["X"] = h5py.ExternalLink("secret.h5ad", "X")


def by_soft_link(data):
    data["X"] = h5py.SoftLink("/obs/y")


def by_storage(data):
    as_array(data.create_dataset("X", (4, 3), "f8", external=[("secret.h5ad", 0, 96)]))


def by_view(data):
    layout = h5py.VirtualLayout((4, 3), "f8")
    layout[:] = h5py.VirtualSource("secret.h5ad", "X", (4, 3))
    as_array(data.create_virtual_dataset("X", layout))


@pytest.mark.parametrize("way", [by_link, by_soft_link, by_storage, by_view])
def test_what_lies_in_another_file_is_not_read(way, file, monkeypatch):
    monkeypatch.chdir(file.parent)
    with h5py.File(file, "r+") as data:
        del data["X"]
        way(data)
    with pytest.raises(ValueError, match=r"data\.h5ad: X is a link"):
        ksupport.read(file, target="y")


def test_links_below_are_found_and_circles_end(file):
    with h5py.File(file, "r+") as data:
        data["obs"]["again"] = data["obs"]
        data["obs"]["y2"] = h5py.ExternalLink("secret.h5ad", "obs/y")
    with pytest.raises(ValueError, match=r"data\.h5ad: obs/y2 is a link"):
        ksupport.read(file, target="y")


def test_what_is_told_of_rows_is_weighed_too(file):
    with h5py.File(file, "r+") as data:
        data["obs"].create_dataset("many", (10**12,), "f8", chunks=(1000,))
    with pytest.raises(ValueError, match=r"data\.h5ad would take about 16000"):
        ksupport.read(file, target="y")


def test_a_file_without_links_is_read(file):
    assert ksupport.read(file, target="y").X.shape == (4, 3)
