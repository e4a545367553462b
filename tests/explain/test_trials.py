"""Rows held out: scores are those of cross-validation, and whoever predicts better is named."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict

from ksupport import IRKSNIC
from ksupport.explain.trials import Trial, Trials, trials_of, usual

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 20))
Y = X @ np.r_[2.0, -1.0, np.zeros(18)] + 0.5 * RNG.standard_normal(60) + 3
SPLITS = list(KFold(5, shuffle=True, random_state=0).split(X))


def trials(**makes):
    return trials_of("ours", makes, X, Y, SPLITS)


def test_predictions_are_those_of_scikit_learn():
    found = trials(ours=lambda rows: LinearRegression())
    expected = cross_val_predict(LinearRegression(), X, Y, cv=SPLITS)
    np.testing.assert_allclose(found.predicted, expected[found.rows])
    assert sorted(found.rows) == list(range(60))


def test_the_score_is_r2_against_the_means_of_the_training_rows():
    found = trials(ours=lambda rows: LinearRegression())
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
    one, two = Trial("a", errors, 1, baseline), Trial("b", other, 1, baseline)
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
    makes = {"ours": lambda rows: Ridge(alpha=1e-9), **usual(X, lambda rows: 3)}
    weighted = trials_of("ours", {"ours": makes["ours"]}, X, Y, SPLITS, twice)
    plain = trials_of("ours", {"ours": makes["ours"]}, X[repeated], Y[repeated], splits)
    assert weighted.ours.score == pytest.approx(plain.ours.score)
    everyone = trials_of("ours", makes, X, Y, SPLITS, twice)  # pipelines take weights too
    assert [each.name for each in everyone.others] == ["Lasso", "ridge"]


def test_a_lasso_and_a_ridge_are_tuned_on_the_rows_they_are_given():
    asked = []
    makes = usual(X, lambda rows: asked.append(len(rows)) or 3)
    found = trials(ours=lambda rows: IRKSNIC(), **makes)
    assert asked == [48] * 5  # by the Lasso; the ridge has its own formula
    assert {each.name: each.features for each in found.others}["ridge"] == 20
    assert found.ours.features < 5
    assert all(0.8 < each.score < 1 for each in (found.ours, *found.others))
    sparse = trials_of("Lasso", usual(sp.csr_array(X), lambda rows: 3), sp.csr_array(X), Y, SPLITS)
    assert sparse.ours.score > 0.8


def test_better_is_said_only_where_rows_leave_little_doubt():
    baseline = np.ones(100)
    ours = Trial("ours", np.full(100, 0.5), 1, baseline)
    clear = Trial("clear", np.full(100, 0.3) + np.tile([0.01, -0.01], 50), 1, baseline)
    noisy = np.where(np.arange(100) == 0, -40.0 + 0.5, 0.5) + 0.3
    perhaps = Trial("perhaps", noisy, 1, baseline)
    found = Trials(np.arange(100), np.zeros(100), ours, (perhaps, clear), 5)
    assert [each.name for each in found.better] == ["clear", "perhaps"]
    assert [each.name for each in found.clearly_better] == ["clear"]
