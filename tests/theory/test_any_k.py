"""Recovery with a k other than the size of the support: the condition against walks."""

import numpy as np
import pytest
from scipy.optimize import linprog

from ksupport import ksupport_norm, path, topk_norm
from ksupport.experiments.fig_k import ALPHA, LAWS, problem, walk_compute, walk_table
from ksupport.theory import error_bound, irksn_condition, recommend_k
from ksupport.theory._support import subgradient

from .problems import example1


def test_subgradients_are_those_of_half_the_squared_norm(rng):
    """⟨u, w⟩ = ‖w‖² and the dual norm of u is ‖w‖, which only subgradients satisfy."""
    for _ in range(300):
        d = int(rng.integers(1, 9))
        w, k = rng.standard_normal(d) * rng.choice([0.1, 1, 1, 5], d), int(rng.integers(1, d + 3))
        u, m = subgradient(w, k)
        padded = np.r_[u, rng.choice([-1, 1], 4) * m]  # outside the support, at their largest
        norm = ksupport_norm(np.r_[w, np.zeros(4)], k)
        assert u @ w == pytest.approx(norm**2)
        assert topk_norm(padded, k) == pytest.approx(norm)
        if k < d:  # nothing larger will do
            assert topk_norm(padded + 1e-3 * np.sign(padded) * (np.arange(d + 4) >= d), k) > norm


def test_with_k_one_it_is_the_l1_norm_and_with_k_the_size_that_of_the_paper():
    u, m = subgradient(np.array([3.0, -1.0, 2.0]), 1)
    np.testing.assert_allclose(u, [6.0, -6.0, 6.0])
    assert m == pytest.approx(6.0)
    u, m = subgradient(np.array([3.0, -1.0, 2.0]), 3)
    np.testing.assert_allclose(u, [3.0, -1.0, 2.0])
    assert m == pytest.approx(1.0)


@pytest.mark.parametrize("law", LAWS)
def test_predicted_is_walked(law):
    """The whole of it, 500 problems, is ``ksupport reproduce table-k``."""
    rows = walk_compute(law, 0, 6)
    assert all(row["decided"] for row in rows)
    assert [line["which"] for line in walk_table(rows) if line["disagree"]] == []


def test_smaller_and_larger_k_recover_what_the_size_of_the_support_does_not():
    """Of the first draws, some are recovered with k below |S| alone, some with no k."""
    found = {law: [recommend_k(*problem(law, i)) for i in range(10)] for law in list(LAWS)[:2]}
    every = [advice for advices in found.values() for advice in advices]
    assert any(a.size not in a.at(ALPHA) and a.at(ALPHA) for a in every)
    assert sum(a.k is not None and a.k < a.size for a in every) > 5
    square = np.diag([1.0, 2.0, 3.0])  # every vector is the solution of least norm
    assert recommend_k(square, [1.0, 0.0, 2.0]).alphas == ((0, 1), (0, 1), (0, 1))


def full_range(X, w, k):
    """The least and the largest alpha by linear programmes with every feature."""
    n, d = X.shape
    S, out = np.flatnonzero(w), np.flatnonzero(w == 0)
    u, m = subgradient(w[S], k)
    A = np.block(
        [[X[:, out].T, np.full((len(out), 1), m)], [-X[:, out].T, np.full((len(out), 1), m)]]
    )
    equal = np.column_stack([X[:, S].T, u - w[S]])
    ends = [
        linprog(np.r_[np.zeros(n), sense], A_ub=A, b_ub=np.full(2 * len(out), m), A_eq=equal,
                b_eq=u, bounds=[(None, None)] * n + [(0, 1)])
        for sense in (1, -1)
    ]  # fmt: skip
    return tuple(end.x[-1] for end in ends) if all(end.x is not None for end in ends) else (0, 0)


@pytest.mark.parametrize("shape", [(12, 30), (24, 300)])
def test_the_range_of_alpha_is_that_of_the_full_programme(rng, shape):
    ranges = []
    for _ in range(8):
        X, w = rng.standard_normal(shape), np.zeros(shape[1])
        w[:5] = rng.standard_normal(5)
        for k in range(1, 5):
            condition = irksn_condition(X, w, k=k)
            expected = full_range(X, w, k)
            np.testing.assert_allclose(
                (condition.alpha_low, condition.alpha_sharp), expected, atol=1e-5
            )
            ranges.append(expected)
            for alpha in (0.02, 0.3):
                inside = expected[0] < alpha < expected[1]
                assert irksn_condition(X, w, k=k, alpha=alpha).recovers == inside
    assert len({high > 0 for _, high in ranges}) == 2


