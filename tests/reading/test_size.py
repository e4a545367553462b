"""Memory is judged before it is taken: what unpacks to more than is allowed is refused."""

import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from ksupport._common.errors import InputError
from ksupport.reading import size

ROWS = 2_000_000  # 16 MB as numbers; the files have some kilobytes


def _feather(table, compression):
    held = io.BytesIO()
    pa.feather.write_feather(table, held, compression=compression)
    return held.getvalue()


def _parquet(table):
    held = io.BytesIO()
    pa.parquet.write_table(table, held)
    return held.getvalue()


def _npz(**arrays):
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)
    return held.getvalue()


def _announced():
    """An array of 8 million TB, by its header."""
    header, held = io.BytesIO(), io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)}
    np.lib.format.write_array_header_1_0(header, about)
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    return held.getvalue()


def zeros(kind=np.float64):
    return pa.table({"a": np.zeros(ROWS, kind), "y": np.zeros(ROWS, kind)})


LARGE = {
    "zstd": ("data.feather", lambda: _feather(zeros(), "zstd")),
    "lz4": ("data.feather", lambda: _feather(zeros(np.int8), "lz4")),
    "nothing": ("data.feather", lambda: _feather(pa.table({"y": pa.nulls(ROWS)}), "zstd")),
    "dictionary": (
        "data.feather",
        lambda: _feather(pa.table({"y": pa.array(["x" * 30_000_000]).dictionary_encode()}), "zstd"),
    ),
    "parquet": ("data.parquet", lambda: _parquet(zeros())),
    "parquet strings": (
        "data.parquet",
        lambda: _parquet(pa.table({"a": ["x" * 10_000] * 5000, "y": np.zeros(5000)})),
    ),
    "npz": ("data.npz", lambda: _npz(X=np.zeros((1000, 3000), np.int8), y=np.zeros(1000))),
    "npz header": ("data.npz", _announced),
    "LIBSVM index": ("data.svm", lambda: b"1 1:2 2000000000:3\n2 1:1\n"),
    "LIBSVM entries": ("data.svm", lambda: b"1 1:2\n" * 500_000),
    "CSV cells": ("data.csv", lambda: b"a,y\n" + b"1,2\n" * 500_000),
    "CSV columns": ("data.csv", lambda: b"," * 20_000 + b"\n1"),
    "CSV columns, CR": ("data.csv", lambda: b"," * 20_000 + b"\r1"),
    "CSV columns, no rows": ("data.csv", lambda: b"," * 20_000),
}


@pytest.mark.parametrize("case", LARGE)
def test_a_small_file_of_large_contents_is_refused(case, read_file):
    name, make = LARGE[case]
    data = make()
    assert len(data) < 4_000_000
    with pytest.raises(InputError, match=rf"^{name}.* GB of memory, more than --max-memory 0\.02"):
        read_file(data, name)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_the_estimate_of_arrow_counts_the_buffers_as_they_will_be(compression):
    table = pa.table({"a": np.zeros(1000), "s": pa.array(["xy"] * 1000).dictionary_encode()})
    stream = pa.py_buffer(_feather(table, compression)[8:])
    needed = size.of_arrow(stream) - size.of_table(1001, 2)  # the dictionary has a row
    assert table.nbytes <= needed <= table.nbytes + 15_000  # and the packed bytes themselves


def test_an_index_too_large_for_any_machine_is_refused_in_words(read_file):
    with pytest.raises(InputError, match=r"data\.svm cannot be read as libsvm"):
        read_file(b"1 1:2 99999999999999999999999:3\n", "data.svm")
