"""KSN: FISTA on least squares with the squared k-support norm as penalty."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from ksupport import path
from ksupport.algorithms import METHODS, make_method
from ksupport.design.view import Design
from ksupport.walking import run


def problem(n=25, d=40, seed=0, rho=0.6):
    """Columns correlated in a chain, a sparse truth, some noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    w = np.zeros(d)
    w[rng.choice(d, 5, replace=False)] = rng.choice([-3.0, -2.0, 2.0, 3.0], 5)
    return X, X @ w + 0.3 * rng.standard_normal(n)


def ksupport_theta(a, lam, k):
    """theta of the prox with Σ theta = k, by bisection on s."""
    if np.count_nonzero(a) <= k:
        return (a > 0).astype(float)
    low, high = 0.0, (1 + lam) / np.sort(a)[-k] * 2
    for _ in range(200):
        s = (low + high) / 2
        low, high = (s, high) if np.clip(s * a - lam, 0, 1).sum() < k else (low, s)
    return np.clip(high * a - lam, 0, 1)


def naive_ksn(X, y, k, lams, steps, L, n_steps):
    """The iteration as written in the paper, one line a formula; theta restarts with lam."""
    beta = old = np.zeros(X.shape[1])
    out, theta, momentum = [beta], 1.0, 0.0
    for t in range(n_steps):
        lam = lams[min(t // steps, len(lams) - 1)]
        if t % steps == 0 and t // steps < len(lams):
            theta, momentum = 1.0, 0.0
        a = beta + momentum * (beta - old)
        q = a - X.T @ (X @ a - y) / L
        share = ksupport_theta(np.abs(q), lam / L, k)
        beta, old = share * q / (share + lam / L), beta
        theta, before = (1 + np.sqrt(1 + 4 * theta**2)) / 2, theta
        momentum = (before - 1) / theta
        out.append(beta)
    return np.array(out)


def optimum(X, y, k, lam):
    """½‖Xβ-y‖² + (lam/2) min {Σ β²/theta : 0 <= theta <= 1, Σ theta <= k} by a conic solver."""
    d = X.shape[1]
    beta, theta = cp.Variable(d), cp.Variable(d)
    penalty = sum(cp.quad_over_lin(beta[j], theta[j]) for j in range(d))
    objective = cp.sum_squares(X @ beta - y) / 2 + lam / 2 * penalty
    cp.Problem(cp.Minimize(objective), [theta <= 1, cp.sum(theta) <= k]).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9
    )
    return beta.value


@pytest.mark.parametrize("lam", [0.1, 10.0])
def test_with_k_equal_d_it_is_ridge(lam):
    X, y = problem()
    d = X.shape[1]
    ridge = np.linalg.solve(X.T @ X + lam * np.eye(d), X.T @ y)
    result = path("ksn", X, y, k=d, lam=lam, max_iter=6000, every=6000)
    np.testing.assert_allclose(result.coef, ridge, atol=1e-9)


def test_with_orthonormal_columns_one_step_is_the_prox():
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.standard_normal((20, 12)))[0]
    y = rng.standard_normal(20)
    theta = ksupport_theta(np.abs(X.T @ y), 0.7, 4)
    result = path("ksn", X, y, k=4, lam=0.7, max_iter=1)
    np.testing.assert_allclose(result.coef, theta * (X.T @ y) / (theta + 0.7), atol=1e-12)


@pytest.mark.parametrize(("k", "lam"), [(1, 20.0), (5, 1.0), (5, 50.0)])
def test_the_limit_is_the_optimum_of_a_conic_solver(k, lam):
    X, y = problem()
    result = path("ksn", X, y, k=k, lam=lam, max_iter=4000, every=4000)
    np.testing.assert_allclose(result.coef, optimum(X, y, k, lam), atol=2e-5)


def test_iterates_are_those_of_a_naive_twin():
    X, y = problem()
    L = np.linalg.norm(X, 2) ** 2
    expected = naive_ksn(X, y, 5, [3.0], 10**9, L, 200)
    result = path("ksn", X, y, k=5, lam=3.0, L=L, max_iter=200)
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-9)


@pytest.mark.parametrize("convert", [np.asarray, aslinearoperator], ids=["block", "plain"])
def test_iterates_along_a_sequence_of_penalties_are_those_of_a_naive_twin(convert):
    X, y = problem()
    lams, L = [100.0, 10.0, 1.0], np.linalg.norm(X, 2) ** 2
    expected = naive_ksn(X, y, 5, lams, 30, L, 120)
    result = path("ksn", convert(X), y, k=5, lam=lams, steps_per_lam=30, L=L, max_iter=120)
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-9)


def test_warm_starts_end_where_separate_runs_end():
    X, y = problem()
    lams = [100.0, 30.0, 10.0]
    walked = path(
        "ksn", X, y, k=5, lam=lams, steps_per_lam=3000, max_iter=9000, every=3000
    ).iterates.toarray()[1:]
    alone = [path("ksn", X, y, k=5, lam=lam, max_iter=3000, every=3000).coef for lam in lams]
    assert np.abs(np.diff(alone, axis=0)).max() > 0.1
    np.testing.assert_allclose(walked, alone, atol=1e-9)


