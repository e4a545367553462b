"""Many more rows than features: one pass, and the models that the rows themselves give."""

from functools import cache

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, RepeatedKFold, ShuffleSplit

from ksupport import IHT, IRKSN, IRKSNCV, IRKSNIC, AutoIRKSN, PathCV, PathIC
from ksupport.design import squares

N, D = 1800, 40
MODELS = {
    "AutoIRKSN": AutoIRKSN(max_iter=200),
    "IRKSNIC": IRKSNIC(max_iter=200),
    "IRKSNCV": IRKSNCV(max_iter=200, random_state=0),
    "IRKSNCV, iterates": IRKSNCV(max_iter=200, refit=None),
    "IRKSNCV, ridge": IRKSNCV(max_iter=200, refit="ridge", one_se=True),
    "PathIC": PathIC("iht", max_iter=100, criterion="bic"),
    "PathIC, lasso": PathIC("lasso", {"n_lambdas": 20}),
    "PathCV": PathCV("ksn", {"k": [5, 20], "lam": 0.1}, max_iter=60, cv=3),
    "PathCV, omp": PathCV("omp", max_iter=15, refit="ols", cv=3),
    "IRKSN": IRKSN(k=5, max_iter=300, stopping="held_out", random_state=0),
    "IHT": IHT(k=5, max_iter=100),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D)) @ np.linalg.cholesky(0.6 ** np.abs(np.subtract.outer(
        np.arange(D), np.arange(D)))).T  # fmt: skip
    X = X * rng.uniform(0.2, 5, D) + rng.uniform(-40, 40, D)
    y = X[:, [3, 11, 30]] / X[:, [3, 11, 30]].std(axis=0) @ [2.0, -1.5, 1.0]
    return X, y + rng.standard_normal(N) + 20


def on_rows(monkeypatch, model, X, y, **options):
    monkeypatch.setattr(squares, "pays", lambda *_: False)
    fitted = clone(model).fit(X, y, **options)
    monkeypatch.undo()
    return fitted


def assert_same(model, twin, rtol=1e-8):
    np.testing.assert_array_equal(model.support_, twin.support_)
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol, rtol * np.abs(twin.coef_).max())
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol)
    assert model.n_iter_ == twin.n_iter_
    for name in ("score", "rss", "loss", "loss_se", "size", "t"):
        if name in getattr(twin, "path_", ()):
            np.testing.assert_allclose(model.path_[name], twin.path_[name], rtol, rtol)


@pytest.mark.parametrize("name", MODELS)
def test_one_pass_gives_the_models_of_the_rows(data, monkeypatch, name):
    model = clone(MODELS[name]).fit(*data)
    assert model.n_passes_ == 1
    assert_same(model, on_rows(monkeypatch, MODELS[name], *data))


@pytest.mark.parametrize("meaning", ["relative", "repetitions"])
@pytest.mark.parametrize("name", ["AutoIRKSN", "IRKSNIC", "IRKSNCV", "PathCV"])
def test_with_weights(data, monkeypatch, name, meaning):
    weights = np.random.default_rng(0).integers(0, 30, N)
    model = clone(MODELS[name]).set_params(weights=meaning)
    fitted = clone(model).fit(*data, sample_weight=weights)
    assert fitted.n_passes_ == 1
    assert_same(fitted, on_rows(monkeypatch, model, *data, sample_weight=weights))


