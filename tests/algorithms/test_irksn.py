"""IRKSN: where it goes, the way it takes, and what it is blind to."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from ksupport import IRKSN, METHODS, path
from ksupport.datasets import make_example1


def minimiser(X, y, k, alpha):
    """argmin R(w) s.t. Xw = y, by interior points.

    ‖w‖_k^sp² is the least Σ w_i²/theta_i over 0 <= theta <= 1, Σ theta <= k.
    """
    d = X.shape[1]
    w, theta = cp.Variable(d), cp.Variable(d)
    norm2 = cp.sum(cp.hstack([cp.quad_over_lin(w[i], theta[i]) for i in range(d)]))
    objective = (1 - alpha) / 2 * norm2 + alpha / 2 * cp.sum_squares(w)
    problem = cp.Problem(
        cp.Minimize(objective), [X @ w == y, theta >= 0, theta <= 1, cp.sum(theta) <= k]
    )
    accuracy = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    problem.solve(solver=cp.CLARABEL, **accuracy)
    return w.value


@pytest.mark.parametrize("k", [1, 2, 4, 9])
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_the_limit_minimises_r_among_the_interpolators(k, alpha):
    rng = np.random.default_rng(10 * k)
    X = rng.standard_normal((4, 9))
    y = rng.standard_normal(4)
    limit = path("irksn", X, y, k=k, alpha=alpha, max_iter=50_000, every=1000, keep="last").coef
    np.testing.assert_allclose(X @ limit, y, atol=1e-10)
    np.testing.assert_allclose(limit, minimiser(X, y, k, alpha), atol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_the_paper_s_example_1_is_recovered(seed):
    X, y, w = make_example1(random_state=seed)
    model = IRKSN(k=3, alpha=0.05, max_iter=100_000, every=1000, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(w, [1, 1, -4, 0, 0])
    np.testing.assert_allclose(model.coef_, w, atol=1e-6)


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize(("n", "d", "k"), [(30, 50, 10), (90, 50, 10), (4, 5, 3)])
def test_the_published_trajectory(n, d, k, alpha, algorithm_1):
    """The published code's step comes from the nuclear norm."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    y = X[:, :k] @ rng.standard_normal(k) + rng.standard_normal(n)
    result = path("irksn", X, y, k=k, alpha=alpha, step="nuclear", max_iter=500)
    expected = algorithm_1(X, y, k, alpha, 500, np.linalg.norm(X, "nuc"))
    np.testing.assert_allclose(
        result.iterates.toarray(), expected, rtol=0, atol=1e-10 * max(1, np.abs(expected).max())
    )


def test_the_published_trajectory_on_example_1(algorithm_1):
    X, y, _ = make_example1()
    result = path("irksn", X, y, k=3, alpha=1e-3, step="nuclear", max_iter=500)
    expected = algorithm_1(X, y, 3, 1e-3, 500, np.linalg.norm(X, "nuc"))
    np.testing.assert_allclose(result.iterates.toarray(), expected, rtol=0, atol=1e-10)


def test_the_spectral_norm_gets_as_far_in_fewer_steps(rng):
    X = rng.standard_normal((30, 50))
    y = X[:, :5].sum(axis=1)
    residual = {
        norm: path("irksn", X, y, k=5, alpha=0.1, step=norm, max_iter=50).history["residual"][-1]
        for norm in ("spectral", "nuclear")
    }
    assert residual["spectral"] < residual["nuclear"] / 2


# -- identities ---------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.99])
def test_k_equal_to_d_gives_the_minimum_norm_solution(alpha, rng):
    """Then R is half the squared l2 norm whatever alpha."""
    X = rng.standard_normal((6, 15))
    y = rng.standard_normal(6)
    w = path("irksn", X, y, k=15, alpha=alpha, max_iter=50_000, every=1000, keep="last").coef
    np.testing.assert_allclose(w, np.linalg.pinv(X) @ y, atol=1e-7)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 0.9])
@pytest.mark.parametrize("whole", [0, 1 << 15], ids=["lazy", "whole"])
def test_permuting_and_flipping_columns_permutes_and_flips_the_model(
    alpha, whole, rng, monkeypatch
):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", whole)
    X = rng.standard_normal((20, 200))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(20)
    order, signs = rng.permutation(200), rng.choice([-1.0, 1.0], 200)
    step = alpha / np.linalg.norm(X, 2) ** 2
    params = {"k": 5, "alpha": alpha, "step": step, "max_iter": 200}
    one = path("irksn", X, y, **params).iterates.toarray()
    other = path("irksn", (X * signs)[:, order], y, **params).iterates.toarray()
    np.testing.assert_allclose(other, (one * signs)[:, order], atol=1e-11 * np.abs(one).max())


def test_permuting_rows_changes_nothing(rng):
    X, y, order = rng.standard_normal((20, 30)), rng.standard_normal(20), rng.permutation(20)
    one = path("irksn", X, y, k=4, max_iter=200)
    other = path("irksn", X[order], y[order], k=4, max_iter=200)
    np.testing.assert_allclose(other.coef, one.coef, atol=1e-9)


@pytest.mark.parametrize("scale", [-1.0, 0.5, 1e-8, 1e8, 2.0**-300])
def test_the_model_is_homogeneous_in_y(scale, rng):
    X = rng.standard_normal((20, 30))
    y = rng.standard_normal(20)
    one = path("irksn", X, y, k=4, max_iter=200)
    other = path("irksn", X, scale * y, k=4, max_iter=200)
    np.testing.assert_allclose(other.coef, scale * one.coef, rtol=1e-8, atol=abs(scale) * 1e-10)


