"""``ksupport fit``, ``predict``, ``check`` and ``compare`` where all is well."""

import csv
import hashlib
import json
import os
import re
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from ksupport import AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival


def test_fit_answers_the_questions_in_their_order(run, small_csv):
    done = run("fit", small_csv, "--target", "y", cwd=small_csv.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("All 3 features selected to explain y are expected to be right")
    rows = re.findall(r"^(g\d+) +(>99%|\d+%) +([+-][\d.]+) +(-?[\d.]+)$", done.stdout, re.MULTILINE)
    assert {name: round(float(w)) for name, *_, w in rows} == {"g0": 3, "g1": -2, "g2": 2}
    words = " ".join(done.stdout.split())
    said = (
        "expected to be right", "0% is predicting the mean", "Which features?",
        "Would a Lasso or a ridge do better?", "What next?", "Certificate: If this vector",
        "rarely meet",
    )  # fmt: skip
    told = [words.index(each) for each in said]
    assert told == sorted(told)
    assert "reading small.csv\nfitting AutoIRKSN" in done.stderr  # plain lines, no terminal
    assert "\x1b" not in done.stdout + done.stderr


def test_stand_ins_are_told_beneath_what_they_stand_in_for(run, small_csv):
    frame = pd.read_csv(small_csv)
    frame["copy"] = frame["g0"] + 0.02 * np.random.default_rng(0).standard_normal(60)
    frame.to_csv(small_csv, index=False)
    done = run(
        "fit", small_csv, "--target", "y", "--no-compare", "--coefficients", "c.csv",
        cwd=small_csv.parent,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    at = next(i for i, line in enumerate(lines) if line[:1] == ["or"])
    assert {lines[at - 1][0], lines[at][1]} == {"g0", "copy"}
    words = " ".join(done.stdout.split())
    assert re.search(r"cannot show which .* one of (g0, copy|copy, g0) \(", words)
    rows = list(csv.DictReader((small_csv.parent / "c.csv").read_text().splitlines()))
    (other,) = [row for row in rows if row["stands in for"]]
    assert {other["feature"], other["stands in for"]} == {"g0", "copy"}
    assert 0 < float(other["probability"]) < 1


def test_noise_is_called_noise_and_its_model_predicts_the_mean(run, small_csv):
    folder = small_csv.parent
    frame = pd.read_csv(small_csv)
    frame["y"] = np.random.default_rng(5).standard_normal(60) + 7
    frame.to_csv(small_csv, index=False)
    files = ("--output", "m.json", "--report", "r.html", "--coefficients", "c.csv")
    done = run("fit", small_csv, "--target", "y", *files, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No signal: no feature can be distinguished from chance for y")
    words = " ".join(done.stdout.split())
    assert "The best single feature is" in words
    assert "More rows, or measurements more closely related to y" in words
    assert "<title>No signal" in (folder / "r.html").read_text(encoding="utf-8")
    assert json.loads((folder / "m.json").read_text())["chosen"]["signal"] == "no"
    assert len((folder / "c.csv").read_text().splitlines()) == 1
    told = json.loads(run("fit", small_csv, "--target", "y", "--json", cwd=folder).stdout)
    assert (told["signal"], told["features"]) == ("no", [])
    assert told["judgement"]["signal"] is False
    predicted = run("predict", "m.json", small_csv, cwd=folder)
    assert predicted.returncode == 0, predicted.stderr
    values = [float(line) for line in predicted.stdout.splitlines()[1:]]
    np.testing.assert_allclose(values, frame["y"].mean() * np.ones(60))


def test_a_better_ridge_is_not_kept_secret(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    y = X @ rng.standard_normal(30) + 0.5 * rng.standard_normal(80)  # every feature matters
    names = [f"g{j}" for j in range(30)]
    pd.DataFrame(X, columns=names).assign(y=y).to_csv(tmp_path / "dense.csv", index=False)
    done = run("fit", "dense.csv", "--target", "y", "--method", "iht", "--k", 3, "--stability", 0,
               "--json", cwd=tmp_path)  # fmt: skip
    told = json.loads(done.stdout)
    assert "ridge" in told["held_out"]["clearly_better"]
    scores = {each["name"]: each["score"] for each in told["held_out"]["others"]}
    assert scores["ridge"] > told["held_out"]["ours"]["score"] + 0.2
    assert "predict clearly better than this model" in told["beside"]
    assert any("If only prediction matters" in each for each in told["next"])


def test_json_is_what_python_finds_and_nothing_else_is_printed(run, small_csv, small):
    done = run("fit", small_csv, "--target", "y", "--json", cwd=small_csv.parent)
    told = json.loads(done.stdout)
    model = AutoIRKSN().fit(*small)
    found = {each["name"]: each["coefficient"] for each in told["features"]}
    expected = {f"g{j}": float(model.coef_[j]) for j in np.flatnonzero(model.support_)}
    assert found == pytest.approx(expected)
    assert told["intercept"] == pytest.approx(model.intercept_)
    assert told["decision"] == model.decision_
    sure = {each["name"]: each["probability"] for each in told["features"]}
    assert sure == pytest.approx({name: model.probability_[int(name[1:])] for name in sure})
    assert told["stability"] is None  # where there are probabilities, halves are for the asking
    assert told["held_out"]["folds"] == 5
    assert {each["name"] for each in told["held_out"]["others"]} == {"Lasso", "ridge"}
    assert told["certificate"]["irksn"]["k"] == 3
    assert told["made"]["command"].startswith("ksupport fit ")


def test_a_model_file_predicts_by_the_names_of_the_columns(run, small_csv, small):
    folder = small_csv.parent
    fitted = run(
        "fit", small_csv, "--target", "y", "--no-compare", "--output", "m.json", cwd=folder
    )
    assert fitted.returncode == 0
    model = json.loads((folder / "m.json").read_text())
    assert (model["schema"], model["schema_version"]) == ("ksupport-model", 1)
    assert model["made"]["data"]["rows"] == 60
    assert set(model["made"]["versions"]) >= {"ksupport", "python", "numpy"}
    frame = pd.read_csv(small_csv)[::-1]  # other order of rows and columns, and a text column
    frame.insert(0, "who", "someone")
    frame[frame.columns[::-1]].to_csv(folder / "new.csv", index=False)
    done = run("predict", "m.json", "new.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(done.stdout.splitlines()))
    assert rows[0] == ["predicted y"]
    expected = AutoIRKSN().fit(*small).predict(small[0][::-1])
    np.testing.assert_allclose([float(row[0]) for row in rows[1:]], expected)
    again = run("predict", "m.json", "new.csv", "--output", "p.csv", cwd=folder)
    assert "60 predictions of 3 features: p.csv" in again.stdout
    assert (folder / "p.csv").read_text().splitlines() == done.stdout.splitlines()


def test_columns_can_be_adjusted_for(run, small_csv, small):
    folder = small_csv.parent
    done = run(
        "fit", small_csv, "--target", "y", "--adjust-for", "g0", "--adjust-for", "g5",
        "--output", "m.json", "--report", "r.html", "--coefficients", "c.csv", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (
        "Both features selected to explain y are expected to be right (60 rows, 10 features)"
        in done.stdout
    )
    model = AutoIRKSN(unpenalized=[0, 5]).fit(*small)
    coefficients = f"g0 {model.coef_[0]:.4g}, g5 {model.coef_[5]:.4g}"
    unwrapped = " ".join(done.stdout.split())
    assert f"Adjusted for g0, g5. Their coefficients: {coefficients}." in unwrapped
    assert "Adjusted for g0, g5." in (folder / "r.html").read_text()
    assert (folder / "c.csv").read_text().count("\n") == 3
    written = json.loads((folder / "m.json").read_text())
    assert {each["name"] for each in written["features"]} == {"g1", "g2"}
    assert [each["name"] for each in written["adjusted_for"]] == ["g0", "g5"]
    predicted = run("predict", "m.json", small_csv, cwd=folder)
    numbers = [float(line) for line in predicted.stdout.splitlines()[1:]]
    np.testing.assert_allclose(numbers, model.predict(small[0]))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--adjust-for", "age"],
            "--adjust-for 'age' is not a column of small.csv; there are g0, g1",
        ),
        (["--adjust-for", "y"], "both name the column 'y'"),
        (["--adjust-for", "g1", "--ignore", "g1"], "both name the column 'g1'"),
    ],
)
def test_columns_that_cannot_be_adjusted_for_are_named(options, says, run, small_csv):
    done = run("fit", small_csv, "--target", "y", *options, cwd=small_csv.parent)
    assert done.returncode != 0
    assert says in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("options", "named"),
    [((), "AutoIRKSN"), (("--method", "irksn-ic"), "IRKSNIC"), (("--k", 3), "IRKSNCV")],
    ids=lambda options: " ".join(map(str, options)),
)
def test_effects_can_be_known_to_be_positive(options, named, run, small_csv):
    folder = small_csv.parent
    done = run(
        "fit", small_csv, "--target", "y", "--positive", "--adjust-for", "g1", "--stability", 2,
        "--output", "m.json", "--methods", "p.txt", *options, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"fitting {named} on" in done.stderr
    assert "Only positive effects were allowed (--positive)" in " ".join(done.stdout.split())
    written = json.loads((folder / "m.json").read_text())
    found = {each["name"]: each["coefficient"] for each in written["features"]}
    assert set(found) >= {"g0", "g2"}
    assert min(found.values()) > 0 > written["adjusted_for"][0]["coefficient"]
    assert "constrained to be non-negative" in (folder / "p.txt").read_text()


def test_more_or_fewer_features_can_be_asked_for(run, small_csv):
    folder, sizes = small_csv.parent, []
    for beta in (0.2, 1, 1000):
        done = run(
            "fit", small_csv, "--target", "y", "--beta", beta, "--no-compare", "--methods", "p.txt",
            "--output", "m.json", cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = beta != 1
        assert (f"weight in the selection (--beta {beta})" in " ".join(done.stdout.split())) == told
        assert f"largest expected F{beta} score" in " ".join((folder / "p.txt").read_text().split())
        written = json.loads((folder / "m.json").read_text())
        assert written["chosen"]["beta"] == beta
        sizes.append(len(written["features"]))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--beta", 0], "--beta must be a positive number up to 1e+06, 1 by default; got 0"),
        (["--beta", "nan"], "--beta must be a positive number up to 1e+06, 1 by default; got nan"),
        (["--beta", 2, "--k", 3], "--beta does not apply to IRKSNCV"),
    ],
)
def test_an_emphasis_that_says_nothing_is_refused(options, says, run, small_csv):
    done = run("fit", small_csv, "--target", "y", *options, cwd=small_csv.parent)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())


def test_what_is_negative_is_nothing_where_effects_are_positive(run, small_csv, small):
    frame = pd.read_csv(small_csv).assign(y=-small[0][:, 0])
    frame.to_csv(small_csv, index=False)
    done = run("fit", small_csv, "--target", "y", "--positive", "--json", cwd=small_csv.parent)
    told = json.loads(done.stdout)
    assert told["title"].startswith("No signal: no positive effect can be distinguished")
    assert told["features"] == []


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        ("y", ["--method", "lasso"], "--positive does not apply to PathCV"),
        ("kind", ["--ignore", "y"], "this has 3 classes: leave it out"),
    ],
)
def test_effects_that_cannot_be_positive_are_refused(target, options, says, run, small_csv):
    frame = pd.read_csv(small_csv).assign(kind=["a", "b", "c"] * 20)
    frame.to_csv(small_csv, index=False)
    other = ["--ignore", "kind"] if target == "y" else []
    done = run(
        "fit", small_csv, "--target", target, "--positive", *options, *other, cwd=small_csv.parent
    )
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())


