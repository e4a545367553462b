"""Each origin's format is parsed into the numbers that were written in it."""

import bz2
import gzip
import io
import struct
import tarfile

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.datasets import fetch_california_housing as sklearn_housing

from ksupport.datasets import _convert


def test_leukemia_is_two_compressed_svmlight_files(tmp_path):
    rng = np.random.default_rng(0)
    parts, paths = [], []
    for name, n in (("leu.bz2", 6), ("leu.t.bz2", 4)):
        X = sparse.csr_array(rng.random((n, 7129)) * (rng.random((n, 7129)) < 0.01))
        y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
        stream = io.BytesIO()
        dump_svmlight_file(X, y, stream, zero_based=False)
        path = tmp_path / name
        path.write_bytes(bz2.compress(stream.getvalue()))
        parts += [X.toarray(), y]
        paths.append(path)
    arrays = _convert.leukemia(tuple(paths))
    for key, expected in zip(("X", "y", "X_test", "y_test"), parts, strict=True):
        np.testing.assert_allclose(arrays[key], expected, rtol=1e-14)  # 16 digits of text


def test_leukemia_with_other_labels_is_refused(tmp_path):
    path = tmp_path / "leu.bz2"
    path.write_bytes(bz2.compress(b"1 1:0.5\n2 2:0.5\n"))
    with pytest.raises(ValueError, match=r"must be -1 and 1, got \[1.0, 2.0\]"):
        _convert.leukemia((path, path))


def test_housing_equals_scikit_learns_from_the_same_counts(tmp_path):
    table = np.random.default_rng(0).uniform(1, 1000, size=(7, 9))
    text = io.BytesIO()
    np.savetxt(text, table, delimiter=",", fmt="%.17g")
    path = tmp_path / "cal_housing.tgz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        member.size = text.tell()
        text.seek(0)
        archive.addfile(member, text)
    # scikit-learn's cache holds the same table with its columns in another order.
    joblib.dump(table[:, [8, 7, 2, 3, 4, 5, 6, 1, 0]], tmp_path / "cal_housing_py3.pkz")

    arrays = _convert.california_housing((path,))
    reference = sklearn_housing(data_home=tmp_path, download_if_missing=False)
    np.testing.assert_array_equal(arrays["X"], reference.data)
    np.testing.assert_array_equal(arrays["y"], reference.target)
    assert list(arrays["feature_names"]) == reference.feature_names


# R's own format (serialisation version 2, big-endian), so that the reader is not tested against
# the same library's writer. Types: 2 pairlist, 1 symbol, 9 string, 14 doubles, 13 integers,
# 16 strings, 19 list; flags: 256 has a class, 512 has attributes, 1024 has a tag.


def r_char(text):
    return struct.pack(">ii", 9 | 64 << 12, len(text)) + text.encode()


def r_object(value, attributes=None):
    attributes = dict(attributes or {})
    flags = 512 * bool(attributes) | 256 * ("class" in attributes)
    if isinstance(value, dict):
        attributes = {"names": list(value), **attributes}
        body = struct.pack(">ii", 19 | 512 | flags, len(value))
        body += b"".join(v if isinstance(v, bytes) else r_object(v) for v in value.values())
    elif isinstance(value, list) and all(isinstance(v, str) for v in value):
        body = struct.pack(">ii", 16 | flags, len(value)) + b"".join(map(r_char, value))
    elif isinstance(value, list):  # an unnamed list, with None for NULL
        body = struct.pack(">ii", 19 | flags, len(value))
        body += b"".join(struct.pack(">i", 254) if v is None else r_object(v) for v in value)
    else:
        array = np.asarray(value)
        kind, dtype = (13, ">i4") if array.dtype.kind in "iu" else (14, ">f8")
        body = struct.pack(">ii", kind | flags, array.size) + array.astype(dtype).tobytes("F")
    return body + (r_pairlist(attributes) if attributes else b"")


def r_pairlist(items):
    cells = (
        struct.pack(">ii", 2 | 1024, 1) + r_char(tag) + (v if isinstance(v, bytes) else r_object(v))
        for tag, v in items.items()
    )
    return b"".join(cells) + struct.pack(">i", 254)


