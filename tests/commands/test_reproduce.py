"""``ksupport reproduce``, in this process: starting others takes longer than the experiments."""

import re
from dataclasses import replace
from functools import partial

import pytest

from ksupport.experiments import EXPERIMENTS, Experiment
from ksupport.experiments.runner import QUICK

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")


@pytest.fixture
def run(monkeypatch):
    from typer.testing import CliRunner

    from ksupport.cli import program

    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    return lambda *args: CliRunner().invoke(program(), ["reproduce", *map(str, args)])


def test_without_names_it_lists_the_experiments(run):
    done = run()
    assert done.exit_code == 0
    assert all(name in done.stdout for name in EXPERIMENTS)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["fig-f1-m"], "is not an experiment"),
        (["fig-path", "--protocol", "own"], "must be paper or fair"),
        (["fig-path", "--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_usage_is_explained(run, args, says):
    done = run(*args)
    assert done.exit_code == 2
    assert says in done.stderr


def test_a_folder_that_is_none_is_named_without_a_traceback(run, tmp_path):
    (tmp_path / "file").touch()
    done = run("fig-path", "--quick", "--jobs", "1", "--out", tmp_path / "file")
    assert done.exit_code == 1
    assert f"fig-path: [Errno 20] Not a directory: '{tmp_path / 'file'}" in done.stderr


@pytest.fixture
def few_steps(monkeypatch):
    """Experiments whose full grids are those of quick runs."""
    for name in ("fig-f1-rho", "fig-path"):
        cells = EXPERIMENTS[name].cells("paper", True)
        few = replace(EXPERIMENTS[name], cells=partial(same, cells))
        monkeypatch.setitem(EXPERIMENTS, name, few)


def same(cells, protocol, quick):
    return cells


def test_comparison_names_every_cell_that_disagrees(run, tmp_path, few_steps):
    done = run("fig-f1-rho", "--compare", "--jobs", "1", "--out", tmp_path)
    assert done.exit_code == 1, done.output
    marked = [line for line in done.stdout.splitlines() if line.endswith("disagrees")]
    named = [line for line in done.stdout.splitlines() if line.startswith("  disagrees: ")]
    assert len(marked) == len(named) > 0  # 200 steps and two draws are not enough
    assert "standard errors" in done.stdout
    assert f"{len(named)} cells disagree with the published values" in done.stderr
    assert f"{18 - len(named)} of 18 cells agree with the published values" in done.stdout
    assert (tmp_path / "paper/fig-f1-rho-compare.png").exists()
    head, *lines = (tmp_path / "paper/compare.csv").read_text().splitlines()
    assert head == "method,fig-f1-rho"
    assert len(lines) == 9


def test_experiments_without_published_numbers_say_so(run, tmp_path, few_steps):
    done = run("fig-path", "--compare", "--jobs", "1", "--out", tmp_path)
    assert "no published values" in done.stdout


@pytest.fixture
def two_parts(monkeypatch):
    """Two experiments alone: one with data for a part of it, one that lacks a package."""
    half = Experiment(
        name="half",
        title="",
        version=1,
        protocols=("paper",),
        cells=lambda protocol, quick: [{"part": part} for part in ("near", "far")],
        compute=lambda part: [{"method": "lasso", "part": part, "f1_mean": 0.5}],
        table=lambda rows: rows,
        plot=lambda rows, folder: None,
        reference=lambda: [
            {"method": "lasso", "part": part, "f1_mean": 0.5} for part in ("near", "far")
        ],
        part="part",
        missing=lambda protocol, quick: {"far": "`get it` gets it"},
    )
    none = replace(half, name="none", missing=lambda *_: dict.fromkeys(("near", "far"), "absent"))
    for name in list(EXPERIMENTS):
        monkeypatch.delitem(EXPERIMENTS, name)
    monkeypatch.setitem(EXPERIMENTS, "half", half)
    monkeypatch.setitem(EXPERIMENTS, "none", none)


def test_all_runs_what_can_run_and_names_the_rest_in_one_line_each(run, tmp_path, two_parts):
    done = run("all", "--compare", "--jobs", "1", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "1 of 1 cells agree" in done.stdout
    assert done.stdout.splitlines()[-2:] == [
        "not compared: 1 published values of half (far: `get it` gets it)",
        "not compared: 2 published values of none (near: absent; far: absent)",
    ]
    assert (tmp_path / "paper/half.csv").read_text() == "method,part,f1_mean\nlasso,near,0.5\n"


def test_an_experiment_asked_for_by_name_that_cannot_run_is_an_error(run, tmp_path, two_parts):
    done = run("none", "--jobs", "1", "--out", tmp_path)
    assert done.exit_code == 1
    assert "none: near: absent; far: absent" in done.stderr


def test_a_quick_run_is_marked_keeps_off_full_ones_and_is_not_compared(run, tmp_path):
    full = tmp_path / "paper/fig-path.csv"
    full.parent.mkdir()
    full.write_text("of a full run")
    done = run("fig-path", "--quick", "--jobs", "1", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert full.read_text() == "of a full run"
    assert str(tmp_path / "paper-quick/fig-path.csv") in done.stdout.replace("\n", "")
    assert QUICK in figure_text(tmp_path / "paper-quick/fig-path.svg")
    refused = run("fig-path", "--quick", "--compare", "--out", tmp_path)
    assert refused.exit_code == 2
    assert "--compare cannot be combined with --quick" in refused.stderr


def figure_text(path):
    """What an SVG file says; matplotlib notes each text in a comment."""
    return " ".join(re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8")))


def test_a_file_that_is_no_store_is_a_message_and_no_traceback(run, tmp_path):
    (tmp_path / "results.sqlite").write_text("not a database" * 99)
    done = run("fig-path", "--quick", "--jobs", "1", "--out", tmp_path)
    assert done.exit_code == 1
    assert "results.sqlite does not hold results of experiments" in done.stderr
    assert "Traceback" not in done.output
