"""What the page is told of a file: parts of columns, problems, and ways to mend them."""

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")

from ksupport.app import desk
from ksupport.app.choices import Choices
from ksupport.app.examples import EXAMPLES


def look(path, choices=None, search=""):
    return desk.inspect(str(path), None if choices is None else choices.to_dict(), search)


def apply_settings(path, seen):
    """The file again, after a click on the first way of each problem."""
    for _ in range(20):
        ways = [problem["ways"][0] for problem in seen["problems"] if problem["ways"]]
        if not ways:
            return seen
        choices = Choices.from_dict(seen["choices"])
        settings = [tuple(each) for each in ways[0]["settings"]]
        seen = look(path, choices.apply_settings(settings))
    raise AssertionError(seen["problems"])


@pytest.mark.parametrize(
    ("name", "kind", "parts"),
    [
        ("numbers", "numbers", {"plant": "id", "yield": "target"}),
        ("classes", "classes", {"diagnosis": "target"}),
        ("three", "classes", {"class": "target"}),
        (
            "survival",
            "survival",
            {"patient": "id", "time": "time", "event": "event", "age": "adjust-for",
             "sex": "adjust-for"},
        ),
    ],
)  # fmt: skip
def test_examples_are_understood_at_once(name, kind, parts, tmp_path):
    seen = look(desk.example(name, str(tmp_path))["path"])
    assert seen["ready"]
    assert seen["response"] == kind
    assert seen["choices"]["parts"] == parts
    assert seen["problems"] == []


def test_every_example_is_there(tmp_path):
    for name, example in EXAMPLES.items():
        path = desk.example(name, str(tmp_path))["path"]
        assert path.endswith(example.file)


def test_the_broken_example_tells_all_and_clicks_mend_it(tmp_path):
    path = desk.example("broken", str(tmp_path))["path"]
    seen = look(path)
    assert not seen["ready"]
    words = [problem["words"] for problem in seen["problems"]]
    for part in ("'n.d.'", "'<0.1'", "Column no counts the rows", "missing or infinite"):
        assert sum(part in each for each in words) == 1
    assert "--" not in "".join(words)  # nobody is asked to type
    marked = {column["name"] for column in seen["table"]["shown"] if column["problems"]}
    assert {"gene3", "gene4", "gene5", "no"} <= marked
    assert [3, "gene3"] in seen["table"]["cells_wrong"]
    after = apply_settings(path, seen)
    assert after["ready"]
    assert after["choices"]["missing"] == "impute"


def test_a_response_that_nobody_can_guess_is_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2,4\n2,5,1\n3,1,7\n4,4,1\n")
    seen = look(path)
    assert not seen["ready"]
    assert "response" in seen["problems"][0]["words"]
    chosen = look(path, Choices().with_part("c", "target"))
    assert chosen["ready"]
    assert chosen["table"]["parts"] == {"c": "target"}


def test_values_that_mean_an_event_are_offered(tmp_path):
    path = tmp_path / "s.csv"
    rows = "\n".join(f"{i + 1},{'dead' if i % 2 else 'alive'},{i * 7 % 5}.5" for i in range(12))
    path.write_text(f"time,status,x\n{rows}\n")
    seen = look(path)
    assert seen["choices"]["parts"] == {"time": "time", "status": "event"}
    labels = [way["label"] for problem in seen["problems"] for way in problem["ways"]]
    assert labels[:2] == ["The event is dead", "The event is alive"]
    after = apply_settings(path, seen)
    assert after["ready"]
    assert after["choices"]["event_value"] == "dead"


def test_a_sheet_with_the_response_is_offered(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    names = [f"S{i}" for i in range(10)]
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        genes = pd.DataFrame({"sample": names, "g1": range(10), "g2": [1.5, 2.5] * 5})
        genes.to_excel(book, sheet_name="genes", index=False)
        about = pd.DataFrame({"sample": names, "dose": [0.3 * i * i for i in range(10)]})
        about.to_excel(book, sheet_name="samples", index=False)
    seen = look(path)
    assert seen["sheets"] == ["genes", "samples"]
    beside = Choices(beside_sheet="samples").with_part("dose", "target")
    found = look(path, beside.with_part("g1", "keep"))
    assert found["ready"], found["problems"]
    assert found["features"] == 2


def test_a_wide_table_is_shown_in_part_and_searched(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"g{j}" for j in range(500)]
    path.write_text("\n".join([",".join(["y", *names]), *(",".join(["1.5"] * 501) for _ in "abc")]))
    table = look(path)["table"]
    assert table["columns"] == 501
    assert len(table["shown"]) == 24
    assert table["shown"][0]["name"] == "y"
    assert [each["name"] for each in look(path, Choices(), "g49")["table"]["shown"]] == [
        "g49", *(f"g49{j}" for j in range(10))
    ]  # fmt: skip


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path):
    path = tmp_path / "x.xlsx"
    path.write_bytes(b"no book")
    seen = look(path)
    assert seen["table"] is None
    assert len(seen["problems"]) == 1
    assert "cannot be read as a spreadsheet" in seen["problems"][0]["words"]


def test_the_command_that_is_told_makes_the_same_model(tmp_path):
    """The page and the command line agree to the last digit."""
    import json
    import shlex

    from typer.testing import CliRunner

    from ksupport.cli import program

    page = tmp_path / "page"
    page.mkdir()
    path = desk.example("numbers", str(tmp_path))["path"]
    seen = look(path)
    done = desk.fit(path, seen["choices"], str(page), False, lambda words: None)
    _, _, file, *options = shlex.split(done["command"])
    model = tmp_path / "model.json"
    outcome = CliRunner().invoke(
        program({"fit"}), ["fit", path, *options, "--no-compare", "--output", str(model)]
    )
    assert outcome.exit_code == 0, outcome.output
    ours, theirs = json.loads((page / desk.MODEL).read_text()), json.loads(model.read_text())
    ours.pop("made", None), theirs.pop("made", None)
    assert ours == theirs
    again = desk.predict(path, seen["choices"], str(page))
    assert again["rows"] == 80
    assert again["head"][0][0] == "plant"
    assert (page / desk.PREDICTIONS).read_text().count("\n") == 81
