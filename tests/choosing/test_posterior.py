"""Supports of much evidence: against the formula, all of them, and what must not matter."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import multivariate_normal, norm

from ksupport.choosing.policy import POLICY
from ksupport.choosing.posterior import Sought, explored
from ksupport.design import Design

N, D = 40, 9


def log_choose(d, size):
    return gammaln(d + 1) - gammaln(size + 1) - gammaln(d - size + 1)


def price(d, support, prior):
    """Of one support of this size, and of a prior: each is half as probable as the one before."""
    return 2 * log_choose(d, len(support)) + 2 * np.log(2) * POLICY.priors.index(prior)


def by_definition(X, y, support, prior=POLICY.prior):
    """-2 log of the density of y under a normal prior of the coefficients, from its covariance."""
    n, d = X.shape
    Z = X[:, list(support)] / np.linalg.norm(X[:, list(support)], axis=0) * np.sqrt(n)
    covariance = np.eye(n) + Z @ Z.T / prior
    q = y @ np.linalg.solve(covariance, y)
    return n * np.log(q / n) + np.linalg.slogdet(covariance)[1] + price(d, support, prior)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) + rng.standard_normal((N, 1))
    X -= X.mean(axis=0)
    y = X[:, 1] - X[:, 4] + 0.8 * rng.standard_normal(N)
    return X, y - y.mean()


def of_several(X, Y, support, alike=False, positive=False, prior=POLICY.prior):
    """The same of responses, the rows of Y, whose noise is alike, or of any covariance.

    Where coefficients cannot be negative, with the share of each that is positive.
    """
    n, T, S = len(X), len(Y), list(support)
    Z = X[:, S] / np.linalg.norm(X[:, S], axis=0) * np.sqrt(n)
    covariance = np.eye(n) + Z @ Z.T / prior
    E = Y @ np.linalg.solve(covariance, Y.T)
    believed = E + (T - 1) / n * np.diag(np.sum(Y**2, axis=1))
    score = (n + T - 1) * np.linalg.slogdet(believed / n)[1]
    if alike:
        score = n * T * np.log(np.trace(E) / (n * T))
    score += T * np.linalg.slogdet(covariance)[1] + price(X.shape[1], S, prior)
    if not positive:
        return score
    spread = np.linalg.inv(Z.T @ Z + prior * np.eye(len(S)))
    W = Y @ Z @ spread
    if not (W > 0).any(axis=0).all():
        return np.inf
    z = np.sqrt(n * np.log1p(W**2 / np.outer(np.diag(E), np.diag(spread))))
    return score - 2 * np.sum(np.log(2) + norm.logcdf(np.sign(W) * z))


def posterior_of(X, y, visited=(), rounds=100, **given):
    (found,) = explored([Sought(Design.of(X), y, list(visited), rounds, **given)])
    return found


def test_scores_are_the_evidence_by_definition(data):
    found = posterior_of(*data)
    order = found.order(200)
    for score, support in zip(found.scores[order], found.supports(order), strict=True):
        assert score == pytest.approx(by_definition(data[0], data[1], support), abs=1e-5)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_all_supports_of_several_responses_and_of_one_sign(data, count, alike, positive):
    """Scores are the evidence by definition, and no support that matters is missed."""
    X, y = data
    rng = np.random.default_rng(1)
    shared = rng.standard_normal(N)
    Y = np.vstack([y, X[:, 2] + shared, X[:, 4] + shared + rng.standard_normal(N)])[:count]
    found = posterior_of(X, Y.ravel(), rounds=400, alike=alike, positive=positive)
    order = found.order(len(found.scores))
    met = dict(zip(found.supports(order), found.scores[order], strict=True))
    for S, score in met.items():
        assert score == pytest.approx(of_several(X, Y, S, alike, positive, found.prior), abs=1e-5)
    every = [S for size in range(5) for S in combinations(range(D), size)]
    scores = {S: of_several(X, Y, S, alike, positive, found.prior) for S in every}
    best = min(scores.values())
    assert found.best == pytest.approx(best, abs=1e-5)
    assert found.empty == pytest.approx(of_several(X, Y, (), alike))
    assert all(S in met for S, score in scores.items() if score < best + POLICY.window - 6)
    assert (found.mean() >= 0).all() or not positive


def many_small_effects(count=30, d=60, n=600):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    y = X[:, :count] @ rng.choice([-0.2, 0.2], count) + rng.standard_normal(n)
    return X, y - y.mean()


def test_the_prior_is_that_of_most_evidence_at_the_best_model():
    X, y = many_small_effects()
    found = posterior_of(X, y, rounds=20)
    (best,) = found.supports(found.order(1))
    scores = [by_definition(X, y, best, prior) for prior in POLICY.priors]
    assert found.best == pytest.approx(min(scores), abs=1e-5)
    assert POLICY.priors[int(np.argmin(scores))] == found.prior > POLICY.prior
    few = explored([Sought(Design.of(X), y, [])], policy=POLICY.by_loss(of_classes=False))[
        0
    ]  # has no other prior
    assert few.prior == POLICY.prior  # there is no other
    assert found.probability()[:30].sum() > few.probability()[:30].sum()
    assert found.gain > few.gain + 10


def test_large_effects_and_noise_leave_the_prior_as_it_is(data):
    X, y = data
    assert posterior_of(X, 20 * X[:, 1] + y).prior == POLICY.prior
    noise = np.random.default_rng(4).standard_normal((5, 300))
    X, _ = many_small_effects(n=300)
    assert {posterior_of(X, y - y.mean()).prior for y in noise} == {POLICY.prior}


def test_the_way_to_the_best_does_not_count_as_rounds():
    """Or models of many features would not be met by those who look at few neighbours."""
    X, y = many_small_effects()
    near, far = (posterior_of(X, y, rounds=rounds) for rounds in (0, 100))
    assert near.sizes.max() > 20
    assert near.best == far.best


def test_the_mean_of_several_responses_is_of_each(data):
    X, y = data
    rng = np.random.default_rng(1)
    Y = np.vstack([y, X[:, 2] + rng.standard_normal(N), rng.standard_normal(N)])
    found = posterior_of(X, Y.ravel())
    assert {1, 2, 4} <= set(found.supports(found.order(1))[0])
    expected = np.linalg.solve(X.T @ X, X.T @ Y.T).T  # of much the same size
    assert np.abs(found.mean().reshape(3, D) - expected).max() < 0.5


def test_the_share_of_the_positive_orthant_is_about_a_product():
    """Against the integral of the posterior, of features that correlate moderately."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) + 0.5 * rng.standard_normal((60, 1))
    X -= X.mean(axis=0)
    y = X @ [0.3, 0.2, 0.1] + rng.standard_normal(60)
    y -= y.mean()
    Z = X / np.linalg.norm(X, axis=0) * np.sqrt(60)
    spread = np.linalg.inv(Z.T @ Z + POLICY.prior * np.eye(3))
    mean = spread @ Z.T @ y
    assert (mean > 0).all()
    noise = (y @ y - y @ Z @ mean) / 60
    inside = multivariate_normal(np.zeros(3), noise * spread).cdf(mean)
    either, one = of_several(X, y[None], range(3)), of_several(X, y[None], range(3), positive=True)
    assert one - either == pytest.approx(-2 * np.log(8 * inside), abs=0.5)


