"""SRDI against its formula, basis pursuit and the limits of its step."""

import re

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from ksupport import path


def twin(X, y, kappa, rate, steps):
    z = beta = np.zeros(X.shape[1])
    yield beta
    for _ in range(steps):
        z = z + rate * X.T @ (y - X @ beta)
        beta = kappa * np.sign(z) * np.maximum(np.abs(z) - 1, 0)
        yield beta


def problem(n, d, k, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1, 1], k) * (1 + rng.random(k))
    return X, X @ w + noise * rng.standard_normal(n), w


# 40 x 2000 walks on a working set, 4000 x 20 on compressed rows (where n is not their number)
@pytest.mark.parametrize(("n", "d"), [(30, 50), (40, 2000), (4000, 20), (5, 9)])
@pytest.mark.parametrize("scale", ["n", "d"])
@pytest.mark.parametrize("kappa", [0.5, 2.0])
def test_the_iterates_are_those_of_the_formula(n, d, scale, kappa):
    X, y, _ = problem(n, d, 4, noise=0.5)
    rate = 0.7 / (kappa * np.linalg.norm(X, 2) ** 2)
    alpha = rate * (n if scale == "n" else d)
    result = path("srdi", X, y, kappa=kappa, alpha=alpha, scale=scale, max_iter=300)
    expected = np.array(list(twin(X, y, kappa, rate, 300)))
    assert np.count_nonzero(expected[-1]) > 2
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-9)


@pytest.mark.parametrize("scale", ["n", "d"])
@pytest.mark.parametrize("norm", ["spectral", "nuclear"])
def test_the_default_step_is_one_over_the_squared_norm(scale, norm):
    X, y, _ = problem(20, 35, 3)
    size = np.linalg.norm(X, 2 if norm == "spectral" else "nuc")
    result = path("srdi", X, y, kappa=2.0, scale=scale, norm=norm, max_iter=200)
    expected = list(twin(X, y, 2.0, 1 / (2.0 * size**2), 200))[-1]
    np.testing.assert_allclose(result.coef, expected, atol=1e-10)


def test_the_strongest_feature_enters_first_and_on_time():
    # z_t = t (alpha/n) Xᵀy until |z| exceeds 1 somewhere.
    X, y, _ = problem(30, 50, 5, noise=0.5)
    correlation = np.abs(X.T @ y) / 30
    alpha = 0.01 / correlation.max()
    counts = path("srdi", X, y, kappa=0.1, alpha=alpha, max_iter=110).history["n_nonzero"]
    assert counts[:100].max() == 0
    first = path("srdi", X, y, kappa=0.1, alpha=alpha, max_iter=102)
    assert first.support.tolist() == [np.argmax(correlation)]


@pytest.mark.parametrize("seed", range(3))
def test_the_limit_is_basis_pursuit(seed):
    # Friedlander and Tseng 2007: ‖β‖²/(2κ) does not move an l1 solution once κ is large.
    X, y, _ = problem(20, 40, 6, seed)
    lp = linprog(np.ones(80), A_eq=np.hstack([X, -X]), b_eq=y)
    pursuit = lp.x[:40] - lp.x[40:]
    errors = [
        np.linalg.norm(
            path("srdi", X, y, kappa=kappa, max_iter=200_000, keep="last").coef - pursuit
        )
        for kappa in (0.1, 200.0)
    ]
    assert errors[1] < 1e-5 < 1e-2 < errors[0]


def test_small_steps_follow_one_path():
    # At equal time t·alpha the iterates tend to those of the differential inclusion.
    X, y, _ = problem(30, 40, 4, noise=0.3)
    coefs = [
        path("srdi", X, y, kappa=1.0, alpha=0.02 / split, max_iter=500 * split, keep="last").coef
        for split in (1, 8, 64)
    ]
    far, near = (np.abs(c - coefs[2]).max() for c in coefs[:2])
    assert np.count_nonzero(coefs[2]) > 3
    assert near < far / 4


def test_below_the_limit_it_settles_and_above_it_does_not():
    # X = √n Q: κα‖X‖²/n = κα, and every feature is its own gradient descent.
    rng = np.random.default_rng(0)
    X = np.sqrt(40) * np.linalg.qr(rng.standard_normal((40, 8)))[0]
    y = X @ (3 + np.arange(8.0))
    settled = path("srdi", X, y, kappa=4.0, alpha=0.475, max_iter=2000, keep="last")
    np.testing.assert_allclose(settled.coef, 3 + np.arange(8.0), atol=1e-8)
    # Beyond, β swings for ever, bounded only because z crosses [-1, 1] each time ...
    beyond = path("srdi", X, y, kappa=4.0, alpha=0.525, max_iter=2000)
    assert beyond.history["residual"][-100:].min() > 1
    # ... unless β/κ is large.
    with pytest.warns(ConvergenceWarning, match=r"stable below 50\."):
        diverged = path("srdi", X, y, kappa=0.04, alpha=52.5, max_iter=20_000, keep="last")
    assert diverged.reason == "diverged"


@pytest.mark.parametrize("d", [50, 2000])
@pytest.mark.parametrize("kind", [np.asarray, aslinearoperator])
@pytest.mark.parametrize("scale", ["n", "d"])
def test_a_step_too_large_diverges_and_is_told_the_limit(d, kind, scale):
    X, y, _ = problem(30, d, 5)
    limit = 2 * (30 if scale == "n" else d) / (0.01 * np.linalg.norm(X, 2) ** 2)
    params = {"kappa": 0.01, "scale": scale, "every": 3}
    with pytest.warns(ConvergenceWarning, match="diverged") as caught:
        result = path("srdi", kind(X), y, alpha=4 * limit, max_iter=20_000, **params)
    assert result.reason == "diverged"
    assert result.n_iter == result.history["t"][-1] > 0
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.history["residual"]).all()
    assert np.linalg.norm(result.coef) > 1e100
    told = float(re.search(r"stable below ([-+.\de]+)\.$", str(caught[0].message))[1])
    assert told == pytest.approx(limit, rel=0.01)
    stable = path("srdi", kind(X), y, alpha=0.9 * told, max_iter=500, **params)
    assert stable.history["residual"][-1] < 0.1 * stable.history["residual"][0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kappa": 0.0}, "kappa must be positive, got 0.0"),
        ({"alpha": -1.0}, "alpha must be positive or None, got -1.0"),
        ({"scale": "m"}, "scale must be 'n' or 'd', got 'm'"),
    ],
)
def test_senseless_parameters_are_named(params, message):
    X, y, _ = problem(10, 12, 2)
    with pytest.raises(ValueError, match=message):
        path("srdi", X, y, **params)
