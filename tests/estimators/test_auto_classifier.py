"""`AutoIRKSNClassifier`, and `AutoIRKSN` by losses other than squares."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import AutoIRKSN, AutoIRKSNClassifier, IRKSNICClassifier, NoSignalWarning
from ksupport.choosing.evidence import Laplace, evidence_of
from ksupport.design import Design
from ksupport.losses import Huber, Logistic

NOISE = "ignore:No signal:ksupport.NoSignalWarning"  # the checks hand in noise
EMPTY = "ignore:No features were selected:UserWarning"  # legitimate: transform then has no columns

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 80)) + 2.0
ETA = 3.0 * (X[:, 3] - X[:, 11])
LABELS = np.where(RNG.random(120) < 1 / (1 + np.exp(-ETA)), "yes", "no")
COUNTS = RNG.poisson(np.exp(0.4 * ETA)) * 1.0


@parametrize_with_checks([AutoIRKSN(loss="huber", cv=3), AutoIRKSN(loss="poisson", cv=3)])
@pytest.mark.filterwarnings(EMPTY, NOISE)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.long  # with its defaults the class is checked in test_checks.py
@parametrize_with_checks([AutoIRKSNClassifier(cv=3, class_weight="balanced")])
@pytest.mark.filterwarnings(EMPTY, NOISE)
def test_every_check_of_scikit_learn_with_balanced_classes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def model():
    return AutoIRKSNClassifier().fit(X, LABELS)


def test_it_finds_the_features_that_tell_classes_apart(model):
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 11])
    assert model.signal_
    assert model.probability_[[3, 11]].min() > 0.9
    assert model.coef_.shape == (1, 80)
    assert model.coef_[0, 3] > 0 > model.coef_[0, 11]
    assert "of the deviance" in model.decision_
    np.testing.assert_array_equal(model.classes_, ["no", "yes"])


def test_what_can_say_nothing_is_never_named():
    """Constant columns and those that are always in the model, however much is named."""
    Z = X.copy()
    Z[:, 5] = 1.0
    model = AutoIRKSNClassifier(beta=1e3, unpenalized=[7]).fit(Z, LABELS)
    assert model.support_.sum() > 2  # more than are true
    assert not model.support_[[5, 7]].any()
    assert not model.probability_[[5, 7]].any()


def test_coefficients_are_those_of_a_ridge(model):
    """On the standardised support, scikit-learn's logistic regression of some strength agrees."""
    model = clone(model).set_params(predict_by="support").fit(X, LABELS)
    S = model.get_support(indices=True)
    scale = X[:, S].std(axis=0)
    w = model.coef_[0, S] * scale
    Z = (X[:, S] - X[:, S].mean(axis=0)) / scale
    y = (LABELS == "yes") * 1.0
    slope = Z.T @ (y - model.predict_proba(X)[:, 1])
    ridge = slope @ w / (w @ w)
    known = LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=10_000).fit(Z, LABELS)
    np.testing.assert_allclose(known.coef_[0], w, rtol=1e-4)


def test_held_out_rows_are_judged_by_their_deviance(model):
    found = model.performance_
    assert found.baseline == 0
    assert 0 < found.score < 1
    p = (LABELS == "yes").mean()
    nothing = -2 * (p * np.log(p) + (1 - p) * np.log(1 - p))
    assert found.baseline_loss == pytest.approx(nothing, rel=0.02)


def test_noise_is_called_noise():
    with pytest.warns(NoSignalWarning, match="of the deviance"):
        model = AutoIRKSNClassifier().fit(X, RNG.permutation(LABELS))
    assert not model.signal_
    assert not model.support_.any()
    share = (LABELS == "yes").mean()
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], share, rtol=1e-6)


def test_the_order_of_features_and_their_units_do_not_matter(model):
    order = RNG.permutation(80)
    other = AutoIRKSNClassifier().fit(100 * X[:, order] - 7, LABELS)
    np.testing.assert_allclose(model.probability_[order], other.probability_, atol=1e-6)


def test_which_class_is_the_second_does_not_matter(model):
    swapped = AutoIRKSNClassifier().fit(X, np.where(LABELS == "yes", "a", "b"))
    np.testing.assert_allclose(swapped.coef_, -model.coef_, rtol=1e-6)
    np.testing.assert_allclose(swapped.probability_, model.probability_, atol=1e-8)


