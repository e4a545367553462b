"""Every synthetic experiment in its quick version, under both protocols."""

import csv

import pytest

from ksupport.experiments import EXPERIMENTS, reproduce
from ksupport.experiments.compare import compare, plot_comparison
from ksupport.experiments.experiment import PAPER_METHODS
from ksupport.experiments.runner import QUICK

pytest.importorskip("matplotlib")

F1 = ("fig-f1-n", "fig-f1-snr", "fig-f1-rho")
SYNTHETIC = ("fig-path", "fig-example1", *F1, "fig-f1-iterations")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduction")


@pytest.mark.parametrize("protocol", ["paper", "fair"])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_quick_version_gives_a_table_and_figures(name, protocol, out):
    rows = reproduce(EXPERIMENTS[name], protocol, quick=True, out=out, n_jobs=1, progress=False)
    assert {row["method"] for row in rows} <= {*PAPER_METHODS, "abess"}
    folder = out / f"{protocol}-quick"
    with (folder / f"{name}.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(EXPERIMENTS[name].table(rows)) > 0
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    figure = (folder / f"{name}.svg").read_text(encoding="utf-8")
    assert "</svg>" in figure
    assert QUICK in figure
    if name in F1:  # what the bars are
        assert "standard error" in figure


@pytest.mark.parametrize("name", F1)
def test_f1_tables_have_the_columns_of_the_published_ones(name, out):
    rows = reproduce(EXPERIMENTS[name], "paper", quick=True, out=out, n_jobs=1, progress=False)
    table = EXPERIMENTS[name].table(rows)
    assert list(table[0]) == ["method", "n", "rho", "snr", "f1_mean", "f1_std"]
    assert {row["method"] for row in table} == set(PAPER_METHODS)
    differences = compare(EXPERIMENTS[name], rows)
    assert len(differences) == len(table)
    plot_comparison(EXPERIMENTS[name], differences, out)
    assert (out / f"{name}-compare.png").exists()


@pytest.mark.parametrize("name", F1)
@pytest.mark.parametrize("protocol", ["paper", "fair"])
def test_full_grids_have_every_method_on_every_draw(name, protocol):
    cells = EXPERIMENTS[name].cells(protocol, False)
    oracle = [cell for cell in cells if cell["tuning"] == "oracle"]
    draws = len({cell["seed"] for cell in cells})
    assert len(oracle) == len(PAPER_METHODS) * 5 * draws
    assert len({str(cell) for cell in cells}) == len(cells)


@pytest.mark.parametrize("name", F1)
def test_published_values_cover_every_method_and_setting(name):
    published = EXPERIMENTS[name].reference()  # type: ignore[misc]
    assert len(published) == len(PAPER_METHODS) * 5
    assert {row["method"] for row in published} == set(PAPER_METHODS)
