"""`IRKSNIC` and `IRKSNCV` by other losses than squares, and their classifiers."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import IRKSNCV, IRKSNIC, IRKSNCVClassifier, IRKSNICClassifier
from ksupport.choosing.criteria import log_choose
from ksupport.losses import Logistic, Poisson

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 60)) + 1.0
ETA = 3.0 * (X[:, 3] - X[:, 11])
LABELS = np.where(RNG.random(120) < 1 / (1 + np.exp(-ETA)), "yes", "no")
COUNTS = RNG.poisson(np.exp(0.4 * ETA)) * 1.0
SHIFTED = ETA + RNG.standard_normal(120)
SHIFTED[:12] += 60.0
EMPTY = "ignore:No features were selected:UserWarning"  # legitimate: transform then has no columns


@parametrize_with_checks(
    [
        IRKSNCVClassifier(cv=3),
        IRKSNIC(loss="huber"),
        IRKSNIC(loss="poisson"),
        IRKSNCV(loss="huber", cv=3, refit=None),
        IRKSNCV(loss="poisson", cv=3),
    ]
)
@pytest.mark.filterwarnings(EMPTY)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (IRKSNICClassifier(), LABELS),
        (IRKSNIC(loss="poisson"), COUNTS),
        (IRKSNIC(loss="huber"), SHIFTED),
    ],
    ids=["classes", "counts", "outliers"],
)
def test_a_criterion_finds_the_features(model, y):
    np.testing.assert_array_equal(model.fit(X, y).get_support(indices=True), [3, 11])
    assert model.path_["support"][0] == (3, 11)
    assert np.all(np.diff(model.path_["score"]) >= 0)


def test_the_score_is_ebic_of_the_deviance():
    model = IRKSNICClassifier().fit(X, LABELS)
    likeliest = LogisticRegression(C=np.inf, tol=1e-10).fit(X[:, [3, 11]], LABELS)
    eta = likeliest.decision_function(X[:, [3, 11]])
    deviance = Logistic().deviance(eta, (LABELS == "yes") * 1.0).sum()
    assert model.path_["deviance"][0] == pytest.approx(deviance, rel=1e-4)
    assert model.score_ == pytest.approx(
        deviance + 2 * np.log(120) + 2 * log_choose(60, 2), rel=1e-4
    )
    np.testing.assert_allclose(model.coef_[0, [3, 11]], likeliest.coef_[0], rtol=0.02)


def test_the_likeliest_model_of_counts():
    model = IRKSNIC(loss="poisson").fit(X, COUNTS)
    fit = Poisson().refit(X[:, [3, 11]].T, COUNTS, unpenalized=np.ones((1, 120)))
    np.testing.assert_allclose(model.coef_[[3, 11]], fit.coef, rtol=0.01)
    assert model.intercept_ == pytest.approx(fit.unpenalized[0], rel=0.05)
    assert np.mean(model.predict(X)) == pytest.approx(COUNTS.mean())


@pytest.mark.parametrize("refit", ["auto", None, "ols", "ridge"])
def test_folds_choose_for_classes(refit):
    model = IRKSNCVClassifier(refit=refit, random_state=0).fit(X[:80], LABELS[:80])
    assert model.support_[[3, 11]].all()
    assert roc_auc_score(LABELS[80:], model.decision_function(X[80:])) > 0.9
    assert model.refit_ == refit or refit == "auto"


def test_folds_choose_by_a_scorer():
    model = IRKSNCVClassifier(scoring="roc_auc", refit=None, random_state=0).fit(X, LABELS)
    assert 0.8 < model.score_ <= 1.0


def test_folds_choose_for_counts_and_beside_outliers():
    counts = IRKSNCV(loss="poisson", random_state=0).fit(X, COUNTS)
    robust = IRKSNCV(loss="huber", random_state=0).fit(X, SHIFTED)
    assert counts.support_[[3, 11]].all()
    assert robust.support_[[3, 11]].all()
    assert np.abs(robust.coef_[[3, 11]] - [3.0, -3.0]).max() < 0.6


def test_columns_to_adjust_for_are_not_chosen():
    model = IRKSNICClassifier(unpenalized=[3]).fit(X, LABELS)
    assert model.get_support(indices=True).tolist() == [11]
    assert model.adjustment_["x3"] > 1


def test_errors():
    with pytest.raises(ValueError, match="criterion='cp' requires loss='squared'"):
        IRKSNICClassifier(criterion="cp").fit(X, LABELS)
    with pytest.raises(ValueError, match="loss must be one of"):
        IRKSNIC(loss="logistic").fit(X, COUNTS)
    with pytest.raises(ValueError, match="loss must be one of"):
        IRKSNCV(loss="cox").fit(X, COUNTS)
    with pytest.raises(ValueError, match="0 or more"):
        IRKSNCV(loss="poisson").fit(X, COUNTS - 1)