def test_folds_have_a_share_of_each_class(model):
    rare = np.where(np.arange(120) < 10, "rare", "usual")
    moved = X + (rare == "rare")[:, None] * (np.arange(80) == 5) * 5.0
    found = AutoIRKSNClassifier().fit(moved, rare)
    assert found.support_[5]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    again = AutoIRKSNClassifier(cv=folds).fit(X, LABELS)
    np.testing.assert_allclose(again.coef_, model.coef_)


def test_one_row_of_a_class_is_not_held_out():
    y = np.where(np.arange(120) == 7, "b", "a")
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSNClassifier().fit(X, y)
    assert model.performance_ is None


def test_weights_of_classes_are_weights(model):
    of_class = {"yes": 3.0, "no": 1.0}
    weights = np.where(LABELS == "yes", 3.0, 1.0)
    by_class = AutoIRKSNClassifier(class_weight=of_class).fit(X, LABELS)
    by_row = AutoIRKSNClassifier().fit(X, LABELS, sample_weight=weights)
    np.testing.assert_allclose(by_class.coef_, by_row.coef_)
    assert by_row.predict_proba(X)[:, 1].mean() > model.predict_proba(X)[:, 1].mean()


def test_columns_to_adjust_for_are_in_the_model_and_not_chosen():
    model = AutoIRKSNClassifier(unpenalized=[11]).fit(X, LABELS)
    np.testing.assert_array_equal(model.get_support(indices=True), [3])
    assert model.coef_[0, 11] < -0.5
    assert list(model.adjustment_) == ["x11"]


@pytest.mark.parametrize("kind", [sp.csr_array, np.float32])
def test_other_kinds_of_X(kind, model):
    given = X.astype(np.float32) if kind is np.float32 else kind(X)
    other = AutoIRKSNClassifier().fit(given, LABELS)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-3)


def test_it_works_in_scikit_learn_s_tools():
    pipeline = make_pipeline(StandardScaler(), AutoIRKSNClassifier(cv=3))
    assert cross_val_score(pipeline, X, LABELS, scoring="roc_auc", cv=3).mean() > 0.8


def test_bad_labels_are_named():
    with pytest.raises(ValueError, match="one class only"):
        AutoIRKSNClassifier().fit(X, np.ones(120))
    with pytest.raises(ValueError, match=r"Only binary classification .* 3 classes"):
        IRKSNICClassifier().fit(X, np.arange(120) % 3)


# -- counts, and outliers ------------------------------------------------------------------


def test_counts():
    model = AutoIRKSN(loss="poisson").fit(X, COUNTS)
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 11])
    by_support = AutoIRKSN(loss="poisson", predict_by="support").fit(X, COUNTS)
    eta = X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(by_support.predict(X), np.exp(eta))
    assert np.corrcoef(np.log(model.predict(X)), eta)[0, 1] > 0.98
    np.testing.assert_allclose(model.coef_[[3, 11]], [1.2, -1.2], atol=0.25)


@pytest.mark.parametrize("seed", range(3))
def test_counts_that_vary_more_than_poisson_s_are_no_signal(seed):
    rng = np.random.default_rng(seed)
    noise, counts = rng.standard_normal((80, 100)), rng.poisson(rng.lognormal(0.3, 0.8, 80))
    with pytest.warns(NoSignalWarning):
        assert not AutoIRKSN(loss="poisson").fit(noise, counts).signal_


def test_outliers_do_not_lead_huber_s_loss():
    y = ETA + RNG.standard_normal(120)
    y[:12] += 60.0
    model = AutoIRKSN(loss="huber").fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 11])
    np.testing.assert_allclose(model.coef_[[3, 11]], [3, -3], atol=0.5)
    np.testing.assert_array_equal(model.outliers_, np.arange(12))
    assert "12 rows are far off, and left out." in model.decision_
    without = AutoIRKSN().fit(X[12:], y[12:])
    np.testing.assert_array_equal(without.support_, model.support_)
    np.testing.assert_allclose(without.coef_, model.coef_, atol=0.2)  # folds are others
    again = AutoIRKSN(loss="huber").fit(X, 1e-3 * y + 7.0)
    np.testing.assert_array_equal(again.outliers_, model.outliers_)
    np.testing.assert_allclose(again.coef_, 1e-3 * model.coef_, atol=1e-8)


