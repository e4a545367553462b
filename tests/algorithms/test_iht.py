"""IHT against its papers: twins written from the formulas, recovery, stationarity, stability."""

import re

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from ksupport import path


def largest(c, k):
    """H_k by sorting; of tied entries the first ones stay."""
    kept = np.argsort(-np.abs(c), kind="stable")[:k]
    out = np.zeros_like(c)
    out[kept] = c[kept]
    return out


def twin(X, y, k, eta, steps):
    beta = np.zeros(X.shape[1])
    yield beta
    for _ in range(steps):
        beta = largest(beta - eta * X.T @ (X @ beta - y), k)
        yield beta


def normalised_twin(X, y, k, steps, c=0.01, kappa=2 / 0.99):
    """Blumensath and Davies 2010, as written there (g is minus our gradient)."""
    x = np.zeros(X.shape[1])
    support = np.flatnonzero(largest(X.T @ y, k))
    yield x
    for _ in range(steps):
        g = X.T @ (y - X @ x)
        mu = np.sum(g[support] ** 2) / np.sum((X[:, support] @ g[support]) ** 2)
        new = largest(x + mu * g, k)
        while not np.array_equal(np.flatnonzero(new), support):
            omega = (1 - c) * np.sum((new - x) ** 2) / np.sum((X @ (new - x)) ** 2)
            if mu <= omega:
                break
            mu /= kappa * (1 - c)
            new = largest(x + mu * g, k)
        x, support = new, np.flatnonzero(new)
        yield x


def problem(n, d, k, seed=0, noise=0.0, rho=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / np.sqrt(n)
    X = np.sqrt(1 - rho) * X + np.sqrt(rho / n) * rng.standard_normal((n, 1))
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1, 1], k) * (1 + rng.random(k))
    return X, X @ w + noise * rng.standard_normal(n), w


# 40 x 2000 walks on a working set, 4000 x 20 on compressed rows
@pytest.mark.parametrize(("n", "d", "k"), [(30, 50, 10), (40, 2000, 5), (4000, 20, 4), (5, 9, 9)])
@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_the_iterates_are_those_of_the_formula(n, d, k, rho):
    X, y, _ = problem(n, d, k, noise=0.1, rho=rho)
    result = path("iht", X, y, k=k, max_iter=100)
    expected = np.array(list(twin(X, y, k, 1 / np.linalg.norm(X, 2) ** 2, 100)))
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-10)
    eta = 0.3 / np.linalg.norm(X, "nuc") ** 2
    result = path("iht", X, y, k=k, step=eta, max_iter=100)
    expected = np.array(list(twin(X, y, k, eta, 100)))
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-10)


@pytest.mark.parametrize(("n", "d", "k"), [(30, 50, 10), (40, 2000, 5), (4000, 20, 4)])
@pytest.mark.parametrize("seed", range(5))
def test_the_normalised_iterates_are_those_of_the_paper(n, d, k, seed):
    X, y, _ = problem(n, d, k, seed, noise=0.3, rho=0.3)
    expected = np.array(list(normalised_twin(X, y, k, 30)))
    for given in (X, aslinearoperator(X)):
        result = path("iht", given, y, k=k, step="normalised", max_iter=30)
        np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-8)


def test_the_twins_do_search_for_a_step():
    # Otherwise the comparison above would say nothing of the search.
    X, y, _ = problem(30, 50, 10, noise=0.3, rho=0.3)
    searched = np.array(list(normalised_twin(X, y, 10, 30)))
    unsearched = np.array(list(normalised_twin(X, y, 10, 30, c=-1e9)))
    assert np.abs(searched - unsearched).max() > 0.1


