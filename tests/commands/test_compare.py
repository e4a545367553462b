"""``ksupport compare`` where there is nothing to compare."""

import json

import numpy as np
import pandas as pd
import pytest

from ksupport.commands.compare import Score, _refuse_only_failures
from ksupport.commands.terminal.exit import CommandError


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda f: f.assign(y=3.0), (), "the target is constant"),
        (
            lambda f: f.assign(y=f.y * 1e200),
            (),
            "the largest absolute value of the target is 1.28e+201",
        ),
        (
            lambda f: f.assign(y=f.y * 1e-300),
            (),
            "the largest absolute value of the target is 1.28e-299",
        ),
        (
            lambda f: f.assign(g1=f.g1 * 1e200),
            (),
            "the largest absolute value of column g1 is 2e+200",
        ),
        (lambda f: f.assign(y=np.nan), ("--missing", "drop-rows"), "has no finite value"),
        (lambda f: f[:1], (), "--folds 5 needs at least 10 rows; got 1"),
        (
            lambda f: f,
            ("--cv", 49),
            "--cv must be at most the number of training rows",
        ),
        (lambda f: f, ("--seed", 2**32), "--seed"),
        (lambda f: f, ("--methods", ","), "--methods must name some of"),
    ],
    ids=["constant", "huge y", "tiny y", "huge X", "no y", "one row", "folds", "seed", "methods"],
)
def test_what_cannot_be_compared_is_refused(change, options, says, run, small_csv):
    change(pd.read_csv(small_csv)).to_csv(small_csv, index=False)
    done = run("compare", small_csv, "--target", "y", *options, cwd=small_csv.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_table_of_failures_is_no_comparison():
    mean, failed = (
        Score("mean of y", 1.0, 0.0, 0, 0, ""),
        Score("iht", *[None] * 4, "failed, why"),  # type: ignore[call-arg]
    )
    with pytest.raises(CommandError, match="no method could be fitted; iht failed, why"):
        _refuse_only_failures([mean, failed])
    _refuse_only_failures([mean])
    _refuse_only_failures([mean, failed, Score("lasso", 0.5, 0.1, 3, 0.1, "")])


# -- classes, survival, and what is adjusted for -----------------------------------------------


RESPONSES = {"classes": ["ill"], "survival": ["time", "event"], "numbers": ["y"]}


@pytest.fixture
def csv_of(tmp_path):
    """Classes, survival times or numbers that two features and an age explain, and the options."""
    rng = np.random.default_rng(0)
    X, age = rng.standard_normal((90, 12)), rng.normal(50, 10, 90)
    eta = 3 * X[:, 3] - 3 * X[:, 7] + 0.3 * (age - 50)
    died, left = rng.exponential(np.exp(-eta)), rng.exponential(20.0, 90)
    all_of_them = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)]).assign(
        age=age, ill=np.where(eta + rng.logistic(size=90) > 0, "ill", "well"),
        time=np.minimum(died, left), event=(died <= left) * 1, y=eta + rng.standard_normal(90),
    )  # fmt: skip

    def make(kind):
        path, columns = tmp_path / f"{kind}.csv", RESPONSES[kind]
        features = [name for name in all_of_them if name == "age" or name.startswith("g")]
        all_of_them[features + columns].to_csv(path, index=False)
        names = ("--target",) if len(columns) == 1 else ("--time", "--event")
        return path, [each for pair in zip(names, columns, strict=True) for each in pair]

    return make


@pytest.mark.parametrize(
    ("kind", "ours", "rivals", "nothing", "chance"),
    [
        ("classes", "AutoIRKSNClassifier", ["l1 logistic", "ridge logistic"], "largest class", 0.5),
        ("survival", "AutoIRKSNSurvival", ["coxnet"], "no risk", 0.5),
        ("numbers", "AutoIRKSN", ["LassoCV"], "mean of y", 1.0),
    ],
)
def test_every_kind_of_response_beside_rivals(run, csv_of, kind, ours, rivals, nothing, chance):
    pytest.importorskip("sksurv")
    path, options = csv_of(kind)
    options += ["--methods", ",".join(["auto", *rivals]), "--adjust-for", "age", "--json"]
    done = run("compare", path, *options, cwd=path.parent)
    assert done.returncode == 0, done.stderr
    found = {each["method"]: each for each in json.loads(done.stdout)}
    assert found[nothing]["error"] == pytest.approx(chance, abs=0.06)
    assert found[nothing]["features"] == 0
    for name in (ours, *rivals):
        assert found[name]["error"] < 0.6 * chance
    assert 2 <= found[ours]["features"] <= 6  # the age is not counted
    errors = [each["error"] for each in found.values()]
    assert errors == sorted(errors)


def test_a_method_that_cannot_explain_the_target_is_named(run, csv_of):
    path, options = csv_of("classes")
    done = run("compare", path, *options, "--methods", "coxnet", cwd=path.parent)
    assert done.returncode == 2
    assert "coxnet cannot explain this target; those that can are AutoIRKSNCl" in done.stderr
