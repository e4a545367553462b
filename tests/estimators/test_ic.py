"""Selection by information criteria, for IRKSN and for every registered method."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data as WEIGHTS_DENSE,
)
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_sparse_data as WEIGHTS_SPARSE,
)

from ksupport import IRKSNIC, METHODS, PathIC
from ksupport.datasets import make_correlated_data

TOO_LARGE_OR_SMALL = "the largest entry of y .* has size .*; rescale y"
EMPTY = "ignore:No features were selected:UserWarning"  # legitimate: transform then has no columns


# Where weights are repetitions, scikit-learn's check that they are holds for every method.
COUNTED = [
    PathIC("irksn", weights="repetitions"),
    PathIC("iht", weights="repetitions"),
    PathIC("enet", {"l1_ratio": [0.5, 1.0]}, weights="repetitions"),
]


@pytest.mark.parametrize("check", [WEIGHTS_DENSE, WEIGHTS_SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("estimator", COUNTED, ids=repr)
@pytest.mark.filterwarnings(EMPTY)
def test_weights_are_repetitions(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.fixture(scope="module")
def data():
    truth = np.r_[3.0, -2.0, 0.0, 0.0, 2.0, np.zeros(45)]
    X, y, w = make_correlated_data(60, 50, rho=0.5, w_true=truth, snr=5, random_state=0)
    return 2 + X * np.linspace(0.5, 3, 50), y + 7, np.flatnonzero(w)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_a_scattered_support(data, method):
    X, y, truth = data
    model = PathIC(method).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), truth)
    assert set(model.params_) <= set(METHODS[method].describe().parameters)
    assert model.score_ == model.path_["score"][0]
    assert model.transform(X).shape == (60, 3)


@pytest.mark.parametrize("criterion", ["ebic", "bic", "aic", "gic", "cp"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_model_is_least_squares_on_the_support(data, criterion, fit_intercept):
    X, y, truth = data
    model = IRKSNIC(criterion=criterion, fit_intercept=fit_intercept).fit(X, y)
    support = model.get_support()
    assert support[truth].all() or not fit_intercept
    ols = LinearRegression(fit_intercept=fit_intercept).fit(X[:, support], y)
    np.testing.assert_allclose(model.coef_[support], ols.coef_)
    np.testing.assert_allclose(model.intercept_, ols.intercept_, atol=1e-10)
    assert (model.coef_[~support] == 0).all()


def test_the_table_holds_the_supports_best_first(data):
    X, y, truth = data
    model = IRKSNIC(k=[1, 3], alpha=[0.01, 0.1]).fit(X, y)
    table = pd.DataFrame(model.path_)
    assert {"support", "size", "rss", "score", "k", "alpha", "t"} <= set(table)
    assert table["support"][0] == tuple(truth)
    assert table["score"].is_monotonic_increasing or (table["score"].diff() > -1e-6)[1:].all()
    assert table["support"].is_unique
    ols = LinearRegression().fit(X[:, truth], y)
    np.testing.assert_allclose(table["rss"][0], ((y - ols.predict(X[:, truth])) ** 2).sum())
    assert set(table["k"].dropna()) <= {1, 3}
    assert set(table["alpha"].dropna()) <= {0.01, 0.1}
    assert (model.k_, model.alpha_, model.n_iter_) == (
        table["k"][0],
        table["alpha"][0],
        table["t"][0],
    )


def test_a_duplicated_column_is_an_alternative(data):
    X, y, truth = data
    model = IRKSNIC().fit(np.hstack([X, X[:, truth[:1]]]), y)
    chosen = set(model.get_support(indices=True))
    assert len(chosen & {truth[0], 50}) == 1
    twin = tuple(sorted(chosen ^ {truth[0], 50}))
    alternatives = dict(model.alternatives_)
    assert twin in alternatives
    np.testing.assert_allclose(alternatives[twin], model.score_, rtol=1e-8)


def test_alternatives_are_within_the_tie(data):
    X, y, _ = data
    for tie in (0.0, 1.0, 8.0):
        model = IRKSNIC(tie=tie).fit(X, y)
        scores = [score for _, score in model.alternatives_]
        assert all(model.score_ <= score <= model.score_ + tie for score in scores)
        assert all(tuple(model.get_support(indices=True)) != S for S, _ in model.alternatives_)
    assert scores == sorted(scores)


def test_max_size_is_a_limit(data):
    X, y, _ = data
    model = IRKSNIC(max_size=2, criterion="aic").fit(X, y)
    assert model.support_.sum() == 2
    assert max(map(len, model.path_["support"])) == 2


def test_a_support_reached_by_exchange_alone_has_no_path(data):
    X, y, truth = data
    model = IRKSNIC(k=1, max_iter=2).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), truth)
    assert model.k_ is None
    assert model.alpha_ is None
    assert model.params_ == {}
    without = IRKSNIC(k=1, max_iter=2, exchange=0).fit(X, y)
    assert without.score_ > model.score_


def test_kinds_of_x_and_weights_agree(data, rng):
    X, y, _ = data
    weights = rng.integers(1, 3, 60)
    expected = IRKSNIC().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for kind in (np.asarray, sp.csr_array, aslinearoperator, pd.DataFrame):
        model = IRKSNIC(weights="repetitions").fit(kind(X), y, sample_weight=weights)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)


@pytest.fixture(scope="module")
def noisy():
    return make_correlated_data(100, 200, rho=0.5, density=0.05, snr=3, random_state=0)[:2]


@pytest.mark.parametrize("method", METHODS)
def test_the_scale_of_weights_changes_nothing(noisy, method):
    X, y = noisy
    expected = PathIC(method, max_iter=200).fit(X, y)
    for weight in (1, 2, 10, 0.1, 1e-2, 1e300):
        model = PathIC(method, max_iter=200).fit(X, y, sample_weight=np.full(100, weight))
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert model.score_ == expected.score_


def test_weights_make_no_more_rows_than_there_are(noisy, rng):
    """However unequal they are, and even if they are said to be repetitions."""
    X, y = noisy
    inverse_variances = rng.uniform(0.1, 3, 100) ** -2
    assert IRKSNIC().fit(X, y, sample_weight=inverse_variances).support_.sum() <= 50
    counts = np.full(100, 10)
    model = IRKSNIC(weights="repetitions").fit(X, y, sample_weight=counts)
    assert model.support_.sum() <= 50
    again = IRKSNIC().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(again.support_, model.support_)


def test_relative_weights_count_rows_that_have_some(noisy, rng):
    X, y = noisy
    weights = np.where(np.arange(100) < 60, rng.uniform(0.5, 2, 100), 0)
    one = IRKSNIC().fit(X, y, sample_weight=weights)
    other = IRKSNIC().fit(X[:60], y[:60], sample_weight=weights[:60])
    np.testing.assert_array_equal(one.support_, other.support_)
    assert one.score_ == pytest.approx(other.score_)
    assert one.path_["size"].max() <= 30


@pytest.mark.parametrize("model", [IRKSNIC(), PathIC("lasso")], ids=str)
def test_the_size_of_y_is_that_of_the_model(data, model):
    X, y, _ = data
    expected = clone(model).fit(X, y).coef_
    for size in (1e110, 1e-110):
        np.testing.assert_allclose(clone(model).fit(X, y * size).coef_ / size, expected, rtol=1e-6)
    for size in (1e154, 1e-160):
        with pytest.raises(ValueError, match=TOO_LARGE_OR_SMALL):
            model.fit(X, y * size)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1e-300, 1e155])
@pytest.mark.parametrize("standardize", [True, False])
def test_an_x_that_cannot_be_squared_is_refused(data, method, size, standardize):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"the norm of X is .*square; rescale X"):
        PathIC(method, standardize=standardize).fit(X * size, y)


def test_scaling_a_column_changes_nothing_but_its_coefficient(data, rng):
    X, y, _ = data
    scale = rng.uniform(0.01, 100, 50)
    one, other = IRKSNIC().fit(X, y), IRKSNIC().fit(X * scale, y)
    np.testing.assert_allclose(other.coef_ * scale, one.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (IRKSNIC(k=[70, 50, 60]), "k=[67]0 is more than n_features=50; k=50 is used"),
        (PathIC("omp", {"n_atoms": 60}), "n_atoms=60 is more than n_features=50"),
    ],
    ids=str,
)
def test_levels_beyond_the_features_mean_all_of_them(data, model, message):
    with pytest.warns(UserWarning, match=message):
        model.fit(data[0], data[1])
    table = model.path_
    levels = table.get("k", table.get("n_atoms"))
    assert set(levels[table["t"] >= 0]) == {50}
    np.testing.assert_array_equal(model.get_support(indices=True), data[2])


def test_fits_are_repeatable(data):
    X, y, _ = data
    np.testing.assert_array_equal(IRKSNIC().fit(X, y).coef_, IRKSNIC().fit(X, y).coef_)


def useless(X, y, rng):
    return X, rng.standard_normal(len(y))


def constant(X, y, rng):
    return X, np.full(len(y), 3.0)


def two_rows(X, y, rng):
    return X[:2], y[:2]


def one_column(X, y, rng):
    return X[:, :1], y


def duplicated(X, y, rng):
    return np.hstack([X, X]), y


def perfect(X, y, rng):
    return X, X[:, 0] - 2 * X[:, 3]


def constant_columns(X, y, rng):
    return np.ones_like(X), y


ODD = [useless, constant, two_rows, one_column, duplicated, perfect, constant_columns]


@pytest.mark.parametrize("change", ODD)
@pytest.mark.parametrize("criterion", ["ebic", "bic", "aic", "gic", "cp"])
def test_odd_data_give_a_sensible_model(data, rng, change, criterion):
    X, y = change(data[0], data[1], rng)
    model = IRKSNIC(criterion=criterion).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert np.isfinite(model.score_)
    if change in (constant, two_rows, constant_columns):
        assert not model.support_.any()
        np.testing.assert_allclose(model.intercept_, y.mean())
    if change is perfect:
        np.testing.assert_array_equal(model.get_support(indices=True), [0, 3])
        np.testing.assert_allclose(model.predict(X), y)
    if criterion == "ebic" and change is useless:
        assert model.support_.sum() <= 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("change", [useless, constant, two_rows, one_column, perfect])
def test_odd_data_do_not_upset_any_method(data, rng, method, change):
    X, y = change(data[0][:, :12], data[1], rng)
    model = PathIC(method, max_iter=100).fit(X, y)
    assert np.isfinite(model.coef_).all()
    if change is perfect:
        np.testing.assert_array_equal(model.get_support(indices=True), [0, 3])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PathIC("ols"), "method must be one of irksn, .* got 'ols'"),
        (PathIC("omp", {"k": [1]}), "method 'omp' has no parameter 'k'"),
        (IRKSNIC(criterion="hqic"), "criterion must be one of .* got 'hqic'"),
        (IRKSNIC(k="many"), "k must be 'auto', .* got 'many'"),
        (IRKSNIC(weights="many"), "weights must be 'relative' or 'repetitions', got 'many'"),
        (IRKSNIC(k=0), "k must be between 1 and n_features=50, got 0"),
        (IRKSNIC(alpha=2.0), "alpha must lie strictly between 0 and 1, got 2.0"),
        (IRKSNIC(max_iter=0), "max_iter must be an integer of at least 1, got 0"),
        (IRKSNIC(every=0), "every must be an integer of at least 1, got 0"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(data, model, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(data[0], data[1])


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("shape", [(50, 30), (40, 60)])
def test_an_operator_ends_with_the_criterion_of_the_dense_x(shape, standardize):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal(shape) * rng.uniform(0.3, 3, shape[1])
        X += rng.standard_normal((len(X), 1))
        y = X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(len(X))
        model = IRKSNIC(max_iter=100, standardize=standardize)
        dense, operator = model.fit(X, y).score_, model.fit(aslinearoperator(X), y).score_
        assert operator == pytest.approx(dense, abs=1e-6)