def test_the_nuclear_norm_gives_the_smaller_step():
    X, y, _ = problem(20, 30, 3)
    given = path("iht", X, y, k=3, step=1 / np.linalg.norm(X, "nuc") ** 2, max_iter=20)
    named = path("iht", X, y, k=3, norm="nuclear", max_iter=20)
    np.testing.assert_allclose(named.coef, given.coef, rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("step", [None, "normalised"])
def test_recovers_exactly_from_a_gaussian_design(seed, step):
    X, y, w = problem(100, 200, 8, seed)
    result = path("iht", X, y, k=8, step=step, max_iter=1000, keep="last")
    np.testing.assert_allclose(result.coef, w, atol=1e-10)


def test_the_normalised_step_recovers_where_the_plain_one_is_slow():
    X, y, w = problem(100, 1000, 5, seed=1)
    plain = path("iht", X, y, k=5, max_iter=40, keep="last").coef
    normalised = path("iht", X, y, k=5, step="normalised", max_iter=40, keep="last").coef
    np.testing.assert_allclose(normalised, w, atol=1e-6)
    assert np.linalg.norm(plain - w) > 0.1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("step", [None, "normalised"])
def test_the_error_never_grows(seed, step):
    X, y, _ = problem(20, 60, 6, seed, noise=0.5, rho=0.6)
    error = path("iht", X, y, k=6, step=step, max_iter=200).history["residual"]
    assert np.diff(error).max() <= 1e-12
    assert error[-1] < 0.8 * error[0]


def test_the_limit_is_stationary():
    # Beck and Eldar 2013: no gradient on the support, and none off it that would enter.
    X, y, _ = problem(30, 60, 4, noise=0.5, rho=0.5)
    beta = path("iht", X, y, k=4, max_iter=5000, keep="last").coef
    g, on = X.T @ (X @ beta - y), beta != 0
    assert on.sum() == 4
    assert np.abs(g[on]).max() < 1e-10
    eta = 1 / np.linalg.norm(X, 2) ** 2
    assert eta * np.abs(g[~on]).max() <= np.abs(beta[on]).min()
    assert np.abs(g[~on]).max() > 1e-3


def test_keeping_everything_is_gradient_descent():
    X, y, _ = problem(40, 8, 8, noise=1.0)
    coef = path("iht", X, y, k=8, max_iter=3000, keep="last").coef
    np.testing.assert_allclose(coef, np.linalg.lstsq(X, y)[0], atol=1e-10)


def test_of_tied_features_the_first_are_kept():
    X, y = np.eye(6), np.array([1.0, 2.0, -1.0, 1.0, -1.0, 0.5])
    np.testing.assert_allclose(path("iht", X, y, k=3, max_iter=9).coef, [1, 2, -1, 0, 0, 0])


@pytest.mark.parametrize("step", [None, "normalised"])
def test_duplicated_columns_on_a_working_set(step):
    # Every left-out duplicate ties with a kept column or may: nothing may hang or be lost.
    X, y, _ = problem(30, 1000, 4, noise=0.1)
    result = path("iht", np.hstack([X, X]), y, k=4, step=step, max_iter=50)
    assert result.history["n_nonzero"].max() == 4
    assert result.history["residual"][-1] < result.history["residual"][0]


@pytest.mark.parametrize("step", [None, "normalised"])
def test_a_zero_response_stays_at_zero(step):
    X, y, _ = problem(30, 2000, 4)
    result = path("iht", X, 0 * y, k=4, step=step, max_iter=20)
    assert result.iterates.nnz == 0
    assert result.reason == "max_iter"


def test_scaling_the_response_scales_the_path():
    X, y, _ = problem(25, 40, 5, noise=0.2)
    once = path("iht", X, y, k=5, max_iter=50).iterates.toarray()
    thrice = path("iht", X, 3 * y, k=5, max_iter=50).iterates.toarray()
    np.testing.assert_allclose(thrice, 3 * once, atol=1e-12)


@pytest.mark.parametrize("d", [50, 2000])
@pytest.mark.parametrize("kind", [np.asarray, aslinearoperator])
@pytest.mark.parametrize("every", [1, 7])
def test_a_step_too_large_diverges_and_is_told_the_largest_stable_one(d, kind, every):
    X, y, _ = problem(30, d, 20)
    limit = 1 / np.linalg.norm(X, 2) ** 2
    with pytest.warns(ConvergenceWarning, match="diverged") as caught:
        result = path("iht", kind(X), y, k=20, step=20 * limit, max_iter=100_000, every=every)
    assert result.reason == "diverged"
    assert result.n_iter == result.history["t"][-1] > 0
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.history["residual"]).all()
    assert np.linalg.norm(result.coef) > 1e100  # it did leave, and was followed to the end
    told = float(re.search(r"always stable is ([-+.\de]+)\.$", str(caught[0].message))[1])
    assert told == pytest.approx(limit, rel=0.01)
    stable = path("iht", kind(X), y, k=20, step=told, max_iter=300, every=300)
    assert stable.history["residual"][-1] < stable.history["residual"][0]


@pytest.mark.parametrize("step", [0.0, -1.0, "normalized", np.nan])
def test_a_senseless_step_is_named(step):
    X, y, _ = problem(10, 12, 2)
    with pytest.raises(ValueError, match=r"step must be a positive number, 'normalised' or None"):
        path("iht", X, y, k=2, step=step)


@pytest.mark.parametrize("k", [0, 13])
def test_a_senseless_k_is_named(k):
    X, y, _ = problem(10, 12, 2)
    with pytest.raises(ValueError, match=f"k must be between 1 and n_features=12, got {k}"):
        path("iht", X, y, k=k)
