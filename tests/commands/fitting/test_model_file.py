"""A model file that is none is refused in one line that names the file and what is wrong."""

import csv
import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

GOOD = {
    "schema": "ksupport-model", "schema_version": 1, "target": "y", "intercept": 1.0,
    "features": [{"name": "a", "coefficient": 2.0}],
}  # fmt: skip


def but(**changes):
    return json.dumps(GOOD | changes)


def without(*names):
    return json.dumps({name: value for name, value in GOOD.items() if name not in names})


def feature(**changes):
    return but(features=[GOOD["features"][0] | changes])


BAD = {
    "version": (but(schema_version=7), "has schema_version 7; this ksupport reads version 1"),
    "version as text": (but(schema_version="1"), "has schema_version '1'"),
    "version as a list": (but(schema_version=[1]), "has schema_version a list of 1"),
    "no version": (without("schema_version"), "has schema_version None"),
    "schema": (but(schema="other"), "not a model"),
    "a list": ("[1]", "not a model"),
    "a number": ("1", "not a model"),
    "null": ("null", "not a model"),
    "empty": ("", "is not a model file, which is JSON"),
    "half": (but()[:40], "is not a model file, which is JSON"),
    "pickle": ("\x80\x04pickle", "is not a model file, which is JSON"),
    "deep": ("[" * 100_000, "is not a model file, which is JSON"),
    "deep within": (but(chosen=0).replace("0", "[" * 100_000, 1), "is not a model file"),
    "NaN": (but(intercept=float("nan")), "NaN is not a number"),
    "infinity": (but(intercept=float("inf")), "Infinity is not a number"),
    "response": (but(response="words"), "response must be one of ('numbers', 'classes', 'sur"),
    "classes without coefficients": (
        but(response="classes", classes=["a", "b", "c"]),
        "the intercept and every coefficient must have 3 number(s)",
    ),
    "no class": (but(response="classes"), "a response of classes cannot have 0 classes"),
    "one class": (but(response="classes", classes=["a"]), "cannot have 1 classes"),
    "classes of numbers": (but(classes=["a", "b"]), "a response of numbers cannot have 2 classes"),
    "a class twice": (but(response="classes", classes=["a", "a"]), "a list of different texts"),
    "a level twice": (
        but(codings=[{"name": "a", "levels": ["m", "m"]}]),
        "list of different texts",
    ),
    "too many values": ("[" + "0," * 10_000_000 + "0]", "holds too many values"),
    "coding": (but(codings=[{"name": "sex"}]), "codings[0].levels is missing"),
    "fill": (feature(fill="much"), "features[0].fill must be a finite number, got 'much'"),
    "no target": (without("target"), "target is missing"),
    "no features": (without("features"), "features is missing"),
    "target a number": (but(target=3), "target must be text of at most 100000 characters, got 3"),
    "half a character": (but(target="\ud800"), "target must be text"),
    "a book for a name": (feature(name="x" * 100_001), "features[0].name must be text"),
    "intercept as text": (but(intercept="1"), "intercept must be a finite number, got '1'"),
    "intercept true": (but(intercept=True), "intercept must be a finite number, got True"),
    "intercept null": (but(intercept=None), "intercept must be a finite number, got None"),
    "features null": (but(features=None), "features must be a list of features, got None"),
    "features as text": (but(features="a"), "features must be a list of features, got 'a'"),
    "features an object": (but(features={}), "features must be a list of features, got an object"),
    "features numbers": (but(features=[1.0]), "features[0] must be an object, got 1.0"),
    "features lists": (but(features=[["a", 1]]), "features[0] must be an object, got a list of 2"),
    "no coefficient": (but(features=[{"name": "a"}]), "features[0].coefficient is missing"),
    "no name": (but(features=[{"coefficient": 1}]), "features[0].name is missing"),
    "name a number": (feature(name=1), "features[0].name must be text"),
    "400 digits": (
        feature(coefficient=0).replace('nt": 0', f'nt": {"9" * 400}'),
        "features[0].coefficient must be a finite number, got inf",
    ),
    "10000 digits": (
        but(intercept=0).replace('pt": 0', f'pt": {"9" * 10_000}'),
        "intercept must be a finite number, got inf",
    ),
    "1e999": (
        but(intercept=0).replace('pt": 0', 'pt": -1e999'),
        "intercept must be a finite number, got -inf",
    ),
    "400 digits elsewhere": (but(schema_version=10**400), "has schema_version inf"),
    "twice": (but(features=GOOD["features"] * 2), "a feature occurs twice"),
    "adjusted for null": (but(adjusted_for=None), "adjusted_for must be a list of features"),
    "adjusted for text": (but(adjusted_for=["a"]), "adjusted_for[0] must be an object, got 'a'"),
    "adjusted for a feature": (but(adjusted_for=GOOD["features"][:1]), "adjusted for, too"),
    "chosen a list": (but(chosen=[]), "chosen must be an object, got a list of 0"),
    "made null": (but(made=None), "made must be an object, got None"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_in_one_line(case, run, tmp_path):
    text, says = BAD[case]
    (tmp_path / "model.json").write_text(text, encoding="latin-1")
    (tmp_path / "new.csv").write_text("a,b\n1,2\n")
    done = run("predict", "model.json", "new.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: model.json ")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 400


def test_a_model_of_other_columns_names_them(run, tmp_path):
    (tmp_path / "model.json").write_text(feature(name="zz"))
    (tmp_path / "new.csv").write_text("a,b\n1,2\n")
    done = run("predict", "model.json", "new.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "lacks 1 of the 1 columns of the model: zz" in done.stderr


@pytest.mark.parametrize(("name", "says"), [("none", "does not exist"), (".", "is a directory")])
def test_a_model_that_is_no_file_is_named(name, says, run, tmp_path):
    (tmp_path / "new.csv").write_text("a\n1\n")
    done = run("predict", name, "new.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name} {says}" in done.stderr
    assert "Traceback" not in done.stderr


def test_integers_and_unknown_fields_are_no_damage(run, tmp_path):
    text = but(intercept=1, note="mine", features=[{"name": "a", "coefficient": 2, "unit": "m"}])
    (tmp_path / "model.json").write_text(text)
    (tmp_path / "new.csv").write_text("a\n3\n")
    done = run("predict", "model.json", "new.csv", cwd=tmp_path)
    assert done.stdout.splitlines() == ["predicted y", "7.0"]


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_come_with_their_probabilities(classes, run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)).round(3)
    largest = np.argmax(np.column_stack([X, np.zeros(60)])[:, :classes], axis=1)
    labels = np.array(["healthy", "ill", "=very ill"])[largest]
    theirs = LogisticRegression(C=10).fit(X, labels)
    one = classes == 2
    model = GOOD | {
        "target": "state", "response": "classes", "classes": theirs.classes_.tolist(),
        "intercept": float(theirs.intercept_[0]) if one else theirs.intercept_.tolist(),
        "features": [
            {"name": name, "coefficient": float(w[0]) if one else w.tolist()}
            for name, w in zip("ab", theirs.coef_.T, strict=True)
        ],
    }  # fmt: skip
    (tmp_path / "model.json").write_text(json.dumps(model))
    np.savetxt(tmp_path / "new.csv", X, delimiter=",", header="a,b", comments="")
    done = run("predict", "model.json", "new.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, *rows = csv.reader(done.stdout.splitlines())
    assert head == ["predicted state", *(f"probability of {c}" for c in theirs.classes_)]
    assert [row[0].lstrip("'") for row in rows] == theirs.predict(X).tolist()
    shares = np.array([row[1:] for row in rows], float)
    np.testing.assert_allclose(shares, theirs.predict_proba(X), atol=1e-12)


def test_survival_is_told_as_a_risk(run, tmp_path):
    (tmp_path / "model.json").write_text(but(response="survival", target="days", intercept=0.0))
    (tmp_path / "new.csv").write_text("id,a\nP1,1\nP2,-3\n")
    done = run("predict", "model.json", "new.csv", "--id", "id", cwd=tmp_path)
    assert done.stdout.splitlines() == ["id,log of the relative risk", "P1,2.0", "P2,-6.0"]
