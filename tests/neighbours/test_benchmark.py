"""The benchmark of sparse recovery, run by benchopt itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("benchopt")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

FOLDER = Path(__file__).parents[2] / "benchmarks" / "benchmark_sparse_recovery"
COMMAND = "from benchopt.cli import benchopt; benchopt()"  # python -m benchopt, before it had that


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Every solver on Example 1 and on a small design, in a copy of the folder."""
    if not FOLDER.exists():
        pytest.skip("the benchmarks are not part of this distribution")
    copy = shutil.copytree(FOLDER, tmp_path_factory.mktemp("bench") / FOLDER.name)
    small = "simulated[n_samples=40,n_features=60,support=scattered]"
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "run", copy, "-n", "12", "-r", "1", "--no-plot",
         "--no-display", "--no-timeout", "-d", small, "-d", "example 1"],
        capture_output=True, text=True, timeout=240, cwd=copy.parent,
        env=os.environ | {"NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = (copy / "outputs").glob("*.parquet")
    return pd.read_parquet(file).rename(columns={"data_name": "dataset_name"})  # of benchopt 1.6


def test_example_1_is_recovered_by_irksn_and_by_no_lasso(results):
    part = results[results["dataset_name"].str.startswith("Example 1")]
    best = part.groupby("solver_name")["objective_f1"].max()
    nearest = part.groupby("solver_name")["objective_value"].min()
    assert best["IRKSN[alpha=0.01,k=3]"] == 1
    assert nearest["IRKSN[alpha=0.01,k=3]"] < 0.1
    assert best["Lasso path"] < 1
    assert not any("k=10" in name for name in best.index)  # more than there are features


def test_every_solver_has_a_score_on_the_simulated_design(results):
    part = results[results["dataset_name"].str.startswith("Simulated")]
    names = {name.partition("[")[0] for name in part["solver_name"]}
    assert names >= {"IRKSN", "AutoIRKSN", "Lasso path", "OMP"}
    assert part["objective_f1"].between(0, 1).all()
    assert (part.groupby("solver_name")["objective_features"].max() > 0).all()
