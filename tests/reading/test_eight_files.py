"""Eight files as people have them: each from the file to a fit in at most two commands.

What is wrong with a file is told in one answer, and the options that it names mend it.
"""

import shlex

import numpy as np
import pandas as pd
import pytest

from .eight_files import (
    D,
    N,
    decimal_commas,
    duplicates,
    ids,
    latin,
    not_determined,
    numbers,
    tabs,
    three_classes,
    two_sheets,
)

pytest.importorskip("typer")
pytest.importorskip("python_calamine")

MENDED = "To mend what options can mend: "


@pytest.fixture(scope="module")
def table():
    return numbers()


@pytest.fixture
def command(tmp_path, monkeypatch):
    """``ksupport fit`` in a folder of its own: exit code and all that was said."""
    from typer.testing import CliRunner

    from ksupport.cli import program

    monkeypatch.chdir(tmp_path)
    fit = program({"fit"})

    def run(*words):
        done = CliRunner().invoke(fit, ["fit", *map(str, words)])
        return done.exit_code, " ".join(done.output.split()), done.output

    return run


SURE = (tabs, latin, three_classes)  # no question is left open: one command
ASKED = {
    two_sheets: ["sheet samples has it", "column sample holds text that is different in each row"],
    decimal_commas: ["give --decimal ','"],
    duplicates: ["1 name(s) of features occur more than once: gene0", "--duplicates max-variance"],
    ids: ["--id name", "column visit holds dates", "column nr counts the rows", "--keep nr"],
    not_determined: [
        "holds 'n.d.' (there are 2 such cells in 2 columns (gene2, gene8))",
        "holds '<0.5', a value below",
        "3 missing or infinite values",
    ],
}


@pytest.mark.parametrize("write", SURE, ids=lambda write: write.__name__)
def test_a_file_without_doubts_is_read_at_once(write, table, command):
    code, said, _ = command(write(table), "--target", "y", "--dry-run")
    assert (code, f"{N} rows, {D} features" in said) == (0, True)


@pytest.mark.parametrize("write", ASKED, ids=lambda write: write.__name__)
def test_one_answer_tells_all_problems_and_its_options_mend_them(write, table, command):
    file = write(table)
    code, said, lines = command(file, "--target", "y", "--dry-run")
    assert code == 2
    for words in ASKED[write]:
        assert words in said
    options = [line.removeprefix(MENDED) for line in lines.splitlines() if MENDED in line]
    mends = shlex.split(options[0]) if options else _named_in(said)
    code, said, _ = command(file, "--target", "y", *mends, "--dry-run")
    assert (code, f"{N} rows" in said) == (0, True)


def _named_in(said):
    """The first options of an answer with one problem."""
    for words in ("--decimal ','", "--duplicates mean"):
        if words in said:
            return shlex.split(words)
    raise AssertionError(said)


def test_all_that_is_wrong_with_a_file_is_told_at_once(table, command):
    cells = table.map(lambda value: str(value).replace(".", ","))
    cells.loc[3, "gene2"], cells.loc[5, "gene2"], cells.loc[7, "gene4"] = "n.d.", "<0,5", ""
    cells = cells.assign(nr=range(1, N + 1), site=np.resize(["north", "süd"], N))
    names = ["gene0" if name == "gene7" else name for name in cells.columns]
    cells = cells.set_axis(names, axis=1).rename(columns={"y": "Response"})
    cells.to_csv("data.txt", sep=";", index=False, encoding="latin-1")
    code, said, _ = command("data.txt", "--target", "response", "--adjust-for", "age", "--dry-run")
    assert code == 2
    for words in (
        "data.txt has 9 problems:",
        "give --decimal ','",
        "'response' is not a column of data.txt; did you mean Response?",
        "--adjust-for 'age' is not a column",
        "'n.d.'",
        "'<0,5', a value below",
        "column site holds text (north, süd)",
        "column nr counts the rows",
        "more than once: gene0",
        "3 missing or infinite values",
        "--na n.d. --na '<0,5' --ignore site --ignore nr --duplicates mean --missing impute",
    ):
        assert words in said


def test_a_fit_from_two_sheets_finds_the_two_genes(table, command, tmp_path):
    two_sheets(table)
    code, said, _ = command(
        "book.xlsx:expression", "--phenotypes", "book.xlsx", "--phenotypes-sheet", "samples",
        "--target", "y", "--no-compare", "--coefficients", "found.csv", "--table", "all.xlsx",
        "--ranked", "all.rnk",
    )  # fmt: skip
    assert code == 0, said
    everything = pd.read_excel("all.xlsx", engine="calamine")
    assert len(everything) == D
    assert set(everything.name[:2]) == {"gene0", "gene5"}
    assert {"slope", "p value", "q value", "probability", "coefficient"} <= set(everything)
    assert len((tmp_path / "all.rnk").read_text().splitlines()) == D
    assert set(pd.read_csv("found.csv").feature) == {"gene0", "gene5"}
