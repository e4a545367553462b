"""Encodings, separators, missing values, names that recur, ids and arrays."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

import ksupport
from ksupport._common.errors import InputError
from ksupport.reading.cells import look_like_ids
from ksupport.reading.duplicates import Duplicates, resolve_duplicates
from ksupport.reading.size import Budget
from ksupport.reading.source import open_source
from ksupport.reading.spreadsheets import from_spreadsheet

ROWS = [[5.5, 2.0, 1.5], [1.25, 9.0, 2.5], [7.0, 3.5, 4.0], [2.0, 8.5, 5.5]]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "  "])
@pytest.mark.parametrize("name", ["d.csv", "d.txt", "d.tsv"])
def test_the_separator_is_found_out_whatever_the_file_is_called(separator, name, tmp_path):
    lines = [["a", "b", "y"], *ROWS]
    text = "\n".join(separator.join(map(str, line)) for line in lines)
    (tmp_path / name).write_text(text)
    assert ksupport.read(tmp_path / name, "y").X.tolist() == [row[:2] for row in ROWS]


def test_commas_in_cells_and_in_decimals_separate_nothing(tmp_path):
    (tmp_path / "d.txt").write_text('"a, b";c;y\n1,5;2,5;3,5\n7,5;2,5;1,5\n')
    data = ksupport.read(tmp_path / "d.txt", "y", decimal=",")
    assert (data.feature_names, data.X.tolist()) == (("a, b", "c"), [[1.5, 2.5], [7.5, 2.5]])


def test_tables_of_r_name_their_rows_in_a_column_without_a_name(tmp_path):
    (tmp_path / "d.txt").write_text('"g1" "g2" "y"\n"s1" 1 5 3\n"s2" 2 1 4\n"s3" 2 2 7\n')
    data = ksupport.read(tmp_path / "d.txt", "y")
    assert (data.ids.tolist(), data.feature_names) == (["s1", "s2", "s3"], ("g1", "g2"))


@pytest.mark.parametrize(
    ("encoding", "given"),
    [("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("utf-32", None), ("cp1252", None),
     ("latin-1", None), ("cp1250", "cp1250"), ("utf-16-le", "utf-16-le")],
)  # fmt: skip
def test_text_is_read_in_its_encoding(encoding, given, tmp_path):
    name = "größe" if given != "cp1250" else "łódź"
    (tmp_path / "d.csv").write_text(f"{name},b,y\n1,2,3\n4,5,7\n", encoding=encoding)
    data = ksupport.read(tmp_path / "d.csv", "y", encoding=given)
    assert data.feature_names == (name, "b")


def test_a_guessed_encoding_is_told(tmp_path):
    (tmp_path / "d.csv").write_bytes("größe,y\n1,2\n3,5\n".encode("latin-1"))
    assert "Windows-1252" in ksupport.read(tmp_path / "d.csv", "y").remarks[0]
    with pytest.raises(InputError, match=r"encoding must be an encoding .* got 'latin-99'"):
        ksupport.read(tmp_path / "d.csv", "y", encoding="latin-99")


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_what_stands_for_missing_values_may_be_named(kind, tmp_path):
    frame = pd.DataFrame(
        {"a": ["1.5", "n.d.", "2.5"], "b": ["<0.5", "3", "4"], "c": [1, -9, 2], "y": [1, 2, 4]}
    )
    getattr(frame, f"to_{'excel' if kind == 'xlsx' else kind}")(tmp_path / f"d.{kind}", index=False)
    na = ["n.d.", "<0.5", "-9"]
    data = ksupport.read(tmp_path / f"d.{kind}", "y", na=na, missing="impute")
    assert np.isnan(data.X.values).tolist() == [
        [False, True, False], [True, False, True], [False, False, False]
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"holds 'n\.d\.'"):
        ksupport.read(tmp_path / f"d.{kind}", "y", na=na[1:], missing="impute")


X = np.array([[1.0, 10.0, 3.0], [3.0, 10.0, 9.0], [5.0, 10.0, 3.0]])


@pytest.mark.parametrize(
    ("way", "names", "values"),
    [
        ("mean", ["g", "h"], np.c_[(X[:, 0] + X[:, 2]) / 2, X[:, 1]]),
        ("max-variance", ["g", "h"], X[:, [2, 1]]),
        ("suffix", ["g", "h", "g.1"], X),
    ],
)
def test_columns_that_share_a_name_become_one_or_are_told_apart(way, names, values):
    found, merged_X, duplicates = resolve_duplicates(["g", "h", "g"], X, way, "d.csv")
    assert (found, merged_X.tolist()) == (names, values.tolist())
    again = Duplicates.from_dict(duplicates.to_dict())
    new = X[::-1] + 1.0
    there, new_X = again.merge_again(again.rename(["g", "h", "g"]), new, "new.csv")
    expected = (
        resolve_duplicates(["g", "h", "g"], new, way, "new.csv")[1]
        if way != "max-variance"
        else None
    )
    assert there == names
    assert np.array_equal(new_X, new[:, [2, 1]] if expected is None else expected)


def test_the_mean_of_copies_is_over_what_is_there():
    holes = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 4.0]])
    _, out, _ = resolve_duplicates(["g", "g"], holes, "mean", "")
    np.testing.assert_array_equal(out[:, 0], [1.0, np.nan, 3.0])


def test_a_name_that_recurs_is_no_target(tmp_path):
    (tmp_path / "d.csv").write_text("a,y,y\n1,2,3\n2,1,5\n")
    with pytest.raises(InputError, match="target 'y' is the name of 2 columns"):
        ksupport.read(tmp_path / "d.csv", "y", duplicates="mean")


def test_columns_that_number_the_rows_are_asked_about_and_measurements_are_not():
    rng = np.random.default_rng(0)
    n = 30
    columns = {
        "index": np.arange(n),
        "year": 1990.0 + np.sort(rng.choice(99, n, replace=False)),
        "patient_id": rng.permutation(n) + 1000,
        "count": rng.poisson(50, n),
        "all_different": rng.permutation(n),
        "sorted": np.sort(rng.standard_normal(n)),
        "constant": np.ones(n),
    }
    table = np.column_stack(list(columns.values())).astype(float)
    asked = [str(each) for each in look_like_ids(list(columns), table)]
    assert [each.split()[1] for each in asked] == ["index", "year", "patient_id"]
    assert not list(look_like_ids(list(columns), table, kept=["index", "year", "patient_id"]))


def test_genes_in_order_by_chance_are_not_asked_about():
    counts = np.random.default_rng(0).poisson(30, (5, 20_000)).astype(float)
    in_order = (np.diff(counts, axis=0) > 0).all(axis=0)
    assert in_order.sum() > 10
    assert not list(look_like_ids([f"g{j}" for j in range(20_000)], counts))


def test_arrays_without_names_bring_x_and_y(tmp_path):
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    np.save(tmp_path / "X.npy", A)
    np.save(tmp_path / "y.npy", y)
    data = ksupport.read(tmp_path / "X.npy", phenotypes=tmp_path / "y.npy")
    assert np.array_equal(data.X, A)
    assert np.array_equal(data.y, y)
    inside = ksupport.read(tmp_path / "X.npy", "x1")
    assert (inside.feature_names, inside.y.tolist()) == (("x0", "x2"), A[:, 1].tolist())
    np.save(tmp_path / "y.npy", y[:4])
    with pytest.raises(InputError, match="one entry for each of the 6 rows"):
        ksupport.read(tmp_path / "X.npy", phenotypes=tmp_path / "y.npy")


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros(3), "must be a matrix"),
        (np.array([["a"]]), "must be of numbers"),
        (np.array([[None]], object), "cannot be read as npy"),
    ],
)
def test_an_array_that_is_no_matrix_of_numbers_is_refused(array, says, tmp_path):
    np.save(tmp_path / "X.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=says):
        ksupport.read(tmp_path / "X.npy", "x0")


def test_tables_are_written_as_their_names_say(tmp_path):
    from ksupport.commands.terminal.outputs import as_csv, check_table, write_table

    rows = [["name", "value"], ["=1+1", 0.1], ["b\x00", None]]
    for name in ("t.csv", "t.tsv", "t.xlsx"):
        write_table(tmp_path / name, rows)
    book = pd.read_excel(tmp_path / "t.xlsx", engine="openpyxl")
    assert book.name.tolist() == ["=1+1", "b"]
    assert book.value.iloc[0] == 0.1
    assert pd.read_csv(io.StringIO(as_csv(rows))).name.iloc[0] == "'=1+1"
    assert (tmp_path / "t.tsv").read_text().startswith("name\tvalue")
    with pytest.raises(InputError, match=r"--output t.ods: a table is written as CSV"):
        check_table("--output", tmp_path.__class__("t.ods"))


def test_a_cell_in_the_last_corner_of_a_sheet_takes_no_memory(tmp_path):
    """Readers of spreadsheets make all cells between the first and the last one."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.cell(1_048_576, 16_384).value = 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(InputError, match=r"far\.xlsx would take about 687\.2 GB of memory"):
        ksupport.read(tmp_path / "far.xlsx", "y")