@pytest.mark.parametrize("convert", [np.asarray, aslinearoperator], ids=["block", "plain"])
def test_backtracking_finds_the_optimum_from_too_small_an_L(convert):
    X, y = problem(d=20)  # n > d, so that y can lie along the weakest singular vector
    u, values, _ = np.linalg.svd(X, full_matrices=False)
    y = u[:, -1] + 0.01 * y / np.linalg.norm(y)
    design = Design.of(convert(X))
    walk = make_method("ksn", k=5, lam=2.0, L="backtracking").start(design, y)
    first = walk.state.L  # type: ignore[attr-defined]
    assert first < 0.2 * values[0] ** 2
    coef = run([walk], max_iter=6000, every=6000)[0].coef
    assert first < walk.state.L <= 2 * values[0] ** 2  # type: ignore[attr-defined]
    fixed = path("ksn", X, y, k=5, lam=2.0, max_iter=6000, every=6000).coef
    np.testing.assert_allclose(coef, fixed, atol=1e-8 * np.abs(fixed).max())


def test_L_does_not_creep_up_at_convergence():
    """There, differences are rounding; a sloppy test would double L without end."""
    X, y = problem()
    walk = make_method("ksn", k=5, lam=50.0, L="backtracking").start(Design.of(X), y)
    walk.advance(20_000, 20_000, 10**6)
    largest = walk.state.L  # type: ignore[attr-defined]
    assert largest <= 2 * np.linalg.norm(X, 2) ** 2


@pytest.mark.parametrize("L", [None, "backtracking"])
def test_the_working_set_does_not_change_the_iterates(monkeypatch, L):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    X, y = problem(n=30, d=4000, rho=0.3)
    params = {
        "k": 4,
        "lam": np.linalg.norm(X, 2) ** 2 * np.array([0.1, 0.01]),
        "steps_per_lam": 100,
        "L": L,
        "max_iter": 200,
    }
    design = Design.of(X)
    lazy = path("ksn", design, y, **params)
    assert 2 < design.passes < 100  # refreshed now and then; plain steps would take 200 and more
    plain = path("ksn", aslinearoperator(X), y, **params)
    np.testing.assert_array_equal(lazy.history["t"], plain.history["t"])
    # Both know ‖X‖, but an operator finds it another way: steps agree to about 1e-12.
    np.testing.assert_allclose(lazy.iterates.toarray(), plain.iterates.toarray(), atol=1e-8)


@pytest.mark.parametrize("convert", [np.asarray, aslinearoperator], ids=["block", "plain"])
def test_too_long_a_step_diverges_and_says_so(convert):
    X, y = problem()
    L = np.linalg.norm(X, 2) ** 2
    with pytest.warns(ConvergenceWarning, match=rf"largest stable one is {1 / L:.3g}, L = {L:.3g}"):
        result = path("ksn", convert(X), y, k=5, L=L / 10, max_iter=5000, every=5)
    assert result.reason == "diverged"
    assert 0 < result.n_iter < 5000
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.history["residual"]).all()
    np.testing.assert_array_equal(result.coef, result.iterates.toarray()[-1])


def test_a_larger_L_is_a_shorter_step():
    X, y = problem()
    published = path("ksn", X, y, k=5, L=1e6, max_iter=1).coef
    default = path("ksn", X, y, k=5, max_iter=1).coef
    nuclear = path("ksn", X, y, k=5, norm="nuclear", max_iter=1).coef
    sizes = [np.linalg.norm(w) for w in (published, nuclear, default)]
    assert 0 < sizes[0] < sizes[1] < sizes[2]


def test_zero_data_give_zero():
    for X, y in ((np.zeros((3, 4)), np.ones(3)), (np.ones((3, 4)), np.zeros(3))):
        for L in (None, "backtracking"):
            assert not path("ksn", X, y, k=2, L=L, max_iter=5).iterates.nnz


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be between 1 and n_features=40, got 0"),
        ({"lam": 0.0}, "lam must be a positive number"),
        ({"lam": []}, "lam must be a positive number"),
        ({"lam": [1.0, 2.0]}, "lam must decrease"),
        ({"steps_per_lam": 0}, "steps_per_lam must be an integer of at least 1, got 0"),
        ({"steps_per_lam": 2.5}, "steps_per_lam must be an integer of at least 1, got 2.5"),
        ({"steps_per_lam": "3"}, "steps_per_lam must be an integer of at least 1, got '3'"),
        ({"lam": "auto"}, "lam must be an array of numbers"),
        ({"lam": "1"}, "lam must be an array of numbers"),
        ({"lam": {}}, "lam must be an array of numbers"),
        ({"lam": True}, "lam must be a positive number or a sequence of such, got True"),
        ({"L": -1.0}, "L must be positive and finite, got -1.0"),
        ({"L": "guess"}, "L must be a number, None or 'backtracking', got 'guess'"),
        ({"norm": "frobenius"}, "norm must be"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        path("ksn", X, y, **params)


def test_its_row_of_table_1():
    row = METHODS["ksn"].describe()
    assert (row.condition, row.bound, row.complexity) == ("none known", "none known", "O(ΛT)")
    assert row.parameters["lam"] == 1.0
