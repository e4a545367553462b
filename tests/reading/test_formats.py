"""Every kind of file is read as it was meant, or refused with its name and what to do."""

import io
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from ksupport._common.errors import InputError

GOOD = "a,b,y\n" + "".join(f"{i % 19},{i * i % 7},{i % 5}\n" for i in range(20))


@pytest.fixture(scope="module")
def same():
    table = pd.read_csv(io.StringIO(GOOD)).to_numpy(float)
    return table[:, :2].tolist(), table[:, 2].tolist()


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD[:-1],
        GOOD + "\n\n",
        GOOD + "   \n",
        "\n\r\n" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r\n") + "\r\n",
        GOOD.replace("\n", "\r"),
        GOOD.replace("\n", "\r") + "\r\r",
        "\ufeff" + GOOD,
        GOOD.replace("a,b,y", '"a","b","y"'),
        GOOD.replace(",", ", "),
    ],
    ids=["plain", "no end", "blank end", "spaces at the end", "blank beginning", "CRLF",
         "CRLF, blank end", "CR", "CR, blank end", "BOM", "quotes", "spaces"],
)  # fmt: skip
def test_line_ends_marks_and_blank_lines_at_the_ends_make_no_difference(text, read_file, same):
    data = read_file(text.replace(" b", "b").replace(" y", "y"))
    assert (data.X.tolist(), data.y.tolist()) == same


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize("row", ["a,b,y", "3,2,3"])
def test_a_blank_line_among_rows_is_named_as_rows_would_not_line_up(row, blank, end, read_file):
    text = GOOD.replace(f"{row}\n", f"{row}\n{blank}\n").replace("\n", end)
    line = 2 if row == "a,b,y" else 6
    with pytest.raises(InputError, match=rf"data\.csv: line {line} is blank.*Remove it"):
        read_file(text)


def test_a_blank_line_within_quotes_is_part_of_a_cell(read_file):
    assert read_file('"a\n\nz",b,y\n1,2,3\n4,5,6\n').feature_names == ("a\n\nz", "b")


def test_no_row_vanishes_where_quotes_hide_a_blank_line(read_file):
    text = 'a,s,y\n1,5" pipe,3\n\n7,8,9\n'
    with pytest.raises(InputError, match=r"target has 1 missing .* row 2"):
        read_file(text, roles={"ignore": ["s"]})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("3,2,3", "3,\0,3"), "line 5 holds a NUL byte"),
        ('a,b,y\n1,"2,3\n4,5,6\n', "every quote its end"),
        ("a,b,y\n1,2,3\n4,5,6,7\n", "as many cells"),
        ("a,y,y\n1,2,3\n", "--target 'y' is the name of 2 columns"),
        ("a,b,y\n1,2,3\n4,1e400,6\n", "infinite values.*b \\(1\\)|column b, row 2 holds '1e400'"),
        ("a,b,y\n1,2,3\n4,1e2147483648,6\n", "column b, row 2 holds '1e2147483648'"),  # a crash
        ("a,b,y\n1,2,3\n4,1e4294967300,6\n", "column b, row 2 holds '1e4294967300'"),  # as 1e4
        ("a,b,y\n1,2020-01-01,3\n", "column b holds dates"),
        ("a,,y\n1,,3\n", "1 of 2 columns: '' \\(1\\)"),
    ],
    ids=[
        "NUL",
        "quote",
        "ragged",
        "target twice",
        "inf",
        "exponent",
        "exponent beyond",
        "date",
        "no name",
    ],
)
def test_what_is_no_table_of_numbers_is_refused(text, says, read_file):
    with pytest.raises(InputError, match=says):
        read_file(text)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("True", "FALSE"), (1, 0)),
        (("1e3", "-.5"), (1000, -0.5)),
        (("9007199254740993", "1180591620717411303424"), (2.0**53, 2.0**70)),
        (('"1\n"', " 2 "), (1, 2)),
    ],
)
def test_numbers_are_read_however_they_are_spelled(cells, values, read_file):
    data = read_file(f"a,y\n{cells[0]},1\n{cells[1]},2\n")
    np.testing.assert_allclose(data.X[:, 0], values, rtol=3e-16)  # pandas 2.2 misses by one bit


