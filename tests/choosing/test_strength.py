"""The strength of a refit by another loss: what rows held out prefer, naively."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss

from ksupport import AutoIRKSNClassifier
from ksupport.choosing.folds import folds_of
from ksupport.choosing.refits import refits_by_loss
from ksupport.choosing.strength import TRIED, strength_on_folds


def classes_of_a_group(n, seed=3):
    """Two classes that forty features tell apart, none of them well."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(n)
    X = rng.standard_normal((n, 300))
    X[:, :40] += 0.7 * hidden[:, None]
    return X, (hidden + 0.3 * rng.standard_normal(n) > 0) * 1


def folds_and_splits(X, y):
    model = AutoIRKSNClassifier(cv=4)
    model._loss = model._asked_loss()
    problem = model._problem(X, y, None, splits=model._splits(None))
    return folds_of(problem), problem.splits


def test_the_strength_is_that_of_the_least_deviance_on_rows_held_out():
    """By scikit-learn's logistic regression, on columns scaled by hand."""
    X, y = classes_of_a_group(60)
    folds, splits = folds_and_splits(X, y)
    answers = [(0, 1, 2), (), (3, 4, 5, 6, 150), (7, 8)]
    total = np.zeros(len(TRIED))
    for (train, test), answer in zip(splits, answers, strict=True):
        if not answer:
            continue
        S = list(answer)
        mean, scale = X[train][:, S].mean(axis=0), X[train][:, S].std(axis=0)
        Z, unseen = (X[train][:, S] - mean) / scale, (X[test][:, S] - mean) / scale
        bend = y[train].mean() * (1 - y[train].mean())  # of the loss, at no feature
        for at, strength in enumerate(TRIED):
            C = 1 / (strength * bend * len(train))
            said = LogisticRegression(C=C, tol=1e-10, max_iter=1000).fit(Z, y[train])
            total[at] += log_loss(y[test], said.predict_proba(unseen)) * len(test)
    assert strength_on_folds(folds, answers) == TRIED[int(np.argmin(total))]
    assert 0 < np.argmin(total) < len(TRIED) - 1  # else it would say little


def test_no_features_prefer_no_strength():
    X, y = classes_of_a_group(40)
    folds, _ = folds_and_splits(X, y)
    assert strength_on_folds(folds, [()] * 4) is None
    (w,) = refits_by_loss(folds[0].design, folds[0].y, (), [1.0])
    assert not w.any()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_classes_that_many_features_tell_apart_are_predicted_about_as_a_ridge_does():
    """Rows held out say that more of these features predict better, whatever their evidence."""
    X, y = classes_of_a_group(80)
    new, truth = classes_of_a_group(2000, seed=4)
    model = AutoIRKSNClassifier(beta=2).fit(X, y)
    ridge = LogisticRegressionCV(cv=5, max_iter=1000).fit(X, y)
    assert model.support_[:40].sum() > 5
    assert model.score(new, truth) > ridge.score(new, truth) - 0.05
    one = LogisticRegression().fit(X[:, :1], y)
    assert model.score(new, truth) > one.score(new[:, :1], truth) + 0.1
