"""Experiments beyond the paper, a few cells of each."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from ksupport.experiments import EXPERIMENTS, fig_k, reproduce, table_rate
from ksupport.experiments.runner import QUICK
from ksupport.experiments.table_stopping import BEST, RULES

pytest.importorskip("matplotlib")

BEYOND = {
    "fig-k": [0, 6],
    "table-k": [0],
    "table-rate": [1],
    "table-stopping": [0, 6],
    "fig-matrix": [0, 8],
}


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


def test_errors_fall_with_the_noise_and_stay_below_the_bound_of_theorem_1():
    """Slopes near one, where the theorem has one half; supports are identified."""
    rows = table_rate.compute("chain, correlation .7", 0, 5)
    assert len(rows) == 5 * len(table_rate.DELTAS)
    assert all(row["error"] <= row["bound"] for row in rows if row["t"] < table_rate.STEPS)
    assert 0.8 < np.median(table_rate.slopes(rows)) < 1.6
    least = [row for row in rows if row["delta"] == min(table_rate.DELTAS)]
    assert sum(row["identified"] for row in least) >= 3


def test_where_columns_of_the_support_are_nearly_equal_only_k_its_size_recovers():
    rows = fig_k.map_compute("correlation within the support ρ", 0.99, 8, 4)
    assert [row["recovers"] for row in rows if row["k"] == 8] == [4]
    assert all(row["recovers"] <= 2 for row in rows if row["k"] < 8)