# -- arrays --------------------------------------------------------------------------------

X, Y = np.arange(60.0).reshape(20, 3), np.arange(20.0)


def _npz(**arrays):
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)
    return held.getvalue()


def _npy(array):
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def _zipped(**entries):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in entries.items():
            archive.writestr(f"{name}.npy", data)
    return held.getvalue()


WHOLE = _npz(X=X, y=Y)
BAD_NPZ = {
    "cut": (WHOLE[:200], "only a part of one"),
    "changed": (WHOLE[:150] + b"zzzzzzzz" + WHOLE[158:], "cannot be read as npz: .*again"),
    "npy": (_npy(X), "not an archive of arrays.*numpy.savez"),
    "no array": (_zipped(X=b"hello"), "cannot be read as npz: .*again"),
    "scalar names": (_npz(X=X, y=Y, feature_names="abc"), "each of the 3 columns .* shape \\(\\)"),
    "few names": (_npz(X=X, y=Y, feature_names=["a"]), "each of the 3 columns .* shape \\(1,\\)"),
    "no X": (_npz(y=Y), "has no array 'X'; it holds y"),
    "no y": (_npz(X=X), "has no array 'y'; it holds X"),
    "long y": (_npz(X=X, y=X), "each of the 20 rows of X"),
    "complex": (_npz(X=X * 1j, y=Y), "X must be a matrix of numbers"),
}


@pytest.mark.parametrize("case", BAD_NPZ)
def test_an_archive_that_is_damaged_or_holds_something_else_is_refused(case, read_file):
    data, says = BAD_NPZ[case]
    with pytest.raises(InputError, match=rf"data\.npz.*{says}"):
        read_file(data, "data.npz")


def test_columns_of_arrays_can_be_ignored_by_name(read_file):
    data = read_file(WHOLE, "data.npz", roles={"ignore": ["x1"]})
    assert (data.feature_names, data.X.tolist()) == (("x0", "x2"), X[:, [0, 2]].tolist())
    data = read_file("1 1:5 3:6\n2 2:7\n", "data.svm", roles={"ignore": ["x2"]})
    assert (data.feature_names, data.X.toarray().tolist()) == (("x1", "x3"), [[5, 6], [0, 0]])
    with pytest.raises(InputError, match=r"--ignore 'x9' is not a column of data\.npz"):
        read_file(WHOLE, "data.npz", roles={"ignore": ["x9"]})


def test_a_libsvm_file_holds_no_groups(read_file):
    with pytest.raises(InputError, match=r"--groups 'g' is not a column of data\.svm; there are y"):
        read_file("1 1:5\n", "data.svm", roles={"groups": "g"})


# -- damage --------------------------------------------------------------------------------


def _feather(table, compression="zstd"):
    held = io.BytesIO()
    pa.feather.write_feather(table, held, compression=compression)
    return held.getvalue()


def test_arrow_files_and_streams_packed_or_not_hold_the_same(read_file, same):
    table = pa.Table.from_pandas(pd.read_csv(io.StringIO(GOOD)))
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    packed = [_feather(table, how) for how in ("uncompressed", "lz4", "zstd")]
    for data in (stream.getvalue(), *packed):
        found = read_file(data, "data.arrow")
        assert (found.X.tolist(), found.y.tolist()) == same


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_an_arrow_file_with_any_bytes_changed_is_read_or_refused_in_words(compression, read_file):
    whole = _feather(pa.table({"a": Y, "y": Y}), compression)
    for at in range(8, len(whole), 41):
        with suppress(InputError):
            read_file(whole[:at] + b"\xff\x7f\x01" + whole[at + 3 :], "data.feather")
