"""Coefficients of models, against formulas written out and against penalised likelihoods."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from ksupport.design import Design
from ksupport.inference.coefficients import with_coefficients
from ksupport.losses import Logistic
from ksupport.posterior.candidates import Task
from ksupport.posterior.effective_rows import EffectiveRows
from ksupport.posterior.prior import LOG_PRECISIONS, PRECISIONS
from ksupport.posterior.result import Posterior


def posterior_of(supports, weights, d, coef=None):
    nothing = np.zeros(d) if coef is None else coef
    return Posterior(
        supports, np.array(weights), d, 0.0, nothing, np.arange(d), np.eye(d), nothing, nothing
    )


def standardised(rng, n, d):
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    X -= X.mean(axis=0)
    return X / X.std(axis=0)


def test_by_squares_they_have_the_t_distribution_of_conjugate_regression(rng):
    n, S = 40, [1, 3]
    X = standardised(rng, n, 5)
    y = X[:, 1] - 0.3 * X[:, 3] + rng.standard_normal(n)
    y -= y.mean()
    task, rows = Task(Design.of(X), y, []), EffectiveRows(n - 1.0, n - 1.0)
    found = with_coefficients(task, posterior_of([(1, 3), ()], [0.75, 0.25], 5), rows)
    scores, kept = [], []
    for lam, prior in zip(PRECISIONS, LOG_PRECISIONS, strict=True):
        # The marginal covariance of y is sigma² (I + XX'/lam), and the prior of sigma² 1 / sigma².
        V = np.eye(n) + X[:, S] @ X[:, S].T / lam
        left = y @ np.linalg.solve(V, y)
        scores.append(-0.5 * np.linalg.slogdet(V)[1] - 0.5 * (n - 1) * np.log(left) + prior)
        A = np.linalg.inv(X[:, S].T @ X[:, S] + lam * np.eye(2))
        kept.append((A @ X[:, S].T @ y, A * left / (n - 1)))
    mean, scale = kept[int(np.argmax(scores))]
    first, empty = found.coefficients.models
    np.testing.assert_allclose(first.mean[:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(first.factor @ first.factor.T * first.noise, scale, rtol=1e-8)
    assert empty.noise[0] == pytest.approx(y @ y / (n - 1))
    np.testing.assert_allclose(found.coef[S], 0.75 * mean)


def test_by_a_loss_they_are_normal_about_the_penalised_mode(rng):
    n, S = 120, [0, 2]
    X = standardised(rng, n, 4)
    y = (rng.random(n) < expit(0.4 + X[:, 0] - X[:, 2])).astype(float)
    response = Logistic().on(y, None, np.ones((1, n)))
    task, rows = Task(Design.of(X), response, []), EffectiveRows(float(n), float(n))
    start = np.array([0.8, 0.0, -0.8, 0.0])
    found = with_coefficients(task, posterior_of([(0, 2)], [1.0], 4, start), rows)
    (model,) = found.coefficients.models
    # Which precision was taken is told by the gradient at the mode: X'(y - p) = ridge b.
    b = np.array([model.mean[list(model.features).index(j), 0] for j in S])

    def left(intercept, b):
        return np.sum(np.logaddexp(0, intercept + X[:, S] @ b) - y * (intercept + X[:, S] @ b))

    constant = minimize(lambda c: left(c[0], b), [0.0]).x[0]
    gradient = X[:, S].T @ (y - expit(constant + X[:, S] @ b))
    ridges = gradient / b
    assert (ridges > 0).all()
    again = minimize(lambda v: left(v[0], v[1:]) + 0.5 * ridges @ v[1:] ** 2, np.zeros(3)).x
    np.testing.assert_allclose(again[1:], b, atol=1e-4)
    p = expit(constant + X[:, S] @ b)
    A = np.column_stack([np.ones(n), X[:, S]])
    H = (A * (p * (1 - p))[:, None]).T @ A + np.diag([0, *ridges])
    order = [list(model.features).index(j) for j in S]
    covariance = (model.factor @ model.factor.T)[np.ix_(order, order)]
    np.testing.assert_allclose(covariance, np.linalg.inv(H)[1:, 1:], rtol=1e-4)