def test_repeated_rows_are_rows_with_weight(data):
    X, y = data
    times = np.random.default_rng(1).integers(1, 4, N)
    folds = np.repeat(np.arange(N) % 5, times)
    model = AutoIRKSN(max_iter=200, weights="repetitions", cv=GroupKFold(5))
    counted = clone(model).fit(X, y, sample_weight=times, groups=np.arange(N) % 5)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times), groups=folds)
    assert_same(counted, repeated, 1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_centred_and_scaled_or_not(data, monkeypatch, fit_intercept, standardize):
    model = AutoIRKSN(max_iter=200, fit_intercept=fit_intercept, standardize=standardize)
    assert_same(clone(model).fit(*data), on_rows(monkeypatch, model, *data))


SPLITTERS = [
    7, ShuffleSplit(3, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("cv", SPLITTERS, ids=str)
def test_with_other_folds(data, monkeypatch, cv):
    model = IRKSNCV(max_iter=100, cv=cv)
    fitted = clone(model).fit(*data)
    assert fitted.n_passes_ == 1
    assert_same(fitted, on_rows(monkeypatch, model, *data))


def test_other_scores_read_the_rows_held_out(data, monkeypatch):
    model = IRKSNCV(max_iter=100, scoring="neg_mean_absolute_error", refit=None)
    fitted, twin = clone(model).fit(*data), on_rows(monkeypatch, model, *data)
    assert_same(fitted, twin)
    assert fitted.score_ == pytest.approx(twin.score_, rel=1e-9)


def mapped(X, tmp):
    X.tofile(tmp / "x")
    return np.memmap(tmp / "x", float, "r", shape=X.shape)


KINDS = {
    "single precision": lambda X, tmp: X.astype(np.float32),
    "mapped": mapped,
    "sparse": lambda X, tmp: sp.csc_array(X),
    "dask": lambda X, tmp: da.from_array(X, chunks=(500, 25)),
}


@pytest.fixture(scope="module")
def in_single(data):
    """X as single precision can hold it, y, and the model of each name, fitted once."""
    X, y = data[0].astype(np.float32).astype(float), data[1]
    return X, y, cache(lambda name: clone(MODELS[name]).fit(X, y))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["AutoIRKSN", "IRKSNIC", "IRKSNCV", "PathIC", "PathCV"])
def test_every_kind_of_X(in_single, name, kind, tmp_path):
    X, y, expected = in_single
    model = clone(MODELS[name]).fit(KINDS[kind](X, tmp_path), y)
    assert model.n_passes_ == 1
    assert_same(model, expected(name), 1e-6 if kind == "single precision" else 1e-8)


def test_operators_have_only_products(data):
    X, y = data
    model = IRKSNIC(max_iter=100, k=5)
    assert_same(clone(model).fit(aslinearoperator(X), y), clone(model).fit(X, y))


def test_a_response_of_few_values_takes_one_more_pass(data, monkeypatch):
    X, y = data
    y = np.sign(y - np.median(y))
    model = AutoIRKSN(max_iter=100).fit(X, y)
    assert model.n_passes_ == 2
    other = on_rows(monkeypatch, AutoIRKSN(max_iter=100), X, y)
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.probability_, other.probability_, atol=0.02)


def test_means_that_dwarf_deviations(data):
    X, y = data
    X = np.round((X - X.mean(axis=0)) * 2**10) / 2**10  # exact when shifted
    model = AutoIRKSN(max_iter=200)
    moved, still = clone(model).fit(X + 2.0**30, y), clone(model).fit(X, y)
    np.testing.assert_array_equal(moved.support_, still.support_)
    np.testing.assert_allclose(moved.coef_, still.coef_, rtol=1e-9)
    np.testing.assert_allclose(moved.path_["score"], still.path_["score"], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("name", ["AutoIRKSN", "IRKSNCV", "IRKSNIC"])
def test_the_order_of_the_rows_says_nothing(data, name):
    X, y = data
    order = np.random.default_rng(0).permutation(N)
    folds = np.arange(N) % 5
    model = clone(MODELS[name])
    if name == "IRKSNIC":
        assert_same(clone(model).fit(X[order], y[order]), model.fit(X, y))
    else:
        model.set_params(cv=GroupKFold(5))
        other = clone(model).fit(X[order], y[order], groups=folds[order])
        assert_same(other, model.fit(X, y, groups=folds))
