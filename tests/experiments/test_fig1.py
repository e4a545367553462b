"""Regions of problems: what is counted obeys the implications between the conditions."""

import csv

import numpy as np
import pytest

from ksupport.experiments import EXPERIMENTS, reproduce
from ksupport.experiments.fig1 import CONDITIONS, EXAMPLE1, LAWS, check, draw, table

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("fig1")


@pytest.fixture(scope="module")
def rows(out):
    return reproduce(EXPERIMENTS["fig1"], "fair", quick=True, out=out, n_jobs=1, progress=False)


def test_conditions_imply_one_another(rows):
    for row in rows:
        assert row["irksn"] <= row["irksn_source"]
        assert row["omp"] <= row["l1"] <= row["l1_source"]
        assert row["rip"] <= row["l1_source"]  # delta_3k below 1/sqrt(32) is enough for l1
        assert row["l1"] == (row["l1_ratio"] < 1)


def test_example1_is_in_the_blue_region(rows):
    (line,) = [line for line in table(rows) if line[EXAMPLE1]]
    assert line["blue"] == "yes"
    assert line["l1_source"] == "no"
    assert line["example"] == "Example 1, draw 2"
    assert line["example_irksn_ratio"] == pytest.approx(11 / 15, abs=1e-4)
    assert line["example_l1_ratio"] == pytest.approx(13 / 11, abs=1e-4)


def test_every_draw_is_counted_once_and_examples_can_be_drawn_again(rows):
    lines = table(rows)
    assert sum(line["total"] for line in lines) == len(rows)
    for law in LAWS:
        assert sum(line[law] for line in lines) == sum(row["law"] == law for row in rows)
    for line in lines:
        law, index = line["example"].rsplit(", draw ", 1)
        again = check(*draw(law, int(index)))
        assert {name: again[name] for name in CONDITIONS} == {
            name: line[name] == "yes" for name in CONDITIONS
        }


def test_example2_is_out_of_reach_for_l1(rows):
    for row in (row for row in rows if row["law"] == "recordings (Example 2)"):
        assert not row["l1_source"]


def test_files(rows, out):
    with (out / "fair-quick" / "fig1.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(table(rows))
    for suffix in (".png", ".svg"):
        assert (out / "fair-quick" / f"fig1{suffix}").stat().st_size > 10_000


def test_the_paper_protocol_counts_the_conditions_of_the_caption(rows, out):
    fig1 = EXPERIMENTS["fig1"]
    caption = reproduce(fig1, "paper", quick=True, out=out, n_jobs=1, progress=False)
    assert set(table(caption)[0]) & set(CONDITIONS) == {"irksn", "l1", "rip"}
    blue = [
        sum(line["total"] for line in table(r) if line["blue"] == "yes") for r in (rows, caption)
    ]
    assert blue[0] == blue[1] > 0


def test_draws_do_not_change():
    np.testing.assert_array_equal(
        draw("made of the support", 3)[0], draw("made of the support", 3)[0]
    )
    assert draw("made of the support", 3)[0].shape == (8, 4)
