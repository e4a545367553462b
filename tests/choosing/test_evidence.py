"""Evidence of one support: against its definition, and the ridge regression that goes with it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls

from ksupport.choosing.choice import choose
from ksupport.choosing.criteria import log_choose
from ksupport.choosing.evidence import STRENGTHS, Evidence, Laplace
from ksupport.design import Design
from ksupport.losses import Poisson, Response, Squared
from ksupport.walking.structure import Structure


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


def test_of_squares_laplace_is_exact(data):
    """A normal likelihood and a normal prior: the evidence is that of y ~ N(0, I + ZZᵀ/ridge)."""
    X, y, support = data
    n, ridge, columns = len(y), 3.0, X[:, list(support)].T
    response = Response(Squared(), y, np.ones(n), np.empty((0, n)))
    (found,) = Laplace.of(response, columns, [ridge])
    covariance = np.eye(n) + columns.T @ columns / ridge
    assert found.left == pytest.approx(y @ np.linalg.solve(covariance, y))
    assert found.fit.volume == pytest.approx(np.linalg.slogdet(covariance)[1])
    assert found.fit.freedom == pytest.approx(n - np.trace(np.linalg.inv(covariance)))
    np.testing.assert_allclose(found.coef @ columns, y - np.linalg.solve(covariance, y), atol=1e-8)
    assert found.score_at(response) == pytest.approx(found.left + found.fit.volume)
    halved = replace(response, dispersion=2.0)
    assert found.score_at(halved) == pytest.approx(found.left / 2 + found.fit.volume)
    (empty,) = Laplace.of(response, columns[:0], [ridge])
    assert empty.left == pytest.approx(y @ y)
    assert empty.fit.volume == empty.fit.freedom == 0.0


def test_counts_that_vary_more_than_they_should_say_less():
    """The deviance counts as it is, unless more of it is left than there are rows."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((1, 60))
    y = rng.negative_binomial(1, 0.2, 60) * 1.0
    response = Response(Poisson(), y, np.ones(60), np.ones((1, 60)))
    (found,) = Laplace.of(response, x, [1.0])
    assert found.left > 60
    spread = found.left / 60
    score = found.left / spread + 60 * np.log(spread) + found.fit.volume  # the likeliest spread
    assert found.score_at(response) == pytest.approx(score)
    as_said = replace(response, dispersion=2 * spread)  # less is left than rows are
    assert found.score_at(as_said) == pytest.approx(30 + found.fit.volume)


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


# -- groups, and several responses ---------------------------------------------------------


def test_evidence_of_groups_is_the_marginal_likelihood_and_the_number_of_supports():
    """Two responses with noise that is correlated, one strength of the prior."""
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((30, 12)), np.repeat(np.arange(4), 3)
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + rng.standard_normal((30, 2))
    structure = Structure(labels, targets=2)
    support = (0, 1, 2, 6, 7, 8)
    found = Evidence.of(Design.of(X), np.ascontiguousarray(Y.T).ravel(), support, structure)
    C = X[:, list(support)]
    scores = []
    for share in STRENGTHS:
        tau = share * (C**2).sum() / 6
        K = np.eye(30) + C @ C.T / tau
        left = Y.T @ np.linalg.solve(K, Y) + np.diag((Y**2).sum(axis=0)) / 30
        volumes = 31 * np.linalg.slogdet(left / 30)[1] + 2 * np.linalg.slogdet(K)[1]
        scores.append(volumes + 2 * np.log(6))  # 2 of 4 groups
    assert found.score == pytest.approx(min(scores), rel=1e-9)
    tau = STRENGTHS[int(np.argmin(scores))] * (C**2).sum() / 6
    ridge = np.linalg.solve(C.T @ C + tau * np.eye(6), C.T @ Y)
    np.testing.assert_allclose(found.coef.reshape(2, 12)[:, list(support)], ridge.T, rtol=1e-7)


def test_coefficients_that_cannot_be_negative_are_the_best_of_these():
    """A ridge on squares; where none would be negative, nothing changes."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 10))
    y = X[:, :3] @ [1.0, 2.0, -2.0] + rng.standard_normal(40)
    design, positive = Design.of(X), Structure(positive=True)
    found = Evidence.of(design, y, (0, 1, 2, 5), positive)
    C = X[:, [0, 1, 2, 5]]
    tau = found.strength * (C**2).sum() / 4
    A, b = np.vstack([C, np.sqrt(tau) * np.eye(4)]), np.append(y, np.zeros(4))
    np.testing.assert_allclose(found.coef[[0, 1, 2, 5]], nnls(A, b)[0], atol=1e-8)
    assert found.score > Evidence.of(design, y, (0, 1, 2, 5)).score
    either, signed = Evidence.of(design, y, (0, 1)), Evidence.of(design, y, (0, 1), positive)
    assert signed.score == pytest.approx(either.score)
    np.testing.assert_allclose(signed.coef, either.coef, atol=1e-12)


def test_units_of_responses_do_not_matter_and_combinations_hardly():
    """What is believed of independent noise before is worth two rows, of 200."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6))
    Y = X[:, :2] @ rng.standard_normal((2, 3)) + rng.standard_normal((200, 3))
    mixed = Y @ (rng.standard_normal((3, 3)) + 2 * np.eye(3))
    gains = []
    for responses in (Y, Y * [1e-3, 1.0, 1e3], mixed):
        y = np.ascontiguousarray(responses.T).ravel()
        scores = [Evidence.of(Design.of(X), y, S).score for S in [(), (0, 1)]]
        gains.append(scores[0] - scores[1])
    assert gains[1] == pytest.approx(gains[0], rel=1e-6)
    assert gains[2] == pytest.approx(gains[0], rel=0.15)


def test_groups_are_exchanged_until_none_is_better():
    rng = np.random.default_rng(1)
    X, labels = rng.standard_normal((60, 40)), np.repeat(np.arange(10), 4)
    y = X[:, :8] @ rng.standard_normal(8) + 0.5 * rng.standard_normal(60)
    design, structure = Design.of(X), Structure(labels)
    choice = choose(design, y, [[(), (12, 13, 14, 15)]], "evidence", 20, structure=structure)
    assert choice.support == tuple(range(8))
    groups = [tuple(np.flatnonzero(labels == g).tolist()) for g in range(10)]
    pairs = [a + b for i, a in enumerate(groups) for b in groups[i + 1 :]]
    best = min(pairs, key=lambda S: Evidence.of(design, y, S, structure).score)
    assert best == choice.support


def test_evidence_is_for_either_sign():
    design, y = Design.of(np.eye(6)), np.ones(6)
    with pytest.raises(ValueError, match=r"criterion='evidence' does .* use criterion='ebic'"):
        choose(design, y, [[()]], "evidence", 2, structure=Structure(positive=True))
