"""Pictures of predictions of rows held out, and of the chosen features row by row."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ksupport import IRKSN, IRKSNIC, AutoIRKSNSurvival, IRKSNClassifier
from ksupport.explain.figures import kaplan_meier
from ksupport.plotting import HeatmapDisplay, PerformanceDisplay, RocDisplay, SurvivalDisplay

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 20))
ETA = 2 * X[:, 3] - 1.5 * X[:, 5]
LABELS = np.where(ETA + RNG.logistic(size=90) > 0, "tumour", "normal")
TIMES = np.column_stack([RNG.exponential(np.exp(-ETA)), RNG.uniform(size=90) < 0.8])


@pytest.fixture(scope="module")
def classifier():
    return IRKSNClassifier(k=2).fit(X, LABELS)


@pytest.fixture(scope="module")
def survival():
    return AutoIRKSNSurvival(cv=3).fit(X, TIMES)


def test_the_area_is_that_of_cross_validation(classifier):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    said = cross_val_predict(clone(classifier), X, LABELS, cv=folds, method="predict_proba")[:, 1]
    parts = [test for _, test in folds.split(X, LABELS)]
    areas = [roc_auc_score(LABELS[test], said[test]) for test in parts]
    pairs = [np.prod(np.unique(LABELS[test], return_counts=True)[1]) for test in parts]
    display = RocDisplay.from_estimator(classifier, X, LABELS)
    assert display.roc_auc == pytest.approx(np.average(areas, weights=pairs))
    assert display.ax_.get_ylabel() == "true positive rate, among tumour"
    assert display.plot(kind="calibration").ax_.get_xlabel() == "probability of tumour"
    with pytest.raises(ValueError, match=r"kind must be one of \('roc', 'calibration'\), got 'x'"):
        display.plot(kind="x")


def test_weights_count_in_curves_as_in_scores(classifier):
    weights = RNG.uniform(0.5, 2, 90)
    display = RocDisplay.from_estimator(classifier, X, LABELS, sample_weight=weights)
    validation = PerformanceDisplay.from_estimator(
        classifier, X, LABELS, sample_weight=weights
    ).validation
    assert display.roc_auc == pytest.approx(validation.ours.score)
    assert [each.name for each in validation.others] == ["Lasso", "ridge"]
    twice = kaplan_meier(TIMES, np.full(90, 2.0))
    np.testing.assert_allclose(twice, kaplan_meier(TIMES))


def test_survival_is_drawn_by_thirds_of_the_risk(survival):
    display = SurvivalDisplay.from_estimator(survival, X, TIMES, cv=3)
    low, middle, high = (np.interp(1.0, *curve) for curve in display.curves_)
    assert low > middle > high
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["lowest risk", "middle", "highest risk"]


def test_scores_of_every_kind_are_drawn_beside_a_lasso_and_a_ridge(survival):
    pytest.importorskip("sksurv")
    display = PerformanceDisplay.from_estimator(survival, X, TIMES, cv=3)
    assert [each.get_text() for each in display.ax_.get_yticklabels()] == [
        "AutoIRKSNSurvival", "Lasso", "ridge",
    ]  # fmt: skip
    assert display.ax_.get_xlabel() == "concordance, held-out rows"
    with pytest.raises(ValueError, match="kind='rows' requires a numeric response, got survival"):
        display.plot(kind="rows")


@pytest.mark.parametrize("names", [None, [f"g{j}" for j in range(20)]])
def test_the_map_has_the_chosen_features_in_the_order_of_the_response(classifier, survival, names):
    for model, y in ((IRKSNIC().fit(X, ETA), ETA), (classifier, LABELS), (survival, TIMES)):
        display = HeatmapDisplay.from_estimator(model, X, y, names=names)
        features = display.heat.features
        assert set(features) == set(np.flatnonzero(model.support_))
        rows = display.heat.rows
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        np.testing.assert_allclose(display.image_.get_array(), scaled[rows][:, features].T)
        labels = [each.get_text() for each in display.ax_.get_yticklabels()]
        assert labels == [f"{'x' if names is None else 'g'}{j}" for j in features]


def test_an_empty_model_has_an_empty_map():
    model = IRKSN(k=2, max_iter=5).fit(X, np.ones(90))
    display = HeatmapDisplay.from_estimator(model, X, np.ones(90))
    assert display.heat.features.size == 0


def test_what_a_picture_is_not_of_is_refused_in_words(classifier, survival):
    with pytest.raises(
        ValueError, match="display is for survival, but IRKSNClassifier predicts cl"
    ):
        SurvivalDisplay.from_estimator(classifier, X, LABELS)
    with pytest.raises(
        ValueError, match="display is for classes, but AutoIRKSNSurvival predicts s"
    ):
        RocDisplay.from_estimator(survival, X, TIMES)
    with pytest.raises(ValueError, match="one target"):
        HeatmapDisplay.from_estimator(IRKSN(k=2).fit(X, np.c_[ETA, ETA]), X, np.c_[ETA, ETA])
    with pytest.raises(ValueError, match="X has 19 features"):
        HeatmapDisplay.from_estimator(classifier, X[:, 1:], LABELS)
