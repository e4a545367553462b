"""IRCR: the dual-primal method for the l1 norm, averages and last iterates."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from ksupport import path
from ksupport.algorithms import METHODS, make_method
from ksupport.design.view import Design


def problem(n=25, d=40, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = np.zeros(d)
    w[rng.choice(d, 4, replace=False)] = [-3.0, -2.0, 2.0, 3.0]
    return X, X @ w + noise * rng.standard_normal(n)


def naive_ircr(X, y, sigma, tau, n_steps):
    """The β and their averages, one line a formula."""
    beta, theta, old = np.zeros(X.shape[1]), np.zeros(len(y)), np.zeros(len(y))
    last = [beta]
    for _ in range(n_steps):
        p = beta - tau * X.T @ (2 * theta - old)
        beta = np.sign(p) * np.maximum(np.abs(p) - tau, 0)
        theta, old = theta + sigma * (X @ beta - y), theta
        last.append(beta)
    averages = [last[0]] + [np.mean(last[1 : t + 1], axis=0) for t in range(1, n_steps + 1)]
    return np.array(last), np.array(averages)


def basis_pursuit(X, y):
    """min ‖β‖₁ s.t. Xβ = y, as a linear program in the positive and negative parts."""
    d = X.shape[1]
    solution = linprog(np.ones(2 * d), A_eq=np.hstack([X, -X]), b_eq=y, method="highs").x
    return solution[:d] - solution[d:]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_limit_is_basis_pursuit(seed, noise):
    X, y = problem(seed=seed, noise=noise)
    steps = 300_000 if noise else 5000  # a dense solution takes longer
    result = path("ircr", X, y, average=False, max_iter=steps, every=steps)
    np.testing.assert_allclose(result.coef, basis_pursuit(X, y), atol=1e-6)


@pytest.mark.parametrize("params", [{}, {"tau": 1.0}])
def test_averages_have_the_same_limit_but_come_slower(params):
    X, y = problem()
    target = basis_pursuit(X, y)
    errors = {}
    for average in (True, False):
        result = path("ircr", X, y, average=average, max_iter=40_000, every=4000, **params)
        errors[average] = np.linalg.norm(result.iterates.toarray() - target, axis=1)
    assert errors[False][-1] < 1e-8
    # The sum of the errors of the β is bounded, so an average over t steps is off by O(1/t).
    assert errors[True][-1] < 1e-2
    assert errors[True][10] == pytest.approx(errors[True][1] / 10, rel=0.05)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("convert", [np.asarray, aslinearoperator], ids=["block", "plain"])
def test_iterates_are_those_of_a_naive_twin(average, convert):
    X, y = problem(noise=0.5)
    last, averages = naive_ircr(X, y, 0.02, 0.5, 300)
    result = path("ircr", convert(X), y, sigma=0.02, tau=0.5, average=average, max_iter=300)
    expected = averages if average else last
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-11)


def test_recording_rarely_does_not_change_the_average():
    X, y = problem()
    often = path("ircr", X, y, max_iter=90).iterates.toarray()
    rarely = path("ircr", X, y, max_iter=90, every=7)
    np.testing.assert_array_equal(rarely.iterates.toarray(), often[rarely.history["t"]])
    assert rarely.history["t"][-1] == 90


def steps_of(X, y, **params):
    state = make_method("ircr", **params).start(Design.of(X), y).state  # type: ignore[attr-defined]
    return state.sigma, state.tau


def test_default_steps_use_all_the_room_there_is():
    X, y = problem()
    norm2 = np.linalg.norm(X, 2) ** 2
    for params in ({}, {"sigma": 0.3}, {"tau": 0.3}):
        sigma, tau = steps_of(X, y, **params)
        assert {"sigma": sigma, "tau": tau}.items() >= params.items()
        assert 0.98 < sigma * tau * norm2 <= 1
    assert steps_of(X, y, sigma=2.0, tau=3.0) == (2.0, 3.0)


def test_the_published_steps():
    X, y = problem()
    published = 0.9 / np.sqrt(2 * np.linalg.norm(X, "nuc") ** 2)
    np.testing.assert_allclose(steps_of(X, y, norm="nuclear"), published, rtol=1e-9)


def test_scaling_y_scales_the_path():
    X, y = problem(noise=0.5)
    one, many = (path("ircr", X, c * y, max_iter=100).iterates.toarray() for c in (1.0, 1e3))
    np.testing.assert_allclose(many, 1e3 * one, atol=1e-7)
    assert np.flatnonzero(one.any(axis=1))[0] in (8, 9)  # the first feature enters


@pytest.mark.parametrize("average", [True, False])
def test_the_working_set_does_not_change_the_iterates(monkeypatch, average):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    X, y = problem(n=30, d=3000)
    sigma = 0.2 / np.abs(X.T @ y).max()
    params = {
        "sigma": sigma,
        "tau": 0.9 / sigma / np.linalg.norm(X, 2) ** 2,
        "average": average,
        "max_iter": 400,
    }
    design = Design.of(X)
    lazy = path("ircr", design, y, **params)
    assert design.passes < 100  # 400 plain steps would take 400 and more
    plain = path("ircr", aslinearoperator(X), y, **params)
    np.testing.assert_array_equal(lazy.history["t"], plain.history["t"])
    np.testing.assert_allclose(lazy.iterates.toarray(), plain.iterates.toarray(), atol=1e-9)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("convert", [np.asarray, aslinearoperator], ids=["block", "plain"])
def test_too_long_steps_diverge_and_say_so(average, convert):
    X, y = problem()
    norm = np.linalg.norm(X, 2)
    message = rf"largest stable value is 1/‖X‖² = {norm**-2:.3g}, .* = {0.99 / norm:.3g}"
    with pytest.warns(ConvergenceWarning, match=message):
        result = path(
            "ircr", convert(X), y, sigma=3 / norm, tau=3 / norm, average=average,
            max_iter=5000, every=5,
        )  # fmt: skip
    assert result.reason == "diverged"
    assert 0 < result.n_iter < 5000
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.history["residual"]).all()
    np.testing.assert_array_equal(result.coef, result.iterates.toarray()[-1])


def test_zero_data_give_zero():
    for X, y in ((np.zeros((3, 4)), np.ones(3)), (np.ones((3, 4)), np.zeros(3))):
        assert not path("ircr", X, y, max_iter=20).iterates.nnz


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sigma": 0.0}, "sigma must be positive and finite, got 0.0"),
        ({"tau": np.inf}, "tau must be positive and finite, got inf"),
        ({"norm": "frobenius"}, "norm must be"),
        # -1 made no room for an iterate, which was written all the same.
        ({"average": -1}, "average must be True or False, got -1"),
        ({"average": "x"}, "average must be True or False, got 'x'"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        path("ircr", X, y, **params)


def test_its_row_of_table_1():
    row = METHODS["ircr"].describe()
    assert "sgn(w*_S)" in row.condition
    assert (row.bound, row.complexity) == ("O(δ)", "O(T)")
