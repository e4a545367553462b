"""Models of released versions: this one still reads them, and predicts what they predicted.

A version's folder is written once, by ``make golden``, and not changed after its release.
"""

import csv
import pickle
from pathlib import Path

import numpy as np
import pytest

GOLDEN = Path(__file__).parent / "golden"
MODELS = sorted(GOLDEN.glob("*/*.model.json"))
PICKLES = sorted(GOLDEN.glob("*/*.pickle"))


def name(path):
    return f"{path.parent.name} {path.name.partition('.')[0]}"


def columns(path):
    with path.open(newline="", encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    return dict(zip(head, zip(*rows, strict=True), strict=True))


def as_numbers(values):
    try:
        return np.array(values, float)
    except ValueError:
        return None


def test_there_are_some_of_this_version():
    import ksupport

    assert {path.parent.name for path in MODELS} >= {ksupport.__version__}
    assert {path.parent.name for path in PICKLES} >= {ksupport.__version__}


@pytest.mark.parametrize("path", MODELS, ids=name)
def test_a_model_file_predicts_as_it_did(path):
    pytest.importorskip("pandas")
    from ksupport.commands.fitting.model_file import load
    from ksupport.reading import read_rows
    from ksupport.reading.options import how_to_read

    model = load(path)
    file = path.with_name("holes.csv" if path.name.startswith("imputed") else "table.csv")
    rows = read_rows(
        file, model.names, how_to_read(), model.codings, None, fill=model.fill, likely_id=model.ids
    )
    predicted = model.predict(rows.X)
    expected = columns(path.with_name(path.name.replace(".model.json", ".predicted.csv")))
    assert list(predicted) == list(expected)
    for column, values in expected.items():
        if as_numbers(values) is None:
            assert list(predicted[column]) == list(values)
        else:
            np.testing.assert_allclose(predicted[column], as_numbers(values), rtol=1e-9)


@pytest.mark.parametrize("path", PICKLES, ids=name)
def test_a_pickle_predicts_as_it_did(path):
    model = pickle.loads(path.read_bytes())
    with np.load(path.with_name("predicted.npz"), allow_pickle=False) as arrays:
        X, expected = arrays["X"], arrays[type(model).__name__]
    given = (
        model.predict_proba(X) if type(model).__name__.endswith("Classifier") else model.predict(X)
    )
    np.testing.assert_allclose(given, expected, rtol=1e-9)
    assert model.to_frame().shape[0] >= 1
