"""Missing and infinite values are refused, or rows or columns that hold some are left out."""

import pytest

from ksupport._common.errors import InputError

TABLES = {
    "data.csv": "x1,x2,x3,y\n1,2,3,4\n5,nan,7,8\n9,1,inf,2\n3,4,5,\n",
    "data.svm": "4 1:1 2:2 3:3\n8 1:5 2:nan 3:7\n2 1:9 2:1 3:inf\nnan 1:3 2:4 3:5\n",
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("policy", "X", "y"),
    [("drop-rows", [[1, 2, 3]], [4]), ("drop-columns", [[1], [5], [9]], [4, 8, 2])],
)
def test_rows_or_columns_with_holes_are_left_out(name, policy, X, y, read_file):
    data = read_file(TABLES[name], name, missing=policy)
    found = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    assert (found.tolist(), data.y.tolist()) == (X, y)
    assert "1 row without a finite target was left out." in data.remarks


@pytest.mark.parametrize("name", TABLES)
def test_holes_are_refused_with_where_they_are_and_what_to_do(name, read_file):
    text = TABLES[name].replace("4,5,\n", "4,5,6\n").replace("nan 1:3", "6 1:3")
    says = (
        r"2 missing .* in 2 of 4 rows and 2 of 3 columns: x2 \(1\), x3 \(1\).*--missing drop-rows"
    )
    with pytest.raises(InputError, match=says):
        read_file(text, name)


@pytest.mark.parametrize("policy", ["refuse", "drop-rows", "drop-columns"])
def test_a_target_without_any_value_is_refused(policy, read_file):
    with pytest.raises(InputError, match=r"the target of data\.csv has no finite value"):
        read_file("a,y\n1,\n2,\n", missing=policy)
