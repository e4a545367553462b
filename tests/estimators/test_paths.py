"""IRKSN as a scikit-learn estimator: it fits what it says it fits, whatever X comes as."""

import pickle
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pylops
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import clone
from sklearn.ensemble import StackingRegressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import IHT, IRCR, IRKSN, IRKSNCV, IRKSNIC, IROSR, KSN, SRDI, AutoIRKSN
from ksupport.stopping import HeldOut
from ksupport.walking import Verdict

TOO_LARGE_OR_SMALL = "the largest entry of y .* has size .*; rescale y"
ONE_PATH = [IRKSN, KSN, IRCR, IROSR, SRDI, IHT]


@parametrize_with_checks([IRKSN(loss="huber"), IRKSN(loss="poisson")])
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = 3 + rng.standard_normal((40, 25)) * rng.uniform(0.3, 3, 25)
    y = X[:, :4] @ [1.0, -2.0, 3.0, 1.0] + 7 + 0.1 * rng.standard_normal(40)
    return X, y


# Rounding grows along a path, the faster the smaller alpha; so these models are compared early.
EARLY = {"k": 4, "alpha": 0.1, "max_iter": 200}


def assert_same_model(one, other, atol=1e-9):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=atol)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=0, atol=20 * atol)
    assert one.n_iter_ == other.n_iter_


# -- preprocessing ------------------------------------------------------------------------


def test_an_intercept_is_centring(data):
    X, y = data
    model = IRKSN(**EARLY).fit(X, y)
    by_hand = IRKSN(**EARLY, fit_intercept=False).fit(X - X.mean(axis=0), y - y.mean())
    np.testing.assert_allclose(model.coef_, by_hand.coef_, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, y.mean() - X.mean(axis=0) @ model.coef_)
    assert by_hand.intercept_ == 0
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_standardising_is_dividing_by_the_standard_deviation(data, fit_intercept):
    X, y = data
    model = IRKSN(**EARLY, standardize=True, fit_intercept=fit_intercept).fit(X, y)
    by_hand = IRKSN(**EARLY, fit_intercept=fit_intercept).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(model.coef_, by_hand.coef_ / X.std(axis=0), atol=1e-10)
    np.testing.assert_allclose(model.intercept_, by_hand.intercept_, atol=1e-8)


def test_shifting_the_data_shifts_only_the_intercept(data, rng):
    X, y = data
    shift = rng.uniform(-50, 50, 25)
    one, other = IRKSN(**EARLY).fit(X, y), IRKSN(**EARLY).fit(X + shift, y + 100)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-9)
    np.testing.assert_allclose(other.intercept_, one.intercept_ + 100 - shift @ one.coef_)


@pytest.mark.parametrize("standardize", [True, False])
def test_the_fit_tends_to_least_squares(standardize, rng):
    X = 1 + rng.standard_normal((60, 5))
    y = X @ np.arange(5.0) + rng.standard_normal(60)
    model = IRKSN(k=5, alpha=0.5, standardize=standardize, max_iter=5000).fit(X, y)
    truth = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, truth.coef_, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, truth.intercept_, atol=1e-8)


# -- weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_integer_weights_are_repeated_rows(data, standardize, fit_intercept, rng):
    X, y = data
    weights = rng.integers(0, 4, 40)
    model = IRKSN(**EARLY, standardize=standardize, fit_intercept=fit_intercept)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same_model(weighted, repeated)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
def test_zero_weight_is_a_removed_row(data, kind, rng):
    X, y = data
    X[:5], y[:5] = 1e4 * X[:5], -1e4
    weights = np.r_[np.zeros(5), rng.uniform(0.5, 2, 35)]
    model = IRKSN(**EARLY, standardize=True)
    one = clone(model).fit(kind(X), y, sample_weight=weights)
    other = model.fit(X[5:], y[5:], sample_weight=weights[5:])
    assert_same_model(one, other, 1e-7)


def test_scaling_all_weights_changes_nothing(data, rng):
    X, y = data
    weights = rng.uniform(0.5, 2, 40)
    one = IRKSN(**EARLY).fit(X, y, sample_weight=weights)
    assert_same_model(one, IRKSN(**EARLY).fit(X, y, sample_weight=1e3 * weights))