def _write(folder, kind, X, y):
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])]).assign(y=y)
    path = folder / f"data.{kind}"
    if kind == "npz":
        np.savez(path, X=X, y=y, feature_names=[f"g{j}" for j in range(X.shape[1])])
    elif kind == "svm":
        dump_svmlight_file(X, y, str(path), zero_based=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "feather":
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind.startswith("tsv") else ",")
    return path


@pytest.mark.parametrize("kind", ["csv.gz", "tsv", "npz", "svm", "parquet", "feather"])
def test_every_kind_of_file_gives_the_same_model(kind, run, small, tmp_path):
    path = _write(tmp_path, kind, *small)
    done = run("fit", path, "--target", "y", "--no-compare", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first = 1 if kind == "svm" else 0  # LIBSVM counts from 1, and has no names
    names = [f"{'x' if kind == 'svm' else 'g'}{j + first}" for j in range(3)]
    found = {each["name"]: each["coefficient"] for each in json.loads(done.stdout)["features"]}
    model = AutoIRKSN().fit(*small)
    assert found == pytest.approx(dict(zip(names, model.coef_[:3].tolist(), strict=True)))


def test_a_pipe_is_read_once_and_its_digest_told(run, small_csv):
    folder = small_csv.parent
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=(folder / "pipe").write_bytes, args=(small_csv.read_bytes(),))
    writer.start()
    done = run("fit", "pipe", "--target", "y", "--no-compare", "--json", cwd=folder)
    writer.join()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {each["name"] for each in told["features"]} == {"g0", "g1", "g2"}
    assert told["made"]["data"]["sha256"] == hashlib.sha256(small_csv.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("options", "spelled"),
    [(("--thousands", ","), "{:,.6f}"), (("--decimal", ",", "--separator", ";"), "{:.6f}")],
    ids=["thousands", "decimal"],
)
def test_marks_in_numbers_are_read_as_the_options_say(options, spelled, run, small, tmp_path):
    X, y = small
    frame = pd.DataFrame(
        np.column_stack([X, y]) * 1e4, columns=[f"g{j}" for j in range(12)] + ["y"]
    )
    text = frame.map(spelled.format)
    if "--decimal" in options:
        text = text.map(lambda cell: cell.replace(".", ","))
    text.to_csv(tmp_path / "marks.csv", index=False, sep=";" if "--decimal" in options else ",")
    done = run(
        "fit", "marks.csv", "--target", "y", "--no-compare", "--json", *options, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found = {each["name"]: each["coefficient"] for each in json.loads(done.stdout)["features"]}
    model = AutoIRKSN().fit(X, y)
    assert found == pytest.approx({f"g{j}": model.coef_[j] for j in range(3)}, rel=1e-4)


def test_groups_stay_together_and_text_columns_can_be_ignored(run, small_csv):
    frame = pd.read_csv(small_csv)
    frame["site"] = [f"s{i % 6}" for i in range(60)]
    frame["who"] = "someone"
    frame.to_csv(small_csv, index=False)
    done = run(
        "fit", small_csv, "--target", "y", "--groups", "site", "--ignore", "who", "--json",
        cwd=small_csv.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {each["name"] for each in told["features"]} == {"g0", "g1", "g2"}
    assert told["stability"] is None
    assert told["held_out"]["folds"] == 5
    asked = run(
        "fit", small_csv, "--target", "y", "--groups", "site", "--ignore", "who", "--json",
        "--stability", 2, "--no-compare", cwd=small_csv.parent,
    )  # fmt: skip
    told = json.loads(asked.stdout)
    assert told["held_out"] is None
    assert any("groups" in remark for remark in told["remarks"])


@pytest.mark.parametrize(
    "options",
    [("--k", 3), ("--alpha", ".1"), ("--method", "irksn-ic"), ("--method", "lasso"),
     ("--method", "iht", "--k", 3, "--no-standardize"), ("--method", "omp")],
    ids=lambda options: " ".join(map(str, options)),
)  # fmt: skip
def test_every_way_of_choosing_finds_the_features_and_writes_its_report(options, run, small_csv):
    folder = small_csv.parent
    done = run(
        "fit", small_csv, "--target", "y", "--stability", 2, "--json", "--report", "r.html",
        *options, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {each["name"] for each in json.loads(done.stdout)["features"]}
    assert found >= {"g0", "g1", "g2"}
    assert (folder / "r.html").stat().st_size < 5_000_000


def test_missing_values_are_left_out_if_asked(run, small_csv):
    frame = pd.read_csv(small_csv)
    frame.loc[3, "g5"] = np.nan
    frame.to_csv(small_csv, index=False)
    shapes = {}
    for policy in ("drop-rows", "drop-columns"):
        done = run(
            "fit", small_csv, "--target", "y", "--no-compare", "--missing", policy, "--json",
            cwd=small_csv.parent,
        )  # fmt: skip
        told = json.loads(done.stdout)
        shapes[policy] = (told["made"]["data"]["rows"], told["made"]["data"]["features"])
        assert any("left out" in remark for remark in told["remarks"])
    assert shapes == {"drop-rows": (59, 12), "drop-columns": (60, 11)}


def test_a_constant_target_is_no_reason_to_fail(run, small_csv):
    frame = pd.read_csv(small_csv).assign(y=1.0)
    frame.to_csv(small_csv, index=False)
    done = run("fit", small_csv, "--target", "y", "--report", "r.html", cwd=small_csv.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No signal")
    assert "constant" in done.stdout


def test_check_advises_before_any_fit(run, small_csv):
    done = run("check", small_csv, "--target", "y", "--k", 2, cwd=small_csv.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("60 rows, 12 features")
    assert re.search(r"^IRKSN +100%", done.stdout, re.MULTILINE)
    assert "held-out rows, which is more informative than" in done.stdout
    told = json.loads(run("check", small_csv, "--json", cwd=small_csv.parent).stdout)
    assert told["features"] == 13  # without a target every column is a feature


def test_compare_ranks_by_error_on_rows_never_seen(run, small_csv):
    done = run(
        "compare", small_csv, "--target", "y", "--folds", 3, "--cv", 3,
        "--methods", "AutoIRKSN,lasso,LassoCV", cwd=small_csv.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(\w[\w ]*?) +([\d.]+) +([\d.]+) +(\d+) +[\d.]+", done.stdout, re.MULTILINE)
    errors = [float(error) for _, error, *_ in rows]
    assert errors == sorted(errors)
    assert rows[-1][:2] == ("mean of y", "1.000")
    assert {name for name, *_ in rows} == {"AutoIRKSN", "lasso", "LassoCV", "mean of y"}
    assert errors[0] < 0.05


def test_compare_keeps_groups_together_in_outer_and_inner_folds(run, small_csv):
    frame = pd.read_csv(small_csv).assign(site=[f"s{i % 4}" for i in range(60)])
    frame.to_csv(small_csv, index=False)
    done = run(
        "compare", small_csv, "--target", "y", "--groups", "site", "--methods",
        "AutoIRKSN,iht,LassoCV", "--folds", 3, "--cv", 3, "--json", cwd=small_csv.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = {each["method"]: each for each in json.loads(done.stdout)}
    assert all(each["note"] == "" for each in told.values())
    assert max(each["error"] for name, each in told.items() if name != "mean of y") < 0.05


def test_methods_tune_on_folds_that_keep_groups_together(small):
    from sklearn.dummy import DummyRegressor

    from ksupport.commands import compare
    from ksupport.reading import Data

    X, y = small
    groups = np.repeat(["a", "b", "c", "d", "e"], 12)
    data = Data(None, tuple(map(str, range(12))), X, y, groups)
    seen = []

    def make(cv, X):
        seen.append(cv)
        return DummyRegressor()

    splits = compare._splits(data, 5, 3, 0)
    compare._score("probe", make, data, splits, 3)
    for (train, test), inner in zip(splits, seen, strict=True):
        assert not set(groups[train]) & set(groups[test])
        assert len(inner) == 3
        for fit, judge in inner:
            assert not set(groups[train][fit]) & set(groups[train][judge])
            assert len(fit) + len(judge) == len(train)


def test_compare_refuses_groups_that_leave_nothing_to_tune_on(run, small_csv):
    frame = pd.read_csv(small_csv).assign(site=[f"s{i % 2}" for i in range(60)])
    frame.to_csv(small_csv, index=False)
    done = run("compare", small_csv, "--target", "y", "--groups", "site", cwd=small_csv.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert "at least three different labels" in done.stderr


def test_compare_refuses_a_method_that_there_is_not(run, small_csv):
    done = run("compare", small_csv, "--target", "y", "--methods", "magic", cwd=small_csv.parent)
    assert done.returncode == 2
    assert "LassoCV" in done.stderr


NAMES = [
    "<script>alert(1)</script>", "=cmd()", "two\nlines [bold]x[/bold] 🧬", "x" * 10_000,
    "\x1b[31mred", "", "\u202ereversed", '"quoted", &amp;', "</style><b>", "+1", "a'b", "$title",
]  # fmt: skip


def test_names_are_harmless_everywhere(run, small, tmp_path):
    X, y = small
    weights = np.linspace(3, 2, len(NAMES))
    frame = pd.DataFrame(X, columns=NAMES)
    frame["<b>y</b>"] = X @ weights + 0.1 * y
    frame.to_csv(tmp_path / "odd.csv", index=False)
    done = run(
        "fit", "odd.csv", "--target", "<b>y</b>", "--output", "m.json", "--report", "r.html",
        "--coefficients", "c.csv", cwd=tmp_path, FORCE_COLOR="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "\x1b[31m" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "\\x1b[31mred" in done.stdout
    assert "[bold]x[/bold]" in done.stdout  # shown, not taken for markup
    assert max(map(len, done.stdout.splitlines())) < 300
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for piece in ("<script>alert", "</style><b>", "<b>y</b>", "\u202e", "\x1b"):
        assert piece not in page
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("</script>") == 2
    assert len(page) < 500_000  # long names are cut
    model = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert {each["name"] for each in model["features"]} == set(NAMES)
    with open(tmp_path / "c.csv", encoding="utf-8", newline="") as file:
        cells = [row[0] for row in csv.reader(file)][1:]
    assert "'=cmd()" in cells
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    told = run("fit", "odd.csv", "--target", "<b>y</b>", "--no-compare", "--json", cwd=tmp_path)
    assert {each["name"] for each in json.loads(told.stdout)["features"]} == set(NAMES)
    advice = run("check", "odd.csv", "--target", "<b>y</b>", "--k", 2, cwd=tmp_path)
    assert advice.returncode == 0, advice.stderr
    assert "\x1b[31m" not in advice.stdout
    again = run("predict", "m.json", "odd.csv", cwd=tmp_path)
    assert again.returncode == 0
    assert again.stdout.startswith("predicted <b>y</b>")


@pytest.mark.parametrize("kind", ["classes", "several classes", "survival"])
def test_classes_and_survival_times_are_fitted_by_their_losses(kind, run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    eta = 4.0 * (X[:, 3] - X[:, 7])
    names = [f"g{j}" for j in range(12)]
    if kind == "classes":
        said = {"state": np.where(rng.random(80) < 1 / (1 + np.exp(-eta)), "ill", "well")}
        options, effect = ["--target", "state"], "the log odds of well"
    elif kind == "several classes":
        apart = np.argmax(np.c_[eta, -eta, np.full(80, 2.0)] + rng.gumbel(size=(80, 3)), axis=1)
        said = {"state": np.array(["ill", "well", "mild"])[apart]}
        options, effect = ["--target", "state"], "the model predicts the class of state correctly"
    else:
        died, left = rng.exponential(np.exp(-eta)), rng.exponential(2.0, 80)
        said = {"time": np.minimum(died, left), "event": (died <= left) * 1}
        options, effect = ["--time", "time", "--event", "event"], "change of the log hazard"
    rows = [",".join([*names, *said])]
    for values in zip(*X.T.tolist(), *(each.tolist() for each in said.values()), strict=True):
        rows.append(",".join(map(str, values)))
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    outputs = ["--output", "model.json", "--report", "report.html", "--coefficients", "w.csv"]
    done = run("fit", "data.csv", *options, *outputs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert effect in " ".join(done.stdout.split())
    chosen = {line.split(",")[0] for line in (tmp_path / "w.csv").read_text().splitlines()[1:]}
    assert {"g3", "g7"} <= chosen
    assert (tmp_path / "report.html").stat().st_size > 10_000
    said = run("predict", "model.json", "data.csv", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    expected = "log of the relative risk" if kind == "survival" else "probability of ill"
    assert expected in said.stdout.splitlines()[0]
    if kind == "several classes":
        assert "ill, not well" in done.stdout
        assert "speaks for" in (tmp_path / "w.csv").read_text()
        page = (tmp_path / "report.html").read_text()
        assert "confusion matrix" in page
        assert "probability of mild" in said.stdout.splitlines()[0]


def test_fit_names_at_a_rate_and_tests_by_permutations(run, small_csv):
    asked = ("--fdr", 0.1, "--permutations", 150, "--no-compare")
    folder = small_csv.parent
    done = run("fit", small_csv, "--target", "y", *asked, "--coefficients", "c.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "Of 150 permutations of the rows of the response," in words
    assert "Which, at a false discovery rate of 10%?" in words
    table = csv.DictReader((folder / "c.csv").read_text().splitlines())
    (own,) = [row for row in table if row["feature"] == "g0"]
    assert float(own["lower"]) < float(own["coefficient"]) < float(own["upper"])
    found = json.loads(run("fit", small_csv, "--target", "y", *asked, "--json", cwd=folder).stdout)
    named_at_fdr, test = found["false_discovery_rate"], found["permutation_test"]
    assert set(named_at_fdr["features"]) == {"g0", "g1", "g2"}
    assert [each["features"] for each in named_at_fdr["sets"]] == [
        [j] for j in named_at_fdr["features"]
    ]
    assert test["n_permutations"] == 150
    assert test["p_value"] <= 2 / 151
    assert test["standard_error"] > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fdr", 1.5], "--fdr must lie between 0 and 1, such as 0.1 for a tenth; got 1.5"),
        (["--fdr", 0.1, "--k", 3], "--fdr does not apply to IRKSNCV"),
        (["--permutations", 9, "--method", "irksn-ic"], "--permutations does not apply to IRKSNIC"),
    ],
)
def test_rates_and_permutations_that_make_no_sense_are_refused(run, small_csv, options, words):
    done = run("fit", small_csv, "--target", "y", *options, cwd=small_csv.parent)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


def test_rehearse_tells_what_a_fit_would_find(run, small_csv):
    asked = ("rehearse", small_csv, "--target", "y", "--draws", 1)
    done = run(*asked, cwd=small_csv.parent)
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert words.startswith("60 rows, 12 features: fits to simulated responses")
    assert "If no feature mattered, a signal would be found in" in words
    found = json.loads(run(*asked, "--json", cwd=small_csv.parent).stdout)
    assert [each["scenario"] for each in found] == [
        "as fitted", "halved effects", "twice the features", "no effects",
    ]  # fmt: skip
    assert found[0]["found"] <= found[0]["true"]
    assert found[3]["power"] is None


@pytest.mark.parametrize("kind", ["numbers", "two", "three", "survival"])
def test_model_files_predict_as_models_do(run, kind, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40))
    eta = 1.5 * X[:, 3] - 1.5 * X[:, 7] + X[:, 0]
    noisy = eta + rng.logistic(size=80)
    make, y = {
        "numbers": (AutoIRKSN, noisy),
        "two": (AutoIRKSNClassifier, noisy > 0),
        "three": (AutoIRKSNClassifier, np.digitize(noisy, [-1.0, 1.0])),
        "survival": (AutoIRKSNSurvival, np.column_stack([np.exp(-noisy), rng.random(80) < 0.8])),
    }[kind]
    names = [f"g{j}" for j in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names)
    how = ["--target", "y"]
    if kind == "survival":
        table["time"], table["event"] = y.T
        how = ["--time", "time", "--event", "event"]
    else:
        table["y"] = y if kind == "numbers" else np.array(["a", "b", "c"])[np.asarray(y, int)]
    table.to_csv(tmp_path / "table.csv", index=False)
    files = ("--adjust-for", "g0", "--no-compare", "--output", "m.json")
    done = run("fit", "table.csv", *how, *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table[names].to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", "m.json", "new.csv", "--output", "p.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "p.csv")
    model = make(unpenalized=[0]).fit(X, y)
    if kind in ("two", "three"):
        found, expected = found.filter(like="probability").to_numpy(), model.predict_proba(X)
    else:
        found, expected = found.iloc[:, 0].to_numpy(), model.predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    damaged = json.loads((tmp_path / "m.json").read_text())
    damaged["average"]["intercept"].append(0.0)
    (tmp_path / "m.json").write_text(json.dumps(damaged))
    done = run("predict", "m.json", "new.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "average" in done.stderr