def test_a_feature_that_can_only_lower_the_response_is_in_no_model():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((N, 50))
    X -= X.mean(axis=0)
    y = 3 * X[:, 1] - X[:, 4]
    found = posterior_of(X, y, visited=[(1, 4)], positive=True)
    assert found.probability()[4] == 0.0
    assert found.probability()[1] > 0.9
    assert posterior_of(X, -X[:, 4], positive=True).probability()[4] == 0.0


def test_all_supports_that_matter_are_found(data):
    """Among few features all supports can be scored: none within the window is missed."""
    X, y = data
    every = [S for size in range(6) for S in combinations(range(D), size)]
    scores = np.array([by_definition(X, y, S) for S in every])
    found = posterior_of(X, y, rounds=400)
    order = found.order(len(found.scores))
    best = dict(zip(found.supports(order), found.scores[order], strict=True))
    assert found.best == pytest.approx(scores.min(), abs=1e-5)
    for S, score in zip(every, scores, strict=True):
        if score < scores.min() + POLICY.window - 4:
            assert best[S] == pytest.approx(score, abs=1e-5)


def test_probabilities_are_weights_of_supports(data):
    found = posterior_of(*data)
    p = np.zeros(D)
    order = found.order(len(found.scores))
    for weight, support in zip(found.weights[order], found.supports(order), strict=True):
        p[list(support)] += weight
    np.testing.assert_allclose(found.probability(), p, atol=1e-10)
    assert p[[1, 4]].min() > 0.95


