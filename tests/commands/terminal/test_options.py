"""Options on reading are checked before anything is read."""

import inspect

import pytest

from ksupport._common.errors import InputError
from ksupport.commands.terminal.options import CheckedReading, reads_a_file
from ksupport.reading.options import how_to_read

GIVEN = {"separator": None, "decimal": ".", "thousands": None, "max_memory": 1.0}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 0.0])
def test_the_memory_is_a_number_above_0(value):
    with pytest.raises(InputError, match=rf"--max-memory must be .* above 0.*; got {value:g}$"):
        how_to_read(**GIVEN | {"max_memory": value})


@pytest.mark.parametrize("option", ["separator", "decimal", "thousands"])
@pytest.mark.parametrize("mark", ["", ",,", "5", "e", "-", '"', "\n"])
def test_a_mark_is_one_character_that_is_no_part_of_a_number(option, mark):
    with pytest.raises(InputError, match=f"--{option} must be one character"):
        how_to_read(**GIVEN | {option: mark})


@pytest.mark.parametrize(
    ("first", "second"),
    [("decimal", "separator"), ("decimal", "thousands"), ("separator", "thousands")],
)
def test_marks_differ(first, second):
    given = GIVEN | {"decimal": "."} | {first: ",", second: ","}
    with pytest.raises(InputError, match=f"--{first} and --{second} must differ; both are ','"):
        how_to_read(**given)


@pytest.mark.parametrize("typed", ["\\t", "tab", "\t"])
def test_a_tab_can_be_typed(typed):
    assert how_to_read(**GIVEN | {"separator": typed}).separator == "\t"


def test_separators_and_decimal_points_are_ascii_but_thousands_may_have_a_thin_space():
    assert how_to_read(**GIVEN | {"thousands": "\u202f"}).marks.thousands == "\u202f"
    for option in ("separator", "decimal"):
        with pytest.raises(InputError, match=f"--{option} must be an ASCII character; got '§'"):
            how_to_read(**GIVEN | {option: "§"})


def test_a_command_takes_the_options_in_place_of_one_and_says_when_to_check_them():
    seen = []

    @reads_a_file
    def command(data: str, *, reading: CheckedReading, seed: int = 0) -> None:
        seen.append((data, reading, seed))

    options = ["separator", "decimal", "thousands", "encoding", "missing", "na", "duplicates"]
    options += ["sheet", "transpose", "phenotypes", "phenotypes_sheet", "max_memory"]
    assert list(inspect.signature(command).parameters) == ["data", *options, "seed"]
    command("rows.csv", missing="guess", decimal=",", seed=3)
    ((data, reading, seed),) = seen
    assert (data, seed) == ("rows.csv", 3)
    with pytest.raises(InputError, match=r"--missing must be one of .*; got 'guess'"):
        reading()