def r_matrix(X, rows, columns, **attributes):
    names = {"dim": np.array(X.shape, dtype=np.int32), "dimnames": r_object([rows, columns])}
    return r_object(np.asarray(X), names | attributes)


def r_file(payload, prefix=b""):
    version = struct.pack(">iii", 2, 0x30401, 0x20300)
    return gzip.compress(prefix + b"X\n" + version + payload)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(1)
    return rng.normal(size=(5, 3)), rng.normal(size=5)


def test_scheetz_is_an_r_list_with_named_columns(numbers, tmp_path):
    pytest.importorskip("rdata")
    X, y = numbers
    annotation = r_object(
        {"Symbol": ["a", "", "c"]}, {"class": ["data.frame"], "row.names": ["p0", "p1", "p2"]}
    )
    contents = {"X": r_matrix(X, None, ["p0", "p1", "p2"]), "y": y, "fData": annotation}
    path = tmp_path / "Scheetz2006.rds"
    path.write_bytes(r_file(r_object(contents)))
    arrays = _convert.scheetz2006((path,))
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], y)
    assert list(arrays["feature_names"]) == ["p0", "p1", "p2"]
    assert "sample_names" not in arrays


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_rhee_holds_zeros_and_ones(numbers, dtype, tmp_path):
    pytest.importorskip("rdata")
    X, y = (numbers[0] > 0).astype(dtype), numbers[1]
    path = tmp_path / "Rhee2006.rds"
    rows = [str(i) for i in range(5)]
    path.write_bytes(r_file(r_object({"X": r_matrix(X, rows, ["P4.A", "P4.C", "P5.i"]), "y": y})))
    arrays = _convert.rhee2006((path,))
    assert arrays["X"].dtype == np.int8
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], y)
    assert list(arrays["feature_names"]) == ["P4.A", "P4.C", "P5.i"]


def test_rhee_with_other_numbers_is_refused(numbers, tmp_path):
    pytest.importorskip("rdata")
    path = tmp_path / "Rhee2006.rds"
    contents = {"X": r_matrix(numbers[0], None, ["a", "b", "c"]), "y": numbers[1]}
    path.write_bytes(r_file(r_object(contents)))
    with pytest.raises(ValueError, match="must be 0 or 1"):
        _convert.rhee2006((path,))


def test_riboflavin_is_a_data_frame_with_a_matrix_column(numbers, tmp_path):
    pytest.importorskip("rdata")
    X, y = numbers
    samples, genes = [f"s{i}" for i in range(5)], ["AADK_at", "AAPA_at", "zur_at"]
    frame = r_object(
        {"y": y, "x": r_matrix(X, samples, genes, **{"class": ["AsIs"]})},
        {"class": ["data.frame"], "row.names": samples},
    )
    path = tmp_path / "riboflavin.RData"
    path.write_bytes(r_file(r_pairlist({"riboflavin": frame}), prefix=b"RDX2\n"))
    check_riboflavin(_convert.riboflavin((path,)), X, y, samples, genes)


@pytest.mark.parametrize("layout", ["samples in rows", "genes in rows", "no corner cell"])
def test_riboflavin_may_be_a_table_of_text(layout, tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(3, 7)), rng.normal(size=3)
    samples, genes = ["s0", "s1", "s2"], [f"g{j}" for j in range(7)]
    table = np.column_stack([y, X])
    rows, columns = samples, ["q_RIBFLV", *genes]
    if layout == "genes in rows":
        table, rows, columns = table.T, columns, rows
    header = columns if layout == "no corner cell" else ["", *columns]
    lines = [",".join(f'"{name}"' for name in header)]
    lines += [
        ",".join([f'"{name}"', *(repr(float(v)) for v in row)])
        for name, row in zip(rows, table, strict=True)
    ]
    path = tmp_path / "riboflavin.csv"
    path.write_text("\n".join(lines) + "\n")
    check_riboflavin(_convert.riboflavin((path,)), X, y, samples, genes)


def check_riboflavin(arrays, X, y, samples, genes):
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], y)
    assert list(arrays["sample_names"]) == samples
    assert list(arrays["feature_names"]) == genes


def test_a_missing_reader_is_named_with_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "rdata", None)
    with pytest.raises(ImportError, match=r"Rhee2006\.rds needs .*ksupport\[data\]"):
        _convert.read_r(tmp_path / "Rhee2006.rds")
