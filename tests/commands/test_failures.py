"""What is wrong is said in one message, with what to do; nothing is written, no traceback shown."""

import gzip
import json
import os

import pytest

HELP = {
    "fit": ("--target", "--method", "--groups", "--stability", "--report", "--output", "--json"),
    "predict": ("MODEL", "DATA", "--output"),
    "check": ("--target", "--k", "--grouped"),
    "compare": ("--target", "--folds", "--methods"),
}


@pytest.mark.parametrize("command", HELP)
def test_help_names_the_options_and_the_exit_codes(command, run, tmp_path):
    done = run(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    for word in (*HELP[command], "Exit codes: 0 done, 1 could not be done"):
        assert word in done.stdout


def row(*cells):
    return ",".join(map(str, cells)) + "\n"


ROWS = (1, 0, *range(2, 20))  # in order they would be taken for numbers of rows
GOOD = row("a", "b", "y") + "".join(row(i, i * i % 7, i % 5) for i in ROWS)
BAD = {
    "unknown target": (GOOD, ("--target", "z"), ("--target 'z'", "a, b, y")),
    "nearly the target": (GOOD.replace("y\n", "yield\n", 1), ("--target", "yeild"), ("yield?",)),
    "no target": (GOOD, (), ("--target", "a, b, y")),
    "text": (
        GOOD.replace("3,2,3", "3,high,3"),
        ("--target", "y"),
        ("column b, row 4", "'high'", "--ignore"),
    ),
    "decimal comma": (
        "a;b;y\n" + "1,5;2;3\n" * 9,
        ("--target", "y", "--separator", ";"),
        ("column a, row 1", "--decimal ','"),
    ),
    "duplicates": (GOOD.replace("a,b,y", "a,a,y"), ("--target", "y"), ("more than once", "a.")),
    "empty": ("", ("--target", "y"), ("is empty",)),
    "blank": ("\n\n", ("--target", "y"), ("is empty",)),
    "only names": ("a,b,y\n", ("--target", "y"), ("no rows",)),
    "comment": (
        "# made by hand on a rainy day\n" + GOOD,
        ("--target", "y"),
        (
            "line 1 begins with '#'",
            "1 cells where line 2 has 3",
            "is a comment",
            "remove the lines",
        ),
    ),
    "comment with commas": (
        "# made by hand, today\n" + GOOD,
        ("--target", "y"),
        ("line 1 begins with '#'", "2 cells where line 2 has 3"),
    ),
    "ragged": (GOOD + "1,2,3,4\n", ("--target", "y"), ("as many cells",)),
    "k=0": (GOOD, ("--target", "y", "--k", "0"), ("--k must be at least 1", "got 0")),
    "k too large": (GOOD, ("--target", "y", "--k", "3"), ("--k", "2; got 3")),
    "alpha": (GOOD, ("--target", "y", "--alpha", "1"), ("--alpha", "between 0 and 1")),
    "method": (GOOD, ("--target", "y", "--method", "magic"), ("irksn-cv", "'magic'")),
    "option of another method": (
        GOOD,
        ("--target", "y", "--method", "omp", "--alpha", ".1"),
        ("--alpha does not apply to --method omp",),
    ),
    "missing values": (
        GOOD.replace("3,2,3", "3,,3").replace("5,4,0", ",,0"),
        ("--target", "y"),
        ("3 missing or infinite values, in 2 of 20 rows", "b (2), a (1)", "--missing drop-rows"),
    ),
    "missing targets": (
        GOOD.replace("3,2,3", "3,2,"),
        ("--target", "y"),
        ("target has 1", "row 4"),
    ),
    "missing option": (GOOD, ("--target", "y", "--missing", "guess"), ("drop-rows", "'guess'")),
    "unknown groups": (GOOD, ("--target", "y", "--groups", "site"), ("--groups 'site'",)),
    "target to ignore": (
        GOOD,
        ("--target", "y", "--ignore", "y"),
        ("--target and --ignore both name the column 'y'",),
    ),
    "too many pairs": (
        GOOD,
        ("--target", "y", "--stability", "99999999999999999999"),
        ("--stability", "100000"),
    ),
    "memory": (GOOD, ("--target", "y", "--max-memory", "nan"), ("--max-memory", "got nan")),
    "memory in words": (
        GOOD,
        ("--target", "y", "--max-memory", "lots"),
        ("--max-memory", "valid"),
    ),
    "thousands": (
        GOOD.replace("3,2,3", '"3,000",2,3'),
        ("--target", "y"),
        ("--thousands ',' if it means 3000, or --decimal ',' if it means 3",),
    ),
    "blank line": (GOOD.replace("3,2,3", "\n3,2,3"), ("--target", "y"), ("line 5 is blank",)),
    "too few rows": ("a,b,y\n1,2,3\n4,5,6\n", ("--target", "y"), ("at least 3 rows",)),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_exits_with_2_and_says_what_to_do(case, run, tmp_path):
    text, options, says = BAD[case]
    file = tmp_path / "data.csv"
    file.write_text(text)
    done = run("fit", file, *options, "--output", "model.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    for words in says:
        assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ("check", ("--k", 0), "--k must be at least 1"),
        ("check", ("--k", 99), "--k must be at most the number of features that vary, 2; got 99"),
        ("compare", ("--folds", 11), "--folds 11 needs at least 22 rows; got 20"),
        ("compare", ("--folds", 1), "--folds"),
    ],
    ids=["check k=0", "check k=99", "too many folds", "one fold"],
)
def test_other_commands_refuse_what_cannot_be(command, options, says, run, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(GOOD)
    done = run(command, file, "--target", "y", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["fit", "check", "compare"])
def test_a_missing_file_is_named(command, run, tmp_path):
    done = run(command, "nowhere.csv", "--target", "y", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere.csv does not exist" in done.stderr


def test_a_kind_of_file_that_nobody_knows_is_refused_with_the_known_ones(run, tmp_path):
    (tmp_path / "data.sas7bdat").write_bytes(b"PK")
    done = run("fit", "data.sas7bdat", "--target", "y", cwd=tmp_path)
    assert done.returncode == 2
    assert ".parquet" in done.stderr


MODEL = {
    "schema": "ksupport-model", "schema_version": 1, "target": "y", "intercept": 1.0,
    "features": [{"name": "a", "coefficient": 2.0}],
}  # fmt: skip


@pytest.mark.parametrize("command", ["fit", "check", "compare", "predict"])
def test_every_command_refuses_a_packed_file_that_was_cut(command, run, tmp_path):
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    (tmp_path / "model.json").write_text(json.dumps(MODEL))
    first = ("model.json", "data.csv.gz") if command == "predict" else ("data.csv.gz",)
    done = run(command, *first, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "data.csv.gz cannot be unpacked" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["data.npz", "data.parquet", "data.feather", "data.svm"])
def test_a_damaged_file_is_refused_in_words(name, run, tmp_path):
    (tmp_path / name).write_bytes(b"this is not what the name says")
    done = run("fit", name, "--target", "y", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{name} cannot be read as" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_huge_csv_is_refused_before_it_is_read(run, tmp_path):
    """The file has 3 GB by its length; no disk holds them."""
    file = tmp_path / "huge.csv"
    file.write_text(GOOD)
    os.truncate(file, 3_000_000_000)
    done = run("fit", file, "--target", "y", cwd=tmp_path)
    assert done.returncode == 2
    for words in ("3.0 GB", "--max-memory 2", "numpy.memmap"):
        assert words in done.stderr