def test_cells_that_are_stored_once_for_many_are_counted(tmp_path):
    """LibreOffice repeats cells and rows; empty ones after the last value take no memory."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    one = '<table:table-cell office:value-type="float" office:value="1" {}/>'
    row = "<table:table-row {}>{}</table:table-row>"
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )

    def write(name, *rows):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            archive.writestr("META-INF/manifest.xml", "<manifest/>")
            archive.writestr(
                "content.xml",
                f"<office:document-content {spaces}><office:body><office:spreadsheet>"
                f'<table:table table:name="S">{"".join(rows)}</table:table>'
                "</office:spreadsheet></office:body></office:document-content>",
            )
        return path

    names = row.format("", cell.format("y") + cell.format("g"))
    many = "table:number-columns-repeated='16384'"
    bomb = row.format('table:number-rows-repeated="1000000"', one.format(many))
    with pytest.raises(InputError, match=r"bomb\.ods would take about 1638\.4 GB of memory"):
        ksupport.read(write("bomb.ods", names, bomb), "y")
    empty = row.format('table:number-rows-repeated="1048000"', f"<table:table-cell {many}/>")
    rows = [row.format("", one.format("") + one.format("")) for _ in range(5)]
    frame, _ = from_spreadsheet(
        open_source(write("plain.ods", names, *rows, empty), Budget(1.0)), None, Budget(1.0)
    )
    assert frame.shape == (5, 2)