@pytest.mark.parametrize("one", ONE_PATH)
def test_one_weight_for_all_rows_is_none(data, one):
    X, y = data
    np.testing.assert_allclose(one().fit(X, y, sample_weight=3).coef_, one().fit(X, y).coef_)


def test_the_rule_of_discrepancy_takes_no_notice_of_the_scale_of_weights(data, rng):
    X, y = data
    weights = rng.uniform(0.5, 2, 40)
    one, other = (
        IRKSN(**EARLY, stopping="discrepancy").fit(X, y, sample_weight=c * weights) for c in (1, 9)
    )
    assert one.n_iter_ < 200
    assert_same_model(one, other)


def test_rows_without_weight_are_never_held_out(data, rng):
    X, y = data
    weights = np.r_[np.zeros(30), rng.uniform(0.5, 2, 10)]
    model = IRKSN(**EARLY, stopping="held_out", random_state=0)
    one = clone(model).fit(X, y, sample_weight=weights)
    other = model.fit(X[30:], y[30:], sample_weight=weights[30:])
    np.testing.assert_array_equal(one.held_out_, 30 + other.held_out_)
    assert_same_model(one, other)


def test_weights_count_in_the_error_on_rows_held_out(data, rng):
    X, y = data
    weights = rng.integers(1, 4, 40).astype(float)
    model = IRKSN(**EARLY, stopping="held_out", random_state=0).fit(X, y, sample_weight=weights)
    held_out = model.held_out_
    squares = (model.predict(X[held_out]) - y[held_out]) ** 2
    at = list(model.history_["t"]).index(model.n_iter_)
    expected = np.average(squares, weights=weights[held_out])
    np.testing.assert_allclose(model.history_["validation"][at], expected)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(7), r"sample_weight must be a number or have shape \(40,\), got \(7,\)"),
        (-np.ones(40), "sample_weight must be non-negative and not all zero.*-1"),
        (np.zeros(40), "sample_weight must be non-negative and not all zero"),
        (np.full(40, np.nan), "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_named(data, weights, message):
    with pytest.raises(ValueError, match=message):
        IRKSN(k=4).fit(*data, sample_weight=weights)


# -- several targets ----------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 25), (3000, 25), (30, 2000)])
@pytest.mark.parametrize("stopping", [None, HeldOut(patience=5)])
def test_several_targets_are_separate_fits(shape, stopping, rng):
    X = rng.standard_normal(shape)
    Y = X[:, :9] @ rng.standard_normal((9, 3)) + rng.standard_normal((shape[0], 3))
    model = IRKSN(k=4, alpha=0.1, max_iter=150, stopping=stopping, random_state=0)
    several = clone(model).fit(X, Y)
    assert several.coef_.shape == (3, shape[1])
    assert several.predict(X).shape == Y.shape
    for j in range(3):
        one = clone(model).fit(X, Y[:, j])
        np.testing.assert_allclose(several.coef_[j], one.coef_, atol=1e-8)
        np.testing.assert_allclose(several.intercept_[j], one.intercept_, atol=1e-8)
        assert several.n_iter_[j] == one.n_iter_
        assert several.stop_reason_[j] == one.stop_reason_
        np.testing.assert_array_equal(several.history_[j]["t"], one.history_["t"])
    np.testing.assert_array_equal(several.support_, (several.coef_ != 0).any(axis=0))


def test_a_column_of_y_is_one_target(data):
    X, y = data
    column, flat = IRKSN(k=4).fit(X, y[:, None]), IRKSN(k=4).fit(X, y)
    assert column.coef_.shape == (1, 25)
    np.testing.assert_array_equal(column.coef_[0], flat.coef_)


# -- kinds of X ---------------------------------------------------------------------------

NAMES = [f"gene {j}" for j in range(25)]
KINDS = {
    "F": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "object": lambda X: X.astype(object),
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "operator": aslinearoperator,
    "PyLops": lambda X: pylops.MatrixMult(X, dtype="float64"),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


@pytest.mark.parametrize("params", [{}, {"standardize": True}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_x_gives_the_same_model(kind, params, data, rng):
    X, y = data
    X[rng.random(X.shape) < 0.3] = 0.0
    weights = rng.uniform(0.5, 2, 40)
    given = KINDS[kind](X)
    expected = IRKSN(**EARLY, **params).fit(X, y, sample_weight=weights)
    model = IRKSN(**EARLY, **params).fit(given, y, sample_weight=weights)
    atol = 1e-4 if "float32" in kind else 1e-9
    assert_same_model(model, expected, atol)
    np.testing.assert_allclose(model.predict(given), expected.predict(X), atol=100 * atol)
    assert model.score(given, y) == pytest.approx(expected.score(X, y), abs=1e-3)
    if kind in ("pandas", "polars"):
        np.testing.assert_array_equal(model.feature_names_in_, NAMES)
        np.testing.assert_array_equal(
            model.get_feature_names_out(), np.array(NAMES)[model.support_]
        )
    else:
        assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 25


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coefficients_have_the_precision_of_x(data, dtype):
    X, y = data
    assert IRKSN(k=4).fit(X.astype(dtype), y).coef_.dtype == dtype


@pytest.mark.parametrize("shape", [(40, 25), (5000, 20), (30, 3000)])
def test_a_mapped_file_gives_the_same_model(shape, rng, tmp_path):
    X = np.memmap(tmp_path / "X", np.float32, "w+", shape=shape)
    X[:] = rng.standard_normal(shape)
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(shape[0])
    mapped = np.memmap(tmp_path / "X", np.float32, "r", shape=shape)
    model = IRKSN(k=3, alpha=0.05, max_iter=200)
    assert_same_model(clone(model).fit(mapped, y), model.fit(np.array(X, float), y), 1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_mapped_file_is_checked_too(fit_intercept, rng, tmp_path):
    X = np.memmap(tmp_path / "X", float, "w+", shape=(30, 8))
    X[:] = rng.standard_normal((30, 8))
    X[4, 5] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN"):
        IRKSN(k=3, fit_intercept=fit_intercept).fit(X, np.ones(30))


def test_fitting_copies_neither_a_mapped_file_nor_a_sparse_x(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("ksupport.limits.CHUNK", 1 << 17)
    mapped = np.memmap(tmp_path / "X", np.float32, "w+", shape=(40_000, 100))
    mapped[:] = rng.standard_normal(mapped.shape, np.float32)
    sparse = sp.random_array((200, 30_000), density=1e-3, format="csr", random_state=rng)
    for X, size in ((mapped, mapped.nbytes), (sparse, 200 * 30_000 * 8)):
        y = rng.standard_normal(X.shape[0])
        model = IRKSN(k=3, max_iter=200, standardize=True)
        model.fit(X[:50], y[:50])  # what is imported takes memory, too
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < size / 2
        assert model.n_passes_ <= 40  # of 200 steps


def test_many_rows_take_few_passes(rng):
    X = rng.standard_normal((20_000, 20))
    model = IRKSN(k=3, max_iter=1000).fit(X, X[:, 0])
    assert model.n_passes_ <= 3


@pytest.mark.parametrize("chunks", [None, {"row": 15}], ids=["in memory", "Dask"])
def test_a_labelled_array_is_the_array_in_it(data, chunks):
    xarray = pytest.importorskip("xarray")
    if chunks is not None:
        pytest.importorskip("dask.array")
    X, y = data
    plain = IRKSN(k=4).fit(X, y, np.arange(1.0, 41))
    labelled = xarray.DataArray(X, dims=("row", "columns"), coords={"columns": np.arange(25)})
    response, weights = (xarray.DataArray(v, dims="row") for v in (y, np.arange(1.0, 41)))
    if chunks is not None:
        labelled, response = labelled.chunk(chunks), response.chunk(chunks)
    model = IRKSN(k=4).fit(labelled, response, weights)
    assert_same_model(model, plain, atol=1e-8)  # products by chunks round otherwise
    np.testing.assert_allclose(np.asarray(model.predict(labelled)), plain.predict(X), atol=1e-7)
    np.testing.assert_array_equal(np.asarray(model.transform(labelled)), plain.transform(X))
    assert model.certify(labelled, response).support == plain.certify(X, y).support
    with pytest.raises(TypeError, match=r"Dataset of 1 variables.*to_dataframe"):
        model.fit(labelled.to_dataset(name="a"), y)


def test_an_operator_after_a_data_frame_has_no_names(data):
    X, y = data
    model = IRKSN(k=4).fit(pd.DataFrame(X, columns=NAMES), y)
    assert not hasattr(model.fit(aslinearoperator(X), y), "feature_names_in_")


# -- warm start ---------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"standardize": True}, {"alpha": 0.5}], ids=str)
@pytest.mark.parametrize("shape", [(40, 25), (5000, 20), (30, 2000)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
def test_two_fits_of_fifty_steps_are_one_of_a_hundred(kind, shape, params, rng):
    if kind is aslinearoperator and max(shape) > 100:
        shape = tuple(np.minimum(shape, 100))
    X = rng.standard_normal(shape)
    y = X[:, :3].sum(axis=1) + rng.standard_normal(shape[0])
    X = kind(X)
    once = IRKSN(k=3, max_iter=100, **params).fit(X, y)
    twice = IRKSN(k=3, max_iter=50, warm_start=True, **params).fit(X, y)
    assert twice.n_iter_ == 50
    twice.fit(X, y)
    assert_same_model(twice, once, 1e-11 if shape[0] < 5000 else 1e-9)
    assert twice.n_iter_ == 100
    np.testing.assert_array_equal(twice.history_["t"], np.arange(51, 101))


def test_a_warm_start_of_several_targets(data, rng):
    X, y = data
    Y = np.column_stack([y, -y, rng.standard_normal(40)])
    once = IRKSN(k=3, max_iter=80).fit(X, Y)
    twice = IRKSN(k=3, max_iter=40, warm_start=True).fit(X, Y).fit(X, Y)
    np.testing.assert_allclose(twice.coef_, once.coef_, atol=1e-11)


def test_without_warm_start_every_fit_is_the_first(data):
    model = IRKSN(k=3, max_iter=50).fit(*data)
    first = model.coef_
    np.testing.assert_array_equal(model.fit(*data).coef_, first)
    assert model.n_iter_ == 50


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y, model: (X + np.eye(40, 25), y),
        lambda X, y, model: (X, y + np.arange(40)),
        lambda X, y, model: (X[:, :20], y),
        lambda X, y, model: (X[:30], y[:30]),
        lambda X, y, model: (X[::-1], y[::-1]),
        lambda X, y, model: (X, np.column_stack([y, y])),
        lambda X, y, model: (model.set_params(standardize=True), (X, y))[1],
        lambda X, y, model: (model.set_params(k=7), (X, y))[1],
        lambda X, y, model: (model.set_params(alpha=0.3), (X, y))[1],
        lambda X, y, model: (model.set_params(step="nuclear"), (X, y))[1],
    ],
    ids=["X", "y", "features", "rows", "order", "targets", "standardize", "k", "alpha", "step"],
)
def test_a_changed_problem_starts_afresh_with_a_warning(data, change):
    model = IRKSN(k=3, max_iter=50, warm_start=True).fit(*data)
    X, y = change(*data, model)
    with pytest.warns(UserWarning, match=r"warm_start.*differ from the last fit; starting afresh"):
        model.fit(X, y)
    fresh = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    assert model.n_iter_ == fresh.n_iter_


def test_a_warm_start_survives_pickling_without_the_data(rng):
    X = rng.standard_normal((200, 5000))
    y = X[:, 0] - X[:, 1]
    model = IRKSN(k=2, max_iter=50, warm_start=True).fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < X.nbytes / 20
    again = pickle.loads(stored).fit(X, y)
    assert_same_model(again, model.fit(X, y), 1e-12)
    assert again.n_iter_ == 100


def test_a_fitted_model_survives_pickling(data):
    X, y = data
    model = IRKSN(k=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.history_["residual"], model.history_["residual"])


# -- selecting features -------------------------------------------------------------------


def test_it_selects_features(data):
    X, y = data
    model = IRKSN(k=4, standardize=True).fit(X, y)
    np.testing.assert_array_equal(model.support_, model.coef_ != 0)
    np.testing.assert_array_equal(model.get_support(), model.support_)
    np.testing.assert_array_equal(model.get_support(indices=True), np.flatnonzero(model.coef_))
    assert 0 < model.support_.sum() < 25
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_array_equal(back, np.where(model.support_, X, 0))
    names = model.get_feature_names_out()
    np.testing.assert_array_equal(names, [f"x{j}" for j in np.flatnonzero(model.support_)])
    with pytest.raises(NotFittedError):
        IRKSN().get_support()


def test_it_works_in_pipelines_and_searches(data):
    X, y = data
    selecting = make_pipeline(StandardScaler(), IRKSN(k=4), LinearRegression()).fit(X, y)
    assert selecting.score(X, y) > 0.99
    search = GridSearchCV(IRKSN(max_iter=200), {"k": [1, 4], "alpha": [0.01, 0.1]}, cv=3).fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) > 0.9
    assert cross_val_score(search.best_estimator_, X, y, cv=3).min() > 0.9


def test_parameters_can_be_read_set_and_cloned(data):
    model = IRKSN(k=3, alpha=0.2, stopping=HeldOut(0.3), warm_start=True).fit(*data)
    copy = clone(model)
    assert repr(copy.get_params()) == repr(model.get_params())
    assert not hasattr(copy, "coef_")
    assert copy.set_params(k=5).k == 5
    assert model.k == 3


def test_k_defaults_to_ten_or_fewer(rng):
    for d in (4, 30):
        X, y = rng.standard_normal((20, d)), rng.standard_normal(20)
        default = IRKSN().fit(X, y)
        np.testing.assert_array_equal(default.coef_, IRKSN(k=min(10, d)).fit(X, y).coef_)


@pytest.mark.parametrize("one", [IRKSN, KSN, IHT])
def test_a_k_beyond_the_features_means_all_of_them(data, one):
    with pytest.warns(UserWarning, match="k=40 is more than n_features=25; k=25 is used"):
        model = one(k=40, max_iter=50).fit(*data)
    np.testing.assert_array_equal(model.coef_, one(k=25, max_iter=50).fit(*data).coef_)
    model.certify(*data)  # which does not say it again


BEYOND = "ignore:k=. is more than n_features=:UserWarning"  # as features are taken away


@pytest.mark.parametrize(
    "model", [IRKSN(k=5), IHT(k=5), IRKSNIC(k=[2, 5]), IRKSNCV(k=[2, 5], max_iter=50)], ids=str
)
@pytest.mark.filterwarnings(BEYOND)
def test_clients_may_take_features_away(data, model):
    X, y = data[0][:, :6], data[1]
    recursive = RFECV(model, cv=3).fit(X, y)
    assert recursive.support_[:3].all()
    forward = SequentialFeatureSelector(model, n_features_to_select=2, cv=2).fit(X, y)
    assert forward.get_support().sum() == 2
    stack = StackingRegressor([("one", model), ("other", LinearRegression())], model, cv=2)
    assert stack.fit(X, y).score(X, y) > 0.9


def test_held_out_rows_follow_the_random_state(data):
    models = [IRKSN(k=4, stopping="held_out", random_state=s).fit(*data) for s in (0, 0, 1)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert (models[0].coef_ != models[2].coef_).any()


def test_a_rule_of_one_s_own(data):
    def fifth_record(history):
        last = history.n_records - 1
        return Verdict(min(last, 4), 4 if last >= 4 else None)

    model = IRKSN(k=4, stopping=fifth_record, every=3).fit(*data)
    assert (model.n_iter_, model.stop_reason_) == (12, "stopped")


# -- callbacks ----------------------------------------------------------------------------


class Watcher:
    """A scikit-learn callback: keeps the partial models it is shown, stops at a given step."""

    def __init__(self, stop_at=10**9, error=None):
        self.stop_at, self.error = stop_at, error
        self.models, self.events = [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if fitted_estimator is None:
            return False
        self.models.append(fitted_estimator)
        if self.error is not None and len(self.models) > 1:
            raise self.error
        return fitted_estimator.n_iter_ >= self.stop_at


@pytest.fixture
def callbacks():
    return pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")


@pytest.mark.parametrize("standardize", [True, False])
def test_a_callback_sees_partial_models(callbacks, data, standardize):
    X, y = data
    watcher = Watcher()
    model = IRKSN(k=4, max_iter=500, standardize=standardize).set_callbacks(watcher).fit(X, y)
    assert watcher.events == ["setup", "teardown"]
    assert len(watcher.models) > 2
    for partial in watcher.models:
        fresh = IRKSN(k=4, max_iter=partial.n_iter_, standardize=standardize).fit(X, y)
        np.testing.assert_allclose(partial.coef_, fresh.coef_, atol=1e-11)
        np.testing.assert_allclose(partial.predict(X), fresh.predict(X), atol=1e-9)
        np.testing.assert_array_equal(partial.get_support(), fresh.get_support())
    np.testing.assert_array_equal(watcher.models[-1].coef_, model.coef_)
    assert model.n_iter_ == 500


def test_a_callback_can_stop_the_fit(callbacks, data):
    watcher = Watcher(stop_at=100)
    model = IRKSN(k=4, max_iter=10**8).set_callbacks(watcher).fit(*data)
    assert model.stop_reason_ == "stopped"
    assert 100 <= model.n_iter_ == watcher.models[-1].n_iter_ < 1000
    np.testing.assert_array_equal(model.coef_, watcher.models[-1].coef_)


def test_callbacks_do_not_change_the_model(callbacks, data):
    watched = IRKSN(k=4, stopping="held_out", random_state=0).set_callbacks(Watcher()).fit(*data)
    alone = IRKSN(k=4, stopping="held_out", random_state=0).fit(*data)
    np.testing.assert_array_equal(watched.coef_, alone.coef_)


def test_interrupting_returns_the_model_so_far(callbacks, data):
    watcher = Watcher(error=KeyboardInterrupt())
    model = IRKSN(k=4, max_iter=10**8).set_callbacks(watcher)
    with pytest.warns(ConvergenceWarning, match=r"interrupted"):
        model.fit(*data)
    assert model.stop_reason_ == "interrupted"
    assert watcher.events == ["setup", "teardown"]
    np.testing.assert_array_equal(model.coef_, watcher.models[-1].coef_)


def test_without_callbacks_in_scikit_learn_nothing_is_missed(data, monkeypatch):
    """Where scikit-learn is older than 1.9 a stand-in takes the mixin's place."""
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    monkeypatch.delitem(sys.modules, "ksupport.stopping.callbacks")
    import ksupport.stopping.callbacks as stand_in

    class Plain(stand_in.CallbackSupportMixin):
        @stand_in.with_callbacks
        def fit(self):
            return "fitted"

    assert Plain().fit() == "fitted"


# -- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be between 1 and n_features=25, got 0"),
        ({"k": 1.5}, "k must be an integer .* got 1.5"),
        ({"alpha": 0}, "alpha must lie strictly between 0 and 1, got 0"),
        ({"alpha": 1}, "alpha .* got 1"),
        ({"alpha": -0.1}, "alpha .* got -0.1"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
        ({"max_iter": 2.5}, "max_iter must be an integer of at least 1, got 2.5"),
        ({"every": 0}, "every must be an integer of at least 1, got 0"),
        ({"step": "l2"}, "step must be 'adaptive', 'spectral', 'nuclear' or .* got 'l2'"),
        ({"stopping": "soon"}, "stopping must be None, 'held_out', .* or a rule .* got 'soon'"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(data, params, message):
    with pytest.raises(ValueError, match=message):
        IRKSN(**params).fit(*data)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, pd.DataFrame])
def test_x_that_is_not_finite_is_refused(data, bad, kind):
    X, y = data
    X[3, 4] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        IRKSN().fit(kind(X), y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.asarray, aslinearoperator])
def test_y_that_is_not_finite_is_refused(data, bad, kind):
    X, y = data
    y[7] = bad
    with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity)"):
        IRKSN().fit(kind(X), y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
def test_wrong_shapes_are_refused(data, kind):
    X, y = data
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples|40 rows to match X"):
        IRKSN().fit(kind(X), y[:-1])
    with pytest.raises(ValueError, match=r"[Ff]ound array with dim 3|y must have 40 rows"):
        IRKSN().fit(kind(X), np.ones((40, 2, 2)))
    model = IRKSN(k=5).fit(kind(X), y)
    with pytest.raises(ValueError, match=r"X has 24 features, but IRKSN is expecting 25"):
        model.predict(kind(X[:, 1:]))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_an_empty_x_is_refused(shape, kind):
    with pytest.raises(ValueError, match=r"0 (sample|feature)\(s\)"):
        IRKSN().fit(kind(np.empty(shape)), np.ones(shape[0]))


def test_x_must_be_a_matrix():
    with pytest.raises(ValueError, match=r"Expected 2D array"):
        IRKSN().fit(np.ones(5), np.ones(5))


def test_words_are_refused():
    with pytest.raises(ValueError, match="X holds text"):
        IRKSN().fit(np.array([["a", "b"], ["c", "d"]], dtype=object), [1.0, 2.0])


def test_an_operator_with_a_wrong_adjoint_is_refused(data):
    X, y = data
    wrong = LinearOperator(
        X.shape, matvec=lambda w: X @ w, rmatvec=lambda u: 2 * X.T @ u, dtype=float
    )
    with pytest.raises(ValueError, match=r"X: the operator fails the dot test"):
        IRKSN().fit(wrong, y)


def test_complex_data_that_cannot_be_are_refused(data):
    X, y = data
    plain = IRKSN(k=3, fit_intercept=False)
    with pytest.raises(ValueError, match=r"y must be complex where X is.*give y \+ 0j"):
        plain.fit(aslinearoperator(X * 1j), y)
    with pytest.raises(ValueError, match=r"y is complex, but X is real.*give y\.real"):
        plain.fit(X, y * 1j)
    with pytest.raises(ValueError, match=r"Complex data not supported with fit_intercept=True"):
        IRKSN(k=3).fit(X * 1j, y * 1j)


def test_a_default_level_on_an_operator_warns(data):
    X, y = data
    with pytest.warns(UserWarning, match=rf"k=10 .* operator with {X.shape[1]} columns"):
        IRKSN(max_iter=5).fit(aslinearoperator(X), y)


def test_too_few_rows_to_hold_any_out():
    with pytest.raises(
        ValueError, match=r"stopping: holding out 0.2 of n_samples=2 leaves nothing"
    ):
        IRKSN(k=1, stopping="held_out").fit(np.eye(2), [1.0, 2.0])


# -- odd but sensible input ---------------------------------------------------------------


def constant_columns(X, y):
    X[:, [0, 7]] = 0.1
    return X, y


def huge_means(X, y):
    return X + 1e8, y


def one_row(X, y):
    return X[:1], y[:1]


def one_column(X, y):
    return X[:, :1], y


def equal_columns(X, y):
    return np.repeat(X[:, :1], 25, axis=1), y


def integers(X, y):
    return np.round(3 * X).astype(int), np.round(y).astype(int)


def objects(X, y):
    return X.astype(object), y.astype(object)


def booleans(X, y):
    return X > 3, y > y.mean()


def zero_y(X, y):
    return X, np.zeros_like(y)


def constant_y(X, y):
    return X, np.full_like(y, 5.0)


def zero_x(X, y):
    return np.zeros_like(X), y


def tiny(X, y):
    return X * 1e-100, y * 1e-100


def huge(X, y):
    return X * 1e100, y * 1e100


def huge_y(X, y):
    return X, y * 1e110


def one_huge_entry(X, y):
    X[3, 3] = 1e100
    return X, y


@pytest.mark.parametrize("params", [{}, {"standardize": True}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("alpha", [1e-4, 0.999])
@pytest.mark.parametrize(
    "change",
    [
        constant_columns, huge_means, one_row, one_column, equal_columns, integers, objects,
        booleans, zero_y, constant_y, zero_x, tiny, huge, huge_y, one_huge_entry,
    ],
)  # fmt: skip
def test_coefficients_are_finite_on_odd_input(change, alpha, params, data):
    X, y = change(*data)
    model = IRKSN(alpha=alpha, max_iter=100, **params).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert np.isfinite(model.predict(X)).all()


def test_constant_columns_are_never_chosen(data):
    X, y = constant_columns(*data)
    for standardize in (True, False):
        for kind in (np.asarray, sp.csr_array, aslinearoperator):
            model = IRKSN(k=25, standardize=standardize, alpha=0.5).fit(kind(X), y)
            np.testing.assert_allclose(model.coef_[[0, 7]], 0, atol=1e-8)


def test_constant_on_the_training_rows_only(rng):
    """Held out, the one row where a column differs: nothing blows up."""
    X = rng.standard_normal((40, 5))
    y = X[:, 1] + 0.1 * rng.standard_normal(40)
    for row in range(40):
        X[:, 0] = 0.3
        X[row, 0] = 1.7
        model = IRKSN(k=2, stopping="held_out", standardize=True, random_state=0).fit(X, y)
        held_out = np.random.RandomState(0).permutation(40)[:8]
        if row in held_out:
            assert model.coef_[0] == 0
        assert np.abs(model.coef_).max() < 2


@pytest.mark.parametrize("one", ONE_PATH)
@pytest.mark.parametrize("value", [0.0, 5.0, 0.1, -1e17 / 3])
def test_a_constant_y_gives_the_zero_model(data, one, value):
    """Also one whose mean is not exact."""
    model = one().fit(data[0], np.full(40, value), sample_weight=np.linspace(1, 2, 40))
    np.testing.assert_array_equal(model.coef_, 0)
    assert model.intercept_ == pytest.approx(value)
    assert not model.support_.any()


@pytest.mark.parametrize("one", ONE_PATH)
@pytest.mark.parametrize("size", [1e154, 1e-160])
def test_a_y_that_cannot_be_squared_is_refused(data, one, size):
    X, y = data
    with pytest.raises(ValueError, match=TOO_LARGE_OR_SMALL):
        one().fit(X, y * size)


@pytest.mark.parametrize("size", [1e110, 1e-110])
def test_the_size_of_y_is_that_of_the_model(data, size):
    X, y = data
    one, other = IRKSN(**EARLY).fit(X, y), IRKSN(**EARLY).fit(X, y * size)
    np.testing.assert_allclose(other.coef_ / size, one.coef_, atol=1e-9)


@pytest.mark.parametrize("dtype", [int, np.int8, bool, object, np.float16, np.longdouble])
def test_numbers_of_any_type_are_numbers(data, dtype):
    X, y = data
    X, y = np.round(X), np.round(y)
    if dtype is bool:
        X = X > 3
    expected = IRKSN(k=4).fit(X.astype(float), y)
    np.testing.assert_array_equal(IRKSN(k=4).fit(X.astype(dtype), y).coef_, expected.coef_)


@pytest.mark.parametrize("shape", [(60, 300), (900, 20), (400, 1500)], ids=str)
@pytest.mark.parametrize(
    "model",
    [IRKSN(k=4), IRKSN(k=4, stopping="held_out"), IRKSNIC(), IRKSNCV(), AutoIRKSN()],
    ids=lambda model: type(model).__name__,
)
def test_no_norm_of_x_is_computed_unasked(model, shape, monkeypatch, rng):
    X = rng.standard_normal(shape)
    y = X[:, :4].sum(axis=1) + rng.standard_normal(shape[0])
    asked = []
    monkeypatch.setattr("ksupport.design.spectra.norm", lambda *_: asked.append(1) or 1e9)
    clone(model).fit(X, y)
    assert not asked
    IRKSN(k=4, step="spectral", max_iter=3).fit(X, y)
    assert asked
