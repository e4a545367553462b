"""Outputs that would destroy an input or each other, or cannot be written, are refused at once."""

import json
import os
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest
import typer

from ksupport.commands.terminal.exit import CommandError

MODEL = {
    "schema": "ksupport-model", "schema_version": 1, "target": "y", "intercept": 1.0,
    "features": [{"name": "g0", "coefficient": 2.0}],
}  # fmt: skip
OUTPUTS = ("--output", "--coefficients", "--report")


def estimator_names(path):
    """The same file under other names."""
    hard, soft = path.with_name("hard"), path.with_name("soft")
    os.link(path, hard)
    soft.symlink_to(path.name)
    return [path, path.parent / "." / path.name, f"../{path.parent.name}/{path.name}", hard, soft]


def refused(done, *says):
    assert (done.returncode, done.stdout) == (2, "")
    for words in ("same file as", "give it another name", *says):
        assert words in done.stderr
    assert "fitting" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", OUTPUTS)
def test_the_data_are_never_replaced_under_any_name(option, run, small_csv):
    before = small_csv.read_bytes()
    for name in estimator_names(small_csv):
        done = run("fit", small_csv, "--target", "y", option, name, cwd=small_csv.parent)
        refused(done, f"{option} {name}", f"DATA {small_csv}")
    assert small_csv.read_bytes() == before


@pytest.mark.parametrize("pair", list(combinations(OUTPUTS, 2)), ids=" ".join)
def test_two_outputs_need_two_files(pair, run, small_csv):
    folder = small_csv.parent
    (folder / "link").symlink_to("new")  # to what is not there yet
    done = run("fit", small_csv, "--target", "y", pair[0], "new", pair[1], "link", cwd=folder)
    refused(done, *pair)
    assert not (folder / "new").exists()


def test_predictions_replace_neither_the_model_nor_the_data(run, small_csv):
    folder = small_csv.parent
    (folder / "model.json").write_text(json.dumps(MODEL))
    before = {each: each.read_bytes() for each in folder.iterdir()}
    for what, name in (("MODEL", "model.json"), ("DATA", "small.csv")):
        done = run("predict", "model.json", "small.csv", "--output", name, cwd=folder)
        refused(done, f"{what} {name}")
    assert {each: each.read_bytes() for each in folder.iterdir()} == before


@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize("name", ["no/such/file", ".", "small.csv/file", "x" * 300])
def test_an_output_that_cannot_be_written_is_known_before_the_fit(option, name, run, small_csv):
    done = run("fit", small_csv, "--target", "y", option, name, cwd=small_csv.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{name} cannot be written: " in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(small_csv.parent.iterdir()) == [small_csv]


def full(path, text):
    raise CommandError(f"{path} cannot be written: No space left on device")


def test_a_disk_that_fills_up_costs_no_other_file_and_no_words(small_csv, monkeypatch, capsys):
    module = import_module("ksupport.commands.fit")
    write = module.write_text
    monkeypatch.chdir(small_csv.parent)
    monkeypatch.setattr(
        module, "write_text", lambda path, text: (full if path.name == "m" else write)(path, text)
    )
    with pytest.raises(typer.Exit):
        module.fit(
            small_csv, target="y", stability=0,
            output=Path("m"), report=Path("r.html"), coefficients=Path("c.csv"),
        )  # fmt: skip
    told = capsys.readouterr()
    assert "Error: m cannot be written: No space left on device" in told.err
    assert "All 3 features selected to explain y" in told.out
    assert sorted(each.name for each in Path().iterdir()) == ["c.csv", "r.html", "small.csv"]


def test_devices_may_be_named_twice(run, small_csv):
    done = run(
        "fit", small_csv, "--target", "y", "--stability", 0, "--json",
        "--output", os.devnull, "--report", os.devnull, cwd=small_csv.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_demo_knows_before_it_starts(run, tmp_path):
    done = run("demo", "--out", "no/such/report.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no/such/report.html cannot be written" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs names that are bytes")
def test_names_of_files_that_are_no_text_are_told_as_escapes(run, small_csv):
    odd = small_csv.rename(os.fsdecode(os.fsencode(small_csv.parent) + b"/odd\xff.csv"))
    done = run(
        "fit", odd, "--target", "y", "--stability", 0, "--output", "m.json", "--report", "r.html",
        cwd=odd.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "odd\\udcff.csv" in (odd.parent / "r.html").read_text(encoding="utf-8")
    assert run("predict", "m.json", odd, cwd=odd.parent).returncode == 0
