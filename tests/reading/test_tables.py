"""Columns have one part each; predictions and groups belong to their rows."""

import hashlib

import numpy as np
import pytest

from ksupport._common.errors import InputError
from ksupport.reading import Columns, read_rows
from ksupport.reading.options import how_to_read

READING = how_to_read(max_memory=1.0)


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        ({"target": "y", "ignore": ["y"]}, "--target and --ignore both name the column 'y'"),
        ({"target": "y", "groups": "y"}, "--target and --groups both name the column 'y'"),
        ({"groups": "g", "ignore": ["g"]}, "--groups and --ignore both name the column 'g'"),
        ({"ignore": ["a", "b", "a"]}, "--ignore and --ignore both name the column 'a'"),
    ],
)
def test_a_column_has_one_part_only(roles, says):
    with pytest.raises(InputError, match=says):
        Columns(**roles)


def test_a_column_to_ignore_that_is_not_there_is_named(read_file):
    with pytest.raises(InputError, match=r"--ignore 'z' is not a column of data\.csv"):
        read_file("a,y\n1,2\n", roles={"ignore": ["z"]})


def test_rows_without_a_label_are_in_no_group(read_file):
    with pytest.raises(InputError, match=r"--groups 'g' has no label in 1 row.*row 2; fill"):
        read_file("a,g,y\n1,u,2\n3,,4\n", roles={"groups": "g"})


def test_the_digest_is_of_the_bytes_that_were_read(read_file, tmp_path):
    data = read_file("a,y\n1,2\n")
    (tmp_path / "data.csv").write_text("something else")
    assert data.sha256 == hashlib.sha256(b"a,y\n1,2\n").hexdigest()


def test_predictions_line_up_with_rows_or_the_blank_line_is_named(tmp_path):
    file = tmp_path / "new.csv"
    file.write_text("b,a\n1,2\n3,4\n\n")
    assert read_rows(file, ["a", "b"], READING).X.tolist() == [[2, 1], [4, 3]]
    file.write_text("b,a\n1,2\n\n3,4\n")
    with pytest.raises(InputError, match="line 3 is blank"):
        read_rows(file, ["a", "b"], READING)


def test_columns_of_a_libsvm_file_come_in_the_order_asked_for_and_absent_ones_are_zero(tmp_path):
    file = tmp_path / "new.svm"
    file.write_text("1 1:5 3:6\n2 2:7\n")
    found = read_rows(file, ["x3", "x9", "x1"], READING).X
    np.testing.assert_array_equal(found, [[6, 0, 5], [0, 0, 0]])


def test_a_table_is_told_from_its_bytes_to_its_numbers(read_file, heard):
    rows = "".join(f"{i % 99},{i}\n" for i in range(100_000))  # more than a parser takes at once
    read_file(f"a,y\n{rows}")
    assert [phase.name for phase in heard.over][-1] == "reading data.csv"
    assert heard.shares("from disk") == heard.shares("parsing") == [1.0]
    assert heard.shares("turning cells into numbers")
