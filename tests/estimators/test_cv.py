"""Selection by cross-validation, for IRKSN and for every registered method."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LassoCV, LinearRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data as WEIGHTS_DENSE,
)
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_sparse_data as WEIGHTS_SPARSE,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import IRKSN, IRKSNCV, IRKSNIC, METHODS, AutoIRKSN, PathCV, PathIC, path
from ksupport.algorithms import make_method
from ksupport.choosing.tables import FoldTable, clearly_worse
from ksupport.datasets import make_block_data, make_correlated_data
from ksupport.design.view import Design

TOO_LARGE_OR_SMALL = "the largest entry of y .* has size .*; rescale y"
EMPTY = "ignore:No features were selected:UserWarning"  # legitimate: transform then has no columns
QUICK = {"k": [2, 5], "max_iter": 60}


# Where weights are repetitions, scikit-learn's check that they are holds for every method.
COUNTED = [
    PathCV("ksn", weights="repetitions"),
    PathCV("enet", {"l1_ratio": [0.5, 1.0]}, refit="auto", cv=3),
]


@parametrize_with_checks([PathCV("omp", cv=3)])
@pytest.mark.filterwarnings(EMPTY)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [WEIGHTS_DENSE, WEIGHTS_SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("estimator", COUNTED, ids=repr)
@pytest.mark.filterwarnings(EMPTY)
def test_weights_are_repetitions(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.fixture(scope="module")
def data():
    X, y, w = make_block_data(40, 30, block_size=5, n_active_blocks=1, random_state=0)
    return 2 + X * np.linspace(0.5, 3, 30), y + 7, np.flatnonzero(w)


@pytest.fixture(scope="module")
def groups():
    return np.arange(40) % 8


@pytest.mark.parametrize("method", METHODS)
def test_every_method_predicts(data, method):
    X, y, _ = data
    model = PathCV(method, cv=3, max_iter=100).fit(X, y)
    assert model.score(X, y) > 0.5
    assert set(model.params_) <= set(METHODS[method].describe().parameters)
    table = pd.DataFrame(model.path_)
    assert -model.score_ <= table["loss"].min() * (1 + 1e-9)
    assert {"t", "size", "loss", "loss_se", *model.params_} <= set(table)


# -- metadata routing ---------------------------------------------------------------------

ROUTED = [IRKSNCV(**QUICK), PathCV("omp"), AutoIRKSN(), LassoCV()]  # ours as scikit-learn's own


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


class Noting(GroupKFold):
    """Notes the groups of each call."""

    noted: ClassVar[list[Any]] = []

    def split(self, X, y=None, groups=None):
        self.noted.append(groups)
        return super().split(X, y, groups)


@pytest.mark.parametrize("model", ROUTED, ids=str)
def test_groups_are_routed_to_the_splitter(data, groups, routing, monkeypatch, model):
    X, y, _ = data
    monkeypatch.setattr(Noting, "noted", [])
    model = clone(model).set_params(cv=Noting(4))
    make_pipeline(StandardScaler(), model).fit(X, y, groups=groups)
    (noted,) = Noting.noted
    np.testing.assert_array_equal(noted, groups)
    outer = GroupKFold(2)
    cross_validate(model, X, y, cv=outer, params={"groups": groups}, error_score="raise")
    for noted, (train, _) in zip(Noting.noted[1:], outer.split(X, y, groups), strict=True):
        np.testing.assert_array_equal(noted, groups[train])


@pytest.mark.parametrize("model", ROUTED, ids=str)
def test_groups_that_no_splitter_asks_for_are_refused(data, groups, routing, model):
    model = clone(model).set_params(cv=KFold(3))
    with pytest.raises(TypeError, match="groups"):
        make_pipeline(model).fit(data[0], data[1], groups=groups)


@pytest.mark.parametrize("model", ROUTED[:-1], ids=str)
def test_groups_are_routed_to_a_number_of_folds(data, groups, routing, model):
    X, y, _ = data
    model = clone(model).set_params(cv=3)
    routed = make_pipeline(model).fit(X, y, groups=groups)[-1]
    np.testing.assert_array_equal(routed.coef_, clone(model).fit(X, y, groups=groups).coef_)


@pytest.mark.parametrize("model", [*ROUTED[:-1], IRKSN(k=3), IRKSNIC()], ids=str)
def test_weights_are_routed_to_the_model(data, routing, model):
    X, y, _ = data
    weights = np.linspace(0.1, 2, 40)
    model = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    expected = clone(model).fit(X, y, sample_weight=weights).coef_
    piped = make_pipeline(model).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(piped[-1].coef_, expected)
    searched = GridSearchCV(model, {"max_iter": [model.max_iter]}, cv=2, error_score="raise")
    searched.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(searched.best_estimator_.coef_, expected)
    train, test = np.arange(20, 40), np.arange(20)
    params = {"sample_weight": weights}
    (score, _) = cross_validate(model, X, y, cv=KFold(2), params=params)["test_score"]
    one = clone(model).fit(X[train], y[train], sample_weight=weights[train])
    assert score == pytest.approx(one.score(X[test], y[test], sample_weight=weights[test]))


# -- what is measured ---------------------------------------------------------------------


@pytest.mark.parametrize("refit", [None, "ols", "ridge"])
def test_the_score_is_what_scikit_learn_would_measure(data, refit):
    """Walk by hand on each fold to the chosen step, refit, and predict the rest."""
    X, y, _ = data
    cv = KFold(4, shuffle=True, random_state=1)
    model = IRKSNCV(**QUICK, cv=cv, refit=refit).fit(X, y)
    errors, by_hand = [], IRKSN(model.k_, model.alpha_, standardize=True, max_iter=model.n_iter_)
    for train, test in cv.split(X):
        Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        one = clone(by_hand).fit(Z[train], y[train])
        S = one.support_
        if refit == "ols":
            one = LinearRegression().fit(Z[train][:, S], y[train])
        elif refit == "ridge":
            one = Ridge(alpha=len(train)).fit(Z[train][:, S], y[train])
        rows = Z[test] if refit is None else Z[test][:, S]
        errors.append(np.mean((one.predict(rows) - y[test]) ** 2))
    np.testing.assert_allclose(-model.score_, np.mean(errors), rtol=1e-6)
    table = pd.DataFrame(model.path_)
    row = table[(table["k"] == model.k_) & (table["t"] == model.n_iter_)].iloc[0]
    np.testing.assert_allclose(row["loss_se"], np.std(errors, ddof=1) / 2, rtol=1e-6)


@pytest.mark.parametrize("refit", [None, "ols", "ridge"])
def test_the_model_is_the_iterate_of_the_chosen_step_or_its_refit(data, refit):
    X, y, _ = data
    model = IRKSNCV(**QUICK, refit=refit).fit(X, y)
    one = IRKSN(model.k_, model.alpha_, standardize=True, max_iter=model.n_iter_).fit(X, y)
    np.testing.assert_array_equal(model.support_, one.support_)
    if refit is None:
        np.testing.assert_allclose(model.coef_, one.coef_, atol=1e-10)
    elif refit == "ols":
        ols = LinearRegression().fit(X[:, one.support_], y)
        np.testing.assert_allclose(model.coef_[one.support_], ols.coef_, atol=1e-8)


def test_lasso_folds_share_the_penalties_of_all_data(data):
    X, y, _ = data
    exact = {"tol": 1e-10, "max_sweeps": 100_000}
    model = PathCV("lasso", exact, cv=KFold(4), patience=100, standardize=False).fit(X, y)
    rival = LassoCV(cv=KFold(4), tol=1e-10, max_iter=100_000).fit(X, y)
    assert rival.alphas_[model.n_iter_ - 1] == pytest.approx(rival.alpha_)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-6)
    np.testing.assert_allclose(-model.score_, rival.mse_path_.mean(axis=1).min(), rtol=1e-6)


@pytest.mark.parametrize("method", ["lasso", "enet"])
def test_fixed_penalties_are_the_same_on_any_rows(data, method):
    X, y, _ = data
    X, y = X - X.mean(axis=0), y - y.mean()
    one = make_method(method)
    fixed = one.fixed(Design.of(X), y)
    grids = [fixed.start(Design.of(X[rows]), y[rows]).lambdas for rows in (slice(9), slice(30))]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(*grids)
    np.testing.assert_array_equal(grids[0], one.start(Design.of(X), y).lambdas)  # type: ignore[attr-defined]
    assert fixed.fixed(Design.of(X[:9]), y[:9]) == fixed
    with pytest.raises(ValueError, match=r"lambda_max must be positive and finite, got -1"):
        make_method(method, lambda_max=-1.0).start(Design.of(X), y)


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("lasso", "enet")])
def test_other_methods_have_nothing_to_fix(method):
    one = make_method(method)
    assert one.fixed(Design.of(np.eye(3)), np.ones(3)) is one


# -- splitters, scorers, groups -----------------------------------------------------------


@pytest.mark.parametrize(
    "cv",
    [
        2, KFold(3), LeaveOneOut(), ShuffleSplit(2, random_state=0), TimeSeriesSplit(3),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), LeavePOut(39),
        PredefinedSplit(np.arange(40) % 3), GroupKFold(4), LeaveOneGroupOut(),
        LeavePGroupsOut(2), GroupShuffleSplit(3, random_state=0),
        [(np.arange(20), np.arange(20, 40))],
    ],
    ids=lambda cv: type(cv).__name__,
)  # fmt: skip
def test_every_splitter(data, groups, cv):
    X, y, _ = data
    if isinstance(cv, LeavePOut):  # all pairs: on few rows
        X, y, cv = X[:6], y[:6], LeavePOut(2)
    by_group = "Group" in type(cv).__name__
    model = IRKSNCV(**QUICK, cv=cv).fit(X, y, groups=groups if by_group else None)
    assert np.isfinite(model.score_)
    assert model.support_.any() or len(y) == 6


def test_groups_stay_together(data, groups):
    X, y, _ = data
    by_group = IRKSNCV(**QUICK, cv=GroupKFold(4)).fit(X, y, groups=groups)
    splits = list(GroupKFold(4).split(X, y, groups))
    by_rows = IRKSNCV(**QUICK, cv=splits).fit(X, y)
    np.testing.assert_array_equal(by_group.coef_, by_rows.coef_)
    assert by_group.score_ == by_rows.score_


@pytest.mark.parametrize(
    "scoring",
    [
        "r2", "neg_mean_absolute_error", "neg_median_absolute_error", "explained_variance",
        "neg_root_mean_squared_error", "max_error",
        make_scorer(mean_absolute_error, greater_is_better=False),
    ],
    ids=str,
)  # fmt: skip
def test_every_scorer(data, scoring):
    X, y, _ = data
    if scoring == "max_error":
        scoring = "neg_max_error"
    model = IRKSNCV(**QUICK, cv=3, scoring=scoring).fit(X, y)
    assert model.score(X, y) > 0.5


def test_the_default_score_is_minus_the_mean_squared_error(data):
    X, y, _ = data
    one = IRKSNCV(**QUICK).fit(X, y)
    other = IRKSNCV(**QUICK, scoring="neg_mean_squared_error").fit(X, y)
    np.testing.assert_allclose(one.score_, other.score_)
    np.testing.assert_array_equal(one.coef_, other.coef_)


# -- one standard error -------------------------------------------------------------------


def test_the_one_standard_error_rule_by_hand(rng):
    errors = rng.uniform(1, 2, (5, 4, 9))
    sizes = rng.integers(0, 20, (4, 9)).astype(float)
    table = FoldTable(errors, np.arange(9), sizes)
    mean = errors.mean(axis=0)
    path, record = np.unravel_index(np.argmin(mean), mean.shape)
    assert table.best() == (path, record)  # type: ignore[comparison-overlap]
    limit = mean[path, record] + errors[:, path, record].std(ddof=1) / np.sqrt(5)
    fewest = min(sizes[i, j] for i in range(4) for j in range(9) if mean[i, j] <= limit)
    chosen = table.simplest()
    assert mean[chosen] <= limit
    assert sizes[chosen] == fewest


def test_supports_too_large_to_refit_are_never_chosen(rng):
    errors = rng.uniform(1, 2, (3, 2, 4))
    errors[0, 1] = np.inf
    table = FoldTable(errors, np.arange(4), np.ones((2, 4)))
    assert table.best()[0] == table.simplest()[0] == 0
    assert np.isinf(table.spread[1]).all()
    assert np.isfinite(table.spread[0]).all()
    assert (FoldTable(errors[1:2], np.arange(4), np.ones((2, 4))).spread == 0).all()


def test_errors_equal_up_to_rounding_go_to_the_sparsest():
    errors = np.array([[[4.0, 2e-30, 1e-30, 1e-31]]])
    table = FoldTable(errors, np.arange(4), np.array([[0.0, 2.0, 2.0, 7.0]]))
    assert table.best() == (0, 1)


def test_one_se_is_sparser(data):
    X, y, _ = data
    best, sparse = IRKSNCV(cv=5).fit(X, y), IRKSNCV(cv=5, one_se=True).fit(X, y)
    assert 0 < sparse.support_.sum() <= best.support_.sum()
    assert sparse.score_ <= best.score_


# -- the folds choose the refit -------------------------------------------------------------


@pytest.fixture(scope="module")
def scattered():
    truth = np.zeros(60)
    truth[[3, 20, 41]] = 3.0, -2.0, 2.0
    X, y, _ = make_correlated_data(80, 60, rho=0.5, w_true=truth, snr=5, random_state=0)
    return X, y, np.flatnonzero(truth)


def test_scattered_features_go_to_ebic(scattered):
    X, y, truth = scattered
    model, ic = IRKSNCV(random_state=0).fit(X, y), IRKSNIC().fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), truth)
    np.testing.assert_allclose(model.coef_, ic.coef_, rtol=1e-12)
    assert (model.refit_, model.k_, model.n_iter_) == ("ols", ic.k_, ic.n_iter_)
    assert model.alternatives_ == ic.alternatives_
    assert set(model.path_) == set(ic.path_)
    # On every fold EBIC finds the truth, so that its error is that of least squares there.
    folds = KFold(5, shuffle=True, random_state=0)
    score = cross_val_score(
        LinearRegression(), X[:, truth], y, cv=folds, scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(model.score_, score.mean(), rtol=1e-6)


def test_a_group_goes_to_the_iterate(data):
    X, y, _ = data
    model, plain = (IRKSNCV(refit=refit, random_state=0).fit(X, y) for refit in ("auto", None))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert (model.refit_, model.score_) == (None, plain.score_)
    assert model.alternatives_ == []


@pytest.mark.parametrize(("of", "better"), [("data", None), ("scattered", "ols")])
def test_the_better_of_iterate_and_least_squares_is_taken(request, monkeypatch, of, better):
    X, y, _ = request.getfixturevalue(of)
    monkeypatch.setattr(PathCV, "_errors_of_ebic", lambda *_: np.full(5, 1e9))
    fits = {refit: IRKSNCV(refit=refit, random_state=0) for refit in (None, "ols", "auto")}
    models = {refit: model.fit(X, y) for refit, model in fits.items()}
    assert models[better].score_ == max(models[refit].score_ for refit in (None, "ols"))
    np.testing.assert_array_equal(models["auto"].coef_, models[better].coef_)
    assert models["auto"].refit_ == better


def test_any_method_can_let_the_folds_choose(scattered):
    X, y, truth = scattered
    model = PathCV("iht", {"k": [2, 3, 8]}, refit="auto", cv=3, max_iter=50).fit(X, y)
    ic = PathIC("iht", {"k": [2, 3, 8]}, max_iter=50).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), truth)
    np.testing.assert_allclose(model.coef_, ic.coef_, rtol=1e-12)
    assert model.params_ == ic.params_


def test_clearly_worse_compares_fold_by_fold():
    others = np.array([1.0, 5.0, 9.0])
    assert clearly_worse(others + np.array([0.9, 1.0, 1.1]), others, 1.0)
    assert not clearly_worse(others + np.array([-1.0, 0.0, 1.3]), others, 1.0)
    assert not clearly_worse(others, others, 1.0)
    assert clearly_worse(np.array([2.0]), np.array([1.0]), 1.0)  # one fold has no spread


# -- the same result ----------------------------------------------------------------------


@pytest.mark.parametrize("refit", [None, "ols"])
def test_jobs_change_nothing(data, refit):
    X, y, _ = data
    models = [IRKSNCV(**QUICK, refit=refit, n_jobs=jobs).fit(X, y) for jobs in (None, 1, 2)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.path_["loss"], models[0].path_["loss"])


def test_folds_follow_the_random_state(data):
    X, y, _ = data
    losses = [IRKSNCV(**QUICK, random_state=seed).fit(X, y).path_["loss"][:5] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(losses[0], losses[1])
    assert (losses[0] != losses[2]).any()
    in_order = IRKSNCV(**QUICK, random_state=None).fit(X, y)
    by_hand = IRKSNCV(**QUICK, cv=KFold(5)).fit(X, y)
    np.testing.assert_array_equal(in_order.coef_, by_hand.coef_)


def test_sparse_input_is_the_same_problem(data):
    X, y, _ = data
    one, other = IRKSNCV(**QUICK).fit(X, y), IRKSNCV(**QUICK).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)


def test_constant_weights_are_no_weights(data):
    X, y, _ = data
    one = IRKSNCV(**QUICK).fit(X, y)
    other = IRKSNCV(**QUICK).fit(X, y, sample_weight=np.full(40, 2.0))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
    np.testing.assert_allclose(one.score_, other.score_)


@pytest.mark.parametrize("weight", [2, 10, 0.1])
@pytest.mark.parametrize("refit", [None, "ols", "ridge", "auto"])
def test_the_scale_of_weights_changes_nothing(scattered, weight, refit):
    X, y, _ = scattered
    one = IRKSNCV(refit=refit, max_iter=60).fit(X, y)
    other = IRKSNCV(refit=refit, max_iter=60).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("model", [IRKSNCV(**QUICK), PathCV("lasso")], ids=str)
@pytest.mark.parametrize("random_state", [None, 0])
def test_rows_without_weight_are_in_no_fold(data, model, random_state):
    X, y, _ = data
    model.set_params(random_state=random_state)
    weights = np.r_[np.zeros(15), np.linspace(1, 2, 25)]
    one = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X[15:], y[15:], sample_weight=weights[15:])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
    assert one.score_ == pytest.approx(other.score_)


def test_rows_without_weight_are_not_scored(data):
    X, y, _ = data
    weights, wrong = np.repeat([0.0, 1.0], [5, 35]), np.where(np.arange(40) < 5, 1e6, y)
    model = PathCV("omp", scoring="neg_mean_absolute_error", cv=KFold(4))
    one, other = (clone(model).fit(X, each, sample_weight=weights) for each in (y, wrong))
    assert one.score_ == pytest.approx(other.score_)


def test_folds_whose_rows_have_no_weight_are_left_out(data):
    X, y, _ = data
    weights, cv = np.repeat([0.0, 1.0], [10, 30]), KFold(4)
    one = IRKSNCV(**QUICK, cv=cv).fit(X, y, sample_weight=weights)
    other = IRKSNCV(**QUICK, cv=KFold(3)).fit(X[10:], y[10:])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
    assert one.score_ == pytest.approx(other.score_)


def test_without_any_fold_there_is_no_model(data):
    X, y, _ = data
    weights = np.repeat([1.0, 0.0], [10, 30])
    for model in (IRKSNCV(cv=KFold(4)), PathCV("omp", cv=KFold(4)), AutoIRKSN(cv=KFold(4))):
        with pytest.raises(ValueError, match=r"has 4 folds, none .* positive sample_weight"):
            model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("model", [IRKSNCV(**QUICK), PathCV("lasso")], ids=str)
def test_the_size_of_y_is_that_of_the_model(data, model):
    X, y, _ = data
    expected = clone(model).fit(X, y).coef_
    for size in (1e110, 1e-110):
        found = clone(model).fit(X, y * size).coef_ / size
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    for size in (1e154, 1e-160):
        with pytest.raises(ValueError, match=TOO_LARGE_OR_SMALL):
            model.fit(X, y * size)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1e-300, 1e155])
@pytest.mark.parametrize("standardize", [True, False])
def test_an_x_that_cannot_be_squared_is_refused(data, method, size, standardize):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"the norm of X is .*square; rescale X"):
        PathCV(method, standardize=standardize).fit(X * size, y)


def test_a_group_is_found_whole(data):
    X, y, truth = data
    model = IRKSNCV(random_state=0).fit(X, y)
    assert model.support_[truth].all()


# -- odd data -----------------------------------------------------------------------------


def odd(name, X, y):
    rng = np.random.default_rng(1)
    return {
        "useless": (X, rng.standard_normal(len(y))),
        "constant": (X, np.full(len(y), 0.1)),  # whose mean is not exact
        "two rows": (X[:2], y[:2]),
        "one column": (X[:, :1], y),
        "duplicated": (np.hstack([X, X]), y),
        "perfect": (X, X[:, 0] - 2 * X[:, 3]),
        "constant columns": (np.ones_like(X), y),
    }[name]


ODD = ["useless", "constant", "two rows", "one column", "duplicated", "perfect", "constant columns"]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("one_se", [False, True])
@pytest.mark.parametrize("refit", [None, "ols", "ridge", "auto"])
def test_odd_data_give_a_sensible_model(data, name, one_se, refit):
    X, y = odd(name, data[0], data[1])
    model = IRKSNCV(one_se=one_se, refit=refit, max_iter=200).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.score_)
    if name in ("constant", "constant columns"):
        assert not model.support_.any()
        np.testing.assert_allclose(model.intercept_, y.mean())
    if name == "perfect" and refit != "ridge":  # which shrinks, and so prefers correlated columns
        assert model.support_[[0, 3]].all()
        assert model.score(X, y) > 0.9
    table = pd.DataFrame(model.path_)
    assert not table["score" if refit == "auto" and "score" in table else "loss"].isna().any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["useless", "constant", "two rows", "one column", "perfect"])
def test_odd_data_do_not_upset_any_method(data, method, name):
    X, y = odd(name, data[0][:, ::3], data[1])
    grid = {"l1_ratio": [0.5, 1.0]} if method == "enet" else None
    model = PathCV(method, grid, max_iter=60, cv=3).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.score_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PathCV("ols"), "method must be one of irksn, .* got 'ols'"),
        (IRKSNCV(refit="lasso"), "refit must be None, 'ols', 'ridge' or 'auto', got 'lasso'"),
        (IRKSNCV(k="many"), "k must be 'auto', .* got 'many'"),
        (IRKSNCV(cv="five"), "Expected .*cv.* as an integer"),
        (IRKSNCV(max_iter=0), "max_iter must be an integer of at least 1, got 0"),
        (IRKSNCV(patience=0), "patience must be an integer of at least 1, got 0"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(data, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(data[0], data[1])


def test_one_sample_cannot_be_split():
    with pytest.raises(ValueError, match=r"at least 2 samples|minimum of 2"):
        IRKSNCV().fit(np.ones((1, 3)), [1.0])


def test_patience_begins_when_a_path_leaves_zero(rng):
    """SRDI waits for the first feature longer than folds have patience."""
    X = rng.standard_normal((60, 30))
    y = X[:, :3] @ [2.0, -1.0, 3.0] + 0.1 * rng.standard_normal(60)
    kappa, patience = 300.0, 10
    waits = path("srdi", X - X.mean(axis=0), y - y.mean(), kappa=kappa, max_iter=1000).history
    assert not waits["n_nonzero"][: 5 * patience + 1].any()
    model = PathCV("srdi", {"kappa": kappa}, patience=patience, max_iter=2000).fit(X, y)
    assert model.support_[[0, 2]].all()
    assert -model.score_ < y.var() / 2


@pytest.mark.filterwarnings(EMPTY)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
def test_noise_in_which_folds_choose_nothing_is_no_obstacle(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((30, 40)), rng.standard_normal(30)
        model = IRKSNCV(**QUICK).fit(kind(X), y)
        np.testing.assert_allclose(model.coef_, IRKSNCV(**QUICK).fit(X, y).coef_, atol=1e-8)
