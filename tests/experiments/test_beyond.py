"""Experiments beyond the paper, a few cells of each."""

import csv
from dataclasses import replace

import pytest

from ksupport.experiments import EXPERIMENTS, reproduce
from ksupport.experiments.runner import QUICK
from ksupport.experiments.table_stopping import BEST, RULES

pytest.importorskip("matplotlib")

BEYOND = {"fig-k": [0, 6], "table-k": [0], "table-stopping": [0, 6], "fig-matrix": [0, 8]}


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("beyond")


def few(name, out):
    known = EXPERIMENTS[name]
    cells = [known.cells("fair", True)[i] for i in BEYOND[name]]
    if name == "table-k":
        cells = [{**cells[0], "stop": 2}]
    some = replace(known, cells=lambda protocol, quick: cells)
    return reproduce(some, "fair", quick=True, out=out, n_jobs=1, progress=False)


@pytest.mark.parametrize("name", BEYOND)
def test_a_few_cells_give_a_table_and_a_figure(name, out):
    rows = few(name, out)
    folder = out / "fair-quick"
    with (folder / f"{name}.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(EXPERIMENTS[name].table(rows)) > 0
    assert QUICK in (folder / f"{name}.svg").read_text(encoding="utf-8")


def test_no_rule_does_better_than_the_best_step_of_its_path(out):
    rows = few("table-stopping", out)
    for row in rows:
        if row["rule"] not in (BEST, "held-out rows"):  # which walks on other rows
            assert row["regret"] >= 1 - 1e-9
    lines = EXPERIMENTS["table-stopping"].table(rows)
    assert [line["rule"] for line in lines[-len(RULES) - 1 :]] == [BEST, *RULES]
    assert lines[-1]["n"] == "all"


def test_where_the_full_grid_of_walks_has_five_hundred_problems():
    cells = EXPERIMENTS["table-k"].cells("paper", False)
    assert sum(cell["stop"] - cell["start"] for cell in cells) == 500
    assert len({cell["law"] for cell in cells}) == 5
