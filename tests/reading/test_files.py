"""`ksupport.read` gives what a fit needs, and names its own parameters where something is wrong."""

import numpy as np
import pandas as pd
import pytest

import ksupport
from ksupport._common.errors import InputError
from ksupport.design import Genotypes, Incomplete

TEXT = "name,g1,g2,sex,site,y\n" + "".join(
    f"S{i},{i % 7},{i * i % 5},{'fm'[i % 2]},{i % 3},{i * 7 % 11}.5\n" for i in range(30)
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(TEXT)
    return path


def test_what_is_read_can_be_fitted(file):
    data = ksupport.read(file, "y", id="name", adjust_for=["sex"], groups="site")
    assert repr(data) == "Data(data.csv: 30 rows, 2 features, 1 to adjust for; response: numbers)"
    assert data.feature_names == ("g1", "g2", "sex=m")
    assert (data.covariates, data.unpenalized.tolist()) == (("sex=m",), [2])
    assert data.ids.tolist() == [f"S{i}" for i in range(30)]
    assert set(data.groups) == {"0", "1", "2"}
    np.testing.assert_array_equal(data.X[:, 2], np.arange(30) % 2)
    model = ksupport.IRKSN(k=1, unpenalized=data.unpenalized).fit(data.X, data.y)
    assert model.coef_.shape == (3,)


def test_a_target_is_not_needed(file):
    data = ksupport.read(file, ignore=["name", "sex"])
    assert (data.y, data.kind, data.shape) == (None, None, (30, 4))
    assert repr(data).endswith("no response)")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, r"(?s)give id='name'.*give adjust_for=\['sex'\]"),
        ({"id": "name"}, r"give adjust_for=\['sex'\]"),
        ({"id": "name", "ignore": "sex", "target": "z"}, r"target 'z' is not a column"),
        ({"id": "name", "target": "name"}, "target and id both name the column 'name'"),
        ({"target": "y", "time": "y"}, "both name the column 'y'|time needs event"),
        ({"missing": "guess"}, r"missing must be one of .*; got 'guess'"),
        ({"max_memory": 1e-7}, "more than max_memory 1e-07"),
        ({"transpose": True, "target": "y"}, "phenotypes FILE"),
        ({"response": "words"}, "response must be 'numbers' or 'classes', got 'words'"),
    ],
)
def test_what_is_wrong_is_told_in_the_words_of_python(given, says, file):
    with pytest.raises(InputError, match=says) as told:
        ksupport.read(file, **given)
    assert isinstance(told.value, ValueError)
    assert "--" not in str(told.value)


def test_survival_comes_as_records_of_event_and_time(tmp_path):
    (tmp_path / "d.csv").write_text("g,days,status\n1,5,dead\n2,7,alive\n4,,dead\n3,2,dead\n")
    data = ksupport.read(tmp_path / "d.csv", time="days", event="status=dead", missing="drop-rows")
    assert (data.kind, data.feature_names) == ("survival", ("g",))
    assert data.y.dtype.names == ("event", "time")
    assert data.y.tolist() == [(True, 5.0), (False, 7.0), (True, 2.0)]


def test_classes_are_text_and_rows_without_one_are_left_out(tmp_path):
    (tmp_path / "d.csv").write_text("g,kind\n1,a\n2,\n3,b\n4, a\n")
    data = ksupport.read(tmp_path / "d.csv", "kind", missing="impute")
    assert (data.kind, data.classes, data.y.tolist()) == ("classes", ("a", "b"), ["a", "b", "a"])
    assert "1 row without a finite target was left out." in data.remarks


def test_holes_make_an_incomplete_array_and_infinity_is_one(tmp_path):
    (tmp_path / "d.csv").write_text("a,b,y\n1,,1\n3,4,2\n,6,3\ninf,6,5\n")
    data = ksupport.read(tmp_path / "d.csv", "y", missing="impute")
    assert isinstance(data.X, Incomplete)
    np.testing.assert_allclose(np.asarray(data.X), [[1, 16 / 3], [3, 4], [2, 6], [2, 6]])


def test_sparse_data_are_filled_in_where_memory_allows(tmp_path):
    (tmp_path / "d.svm").write_text("1 1:2 3:nan\n2.5 2:1\n3 3:4\n")
    data = ksupport.read(tmp_path / "d.svm", missing="impute")
    assert isinstance(data.X, Incomplete)
    np.testing.assert_allclose(np.asarray(data.X), [[2, 0, 2], [0, 1, 0], [0, 0, 4]])


def test_covariates_of_arrays_come_from_another_file(tmp_path):
    np.savez(tmp_path / "d.npz", X=np.eye(4), who=["a", "b", "c", "d"])
    (tmp_path / "known.csv").write_text("who;dose;sex\nd;4.5;f\nb;2.5;m\na;1.0;f\n")
    data = ksupport.read(
        tmp_path / "d.npz", "dose", id="who", adjust_for="sex", phenotypes=tmp_path / "known.csv"
    )
    assert data.ids.tolist() == ["a", "b", "d"]
    assert data.y.tolist() == [1.0, 2.5, 4.5]
    np.testing.assert_array_equal(data.X, np.column_stack([np.eye(4)[[0, 1, 3]], [0, 1, 0]]))


def test_numbers_that_name_rows_match_however_they_are_stored(tmp_path):
    (tmp_path / "d.csv").write_text("who,g\n1,5\n2,6\n3,7\n")
    pd.DataFrame({"who": [3.0, 1.0, np.nan], "y": [1.5, 2.5, 3.5]}).to_parquet(
        tmp_path / "k.parquet"
    )
    data = ksupport.read(tmp_path / "d.csv", "y", phenotypes=tmp_path / "k.parquet")
    assert (data.ids.tolist(), data.y.tolist()) == (["1", "3"], [2.5, 1.5])
    assert data.feature_names == ("g",)


def test_codes_of_plink_for_what_is_missing(tmp_path):
    bed_reader = pytest.importorskip("bed_reader")
    names = [f"P{i}" for i in range(6)]
    bed_reader.to_bed(tmp_path / "g.bed", np.ones((6, 4)), properties={"iid": names, "fid": names})
    values = ["1.5", "2", "-9", "4", "5", "6"]
    rows = [f"{name} {name} {value}\n" for name, value in zip(names, values, strict=True)]
    (tmp_path / "k.txt").write_text("".join(["FID IID y\n", *rows]))
    data = ksupport.read(
        tmp_path / "g.bed", "y", phenotypes=tmp_path / "k.txt", missing="drop-rows"
    )
    assert isinstance(data.X, Genotypes)
    assert data.ids.tolist() == ["P0", "P1", "P3", "P4", "P5"]
    assert any("1 values of -9" in remark for remark in data.remarks)
