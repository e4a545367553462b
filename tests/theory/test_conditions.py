"""Assumptions 1, 2 and 3 and the exact recovery condition, on problems with known answers."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.linalg import aslinearoperator

from ksupport.theory import alpha_max, irksn_condition, l1_condition, omp_condition

from .problems import W3, W4, W_Y, example1, example2


@pytest.mark.parametrize("seed", range(10))
def test_example1_constants(seed):
    X, w = example1(np.random.default_rng(seed))
    ours, l1 = irksn_condition(X, w), l1_condition(X, w)
    assert ours.holds
    assert not l1.holds
    assert not l1.recovers
    np.testing.assert_allclose([ours.lhs, ours.rhs, ours.margin], [11 / 15, 1, 4 / 15], atol=1e-10)
    np.testing.assert_allclose([l1.lhs, l1.rhs], [13 / 11, 1], atol=1e-10)
    assert ours.tight_out == (4,)
    assert ours.tight_in == (0, 1)
    assert l1.tight_out == (3,)
    np.testing.assert_allclose(alpha_max(X, w), 1 / 15, atol=1e-10)
    np.testing.assert_allclose(ours.alpha_sharp, 4 / 15, atol=1e-10)
    # Each feature outside the support alone: 7/11, 11/15 and 13/11, 17/15.
    for feature, (k_support, sign) in {3: (7 / 11, 13 / 11), 4: (11 / 15, 17 / 15)}.items():
        kept = [0, 1, 2, feature]
        assert irksn_condition(X[:, kept], w[kept]).lhs == pytest.approx(k_support, abs=1e-10)
        assert l1_condition(X[:, kept], w[kept]).lhs == pytest.approx(sign, abs=1e-10)
    largest = max(np.abs(W3).sum(), np.abs(W4).sum())
    assert omp_condition(X, w).lhs == pytest.approx(largest, abs=1e-10)


def test_example2_holds_without_injectivity(rng):
    X, w, y = example2(rng)
    ours, l1 = irksn_condition(X, w, y), l1_condition(X, w)
    assert ours.holds
    assert ours.feasible
    assert ours.min_norm
    assert ours.rank == 1 < ours.k
    assert ours.rhs == pytest.approx(np.abs(w[w != 0]).min())
    assert not l1.holds
    assert not l1.injective
    assert "dependent" in l1.why


def test_fewer_samples_than_features_on_the_support(rng):
    X = np.eye(3)[:, [0, 0, 1, 1, 2, 2]] @ np.diag([1, 2, 3, 1, 1, 1]) + 0.0
    X = np.column_stack([X, 0.01 * rng.standard_normal((3, 2))])
    w = np.r_[np.linalg.pinv(X[:, :6]) @ np.array([5.0, 10.0, 2.0]), 0, 0]
    condition = irksn_condition(X, w)
    assert X.shape[0] < condition.k
    assert condition.holds
    w[0] += 1  # same support, no longer the smallest solution
    assert not irksn_condition(X, w).min_norm
    assert "smallest solution" in irksn_condition(X, w).why


def test_equal_magnitudes_make_both_conditions_one():
    rng = np.random.default_rng(1)
    agree = held = 0
    for _ in range(1000):
        n, k, extra = rng.integers(3, 7), rng.integers(1, 4), rng.integers(1, 4)
        X = rng.standard_normal((n, k + extra)) * rng.choice([0.5, 1, 2])
        w = np.r_[rng.choice([-1, 1], k) * rng.uniform(0.1, 10), np.zeros(extra)]
        ours, l1 = irksn_condition(X, w), l1_condition(X, w)
        assert l1.injective
        agree += ours.holds == l1.holds and ours.source.holds == l1.source.holds
        held += ours.holds
    assert agree == 1000
    assert 200 < held < 800


def test_sides_are_the_paper_formula(rng):
    X = rng.standard_normal((7, 12))
    w = np.zeros(12)
    w[[1, 4, 9]] = [2.0, -1.0, 0.5]
    S, out = np.flatnonzero(w), np.flatnonzero(w == 0)
    pinv = np.linalg.pinv(X[:, S])
    ours, l1, omp = irksn_condition(X, w), l1_condition(X, w), omp_condition(X, w)
    assert ours.lhs == pytest.approx(max(abs((pinv @ X[:, i]) @ w[S]) for i in out))
    assert ours.rhs == pytest.approx(min(abs((pinv @ X[:, i]) @ w[S]) for i in S))
    assert l1.lhs == pytest.approx(max(abs((pinv @ X[:, i]) @ np.sign(w[S])) for i in out))
    assert omp.lhs == pytest.approx(max(np.abs(pinv @ X[:, i]).sum() for i in out))
    assert ours.lhs == pytest.approx(abs(X[:, ours.tight_out[0]] @ (pinv.T @ w[S])))


@pytest.mark.parametrize(
    "kind", [sp.csr_matrix, sp.csc_array, sp.lil_array, aslinearoperator, np.asfortranarray]
)
def test_every_kind_of_design_gives_the_same_answer(rng, kind):
    X = rng.standard_normal((6, 15))
    w = np.r_[1.0, -2.0, 3.0, np.zeros(12)]
    for check in (irksn_condition, l1_condition, omp_condition):
        dense, other = check(X, w), check(kind(X), w)
        assert other.holds == dense.holds
        assert other.lhs == pytest.approx(dense.lhs)
        assert other.tight_out == dense.tight_out


def test_invariances(rng):
    X, w = rng.standard_normal((6, 9)), np.r_[3.0, -1.0, 2.0, np.zeros(6)]
    base = irksn_condition(X, w)
    order = rng.permutation(9)
    assert irksn_condition(X[:, order], w[order]).margin == pytest.approx(base.margin)
    assert irksn_condition(7 * X, w).margin == pytest.approx(base.margin)
    assert irksn_condition(X, 7 * w).margin == pytest.approx(7 * base.margin)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    assert irksn_condition(Q @ X, w).margin == pytest.approx(base.margin)
    twin = irksn_condition(np.column_stack([X, X[:, 1]]), np.r_[w, 0])
    assert not twin.holds  # a copy of the weakest feature ties with it
    assert twin.lhs >= twin.rhs * (1 - 1e-9)


def test_no_feature_outside(rng):
    X = rng.standard_normal((5, 3))
    for check in (irksn_condition, l1_condition, omp_condition):
        condition = check(X, [1.0, 2.0, -1.0])
        assert condition.holds
        assert condition.lhs == 0
        assert condition.tight_out == ()


def full_programme(X, S, u):
    """min over λ of max |⟨x_l, λ⟩| outside S, with X_Sᵀ λ = u, written out in full."""
    n, d = X.shape
    out = np.setdiff1d(np.arange(d), S)
    A, ones = X[:, out].T, np.ones((len(out), 1))
    solution = linprog(
        np.r_[np.zeros(n), 1],
        A_ub=np.block([[A, -ones], [-A, -ones]]),
        b_ub=np.zeros(2 * len(out)),
        A_eq=np.column_stack([X[:, S].T, np.zeros(len(S))]),
        b_eq=u,
        bounds=[(None, None)] * n + [(0, None)],
    )
    return solution.fun


@pytest.mark.parametrize("shape", [(6, 10), (20, 400), (30, 40)])
def test_strong_source_condition_is_the_full_programme(rng, shape):
    n, d = shape
    seen = set()
    for _ in range(20):
        k = int(rng.integers(1, n // 2 + 1))
        X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + rng.standard_normal((n, d))
        w = np.zeros(d)
        S = np.sort(rng.choice(d, k, replace=False))
        w[S] = rng.standard_normal(k)
        for condition, u in ((l1_condition(X, w), np.sign(w[S])), (irksn_condition(X, w), w[S])):
            source, best = condition.source, full_programme(X, S, u)
            assert source.decided
            assert source.holds == (best < source.rhs * (1 - 1e-6))
            assert source.lower <= best + 1e-6 * source.rhs
            assert best <= source.lhs + 1e-6 <= condition.lhs + 2e-6
            if source.certificate is not None:  # it is what it claims to be
                np.testing.assert_allclose(X[:, S].T @ source.certificate, u, atol=1e-8)
            seen.add((condition.holds, source.holds))
    assert {(False, False), (False, True)} <= seen


def test_closed_form_is_the_programme_when_the_certificate_is_unique(rng):
    X, w = rng.standard_normal((3, 8)), np.r_[1.0, -2.0, 3.0, np.zeros(5)]
    assert full_programme(X, [0, 1, 2], np.sign(w[:3])) == pytest.approx(l1_condition(X, w).lhs)
    assert full_programme(X, [0, 1, 2], w[:3]) == pytest.approx(irksn_condition(X, w).lhs)


@pytest.mark.parametrize("check", [irksn_condition, l1_condition, omp_condition])
def test_errors_name_what_is_wrong(rng, check):
    X = rng.standard_normal((4, 5))
    with pytest.raises(ValueError, match="w must have at least one nonzero entry"):
        check(X, np.zeros(5))
    with pytest.raises(ValueError, match=r"w must be a vector .* shape \(5,\), got shape \(4,\)"):
        check(X, np.ones(4))
    with pytest.raises(ValueError, match="w must be finite"):
        check(X, np.r_[np.nan, np.ones(4)])
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        check(X[0], W_Y)
    broken = X.copy()
    broken[1, 2] = np.nan
    with pytest.raises(ValueError, match="X must be finite"):
        check(broken, W_Y)
    with pytest.raises(ValueError, match="X must be finite"):
        check(sp.csr_matrix(broken), W_Y)
    with pytest.raises(ValueError, match="X must be real"):
        check(X + 1j, W_Y)


def test_wrong_y(rng):
    X, w = example1(rng)
    assert irksn_condition(X, w, X @ w).holds
    wrong = irksn_condition(X, w, X @ w + 0.1)
    assert not wrong.holds
    assert not wrong.feasible
    assert wrong.alpha_max == wrong.alpha_sharp == 0
    assert "noiseless y" in wrong.why
    with pytest.raises(ValueError, match=r"y must be a vector with one entry per sample .* \(4,\)"):
        irksn_condition(X, w, np.ones(5))
    with pytest.raises(ValueError, match="y must be finite"):
        irksn_condition(X, w, np.full(4, np.inf))


def test_dependent_columns_are_explained(rng):
    X = rng.standard_normal((6, 5))
    X[:, 1] = X[:, 0]
    uneven = np.array([1.0, 2.0, 0, 0, 0])
    assert "smallest solution" in irksn_condition(X, uneven).why
    assert "rank 1" in l1_condition(X, uneven).why
    assert "rank 1" in omp_condition(X, uneven).why
    assert irksn_condition(X, [2.0, 2.0, 0, 0, 0]).min_norm
    assert l1_condition(X, [2.0, -2.0, 0, 0, 0]).source.method == "infeasible"
