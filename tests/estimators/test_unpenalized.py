"""`unpenalized=` in every estimator: against explicit residuals, by names, with categories."""

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import (
    IHT,
    IRCR,
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    IROSR,
    KSN,
    SRDI,
    AutoIRKSN,
    PathCV,
    PathIC,
    stability_selection,
)
from ksupport.choosing.criteria import log_choose
from ksupport.explain.models import walk_again
from ksupport.explain.report import build_report

N, D = 60, 40
U = [0, 5]  # unpenalised columns
PATHS = [
    IRKSN(k=4, max_iter=30), KSN(k=4, max_iter=30), IRCR(max_iter=30), IROSR(max_iter=30),
    SRDI(max_iter=300), IHT(k=4, max_iter=30),
]  # fmt: skip
CHOOSING = [
    IRKSNIC(), IRKSNCV(), AutoIRKSN(predict_by="support"), PathIC("omp"),
    PathIC("iht", {"k": [2, 4]}, max_iter=50), PathCV("lasso", max_iter=50),
]  # fmt: skip
each_path = pytest.mark.parametrize("model", PATHS, ids=str)
each_choosing = pytest.mark.parametrize("model", CHOOSING, ids=str)


def data(n=N, d=D, seed=0):
    """Two confounders that drive y and leak into all features, of which 10 and 20 are true."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((n, 2))
    X = rng.standard_normal((n, d)) + C @ rng.standard_normal((2, d))
    X[:, U] = C + 1
    X = np.round(64 * X) / 64  # exact in single precision
    y = 2 * X[:, 10] - 2 * X[:, 20] + 4 * C[:, 0] - 3 * C[:, 1] + 0.3 * rng.standard_normal(n)
    return X, y


X, Y = data()
NOISE = "ignore:No signal:ksupport.NoSignalWarning"


def residuals(X, y, weights=None, intercept=True, rows=slice(None)):
    """All but the unpenalised columns, and y, less their regression on these on some rows."""
    rest = np.delete(X, U, axis=1)
    both = np.column_stack([rest, y])
    weights = None if weights is None else weights[rows]
    fit = LinearRegression(fit_intercept=intercept).fit(X[rows][:, U], both[rows], weights)
    left = both - fit.predict(X[:, U])
    return left[:, :-1], left[:, -1]


def of_features(model):
    return np.delete(model.coef_, U)


@parametrize_with_checks([IRKSN(unpenalized=[0]), AutoIRKSN(unpenalized=[0], cv=3, max_iter=100)])
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning", NOISE)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


# -- against explicit residuals ------------------------------------------------------------


@each_path
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_is_that_of_residuals(model, standardize, fit_intercept, weighted):
    weights = 0.2 + np.random.default_rng(1).random(N) if weighted else None
    options = {"standardize": standardize, "fit_intercept": fit_intercept}
    model = clone(model).set_params(**options, unpenalized=U).fit(X, Y, weights)
    left, y = residuals(X, Y, weights, fit_intercept)
    other = clone(model).set_params(unpenalized=None).fit(left, y, weights)
    size = np.abs(other.coef_).max()
    assert size > 0
    np.testing.assert_allclose(of_features(model), other.coef_, rtol=0, atol=1e-8 * size)
    np.testing.assert_array_equal(np.delete(model.support_, U), other.support_)
    assert not model.support_[U].any()
    # And the unpenalised coefficients are those of least squares beside it.
    beside = Y - np.delete(X, U, axis=1) @ of_features(model)
    settled = LinearRegression(fit_intercept=fit_intercept).fit(X[:, U], beside, weights)
    np.testing.assert_allclose(model.coef_[U], settled.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, settled.intercept_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)


@each_choosing
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_finds_what_unpenalised_columns_hide(model, weighted):
    weights = 0.2 + np.random.default_rng(1).random(N) if weighted else None
    model = clone(model).set_params(unpenalized=U).fit(X, Y, weights)
    assert set(model.get_support(indices=True)) >= {10, 20}
    assert not model.support_[U].any()
    if getattr(model, "refit_", "ols") == "ols":
        used = np.append(U, model.get_support(indices=True))
        refit = LinearRegression().fit(X[:, used], Y, weights)
        np.testing.assert_allclose(model.coef_[used], refit.coef_, rtol=1e-8)
        np.testing.assert_allclose(model.intercept_, refit.intercept_, rtol=1e-8)


def test_unpenalised_columns_take_degrees_of_freedom():
    """Supports are scored by what n - q independent numbers say."""
    model = PathIC("iht", {"k": [2]}, unpenalized=U, exchange=0).fit(X, Y)
    table, n = model.path_, N - len(U)
    size, rss = table["size"], table["rss"]
    penalty = np.log(n) * size + 2 * log_choose(D, size)
    np.testing.assert_allclose(table["score"], n * np.log(rss / n) + penalty)
    most = PathIC("omp", criterion="aic", unpenalized=range(24)).fit(X, Y)
    assert 0 < most.path_["size"].max() <= (N - 24) // 2


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_errors_on_folds_are_those_of_the_whole_model_on_new_rows(scoring):
    """A fold is adjusted by its training rows, and its held-out rows by the same coefficients."""
    folds = list(KFold(4).split(X))
    grid = {"k": [3], "alpha": 0.1}
    model = PathCV("irksn", grid, cv=folds, scoring=scoring, max_iter=12, every=12, unpenalized=U)
    model.fit(X, Y)
    errors = []
    for train, test in folds:
        one = IRKSN(k=3, alpha=0.1, max_iter=12, standardize=True, unpenalized=U)
        one.fit(X[train], Y[train])
        errors.append(np.mean((one.predict(X[test]) - Y[test]) ** 2))
    at = list(model.path_["t"]).index(12)
    np.testing.assert_allclose(model.path_["loss"][at], np.mean(errors), rtol=1e-8)


def test_held_out_rows_are_adjusted_by_the_rows_walked_on():
    model = IRKSN(k=3, max_iter=20, stopping="held_out", random_state=0, unpenalized=U).fit(X, Y)
    test = model.held_out_
    train = np.delete(np.arange(N), test)
    again = IRKSN(k=3, max_iter=model.n_iter_, unpenalized=U).fit(X[train], Y[train])
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-9)
    error = np.mean((again.predict(X[test]) - Y[test]) ** 2)
    at = list(model.history_["t"]).index(model.n_iter_)
    np.testing.assert_allclose(model.history_["validation"][at], error, rtol=1e-8)


KINDS = {
    "float32": lambda X: X.astype(np.float32),
    "CSR": sp.csr_array,
    "LinearOperator": aslinearoperator,
    "Dask": lambda X: pytest.importorskip("dask.array").from_array(X, chunks=(37, 13)),
}


@cache
def fitted_in_memory(model, n):
    return clone(model).set_params(unpenalized=U).fit(*data(n))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [N, 2500])
@pytest.mark.parametrize("model", [IRKSN(k=4), IRKSNCV(), AutoIRKSN(predict_by="support")], ids=str)
def test_every_kind_of_X_gives_the_same_model(kind, n, model):
    X, y = data(n)
    expected = fitted_in_memory(model, n)
    found = clone(expected).fit(KINDS[kind](X), y)
    tolerance = 2e-4 if kind == "float32" else 1e-8
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=tolerance)
    np.testing.assert_allclose(
        np.asarray(found.predict(KINDS[kind](X))), expected.predict(X), atol=20 * tolerance
    )
    np.testing.assert_array_equal(found.unpenalized_, U)


# -- several targets, warm starts, what else a model does ----------------------------------


@each_path
def test_several_targets_are_one_at_a_time(model):
    model = clone(model).set_params(unpenalized=U)
    both = clone(model).fit(X, np.column_stack([Y, -2 * Y + X[:, 0]]))
    one, two = clone(model).fit(X, Y), clone(model).fit(X, -2 * Y + X[:, 0])
    np.testing.assert_allclose(both.coef_, [one.coef_, two.coef_], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(both.intercept_, [one.intercept_, two.intercept_], rtol=1e-8)
    for name, values in both.adjustment_.items():
        np.testing.assert_allclose(values, [one.adjustment_[name], two.adjustment_[name]])
    assert list(both.adjustment_) == ["x0", "x5"]


def test_a_warm_start_goes_on_unless_other_columns_are_unpenalised():
    model = IRKSN(k=4, max_iter=10, warm_start=True, unpenalized=U).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y)
    np.testing.assert_allclose(
        model.coef_, IRKSN(k=4, max_iter=20, unpenalized=U).fit(X, Y).coef_, rtol=1e-9
    )
    with pytest.warns(UserWarning, match="warm_start"):
        model.set_params(unpenalized=[0]).fit(X, Y)


def test_a_model_that_is_adjusted_does_all_that_others_do():
    model = AutoIRKSN(unpenalized=U).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.transform(X).shape == (N, model.support_.sum())
    assert "Adjusted for x0" in model._repr_html_()
    page = build_report(model, X, Y)
    assert "Adjusted for x0" in page
    path = IRKSN(k=4, max_iter=20, unpenalized=U).fit(X, Y)
    np.testing.assert_allclose(np.delete(walk_again(path, X, Y).coef, U), of_features(path))
    stable = stability_selection(IRKSNIC(unpenalized=U), X, Y, n_pairs=3, random_state=0)
    assert not stable.frequency[U].any()
    assert stable.frequency[10] > 0.5


def test_certificates_are_those_of_residuals():
    model = IHT(k=2, max_iter=50, unpenalized=U).fit(X, Y)
    one = model.certify(X, Y)
    left, y = residuals(X, Y)
    two = IHT(k=2, max_iter=50).fit(left, y).certify(left, y)
    assert one.words[0][:100] == two.words[0][:100]  # up to rounding
    np.testing.assert_allclose(one.noise_norm, two.noise_norm)
    np.testing.assert_allclose(one.noise_sd, two.noise_sd * np.sqrt((N - 3) / (N - 5)))


def test_dependent_columns_and_the_unpenalised_are_never_chosen():
    twin = X.copy()
    twin[:, 30] = 3 * twin[:, 0] - twin[:, 5] + 7
    y = Y + 5 * twin[:, 30]
    for model in [*PATHS, *CHOOSING]:
        model = clone(model).set_params(unpenalized=U).fit(twin, y)
        assert not model.support_[[0, 5, 30]].any()
        assert model.coef_[30] == 0


@pytest.mark.filterwarnings(NOISE)
def test_a_response_that_is_explained_leaves_an_empty_model():
    for model in [*PATHS, *CHOOSING]:
        model = clone(model).set_params(unpenalized=U).fit(X, X[:, U] @ [2.0, -1.0] + 3)
        assert not model.support_.any()
        np.testing.assert_allclose(model.coef_[U], [2, -1])
        np.testing.assert_allclose(model.intercept_, 3)


# -- which columns are meant ---------------------------------------------------------------


def frame(X=X):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])


@pytest.mark.parametrize(
    "meant",
    [
        U,
        tuple(U),
        np.array(U),
        [5, 0, 5],
        [-D, 5],
        np.isin(np.arange(D), U),
        np.isin(np.arange(D), U).tolist(),
        slice(0, 6, 5),
        ["g5", "g0"],
        np.array(["g0", "g5"]),
        make_column_selector(pattern="^g[05]$"),
        lambda X: [0, 5],
    ],
    ids=lambda meant: getattr(meant, "__name__", type(meant).__name__),
)
def test_columns_are_meant_by_names_indices_mask_or_selector(meant):
    model = IHT(k=2, max_iter=5, unpenalized=meant).fit(frame(), Y)
    np.testing.assert_array_equal(model.unpenalized_, U)
    assert list(model.adjustment_) == ["g0", "g5"]
    np.testing.assert_array_equal(model.coef_[U], [*model.adjustment_.values()])


@pytest.mark.parametrize(
    "meant", [None, [], np.zeros(D, bool), lambda X: []], ids=["none", "empty", "mask", "function"]
)
def test_none_may_be_meant(meant):
    model = IHT(k=2, max_iter=5, unpenalized=meant).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, IHT(k=2, max_iter=5).fit(X, Y).coef_)
    assert model.adjustment_ == {}
    assert model.unpenalized_.size == 0


@pytest.mark.parametrize("meant", ["g3", 3])
def test_one_column_may_be_given_by_itself(meant):
    model = IHT(k=2, max_iter=5, unpenalized=meant).fit(frame(), Y)
    np.testing.assert_array_equal(model.unpenalized_, [3])


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        (["age"], r"X has no column 'age'; its columns are g0, g1"),
        ([D], rf"column {D} is out of range for n_features={D}"),
        ([True, False], rf"mask of 2 columns, but X has n_features={D}"),
        ([1.5], r"must be None, names, indices, a mask or a function of X .*, got 1.5"),
        (slice(None), rf"names all columns of X, n_features={D}, and leaves none"),
    ],
)
def test_columns_that_cannot_be_meant_are_told(meant, words):
    with pytest.raises(ValueError, match=words):
        IRKSN(unpenalized=meant).fit(frame(), Y)


def test_names_need_a_data_frame():
    with pytest.raises(ValueError, match=r"names the column 'age', but X has no column names"):
        AutoIRKSN(unpenalized="age").fit(X, Y)


def test_more_columns_than_rows_a_constant_and_a_combination_are_told():
    with pytest.raises(ValueError, match="unpenalized: 30 columns and the intercept leave nothing"):
        AutoIRKSN(unpenalized=range(30)).fit(X[:20], Y[:20])
    bad = X.copy()
    bad[:, 5] = 4.0
    with pytest.raises(ValueError, match="column 'g5' is constant"):
        IRKSNCV(unpenalized=["g0", "g5"]).fit(frame(bad), Y)
    bad[:, 5] = 2 * bad[:, 0]
    with pytest.raises(ValueError, match="is a linear combination of"):
        IRKSNIC(unpenalized=U).fit(bad, Y)
    bad[3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        IRKSN(unpenalized=U).fit(bad, Y)


# -- categories ----------------------------------------------------------------------------


def with_categories(kind="pandas"):
    """A data frame with text among its columns, and the same with its levels as numbers."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    site, sex = rng.choice(["rome", "oslo", "bonn"], N), rng.choice(["m", "f"], N)
    y = Y + 3 * (site == "oslo") - 2 * (sex == "m")
    mixed, numbers = frame(), frame()
    mixed.insert(2, "site", pd.Categorical(site, ["rome", "oslo", "bonn", "nowhere"]))
    mixed.insert(7, "sex", sex)
    numbers["site=oslo"], numbers["site=bonn"] = (site == "oslo") * 1.0, (site == "bonn") * 1.0
    numbers["sex=m"] = (sex == "m") * 1.0
    if kind == "polars":
        mixed = pytest.importorskip("polars").from_pandas(mixed.astype({"site": str}))
    if kind == "pyarrow":
        mixed = pytest.importorskip("pyarrow").Table.from_pandas(mixed)
    return mixed, numbers, y


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("model", [IRKSN(k=3, standardize=True), AutoIRKSN()], ids=str)
def test_categories_are_encoded(kind, model):
    mixed, numbers, y = with_categories(kind)
    levels = ["site=oslo", "site=bonn", "sex=m"]
    model = clone(model).set_params(unpenalized=["sex", "g0", "site", "g5"])
    if "predict_by" in model.get_params():  # averages are those of other draws of models
        model.set_params(predict_by="support")
    model.fit(mixed, y)
    other = clone(model).set_params(unpenalized=["g0", "g5", *levels]).fit(numbers, y)
    names = list(model.feature_names_in_)
    assert names[2] == "site"
    assert model.n_features_in_ == D + 2
    assert model.coef_[[2, 7]].tolist() == [0, 0]
    np.testing.assert_allclose(np.delete(model.coef_, [2, 7]), other.coef_[:D], atol=1e-9)
    np.testing.assert_allclose(model.predict(mixed), other.predict(numbers))
    assert list(model.get_feature_names_out()) == list(other.get_feature_names_out())
    assert model.transform(mixed).shape[1] == model.support_.sum()
    assert model.levels_["sex"] == ["f", "m"]
    for level in ["sex=m", "g0", *(["site=oslo", "site=bonn"] if kind == "pandas" else [])]:
        np.testing.assert_allclose(model.adjustment_[level], other.adjustment_[level])
    if kind == "pandas":
        assert model.levels_["site"] == ["rome", "oslo", "bonn"]
        one, two = model.certify(mixed, y), other.certify(numbers, y)
        assert one.words[0][:100] == two.words[0][:100]  # up to rounding
        assert "Adjusted for" in build_report(model, mixed, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(mixed), model.predict(mixed))


