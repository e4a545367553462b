"""From a spreadsheet as it comes to the paragraph for a paper, in three commands."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("python_calamine")
pytest.importorskip("openpyxl")

GENES = [f"gene {j}" for j in range(40)]
OPTIONS = (
    "--target", "tissue", "--id", "patient", "--adjust-for", "age", "--adjust-for", "sex",
    "--missing", "impute",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Text classes of patients with names, covariates, and holes in the genes."""
    rng = np.random.default_rng(1)
    X, age, sex = (
        rng.standard_normal((120, 40)),
        rng.normal(60, 8, 120),
        rng.choice(["f", "m"], 120),
    )
    odds = 3 * X[:, 3] - 2.5 * X[:, 8] + 0.1 * (age - 60) + (sex == "m")
    about = {
        "patient": [f"P{i}" for i in range(120)],
        "tissue": np.where(odds + rng.logistic(size=120) > 0, "tumour", "normal"),
        "age": age.round(),
        "sex": sex,
    }
    genes = pd.DataFrame(X, columns=GENES).mask(rng.random(X.shape) < 0.01)
    sheet = pd.concat([pd.DataFrame(about), genes], axis=1)
    where = tmp_path_factory.mktemp("walk")
    sheet[:100].to_excel(where / "colon.xlsx", index=False)
    sheet[100:].drop(columns="tissue").to_excel(where / "new.xlsx", index=False)
    (where / "truth.json").write_text(json.dumps(list(about["tissue"][100:])))
    return where


def test_the_walk(run, folder):
    first = run("fit", "colon.xlsx", *OPTIONS, "--dry-run", cwd=folder)
    assert first.returncode == 0, first.stderr
    assert "classes normal, tumour" in first.stdout
    assert "age; sex (m, compared to f)" in first.stdout
    assert "AutoIRKSNClassifier" in first.stdout
    second = run(
        "fit", "colon.xlsx", *OPTIONS, "--report", "r.html", "--methods", "methods.txt",
        "--output", "m.json", cwd=folder,
    )  # fmt: skip
    assert second.returncode == 0, second.stderr
    said = " ".join(second.stdout.split())
    assert re.search(r"a model of age and sex alone: 0\.\d\d", said)
    right = r"\d+% of pairs correctly \(AUC 0\.\d\d ± 0\.\d\d\)"
    assert re.search(rf"a Lasso \w+ {right} .* and a ridge \w+ {right}", said)
    assert "methods paragraph: methods.txt" in said
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert 'id="roc"' in page
    assert "were replaced by the means of their columns" in page
    _check_paragraph((folder / "methods.txt").read_text(encoding="utf-8"))
    third = run("predict", "m.json", "new.xlsx", cwd=folder)
    assert third.returncode == 0, third.stderr
    rows = list(csv.DictReader(third.stdout.splitlines()))
    assert [row["patient"] for row in rows] == [f"P{i}" for i in range(100, 120)]
    truth = json.loads((folder / "truth.json").read_text())
    right = [row["predicted tissue"] == each for row, each in zip(rows, truth, strict=True)]
    assert np.mean(right) > 0.7


def _check_paragraph(text):
    assert "Features associated with tissue were selected among 40 in 100 samples" in text
    assert "Missing values were replaced by the mean" in text
    assert "The model was adjusted for age" in text
    score = float(
        re.search(r"area under the ROC curve \(AUC\) on held-out \w+ was ([\d.]+)", text)[1]
    )
    assert 0.8 < score <= 1
    numbers = {int(n) for cited in re.findall(r"\[([\d, ]+)\]", text) for n in cited.split(",")}
    assert numbers == set(range(1, len(numbers) + 1))
    assert text.count("\n[") == len(numbers)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (OPTIONS[:-2], "--missing impute"),
        (("--target", "tissue", "--id", "patient"), "--adjust-for"),
        (("--target", "tissue", "--missing", "impute"), "--id"),
        ((*OPTIONS, "--methods", "."), "cannot be written: Is a directory"),
    ],
)
def test_a_wrong_turn_names_the_way(run, folder, options, words):
    done = run("fit", "colon.xlsx", *options, cwd=folder)
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_everything_that_is_printed_can_be_had_as_json(run, folder):
    done = run("fit", "colon.xlsx", *OPTIONS, "--json", cwd=folder)
    told = json.loads(done.stdout)
    held_out = told["held_out"]
    assert held_out["score"] == "area under the ROC curve (AUC)"
    assert [each["name"] for each in held_out["others"]] == ["Lasso", "ridge"]
    assert held_out["baseline"]["name"] == "a model of age and sex alone"
    assert held_out["ours"]["score"] > held_out["baseline"]["score"]
    assert told["methods"]["text"].startswith("Features associated with tissue")
    assert len(told["methods"]["references"]) == 5


def test_survival_from_a_file_to_predictions(run, tmp_path):
    pytest.importorskip("sksurv")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((110, 15)).round(3)
    died, left = rng.exponential(np.exp(2 * X[:, 4] - 2 * X[:, 9])), rng.exponential(3.0, 110)
    months = np.maximum(12 * np.minimum(died, left), 0.01).round(2)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(15)])
    frame = frame.assign(months=months, status=np.where(died <= left, "dead", "alive"))
    frame[:90].to_csv(tmp_path / "d.csv", index=False)
    frame[90:].drop(columns=["months", "status"]).to_csv(tmp_path / "new.csv", index=False)
    done = run(
        "fit", "d.csv", "--time", "months", "--event", "status=dead", "--json",
        "--report", "r.html", "--output", "m.json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {each["name"] for each in told["features"][:2]} == {"g4", "g9"}
    assert told["held_out"]["score"] == "concordance (Harrell's C)"
    assert told["held_out"]["ours"]["score"] > 0.75
    assert told["held_out"]["baseline"]["score"] == 0.5
    assert [each["name"] for each in told["held_out"]["others"]] == ["Lasso", "ridge"]
    assert 'id="curves"' in (tmp_path / "r.html").read_text(encoding="utf-8")
    predicted = run("predict", "m.json", "new.csv", cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    assert len(predicted.stdout.splitlines()) == 21
