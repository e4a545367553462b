"""Refits whose coefficients cannot be negative."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from ksupport.choosing.refits import kept_of, refit_by_loss, solved
from ksupport.design import Design
from ksupport.losses import Logistic, Poisson


def test_normal_equations_have_the_same_answer_as_the_rows(rng):
    X, Y = rng.standard_normal((30, 6)), rng.standard_normal((30, 3))
    gram = X.T @ X + 2.0 * np.eye(6)
    A = np.vstack([X, np.sqrt(2.0) * np.eye(6)])
    expected = [nnls(A, np.append(y, np.zeros(6)))[0] for y in Y.T]
    np.testing.assert_allclose(solved(gram, X.T @ Y, True), np.transpose(expected), atol=1e-9)
    np.testing.assert_allclose(gram @ solved(gram, X.T @ Y), X.T @ Y, atol=1e-9)


@pytest.mark.parametrize("loss", [Logistic(), Poisson()], ids=["classes", "counts"])
@pytest.mark.parametrize("seed", range(8))
def test_the_likeliest_model_without_negative_coefficients(loss, seed):
    """Against a bounded minimiser, with an intercept and a ridge."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 7)) + 0.8 * rng.standard_normal((80, 1))
    eta = 0.5 * X[:, 0] - 0.7 * X[:, 1] + 0.3 * X[:, 2]
    counts = rng.poisson(np.exp(0.5 * eta)) * 1.0
    y = counts if loss.name == "poisson" else (eta + rng.logistic(size=80) > 0) * 1.0
    response, columns = loss.on(y, None, np.ones((1, 80))), np.ascontiguousarray(X.T)

    def least(w):
        return float(loss.value(X @ w[:7] + w[7], y).sum()) + np.sum(w[:7] ** 2)

    bounds = [(0, None)] * 7 + [(None, None)]
    expected = minimize(least, np.zeros(8), bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9}).x
    kept = kept_of(response, columns, 2.0, True)
    found = np.zeros(7)
    found[kept] = response.refits(columns[kept], [2.0])[0].coef
    np.testing.assert_allclose(found, expected[:7], atol=1e-4)
    assert (found >= 0).all()
    np.testing.assert_array_equal(kept_of(response, columns, 2.0, False), np.arange(7))
    models = [
        refit_by_loss(Design.of(X), response, tuple(range(7)), strength, True)
        for strength in (0.01, 1.0)
    ]
    assert np.min(models) >= 0