def test_categories_with_several_targets():
    mixed, _, y = with_categories()
    model = IRKSN(k=3, unpenalized=["site", "sex"]).fit(mixed, np.column_stack([y, -y]))
    one = IRKSN(k=3, unpenalized=["site", "sex"]).fit(mixed, y)
    np.testing.assert_allclose(model.predict(mixed)[:, 0], one.predict(mixed))


def test_what_is_wrong_with_categories_is_told():
    mixed, _, y = with_categories()
    model = IRKSN(k=3, unpenalized=["site", "sex"]).fit(mixed, y)
    new = mixed.copy()
    new["sex"] = "other"
    with pytest.raises(ValueError, match=r"'sex' has the unknown level 'other'; .* on f, m"):
        model.predict(new)
    with pytest.raises(ValueError, match="must be a data frame with the columns of the fit"):
        model.predict(np.zeros((3, D + 2)))
    with pytest.raises(ValueError, match=r"column 'sex' of X holds text, such as '.'; encode it"):
        IRKSN(k=3, unpenalized=["site"]).fit(mixed, y)
    with pytest.raises(ValueError, match="column 'sex' is constant, 'other' in every row"):
        IRKSN(k=3, unpenalized=["site", "sex"]).fit(new, y)
    new.loc[4, "sex"] = None
    with pytest.raises(ValueError, match="column 'sex' has no value in row 4"):
        IRKSN(k=3, unpenalized=["site", "sex"]).fit(new, y)
