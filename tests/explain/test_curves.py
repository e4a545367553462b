"""Curves of predictions: areas, promises kept, and survival as other libraries have it."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import auc, roc_auc_score, roc_curve

from ksupport.explain.figures import Predictions, calibration, kaplan_meier, mean_roc, risk_groups

RNG = np.random.default_rng(0)
LABEL = (RNG.uniform(size=90) < 0.4).astype(float)
P = np.round(np.clip(0.4 * LABEL + 0.6 * RNG.uniform(size=90), 0, 1), 2)  # some are tied
ROWS = np.arange(90)


def said(fold, kind="classes", y=LABEL, p=P):
    return Predictions(kind, ROWS, y, p, fold)


def test_of_one_fold_the_roc_curve_is_scikit_learn_s():
    false, true = mean_roc(said(np.zeros(90)))
    expected = roc_curve(LABEL, P)
    assert auc(false, true) == pytest.approx(roc_auc_score(LABEL, P))
    between = (np.unique(false)[1:] + np.unique(false)[:-1]) / 2
    np.testing.assert_allclose(
        np.interp(between, false, true), np.interp(between, expected[0], expected[1])
    )


def test_the_area_of_folds_is_the_share_of_their_pairs_in_order():
    fold = ROWS % 4
    false, true = mean_roc(said(fold))
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= -1e-12).all()
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    parts = [(LABEL[fold == each], P[fold == each]) for each in range(4)]
    areas = [roc_auc_score(*part) for part in parts]
    weights = [y.sum() * (1 - y).sum() for y, _ in parts]
    assert auc(false, true) == pytest.approx(np.average(areas, weights=weights))


def test_folds_of_one_class_say_nothing_of_order():
    false, true = mean_roc(said(LABEL))
    assert auc(false, true) == 0.5


def test_calibration_is_scikit_learn_s_where_bins_have_as_many_rows():
    p = (np.arange(90) + 0.5) / 90
    y = (RNG.uniform(size=90) < p).astype(float)
    promised, kept, counts = calibration(said(ROWS, y=y, p=p))
    expected = calibration_curve(y, p, n_bins=5, strategy="quantile")
    np.testing.assert_allclose([kept, promised], expected)
    assert counts.tolist() == [18] * 5


def test_survival_is_scikit_survival_s():
    sksurv = pytest.importorskip("sksurv.nonparametric")
    y = np.column_stack([np.round(RNG.exponential(size=90), 1), RNG.uniform(size=90) < 0.6])
    times, surviving = kaplan_meier(y)
    expected = sksurv.kaplan_meier_estimator(y[:, 1] == 1, y[:, 0])
    found = np.array([times, surviving])[:, -len(expected[0]) :]
    np.testing.assert_allclose(found, expected)
    assert (times[0], surviving[0]) == (0, 1)


def test_parts_by_risk_are_made_within_folds():
    risk = RNG.standard_normal(90) + 100 * (ROWS % 3)  # of models with constants of their own
    groups = risk_groups(said(ROWS % 3, "survival", p=risk))
    assert np.bincount(groups).tolist() == [30, 30, 30]
    for fold in range(3):
        inside = fold == ROWS % 3
        assert np.bincount(groups[inside]).tolist() == [10, 10, 10]
        assert (np.diff(groups[inside][np.argsort(risk[inside])]) >= 0).all()