def test_the_mean_is_ridge_regression_where_one_support_is_sure():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 6))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 5 * X[:, 2] + 0.01 * rng.standard_normal(200)
    found = posterior_of(X, y - y.mean())
    w = found.mean()
    expected = X[:, 2] @ y / (200 + POLICY.prior)
    assert w[2] == pytest.approx(expected, rel=1e-3)
    assert np.abs(np.delete(w, 2)).max() < 1e-2


def test_order_and_units_of_features_do_not_matter(data):
    X, y = data
    order = np.random.default_rng(2).permutation(D)
    sizes = np.geomspace(1e-3, 1e3, D)
    one, other = posterior_of(X, y), posterior_of((X * sizes)[:, order], 7 * y)
    np.testing.assert_allclose(one.probability()[order], other.probability(), atol=1e-6)
    assert one.gain == pytest.approx(other.gain, abs=1e-4)


def test_visited_supports_are_where_it_begins():
    """Two features that only help together are found if a path has visited them."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 300))
    X[:, 1] = X[:, 0] + 0.4 * rng.standard_normal(60)
    y = 4 * (X[:, 1] - X[:, 0]) + 0.3 * rng.standard_normal(60)
    X -= X.mean(axis=0)
    found = posterior_of(X, y - y.mean(), visited=[(0, 1)], rounds=5)
    assert found.supports(found.order(1)) == [(0, 1)]


def test_noise_has_no_gain():
    gains = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((50, 200)), rng.standard_normal(50)
        gains.append(posterior_of(X - X.mean(axis=0), y - y.mean(), rounds=20).gain)
    assert np.median(gains) < 1
    assert max(gains) < 8


def test_few_features_are_looked_at_where_there_are_many(monkeypatch, data):
    """The pool has those that go with y and with what the starts leave of it."""
    X, y = data
    rng = np.random.default_rng(4)
    wide = np.hstack([X, rng.standard_normal((N, 400))])
    monkeypatch.setattr("ksupport.limits.POOL", N * 60)
    monkeypatch.setattr("ksupport.limits.FEWEST_IN_POOL", 60)
    found = posterior_of(wide - wide.mean(axis=0), y, visited=[(1, 4)])
    assert found.pool.size < 70
    assert {1, 4} <= set(found.pool)
    assert found.probability()[[1, 4]].min() > 0.9
    assert found.probability().size == wide.shape[1]


def test_many_models_are_pruned_to_the_best(monkeypatch, data):
    X, y = data
    rng = np.random.default_rng(5)
    wide = np.hstack([X, rng.standard_normal((N, 100))])
    wide -= wide.mean(axis=0)
    whole = posterior_of(wide, y)
    monkeypatch.setattr("ksupport.limits.MODELS", 1 << 11)
    pruned = posterior_of(wide, y)
    assert pruned.scores.size <= 1 << 11
    assert pruned.best == whole.best
    np.testing.assert_allclose(pruned.probability(), whole.probability(), atol=0.1)


def test_a_constant_response_has_the_empty_support(data):
    found = posterior_of(data[0], np.zeros(N))
    assert found.gain == 0
    assert found.supports(found.order(1)) == [()]
