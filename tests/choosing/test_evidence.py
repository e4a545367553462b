"""Evidence of one support: against its definition, and the ridge regression that goes with it."""

import numpy as np
import pytest

from ksupport.choosing.criteria import log_choose
from ksupport.choosing.evidence import STRENGTHS, Evidence
from ksupport.design import Design


@pytest.fixture(params=[(60, 5), (30, 40)], ids=["narrow", "wide"])
def data(request):
    n, size = request.param
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 50)) + rng.standard_normal((n, 1))
    X -= X.mean(axis=0)
    y = X[:, :size] @ rng.standard_normal(size) + rng.standard_normal(n)
    return X, y - y.mean(), tuple(range(size))


def by_definition(X, y, support, strength):
    n, d = X.shape
    Z = X[:, list(support)]
    penalty = strength * (Z**2).sum() / len(support)
    covariance = np.eye(n) + Z @ Z.T / penalty
    df = np.trace(Z @ np.linalg.solve(Z.T @ Z + penalty * np.eye(len(support)), Z.T))
    q = y @ np.linalg.solve(covariance, y)
    score = n * np.log(q / n) + np.linalg.slogdet(covariance)[1] + 2 * log_choose(d, min(df, d))
    w = np.linalg.solve(Z.T @ Z + penalty * np.eye(len(support)), Z.T @ y)
    return (score if df <= 0.8 * n else np.inf), w


def test_the_best_strength_and_its_ridge_regression(data):
    X, y, support = data
    found = Evidence.of(Design.of(X), y, support)
    scores = [by_definition(X, y, support, each)[0] for each in STRENGTHS]
    assert found.score == pytest.approx(min(scores), abs=1e-6)
    assert found.strength == STRENGTHS[int(np.argmin(scores))]
    w = by_definition(X, y, support, found.strength)[1]
    np.testing.assert_allclose(found.coef[list(support)], w, rtol=1e-8, atol=1e-10)
    assert not np.delete(found.coef, support).any()


def test_features_that_go_together_cost_little():
    """Ten copies with noise explain y by their mean; ten features of their own pay for each."""
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((50, 1))
    alike = shared + 0.3 * rng.standard_normal((50, 10))
    own = rng.standard_normal((50, 10))
    y = alike.sum(axis=1) + rng.standard_normal(50)
    X = np.hstack([alike, own])
    X, y = X - X.mean(axis=0), y - y.mean()
    design = Design.of(X)
    groups = Evidence.of(design, y, tuple(range(10))).score
    assert groups < Evidence.of(design, y, (0,)).score - 10
    both = Evidence.of(design, y, tuple(range(20))).score
    assert both > groups + 10


def test_the_empty_support_explains_nothing(data):
    X, y, _ = data
    found = Evidence.of(Design.of(X), y, ())
    assert found.score == pytest.approx(len(y) * np.log(y @ y / len(y)))
    assert not found.coef.any()
