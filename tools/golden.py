"""Models of this version, kept so that later versions can be asked to read them.

``make golden`` writes ``tests/golden/VERSION``, which ``tests/test_golden.py`` reads ever after: a
table, model files with the predictions that belong to them, pickles of estimators with theirs. Run
it before a version is released, never after.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ksupport

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "golden" / ksupport.__version__
NAMES = [f"g{j}" for j in range(6)]
CASES = {  # of `ksupport fit`
    "numbers": ["--target", "y"],
    "adjusted": ["--target", "y", "--adjust-for", "sex", "--adjust-for", "age"],
    "imputed": ["--target", "y", "--missing", "impute", "--adjust-for", "sex"],
    "two-classes": ["--target", "two"],
    "survival": ["--time", "time", "--event", "event"],
}
TARGETS = {"y", "two", "time", "event", "sex", "age"}


def table() -> dict[str, Any]:
    """60 rows with everything that models are made of."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 6)).round(3)
    signal = 2 * X[:, 0] - X[:, 1]
    sex = rng.choice(["f", "m"], 60)
    y = signal + (sex == "m") + 0.3 * rng.standard_normal(60)
    return {
        **dict(zip(NAMES, X.T, strict=True)),
        "sex": sex,
        "age": rng.integers(20, 80, 60),
        "y": y.round(3),
        "two": np.where(signal > 0, "ill", "well"),
        "time": np.exp(-signal / 2 + rng.standard_normal(60) / 3).round(3),
        "event": (rng.random(60) < 0.8).astype(int),
    }


def estimators() -> dict[str, Any]:
    """One of each family."""
    return {
        "IRKSN": ksupport.IRKSN(k=2),
        "IRKSNIC": ksupport.IRKSNIC(),
        "IRKSNCV": ksupport.IRKSNCV(),
        "AutoIRKSN": ksupport.AutoIRKSN(),
        "KSN": ksupport.KSN(k=2, lam=1.0),
        "PathCV": ksupport.PathCV("srdi"),
        "IRKSNClassifier": ksupport.IRKSNClassifier(k=2),
        "AutoIRKSNClassifier": ksupport.AutoIRKSNClassifier(),
    }


def write_csv(path: Path, columns: dict[str, Any]) -> None:
    rows = zip(*(map(str, values) for values in columns.values()), strict=True)
    path.write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")


def command(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "ksupport_command", *arguments], cwd=FOLDER, check=True)


def write_model_files(columns: dict[str, Any]) -> None:
    holes = {name: list(map(str, values)) for name, values in columns.items()}
    holes["g0"][3] = holes["g1"][5] = ""
    write_csv(FOLDER / "table.csv", columns)
    write_csv(FOLDER / "holes.csv", holes)
    for name, options in CASES.items():
        file = "holes.csv" if name == "imputed" else "table.csv"
        others = sorted(TARGETS - set(options))
        command(
            "fit", file, *options, *(f"--ignore={each}" for each in others), "--no-compare",
            "--output", f"{name}.model.json",
        )  # fmt: skip
        command("predict", f"{name}.model.json", file, "--output", f"{name}.predicted.csv")


def write_pickles(columns: dict[str, Any]) -> None:
    X = np.column_stack([columns[name] for name in NAMES])
    predicted = {}
    for name, model in estimators().items():
        classifies = name.endswith("Classifier")
        model.fit(X, columns["two" if classifies else "y"])
        predicted[name] = model.predict_proba(X) if classifies else model.predict(X)
        (FOLDER / f"{name}.pickle").write_bytes(pickle.dumps(model, protocol=4))
    np.savez_compressed(FOLDER / "predicted.npz", X=X, **predicted)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    columns = table()
    write_model_files(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_pickles(columns)
