"""IRKSNClassifier, and IRKSN with other losses: what users see."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import IRKSN, IRKSNClassifier, stability_selection
from ksupport.explain.models import walk_again
from ksupport.losses import Huber, Logistic, Poisson

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 80)) + 2.0
ETA = 2.0 * (X[:, 3] - X[:, 11])
LABELS = np.where(RNG.random(120) < 1 / (1 + np.exp(-ETA)), "yes", "no")
COUNTS = RNG.poisson(np.exp(0.4 * ETA)) * 1.0


@parametrize_with_checks([IRKSNClassifier(class_weight="balanced")])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_it_finds_the_features_and_predicts():
    model = IRKSNClassifier(k=2, max_iter=10).fit(X[:90], LABELS[:90])
    assert set(np.flatnonzero(model.support_)) >= {3, 11}
    assert model.score(X[90:], LABELS[90:]) > 0.7
    np.testing.assert_array_equal(model.classes_, ["no", "yes"])
    assert model.coef_.shape == (1, 80)
    assert model.intercept_.shape == (1,)
    assert model.coef_[0, 3] > 0 > model.coef_[0, 11]


def test_probabilities_and_decisions_agree():
    model = IRKSNClassifier(k=2, max_iter=20).fit(X, LABELS)
    eta, p = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(eta, X @ model.coef_[0] + model.intercept_[0])
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-eta)))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])


@pytest.mark.parametrize("standardize", [False, True])
def test_where_the_walk_ends_is_logistic_regression(standardize):
    """With as many features as there are and few of them, the path ends at the likeliest model."""
    few = X[:, [3, 11, 20]]
    model = IRKSNClassifier(k=3, alpha=0.5, max_iter=2000, standardize=standardize)
    known = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000).fit(few, LABELS)
    model.fit(few, LABELS)
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, known.intercept_, atol=1e-3)


def test_class_weights_are_weights():
    weights = np.where(LABELS == "yes", 3.0, 1.0)
    by_class = IRKSNClassifier(k=2, class_weight={"yes": 3.0, "no": 1.0}, max_iter=20)
    by_row = IRKSNClassifier(k=2, max_iter=20).fit(X, LABELS, sample_weight=weights)
    np.testing.assert_allclose(by_class.fit(X, LABELS).coef_, by_row.coef_)
    plain = IRKSNClassifier(k=2, max_iter=20).fit(X, LABELS)
    assert by_row.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()


def test_rows_held_out_are_of_both_classes_and_stop_the_walk():
    model = IRKSNClassifier(k=2, stopping="held_out", max_iter=300, random_state=0).fit(X, LABELS)
    held = LABELS[model.held_out_]
    share = (LABELS == "yes").mean()
    assert abs((held == "yes").mean() - share) < 0.05
    assert model.stop_reason_ == "stopped"
    errors = model.history_["validation"]
    assert errors[model.n_iter_] == errors.min()
    rest = np.delete(np.arange(120), model.held_out_)
    start = np.log((LABELS[rest] == "yes").mean() / (LABELS[rest] == "no").mean())
    expected = Logistic().deviance(np.full(held.size, start), (held == "yes") * 1.0).mean()
    np.testing.assert_allclose(errors[0], expected)


def test_it_works_in_scikit_learn_s_tools():
    pipeline = make_pipeline(StandardScaler(), IRKSNClassifier(max_iter=15))
    search = GridSearchCV(pipeline, {"irksnclassifier__k": [2, 20]}, scoring="roc_auc", cv=3)
    assert search.fit(X, LABELS).best_score_ > 0.75
    assert cross_val_score(pipeline, X, LABELS, scoring="neg_log_loss", cv=3).shape == (3,)


@pytest.mark.parametrize("kind", [sp.csr_array, np.float32])
def test_other_kinds_of_X(kind):
    given = X.astype(np.float32) if kind is np.float32 else kind(X)
    expected = IRKSNClassifier(k=2, max_iter=20).fit(X, LABELS)
    model = IRKSNClassifier(k=2, max_iter=20).fit(given, LABELS)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    np.testing.assert_array_equal(model.predict(given), expected.predict(X))


def test_dask_arrays_are_predicted_lazily_where_that_can_be():
    da = pytest.importorskip("dask.array")
    chunked = da.from_array(X, chunks=(40, 20))
    model = IRKSNClassifier(k=2, max_iter=20).fit(chunked, LABELS)
    np.testing.assert_allclose(
        model.decision_function(chunked).compute(), model.decision_function(X), atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(chunked), model.predict(X))


def test_a_warm_start_goes_on():
    once = IRKSNClassifier(k=2, max_iter=20).fit(X, LABELS)
    twice = IRKSNClassifier(k=2, max_iter=10, warm_start=True).fit(X, LABELS).fit(X, LABELS)
    np.testing.assert_allclose(twice.coef_, once.coef_, atol=1e-8)


def test_its_path_can_be_walked_again():
    weighted = IRKSNClassifier(k=2, max_iter=20, class_weight="balanced").fit(X, LABELS)
    again = walk_again(weighted, X, LABELS)
    np.testing.assert_allclose(again.coef, weighted.coef_[0], atol=1e-10)


def test_half_samples_tell_how_stable_it_is():
    model = IRKSNClassifier(k=2, max_iter=5)
    result = stability_selection(model, X, LABELS, n_pairs=5, random_state=0)
    assert set(np.argsort(-result.frequency)[:2]) == {3, 11}


def test_bad_labels_are_named():
    with pytest.raises(ValueError, match="one class only"):
        IRKSNClassifier().fit(X, np.ones(120))
    with pytest.raises(ValueError, match="none of class number 2; give rows of it"):
        IRKSNClassifier().fit(X, np.arange(120) % 3, np.arange(120) % 3 < 2)
    with pytest.raises(ValueError, match="positive=True is for two"):
        IRKSNClassifier(positive=True).fit(X, np.arange(120) % 3)
    with pytest.raises(ValueError, match="Discrepancy requires loss='squared'"):
        IRKSNClassifier(stopping="discrepancy").fit(X, LABELS)
    with pytest.raises(ValueError, match="certify requires loss='squared'"):
        IRKSNClassifier(k=2, max_iter=5).fit(X, LABELS).certify(X, LABELS)


# -- counts, and outliers ------------------------------------------------------------------


def test_counts_are_predicted_by_their_means():
    model = IRKSN(k=2, loss="poisson", max_iter=20).fit(X, COUNTS)
    assert set(np.flatnonzero(model.support_)) >= {3, 11}
    np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))
    # The intercept is that of the likelihood as it is.
    np.testing.assert_allclose(model.predict(X).sum(), COUNTS.sum())


def test_counts_must_be_counts():
    with pytest.raises(ValueError, match=r"counts, 0 or more, for the Poisson loss, got -1"):
        IRKSN(loss="poisson").fit(X, COUNTS - 1)
    with pytest.raises(ValueError, match="y is zero on all 120 rows"):
        IRKSN(loss="poisson").fit(X, 0 * COUNTS)


def test_outliers_do_not_lead_huber_s_loss():
    y = ETA + RNG.standard_normal(120)
    y[:12] += 30.0
    model = IRKSN(k=2, loss="huber", max_iter=30).fit(X, y)
    clean = IRKSN(k=2, max_iter=30).fit(X[12:], y[12:])
    squared = IRKSN(k=2, max_iter=30).fit(X, y)

    def away(each):
        return np.linalg.norm(each.coef_ - clean.coef_)

    assert away(model) < 0.6 * away(squared)


def test_a_loss_may_be_given_itself():
    y = ETA + RNG.standard_normal(120)
    wide = IRKSN(k=2, loss=Huber(1e6), max_iter=15).fit(X, y)
    squared = IRKSN(k=2, max_iter=15).fit(X, y)
    np.testing.assert_allclose(wide.coef_, squared.coef_, atol=1e-6)
    counted = IRKSN(k=2, loss=Poisson(), max_iter=5).fit(X, COUNTS)
    np.testing.assert_array_equal(
        counted.coef_, IRKSN(k=2, loss="poisson", max_iter=5).fit(X, COUNTS).coef_
    )


def test_several_targets_have_their_own_losses():
    Y = np.column_stack([ETA, 10 * COUNTS])
    both = IRKSN(k=2, loss="huber", max_iter=10).fit(X, Y)
    for j in (0, 1):
        alone = IRKSN(k=2, loss="huber", max_iter=10).fit(X, Y[:, j])
        np.testing.assert_allclose(both.coef_[j], alone.coef_)
        np.testing.assert_allclose(both.intercept_[j], alone.intercept_)
    assert both.predict(X).shape == Y.shape


def test_what_other_losses_cannot_do_is_said():
    with pytest.raises(ValueError, match="loss must be one of 'squared', 'huber', 'poisson'"):
        IRKSN(loss="logistic").fit(X, COUNTS)
    with pytest.raises(ValueError, match="alpha must be a number with loss='huber'"):
        IRKSN(loss="huber", alpha="auto").fit(X, COUNTS)
    with pytest.raises(ValueError, match="step must be 'adaptive' with loss='huber'"):
        IRKSN(loss="huber", step="spectral").fit(X, COUNTS)


# -- what a model is adjusted for ----------------------------------------------------------


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_unpenalised_columns_are_optimal(standardize, intercept):
    """With all features in the model, the walk ends at logistic regression on all columns."""
    few = X[:, [3, 11, 20, 30]] - 2.0
    how = {"standardize": standardize, "fit_intercept": intercept}
    model = IRKSNClassifier(k=2, alpha=0.5, max_iter=3000, unpenalized=[1, 3], **how)
    model.fit(few, LABELS)
    known = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000, fit_intercept=intercept)
    known.fit(few, LABELS)
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, known.intercept_, atol=1e-3)
    np.testing.assert_array_equal(model.support_, [True, False, True, False])
    np.testing.assert_allclose(list(model.adjustment_.values()), model.coef_[0, [1, 3]])


def test_unpenalised_columns_of_counts_and_outliers():
    for loss, y in (("poisson", COUNTS), ("huber", ETA + RNG.standard_normal(120))):
        model = IRKSN(k=1, loss=loss, max_iter=6, unpenalized=[11]).fit(X, y)
        assert model.support_[3]
        assert not model.support_[11]
        assert model.coef_[11] < -0.2
        # What is not penalised is at its best beside the rest.
        eta = X @ model.coef_ + model.intercept_
        fixed = (Poisson() if loss == "poisson" else Huber()).fixed(y)
        g = fixed.gradient(eta, y)
        np.testing.assert_allclose([g.sum(), g @ X[:, 11]], 0.0, atol=1e-6)


def test_rows_held_out_are_predicted_with_the_intercept_of_the_others():
    model = IRKSNClassifier(k=2, max_iter=12, stopping="held_out", unpenalized=[11], random_state=1)
    model.fit(X, LABELS)
    out = model.held_out_
    eta, y = model.decision_function(X[out]), (LABELS[out] == "yes") * 1.0
    at = np.flatnonzero(model.history_["t"] == model.n_iter_)[0]
    np.testing.assert_allclose(
        model.history_["validation"][at], Logistic().deviance(eta, y).mean(), rtol=1e-6
    )
