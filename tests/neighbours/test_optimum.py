"""The penalty in the solvers of others: all end at the optimum of a conic program."""

import cvxpy as cp
import numpy as np
import pytest

from ksupport import ksupport_norm, prox_ksupport, topk_norm

K, LAM = 3, 4.0


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 12)) + rng.standard_normal((30, 1))
    y = X[:, :3] @ [3.0, -2.0, 2.0] + 0.3 * rng.standard_normal(30)
    return X, y


@pytest.fixture(scope="module")
def optimum(problem):
    """½‖Xw - y‖² + (lam/2) min {Σ w²/theta : 0 <= theta <= 1, Σ theta <= k}."""
    X, y = problem
    w, theta = cp.Variable(12), cp.Variable(12)
    penalty = sum(cp.quad_over_lin(w[j], theta[j]) for j in range(12))
    objective = cp.sum_squares(X @ w - y) / 2 + LAM / 2 * penalty
    cp.Problem(cp.Minimize(objective), [theta <= 1, cp.sum(theta) <= K]).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    assert 3 <= np.sum(np.abs(w.value) > 1e-4) < 12
    return w.value


def by_skglm(X, y):
    datafits = pytest.importorskip("skglm.datafits")
    from skglm import GeneralizedLinearEstimator
    from skglm.solvers import FISTA

    from ksupport.neighbours.skglm import KSupport

    solver = FISTA(max_iter=5000, tol=1e-9, opt_strategy="fixpoint")
    penalty = KSupport(LAM / len(y), K)
    return GeneralizedLinearEstimator(datafits.Quadratic(), penalty, solver).fit(X, y).coef_


def least_squares(X, y):
    import pylops
    import pyproximal

    return pyproximal.L2(Op=pylops.MatrixMult(X), b=y, niter=100)


def by_proximal_gradient(X, y):
    primal = pytest.importorskip("pyproximal.optimization.primal")
    from ksupport.neighbours.pyproximal import KSupport

    step = 0.99 / np.linalg.norm(X, 2) ** 2
    return primal.ProximalGradient(
        least_squares(X, y), KSupport(K, LAM), x0=np.zeros(12), tau=step, niter=2000,
        acceleration="fista",
    )  # fmt: skip


def by_admm(X, y):
    primal = pytest.importorskip("pyproximal.optimization.primal")
    from ksupport.neighbours.pyproximal import KSupport

    return primal.ADMM(
        least_squares(X, y), KSupport(K, LAM), x0=np.zeros(12), tau=0.02, niter=500
    )[1]  # fmt: skip


def by_modopt(X, y):
    from ksupport.neighbours.modopt import KSupportNorm

    algorithms = pytest.importorskip("modopt.opt.algorithms")
    from modopt.opt.gradient import GradBasic

    gradient = GradBasic(y, lambda w: X @ w, lambda r: X.T @ r, verbose=False)
    step = 0.99 / np.linalg.norm(X, 2) ** 2
    solver = algorithms.ForwardBackward(
        np.zeros(12), gradient, KSupportNorm(LAM, K), cost=None, beta_param=step,
        auto_iterate=False, progress=False, verbose=False,
    )  # fmt: skip
    solver.iterate(max_iter=3000)
    return solver.x_final


@pytest.mark.parametrize("solve", [by_skglm, by_proximal_gradient, by_admm, by_modopt])
def test_it_is_reached_by(solve, problem, optimum):
    np.testing.assert_allclose(solve(*problem), optimum, atol=2e-5)


def test_skglm_s_penalty_is_the_norm_and_its_prox_in_both_precisions(rng):
    compiled_clone = pytest.importorskip("skglm.utils.jit_compilation").compiled_clone
    from ksupport.neighbours.skglm import KSupport

    for dtype, tol in ((np.float64, 1e-12), (np.float32, 1e-5)):
        penalty = compiled_clone(KSupport(0.7, 4), to_float32=dtype == np.float32)
        for scale in (1e-15, 1.0, 1e15):
            w = (scale * rng.standard_normal(20)).astype(dtype)
            expected = 0.35 * float(ksupport_norm(w, 4)) ** 2
            assert penalty.value(w) == pytest.approx(expected, rel=tol)
            prox = penalty.prox_vec(w, 0.5)
            assert prox.dtype == dtype
            np.testing.assert_allclose(prox, prox_ksupport(w, 0.35, 4), rtol=10 * tol)
        assert penalty.value(np.zeros(20, dtype)) == 0


def test_pyproximal_s_dual_prox_minimises_the_conjugate(rng):
    pytest.importorskip("pyproximal")
    from ksupport.neighbours.pyproximal import KSupport

    sigma, tau, k, x = 2.0, 0.3, 2, rng.standard_normal(6)
    u = cp.Variable(6)
    conjugate = cp.sum_largest(cp.square(u), k) / (2 * sigma)
    cp.Problem(cp.Minimize(tau * conjugate + cp.sum_squares(u - x) / 2)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(KSupport(k, sigma).proxdual(x, tau), u.value, atol=1e-5)
    w = KSupport(k, sigma).prox(x, tau)  # equality in Fenchel's inequality, at a subgradient
    slope = (x - w) / tau
    f, conjugate = KSupport(k, sigma)(w), topk_norm(slope, k) ** 2 / (2 * sigma)
    assert f + conjugate == pytest.approx(w @ slope)


def test_it_stands_in_for_modopt_s_own(rng):
    ours = pytest.importorskip("ksupport.neighbours.modopt").KSupportNorm
    from modopt.opt.proximity import KSupportNorm as Theirs

    agreeing = 0
    for _ in range(50):
        x = rng.standard_normal((4, 5))
        agreeing += np.allclose(ours(0.8, 3).op(x), Theirs(0.8, 3).op(x), atol=1e-8)
    assert agreeing >= 45  # it misses the minimiser now and then
    w = np.zeros(20)
    w[[3, 8]] = 2.0, -1.0
    assert ours(0.8, 3).cost(w) == pytest.approx(Theirs(0.8, 3).cost(w))


def test_modopt_s_factor_is_a_step(rng, capsys):
    ours = pytest.importorskip("ksupport.neighbours.modopt").KSupportNorm
    x = rng.standard_normal(20)
    np.testing.assert_array_equal(
        ours(0.8, 3).op(x, extra_factor=0.25), prox_ksupport(x, 0.8 * 0.25, 3)
    )
    value = ours(0.8, 3).cost(x, verbose=True)
    assert str(value) in capsys.readouterr().out
