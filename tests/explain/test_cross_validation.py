"""Rows held out: scores are those of cross-validation, and whoever predicts better is named."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksupport import IRKSNIC, AutoIRKSNSurvival, IRKSNClassifier
from ksupport.explain.cross_validation import (
    AUC,
    BASELINE,
    Accuracy,
    Concordance,
    CrossValidation,
    MethodScore,
    RSquared,
    cross_validated,
    metric_for,
)
from ksupport.explain.standard_methods import CovariatesOnly, OneAgainstOthers, lasso_and_ridge
from ksupport.losses import Logistic, Multinomial, Squared

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 20))
Y = X @ np.r_[2.0, -1.0, np.zeros(18)] + 0.5 * RNG.standard_normal(60) + 3
SPLITS = list(KFold(5, shuffle=True, random_state=0).split(X))


def validation(**makes):
    return cross_validated("ours", makes, X, Y, SPLITS)


def test_predictions_are_those_of_scikit_learn():
    found = validation(ours=lambda rows: LinearRegression())
    expected = cross_val_predict(LinearRegression(), X, Y, cv=SPLITS)
    np.testing.assert_allclose(found.predicted, expected[found.rows])
    assert sorted(found.rows) == list(range(60))


def test_the_score_is_r2_against_the_means_of_the_training_rows():
    found = validation(ours=lambda rows: LinearRegression())
    means = np.empty(60)
    for train, test in SPLITS:
        means[test] = Y[train].mean()
    expected = 1 - np.sum((Y[found.rows] - found.predicted) ** 2) / np.sum((Y - means) ** 2)
    assert found.ours.score == pytest.approx(expected)
    assert found.ours.score == pytest.approx(r2_score(Y[found.rows], found.predicted), abs=0.02)


def test_the_standard_error_is_that_of_the_bootstrap():
    rng = np.random.default_rng(1)
    baseline = rng.chisquare(1, 300)
    errors = 0.3 * baseline + 0.2 * rng.chisquare(1, 300)
    other = errors * rng.uniform(0.5, 1.2, 300)
    rows = rng.integers(300, size=(4000, 300))
    one, two = MethodScore("a", errors, 1, baseline), MethodScore("b", other, 1, baseline)
    drawn = 1 - errors[rows].mean(axis=1) / baseline[rows].mean(axis=1)
    assert one.standard_error == pytest.approx(drawn.std(), rel=0.1)
    gaps = (errors - other)[rows].mean(axis=1) / baseline[rows].mean(axis=1)
    gap, spread = two.ahead_of(one)
    assert gap == pytest.approx((errors - other).mean() / baseline.mean())
    assert spread == pytest.approx(gaps.std(), rel=0.1)


def test_weights_count_rows_like_repetitions():
    twice = np.where(np.arange(60) < 20, 2.0, 1.0)
    repeated = np.r_[np.arange(60), np.arange(20)]
    splits = [
        (np.flatnonzero(~np.isin(repeated, test)), np.flatnonzero(np.isin(repeated, test)))
        for _, test in SPLITS
    ]
    makes = {"ours": lambda rows: Ridge(alpha=1e-9), **lasso_and_ridge(X, lambda rows: 3)}
    weighted = cross_validated("ours", {"ours": makes["ours"]}, X, Y, SPLITS, twice)
    plain = cross_validated("ours", {"ours": makes["ours"]}, X[repeated], Y[repeated], splits)
    assert weighted.ours.score == pytest.approx(plain.ours.score)
    everyone = cross_validated("ours", makes, X, Y, SPLITS, twice)  # pipelines take weights too
    assert [each.name for each in everyone.others] == ["Lasso", "ridge"]


def test_a_lasso_and_a_ridge_are_tuned_on_the_rows_they_are_given():
    asked = []
    makes = lasso_and_ridge(X, lambda rows: asked.append(len(rows)) or 3)
    found = validation(ours=lambda rows: IRKSNIC(), **makes)
    assert asked == [48] * 5  # by the Lasso; the ridge has its own formula
    assert {each.name: each.features for each in found.others}["ridge"] == 20
    assert found.ours.features < 5
    assert all(0.8 < each.score < 1 for each in (found.ours, *found.others))
    sparse = cross_validated(
        "Lasso", lasso_and_ridge(sp.csr_array(X), lambda rows: 3), sp.csr_array(X), Y, SPLITS
    )
    assert sparse.ours.score > 0.8


# -- classes and survival times --------------------------------------------------------------

LABEL = (np.median(Y) < Y).astype(float)
EVEN = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, LABEL))


def of_classes(**makes):
    return cross_validated("ours", makes, X, LABEL, EVEN, metric=AUC())


def test_classes_are_judged_by_the_area_under_the_curve_within_folds():
    found = of_classes(ours=lambda rows: LogisticRegression())
    said = cross_val_predict(LogisticRegression(), X, LABEL, cv=EVEN, method="predict_proba")[:, 1]
    np.testing.assert_allclose(found.predicted, said[found.rows])
    areas = [roc_auc_score(LABEL[test], said[test]) for _, test in EVEN]
    pairs = [LABEL[test].sum() * (1 - LABEL[test]).sum() for _, test in EVEN]
    assert found.ours.score == pytest.approx(np.average(areas, weights=pairs))
    assert found.baseline.score == 0.5
    assert found.baseline.standard_error == 0


def test_the_standard_error_of_an_area_is_that_of_delong():
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], [60, 40])
    said = rng.standard_normal(100) + y
    metric, same = AUC(), np.zeros(100, int)
    errors, baseline = (
        metric.errors(y, each, same, np.ones(100)) for each in (said, np.zeros(100))
    )
    found = MethodScore("ours", errors, 1, baseline, 0.5)
    assert found.score == pytest.approx(roc_auc_score(y, said))
    ahead = said[y == 1][:, None] > said[y == 0]
    delong = np.sqrt(
        ahead.mean(axis=1).var(ddof=1) / 40 + ahead.mean(axis=0).var(ddof=1) / 60
    )  # DeLong, DeLong and Clarke-Pearson 1988
    assert found.standard_error == pytest.approx(delong, rel=0.02)


def test_survival_is_judged_by_concordance_within_folds():
    sksurv = pytest.importorskip("sksurv.metrics")
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.exponential(np.exp(-Y / 2)), rng.uniform(size=60) < 0.7])
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y[:, 1]))
    makes = {
        "ours": lambda rows: AutoIRKSNSurvival(cv=3),
        **lasso_and_ridge(X, lambda rows: 3, "survival"),
    }
    found = cross_validated("ours", makes, X, y, splits, metric=Concordance())
    pairs = right = 0.0
    for fold, (_, test) in enumerate(splits):
        risk = found.predicted[found.fold == fold]
        _, agree, against, tied, _ = sksurv.concordance_index_censored(
            y[test, 1] == 1, y[test, 0], risk
        )
        pairs, right = pairs + agree + against + tied, right + agree + tied / 2
    assert found.ours.score == pytest.approx(right / pairs)
    scores = {each.name: each for each in found.others}
    assert set(scores) == {"Lasso", "ridge"}
    assert scores["ridge"].features == 20
    assert 0 < scores["Lasso"].features < 20
    assert all(each.score > 0.6 for each in scores.values())


def test_a_lasso_and_a_ridge_of_classes_are_tuned_too():
    found = of_classes(
        ours=lambda rows: IRKSNClassifier(k=2), **lasso_and_ridge(X, lambda rows: 3, "classes")
    )
    scores = {each.name: each for each in found.others}
    assert scores["ridge"].features == 20
    assert 0 < scores["Lasso"].features < 20
    assert all(each.score > 0.8 for each in scores.values())
    sparse = sp.csr_array(X)
    makes = lasso_and_ridge(sparse, lambda rows: 3, "classes")
    again = cross_validated("ridge", makes, sparse, LABEL, EVEN, metric=AUC())
    assert again.ours.score == pytest.approx(scores["ridge"].score, abs=0.03)


def test_a_ridge_on_principal_axes_is_the_ridge():
    model = lasso_and_ridge(X, lambda rows: 3, "classes")["ridge"](np.arange(60)).fit(X, LABEL)
    strength = np.ravel(model[-1].C_)[0]
    plain = make_pipeline(StandardScaler(), LogisticRegression(C=strength, tol=1e-8))
    np.testing.assert_allclose(
        model.predict_proba(X), plain.fit(X, LABEL).predict_proba(X), atol=1e-4
    )


def test_what_a_model_is_adjusted_for_is_known_beforehand():
    makes = {
        "ours": lambda rows: LinearRegression(),
        "x0 alone": lambda rows: CovariatesOnly(Squared(), np.array([0])),
    }
    found = cross_validated(
        "ours", makes, X, Y, SPLITS, baseline="x0 alone", adjusting=np.array([0])
    )
    expected = cross_val_predict(LinearRegression(), X[:, [0]], Y, cv=SPLITS)
    mine = CovariatesOnly(Squared(), np.array([0])).fit(X[SPLITS[0][0]], Y[SPLITS[0][0]])
    np.testing.assert_allclose(mine.predict(X[SPLITS[0][1]]), expected[SPLITS[0][1]])
    assert found.others == ()
    assert found.baseline.score > 0.5
    assert (found.baseline.features, found.ours.features) == (0, 19)
    model = CovariatesOnly(Logistic(), np.array([0])).fit(X, LABEL)
    plain = LogisticRegression(C=np.inf, tol=1e-8).fit(X[:, [0]], LABEL)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X[:, [0]]), atol=1e-4)
    assert validation(ours=lambda rows: LinearRegression()).baseline.name == BASELINE


def test_several_classes_are_judged_by_the_share_that_is_told_right():
    y = np.digitize(X[:, 0], [-0.6, 0.6]) * 1.0
    metric = metric_for(Multinomial(3))
    assert metric == Accuracy(3)
    makes = {
        "ours": lambda rows: OneAgainstOthers(LogisticRegression()),
        "known": lambda rows: CovariatesOnly(Multinomial(3), np.array([0])),
    }
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    found = cross_validated("ours", makes, X, y, splits, metric=metric)
    told = cross_val_predict(OneAgainstOthers(LogisticRegression()), X, y, cv=splits)
    expected = accuracy_score(y, told)
    assert found.ours.score == pytest.approx(expected)
    assert found.ours.standard_error == pytest.approx(np.sqrt(expected * (1 - expected) / 59))
    assert found.baseline.score == pytest.approx(np.bincount(y.astype(int)).max() / 60)
    assert found.others[0].features == 1
    assert found.others[0].score > found.baseline.score
    assert found.predicted.shape == (60, 3)


def test_of_two_classes_one_against_others_is_the_model_itself():
    y = (X[:, 0] + 0.3 * RNG.standard_normal(60) > 0) * 1.0
    one, own = OneAgainstOthers(LogisticRegression()).fit(X, y), LogisticRegression().fit(X, y)
    np.testing.assert_allclose(one.predict_proba(X), own.predict_proba(X))
    np.testing.assert_array_equal(one.predict(X), own.predict(X))
    np.testing.assert_allclose(one.coef_, own.coef_)


def test_weights_count_pairs_like_repetitions():
    twice = np.where(np.arange(60) < 20, 2.0, 1.0)
    repeated = np.r_[np.arange(60), np.arange(20)]
    said = np.random.default_rng(0).standard_normal(60)
    metric = AUC()

    def score(y, p, weights):
        errors, baseline = (
            metric.errors(y, each, np.zeros(len(y)), weights) for each in (p, 0 * p)
        )
        return MethodScore("", errors, 0, baseline, 0.5).score

    once = np.ones(80)
    assert score(LABEL, said, twice) == pytest.approx(score(LABEL[repeated], said[repeated], once))


def test_better_is_said_only_where_rows_leave_little_doubt():
    baseline = np.ones(100)
    ours = MethodScore("ours", np.full(100, 0.5), 1, baseline)
    clear = MethodScore("clear", np.full(100, 0.3) + np.tile([0.01, -0.01], 50), 1, baseline)
    noisy = np.where(np.arange(100) == 0, -40.0 + 0.5, 0.5) + 0.3
    perhaps = MethodScore("perhaps", noisy, 1, baseline)
    rows, nothing = np.arange(100), MethodScore("nothing", baseline, 0, baseline)
    found = CrossValidation(
        RSquared(), rows, rows % 5, baseline, baseline, ours, (perhaps, clear), nothing
    )
    assert found.folds == 5
    assert [each.name for each in found.better] == ["clear", "perhaps"]
    assert [each.name for each in found.clearly_better] == ["clear"]
