"""Cells are numbers as they were meant, or are named with the options that make them so."""

import pandas as pd
import pytest

from ksupport._common.errors import InputError
from ksupport.reading.cells import Marks
from ksupport.reading.not_numbers import numbers


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("1,234", "--thousands ',' if it means 1234, or --decimal ',' if it means 1.234"),
        ("1,234,567.5", "; give --thousands ',' if it means 1234567.5"),
        ("1,5", "; give --decimal ',' if it means 1.5"),
        ("-1.234,5", "; give --decimal ',' --thousands '.' if it means -1234.5"),
        ("1'234", '; give --thousands "\'" if it means 1234'),
        ("1 234,5", "; give --decimal ',' --thousands ' ' if it means 1234.5"),
        ("12,34,56", "or leave the column out with --ignore"),
        ("high", "or leave the column out with --ignore"),
        ("１２", "or leave the column out with --ignore"),
        ("2020-01-01", "or leave the column out with --ignore"),
        ("1e2147483648", "or leave the column out with --ignore"),  # pandas reads on elsewhere
        ("1e4294967300", "or leave the column out with --ignore"),  # and here from 0 on
    ],
)
def test_a_cell_that_is_no_number_is_named_with_the_options_that_make_it_one(cell, says):
    with pytest.raises(InputError) as caught:
        numbers(pd.DataFrame({"a": ["5", cell]}), "data.csv", Marks())
    assert f"data.csv: column a, row 2 holds {cell!r}, which is not a number" in str(caught.value)
    assert str(caught.value).endswith(says)


@pytest.mark.parametrize(
    ("marks", "cell", "value"),
    [
        (Marks(".", ","), "1,234", 1234),
        (Marks(".", ","), "-1,234,567.5", -1234567.5),
        (Marks(","), "1,234", 1.234),
        (Marks(",", "."), "1.234,5", 1234.5),
        (Marks(",", "."), "7", 7),
        (Marks(".", " "), "1 234", 1234),
    ],
)
def test_the_options_say_which_number_is_meant(marks, cell, value):
    assert numbers(pd.DataFrame({"a": ["5", cell]}), "", marks).tolist() == [[5], [value]]


@pytest.mark.parametrize(
    ("marks", "cell"),
    [(Marks(".", ","), "1,5"), (Marks(","), "1.5"), (Marks(",", "."), "1.5")],
)
def test_digits_that_stand_otherwise_than_the_options_say_are_no_number(marks, cell):
    with pytest.raises(InputError, match="is not a number"):
        numbers(pd.DataFrame({"a": ["5", cell]}), "", marks)


def test_text_numbers_and_categories_keep_their_places_and_what_is_missing():
    frame = pd.DataFrame(
        {
            "text": ["1", None, "3"],
            "whole": [4, 5, 6],
            "category": pd.Categorical(["7", "8", "7"]),
            "counts": pd.Categorical([9, None, 9]),
            "flag": [True, False, True],
        }
    )
    expected = pd.DataFrame(
        [[1, 4, 7, 9, 1], [None, 5, 8, None, 0], [3, 6, 7, 9, 1]], dtype=float
    ).to_numpy()
    pd.testing.assert_frame_equal(pd.DataFrame(numbers(frame, "", Marks())), pd.DataFrame(expected))


def test_a_category_that_is_no_number_is_named_by_its_row():
    frame = pd.DataFrame({"c": pd.Categorical(["1", "1", "x"])})
    with pytest.raises(InputError, match="column c, row 3 holds 'x'"):
        numbers(frame, "", Marks())


def test_no_frame_is_made_anew_for_a_column_of_text(monkeypatch):
    """So that the time grows with the number of columns, not with its square."""

    def refuse(*args, **kwargs):
        raise AssertionError("a data frame was rebuilt")

    frame = pd.DataFrame({f"c{j}": ["1", "2"] for j in range(50)})
    for name in ("assign", "__setitem__"):
        monkeypatch.setattr(pd.DataFrame, name, refuse)
    assert numbers(frame, "", Marks()).tolist() == [[1.0] * 50, [2.0] * 50]