@pytest.mark.parametrize("scale", [2.0, 2.0**-40, 3e5])
def test_scaling_x_scales_the_model_back(scale, rng):
    X = rng.standard_normal((20, 30))
    y = rng.standard_normal(20)
    one = path("irksn", X, y, k=4, max_iter=200)
    other = path("irksn", scale * X, y, k=4, max_iter=200)
    np.testing.assert_allclose(other.coef, one.coef / scale, rtol=1e-8, atol=1e-10 / scale)


@pytest.mark.parametrize("alpha", [1e-2, 0.5])
def test_equal_columns_share_their_weight(alpha, rng):
    X = rng.standard_normal((20, 30))
    X[:, 7] = X[:, 3]
    X[:, 11] = -X[:, 3]
    y = 5 * X[:, 3] + 0.1 * rng.standard_normal(20)
    W = path("irksn", X, y, k=4, alpha=alpha, max_iter=300).iterates.toarray()
    assert (W[-1, [3, 7]] > 0).all()
    np.testing.assert_allclose(W[:, 7], W[:, 3], rtol=1e-12)
    np.testing.assert_allclose(W[:, 11], -W[:, 3], rtol=1e-12)


def test_an_orthonormal_design_with_a_k_sparse_truth_is_recovered(rng):
    Q = np.linalg.qr(rng.standard_normal((40, 12)))[0]
    w = np.zeros(12)
    w[[1, 5, 8]] = [3.0, -2.0, 4.0]
    model = path("irksn", Q, Q @ w, k=3, alpha=1e-2, max_iter=2000)
    np.testing.assert_allclose(model.coef, w, atol=1e-8)
    np.testing.assert_array_equal(model.support, [1, 5, 8])


# -- parameters ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be between 1 and n_features=5, got 0"),
        ({"k": 6}, "k must be between 1 and n_features=5, got 6"),
        ({"k": 2.5}, "k must be an integer between 1 and n_features=5, got 2.5"),
        ({"k": 2, "alpha": 0.0}, "alpha must lie strictly between 0 and 1, got 0.0"),
        ({"k": 2, "alpha": 1.0}, "alpha .* got 1.0"),
        ({"k": 2, "alpha": -3}, "alpha .* got -3"),
        ({"k": 2, "alpha": float("nan")}, "alpha .* got nan"),
        ({"k": 2, "step": 0.0}, "step must be 'adaptive', .* a positive number, got 0.0"),
        ({"k": 2, "step": float("inf")}, "step must be .* a positive number, got inf"),
        ({"k": 2, "step": True}, "step must be .* a positive number, got True"),
        ({"k": 2, "step": "max"}, "step must be 'adaptive', 'spectral', .* got 'max'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        path("irksn", np.eye(5), np.ones(5), **params)


def test_it_describes_itself():
    description = METHODS["irksn"].describe()
    assert description.name == "irksn"
    assert set(description.parameters) == {
        "k",
        "alpha",
        "step",
        "loss",
        "feature_groups",
        "positive",
    }
    assert "O(√δ) by Theorem 1; the paper's Table 1 and abstract say O(δ)" in str(description)


# -- steps without a norm ------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.01])
def test_backtracked_steps_are_those_of_the_definition(rng, alpha, backtracked):
    X = rng.standard_normal((20, 60)) + 0.5 * rng.standard_normal((20, 1))
    y = X[:, :3] @ [3.0, -2.0, 1.0] + 0.3 * rng.standard_normal(20)
    iterates, gammas, thetas = backtracked(X, y, 4, alpha, 40)
    result = path("irksn", X, y, k=4, alpha=alpha, step="adaptive", max_iter=40)
    np.testing.assert_allclose(result.iterates.toarray(), iterates, atol=1e-8 * abs(iterates).max())
    assert (np.diff(gammas) < 0).any()  # some steps were refused
    gain = np.r_[0, np.sqrt(gammas / alpha) * thetas]
    np.testing.assert_allclose(result.history["gain"], gain, rtol=1e-9)


def test_backtracking_converges_to_the_model_of_least_norm():
    X, y, w = make_example1()
    result = path("irksn", X, y, k=3, alpha=0.05, step="adaptive", max_iter=1000)
    np.testing.assert_allclose(result.coef, w, atol=1e-12)
    distance = np.abs(result.iterates.toarray() - w).max(axis=1)
    assert (distance < 1e-6).argmax() < 100  # 875 with the spectral norm


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_backtracking_knows_no_units(rng, scale):
    X, y = rng.standard_normal((15, 40)), rng.standard_normal(15)
    settings = {"k": 3, "alpha": 0.1, "step": "adaptive", "max_iter": 30}
    plain = path("irksn", X, y, **settings).iterates.toarray()
    scaled = path("irksn", X / 1e20, y * scale, **settings).iterates.toarray()
    np.testing.assert_allclose(scaled / 1e20 / scale, plain, rtol=1e-9, atol=1e-12)


def test_a_step_that_is_none_is_named(rng):
    with pytest.raises(ValueError, match=r"step must be .* got 'newton'"):
        path("irksn", rng.standard_normal((5, 9)), np.ones(5), k=2, step="newton")


def test_a_step_on_an_operator_takes_three_products_and_a_refused_one_three_more():
    """Those of Xr, Xᵀz and Xw; recorded residuals take none of their own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200))
    y = X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(60)
    taken = []

    def product(A, u):
        taken.append(1)
        return A @ np.ravel(u)

    operator = LinearOperator(
        X.shape, dtype=float, matvec=lambda u: product(X, u), rmatvec=lambda u: product(X.T, u)
    )
    found = path("irksn", operator, y, k=5, max_iter=50)
    expected = path("irksn", X, y, k=5, max_iter=50)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-10)
    np.testing.assert_allclose(found.history["residual"], expected.history["residual"], atol=1e-9)
    assert 3 * 50 <= len(taken) < 4 * 50
