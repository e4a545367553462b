"""What is chosen on the page is what the command line and the reader are given."""

import shlex

import pytest

from ksupport.app.choices import Choices, label_of, on_page
from ksupport.app.session import safe_name, save_uploads


def test_only_one_column_is_the_response():
    choices = Choices().with_part("a", "target").with_part("b", "target")
    assert choices.parts == {"b": "target"}
    survival = choices.with_part("t", "time").with_part("e", "event")
    assert survival.parts == {"t": "time", "e": "event"}
    assert survival.with_part("a", "target").parts == {"a": "target"}


def test_several_columns_are_covariates_and_one_is_made_a_feature_again():
    choices = Choices().with_part("age", "adjust-for").with_part("sex", "adjust-for")
    assert choices.columns_with("adjust-for") == ["age", "sex"]
    assert choices.with_part("age", "feature").parts == {"sex": "adjust-for"}


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ([("na", "n.d."), ("na", "<1")], "--na n.d. --na '<1'"),
        ([("missing", "impute")], "--missing impute"),
        ([("decimal", ",")], "--decimal ,"),
        ([("ignore", "my id")], "--ignore 'my id'"),
        ([("keep", "no")], "--keep no"),
        ([("event", "status=dead"), ("time", "t")], "--event status=dead --time t"),
        ([("transpose", None)], "--transpose"),
        ([("phenotypes", "book.xlsx:who")], "--phenotypes data.xlsx --phenotypes-sheet who"),
        ([("classification", None)], "--classification"),
    ],
)
def test_the_command_has_the_options_that_mend(settings, options, tmp_path):
    command = Choices().apply_settings(settings).command(tmp_path / "data.xlsx")
    assert shlex.split(command) == ["ksupport", "fit", "data.xlsx", *shlex.split(options)]


def test_the_reader_is_given_the_same(tmp_path):
    choices = Choices().apply_settings(
        [("event", "s=dead"), ("time", "t"), ("na", "x"), ("keep", "no")]
    )
    columns, reading = choices.columns(), choices.read_options(tmp_path / "a.csv")
    assert (columns.time, columns.event, columns.keep) == ("t", "s=dead", ("no",))
    assert reading.na == ("x",)
    assert Choices.from_dict(choices.to_dict()) == choices


def test_an_option_that_the_page_does_not_know_is_not_ignored():
    with pytest.raises(KeyError):
        Choices().apply_settings([("colour", "red")])


def test_words_name_what_can_be_clicked():
    assert on_page("ignore", "age") == "‘Left out’ for age"
    assert on_page("missing", "impute") == "‘Missing values: fill in means’"
    assert label_of([("ignore", "a"), ("ignore", "b")]) == "Leave out a, b"
    assert label_of([("na", "n.d.")]) == "Treat n.d. as missing"
    assert label_of([("event", "status=dead")]) == "The event is dead"


@pytest.mark.parametrize(
    "name",
    ["../../x.csv", "/etc/x.csv", "..\\..\\x.csv", "C:\\x.csv", "x.csv\0", "a:b.xlsx", "...", "",
     "x" * 500 + ".csv", "~/x.csv", "-x.csv", "\u202ecsv.x", "nul.csv"],
)  # fmt: skip
def test_an_upload_stays_in_its_folder_whatever_it_is_called(name, tmp_path):
    sent = tmp_path / "0.csv"
    sent.write_text("a,b\n")
    folder = tmp_path / "page"
    folder.mkdir()
    path = save_uploads([{"name": name, "datapath": str(sent)}], folder)
    assert path.resolve().parent.parent == folder.resolve()
    assert path.read_text() == "a,b\n"
    assert safe_name(safe_name(name)) == safe_name(name)
    assert len(path.name) <= 101


def test_of_the_files_of_plink_the_bed_is_read(tmp_path):
    sent = []
    for at, suffix in enumerate(("fam", "bed", "bim")):
        path = tmp_path / f"{at}.{suffix}"
        path.write_text(suffix)
        sent.append({"name": f"g.{suffix}", "datapath": str(path)})
    found = save_uploads(sent, tmp_path)
    assert found.name == "g.bed"
    assert sorted(each.name for each in found.parent.iterdir()) == ["g.bed", "g.bim", "g.fam"]