def test_a_range_that_does_not_begin_at_zero():
    """As the elastic net may recover where the Lasso does not.

    With k=1, u = (4, 4) and m = 4.  The third feature has the correlation 4.4 with the certificate
    of u, too much, and -.7 with that of w: |4.4 (1 - alpha) - .7 alpha| <= 4 (1 - alpha).
    """
    X, w = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -0.9]]), np.array([1.0, 3.0, 0.0])
    condition = irksn_condition(X, w, k=1)
    assert condition.recovers
    assert not condition.holds
    assert condition.alpha_low == pytest.approx(0.4 / 1.1, abs=1e-6)
    assert condition.alpha_sharp == pytest.approx(8.4 / 9.1, abs=1e-6)
    for alpha, recovered in ((0.2, False), (0.6, True), (0.95, False)):
        assert irksn_condition(X, w, k=1, alpha=alpha).recovers == recovered
        walked = path("irksn", X, X @ w, k=1, alpha=alpha, max_iter=3000, keep="last")
        assert np.allclose(walked.coef, w, atol=1e-3) == recovered


def test_the_error_bound_holds_for_other_k(rng):
    X, w = problem("chain, correlation .7", 4)
    k = 3
    assert irksn_condition(X, w, k=k, alpha=ALPHA).recovers
    noise = rng.standard_normal(len(X))
    noise *= 0.05 / np.linalg.norm(noise)
    bound = error_bound(X, w, ALPHA, 0.05, k=k)
    y = X @ w + noise
    walk = path("irksn", X, y, k=k, alpha=ALPHA, step="spectral", max_iter=300)
    errors = np.linalg.norm(walk.iterates.toarray() - w, axis=1)
    assert np.all(errors[1:] <= bound.tight(np.arange(1, 301)))
    size = int(np.count_nonzero(w))
    with pytest.raises(ValueError, match="w has no error bound, because w is not the solution of"):
        error_bound(X, w, ALPHA, 0.05, k=size + 1)


def test_wrong_arguments_are_named(rng):
    X, w = example1(rng)
    with pytest.raises(ValueError, match="k must be between 1 and n_features=5, got 6"):
        irksn_condition(X, w, k=6)
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 1\), got 1"):
        irksn_condition(X, w, k=2, alpha=1)
    with pytest.raises(ValueError, match="every one of ks must be between 1 and n_features=5"):
        recommend_k(X, w, ks=[0])
    with pytest.raises(ValueError, match="ks must hold at least one k, got none"):
        recommend_k(X, w, ks=[])


def test_advice_is_told_and_given_as_data(rng):
    advice = recommend_k(*example1(rng))
    assert (advice.k, advice.size, advice.ks) == (3, 3, (1, 2, 3, 4))
    assert advice.at(0.1) == (3,)
    assert "With k=3 and any alpha below 0.267" in advice.words[0]
    assert advice.words[1] == "IRKSN converges to it for no other k that was tried."
    assert advice.alpha == pytest.approx(0.9 * 4 / 15)
    assert "Which k" in str(advice)
    assert "<table" in advice._repr_html_()
    assert advice.to_dict()["alphas"][2][1] == pytest.approx(4 / 15)
    nothing = recommend_k(np.ones((2, 3)), [1.0, 0.0, 0.0])
    assert nothing.k is None
    assert "for no k that was tried" in nothing.words[0]


def test_the_k_with_the_least_error_bound_is_recommended():
    X, w = problem("independent", 9)
    advice = recommend_k(X, w)
    assert 1 < advice.k < advice.size
    for k, bound, (low, high) in zip(advice.ks, advice.bounds, advice.alphas, strict=True):
        if high == 0:
            assert bound == np.inf
            continue
        alpha = low + 0.9 * (high - low)
        assert bound == pytest.approx(error_bound(X, w, alpha, 1.0, k=k).dual_norm / alpha)
        assert advice.bounds[advice.ks.index(advice.k)] <= bound
    assert advice.alpha == pytest.approx(0.9 * advice.alphas[advice.ks.index(advice.k)][1])
