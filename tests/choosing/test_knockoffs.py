"""A recipe: hidimstat's knockoffs with the coefficients of IRKSN as the statistic."""

import numpy as np
import pytest

from ksupport import IRKSN, IRKSNCV
from ksupport.datasets import make_correlated_data

hidimstat = pytest.importorskip("hidimstat", reason="hidimstat comes with the extra 'fmri'")

MODELS = [
    IRKSN(k=15, alpha=0.1, standardize=True, stopping="held_out"),
    IRKSN(k=15, standardize=True, stopping="discrepancy"),
    IRKSNCV(k=[8, 16], max_iter=200),
]


def draw(seed):
    rng = np.random.default_rng(seed)
    truth = np.zeros(60)
    truth[rng.choice(60, 10, replace=False)] = 2 * rng.choice([-1, 1], 10)
    return make_correlated_data(200, 60, rho=0.3, w_true=truth, snr=5, random_state=seed)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_knockoffs_find_the_features_with_few_false_ones(model):
    shares, found = [], []
    for seed in range(4):
        X, y, w = draw(seed)
        knockoffs = hidimstat.ModelXKnockoff(
            estimator=model, preconfigure_lasso_path=False, random_state=seed
        )
        knockoffs.fit_importance(X, y)
        chosen = knockoffs.fdr_selection(fdr=0.2) != 0
        shares.append((chosen & (w == 0)).sum() / max(chosen.sum(), 1))
        found.append(chosen[w != 0].mean())
    assert np.mean(found) > 0.9
    assert np.mean(shares) <= 0.2


def test_the_statistic_is_the_difference_of_coefficients():
    X, y, _ = draw(0)
    model = IRKSN(k=15, alpha=0.1, standardize=True, max_iter=100)
    knockoffs = hidimstat.ModelXKnockoff(
        estimator=model, preconfigure_lasso_path=False, random_state=0, n_repeats=2
    )
    importances = knockoffs.fit_importance(X, y)
    assert importances.shape == (2, 60)
    for row, fitted in zip(importances, knockoffs.estimators_, strict=True):
        assert isinstance(fitted, IRKSN)
        size = np.abs(fitted.coef_)
        np.testing.assert_array_equal(row, size[:60] - size[60:])


def test_the_functional_form_gives_the_same():
    X, y, _ = draw(1)
    settings = {
        "estimator": MODELS[0], "preconfigure_lasso_path": False, "random_state": 1,
    }  # fmt: skip
    chosen, importances, _ = hidimstat.model_x_knockoff_importance(X, y, fdr=0.2, **settings)
    knockoffs = hidimstat.ModelXKnockoff(**settings)
    np.testing.assert_allclose(knockoffs.fit_importance(X, y), importances)
    np.testing.assert_array_equal(knockoffs.fdr_selection(fdr=0.2), chosen)


def test_hidimstat_must_be_told_that_it_is_no_lasso():
    X, y, _ = draw(0)
    with pytest.raises(TypeError, match="should not use this function to configure"):
        hidimstat.ModelXKnockoff(estimator=MODELS[0], random_state=0).fit_importance(X, y)