def test_without_outliers_it_is_the_choice_by_squares():
    y = ETA + RNG.standard_normal(120)
    robust, squares = AutoIRKSN(loss="huber").fit(X, y), AutoIRKSN().fit(X, y)
    assert robust.outliers_.size == squares.outliers_.size == 0
    np.testing.assert_array_equal(robust.coef_, squares.coef_)


def test_errors_that_only_the_model_shows_are_outliers_too():
    """Within what y spans, but far beyond the errors of other rows; some rows count twice."""
    y = ETA + 0.3 * RNG.standard_normal(120)
    middle = np.argsort(np.abs(y - np.median(y)))[:8]
    y[middle] += 6.0
    assert np.abs(y - np.median(y))[middle].max() < 4 * np.std(y)
    weights = RNG.integers(1, 3, 120)
    model = AutoIRKSN(loss="huber", weights="repetitions").fit(X, y, weights)
    np.testing.assert_array_equal(model.outliers_, np.sort(middle))
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 11])
    np.testing.assert_allclose(model.coef_[[3, 11]], [3, -3], atol=0.15)


def test_huber_s_loss_with_a_threshold_of_one_s_own_leaves_no_row_out():
    y = ETA + RNG.standard_normal(120)
    y[:12] += 60.0
    model = AutoIRKSN(loss=Huber(1.0)).fit(X, y)
    assert model.outliers_.size == 0
    assert model.support_[[3, 11]].all()


def test_bad_responses_of_other_losses_are_named():
    with pytest.raises(ValueError, match="counts, 0 or more"):
        AutoIRKSN(loss="poisson").fit(X, COUNTS - 1)
    with pytest.raises(ValueError, match="loss must be one of"):
        AutoIRKSN(loss="logistic").fit(X, COUNTS)


# -- evidence ------------------------------------------------------------------------------


def test_laplace_s_evidence_is_that_of_squares_where_the_loss_is():
    """Within its bounds Huber's loss is ½ squares: -2 log evidence has the same shape."""
    design = Design.of(X).centred(standardize=True)
    y = ETA - ETA.mean() + RNG.standard_normal(120)
    response = Huber(1e6).on(y, None, np.ones((1, 120)))
    for S in ([3], [3, 11], [3, 11, 20]):
        columns = design.columns(np.array(S))
        (found,) = Laplace.of(response, columns, [2.0])
        gram = columns @ columns.T
        w = np.linalg.solve(gram + 2.0 * np.eye(len(S)), columns @ y)
        np.testing.assert_allclose(found.coef, w, rtol=1e-6)
        left = np.sum((y - y.mean() - w @ columns) ** 2) + 2.0 * w @ w
        volume = np.linalg.slogdet(np.eye(len(S)) + gram / 2.0)[1]
        assert found.score_at(response) == pytest.approx(left + volume, rel=1e-6)
        spread = response.dispersed(found.coef @ columns, len(S), 120.0).dispersion
        rss = np.sum((y - y.mean() - w @ columns) ** 2)
        assert spread == pytest.approx(rss / (120 - 1 - len(S)), rel=1e-6)


def test_laplace_s_evidence_is_the_integral_of_the_likelihood():
    """One coefficient of classes: the integral over the prior, by quadrature."""
    y, x = (LABELS == "yes") * 1.0, X[:, 3] - X[:, 3].mean()
    response = Logistic().on(y)
    ridge = 5.0
    grid = np.linspace(-6, 6, 4001)
    heights = -0.5 * Logistic().deviance(np.outer(grid, x), y).sum(axis=1) - 0.5 * ridge * grid**2
    area = np.exp(heights).sum() * (grid[1] - grid[0]) * np.sqrt(ridge / (2 * np.pi))
    (found,) = Laplace.of(response, x[None], [ridge])
    assert found.score_at(response) == pytest.approx(-2 * np.log(area), abs=0.1)


def test_a_support_that_says_nothing_has_less_evidence():
    design = Design.of(X).centred(standardize=True)
    response = Logistic().on((LABELS == "yes") * 1.0, None, np.ones((1, 120)))
    scores = [evidence_of(design, response, S).score for S in [(), (20,), (3,), (3, 11)]]
    assert scores[3] < scores[2] < scores[0] < scores[1]
