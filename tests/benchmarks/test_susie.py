"""The baseline that is written here does what its paper says."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from benchmarks.susie import SuSiE, single_effect
from ksupport.datasets import dataset_path, fetch_finemapping_n3


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 30))
    X -= X.mean(axis=0)
    w = np.zeros(30)
    w[[3, 17]] = 1.0, -0.7
    y = X @ w + 0.5 * rng.standard_normal(100)
    return X, y - y.mean()


def test_one_effect_weighs_features_by_their_marginal_likelihoods(data):
    X, y = data
    sigma2 = 0.4
    effect = single_effect(X.T @ y, (X**2).sum(axis=0), sigma2, scale=1.0)
    covariances = [sigma2 * np.eye(100) + effect.V * np.outer(x, x) for x in X.T]
    logs = [multivariate_normal(cov=C).logpdf(y) for C in covariances]
    weights = np.exp(logs - np.max(logs))
    np.testing.assert_allclose(effect.alpha, weights / weights.sum(), atol=1e-8)


def test_the_prior_variance_makes_the_data_most_likely(data):
    X, y = data
    effect = single_effect(X.T @ y, (X**2).sum(axis=0), 0.4, scale=1.0)

    def likelihood(V):
        covariances = [0.4 * np.eye(100) + V * np.outer(x, x) for x in X.T]
        return np.logaddexp.reduce([multivariate_normal(cov=C).logpdf(y) for C in covariances])

    best = likelihood(effect.V)
    assert best > likelihood(1.2 * effect.V)
    assert best > likelihood(effect.V / 1.2)
    assert best > likelihood(0.0)


def test_the_posterior_of_one_effect_is_that_of_ridge_regression_if_there_is_one_feature(data):
    X, y = data
    x = X[:, 3]
    effect = single_effect(np.array([x @ y]), np.array([x @ x]), 0.4, scale=1.0)
    np.testing.assert_allclose(effect.coef, x @ y / (x @ x + 0.4 / effect.V))


def test_true_features_are_found_and_nothing_else(data):
    X, y = data
    for by in ("pip", "sets"):
        model = SuSiE(by).fit(X, y)
        assert np.flatnonzero(model.support_).tolist() == [3, 17]
    assert sorted(S.tolist() for S in model.credible_sets_) == [[3], [17]]
    assert np.abs(model.coef_[[3, 17]] - [1.0, -0.7]).max() < 0.2


def test_copies_share_their_probability_and_make_one_credible_set(data):
    X, y = data
    X = np.hstack([X, X[:, [3]]])
    model = SuSiE("sets").fit(X, y)
    np.testing.assert_allclose(model.probability_[[3, 30]], 0.5, atol=0.02)
    assert sorted(S.tolist() for S in model.credible_sets_) == [[3, 30], [17]]


def test_noise_has_no_effects():
    rng = np.random.default_rng(1)
    model = SuSiE("sets").fit(rng.standard_normal((100, 50)), rng.standard_normal(100))
    assert model.credible_sets_ == []
    assert not SuSiE().fit(rng.standard_normal((100, 50)), rng.standard_normal(100)).support_.any()


def test_the_order_of_columns_does_not_matter(data):
    X, y = data
    order = np.random.default_rng(2).permutation(30)
    there, back = SuSiE().fit(X, y), SuSiE().fit(X[:, order], y)
    np.testing.assert_allclose(back.probability_, there.probability_[order], atol=1e-6)


@pytest.mark.skipif(not dataset_path("finemapping_n3").exists(), reason="the data are not here")
def test_the_genotypes_of_its_authors_give_three_sets_each_with_its_cause():
    data = fetch_finemapping_n3()
    model = SuSiE("sets").fit(data.data, data.target[:, 0])
    causes = np.flatnonzero(data.true_coef[:, 0])
    found = sorted(model.credible_sets_, key=len)
    assert [S.tolist() for S in found[:2]] == [[652], [772, 776]]  # 653; 773 and 777 counted from 1
    assert [sum(j in S for S in found) for j in causes] == [1, 1, 1]
