"""Compiled pieces against their plain definitions: prox, products, gains, small systems."""

import numpy as np
import pytest

from ksupport import prox_ksupport
from ksupport._kernels.linalg import solve
from ksupport._kernels.prox import prox_warm
from ksupport._kernels.refits import best_gains
from ksupport._kernels.working_set import combine


@pytest.mark.parametrize("lam", [1e-3, 1.0, 9.0, 1e3, 1e5])
@pytest.mark.parametrize("k", [1, 7, 250, 499, 500])
@pytest.mark.parametrize("off", [1.0, 1 + 1e-6, 1.01, 0.97, 1.5, 1e-3, 1e3])
def test_a_warm_start_never_changes_the_prox(lam, k, off):
    """However close or far the first guess of s is, near search and fresh search agree."""
    q = np.random.default_rng(k).standard_normal(500)
    expected, out = prox_ksupport(q, lam, k), np.empty(500)
    s = prox_warm(q, lam, k, 0.0, out)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-13)
    prox_warm(q, lam, k, off * s, out)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("m", [1, 3, 50])
def test_combine_is_a_product_with_X(share, m):
    rng = np.random.default_rng(m)
    B, r, out = rng.standard_normal((m, 5)), rng.standard_normal(m), np.empty(5)
    r[rng.random(m) >= share] = 0.0
    combine(B, r, -2.0, out)
    np.testing.assert_allclose(out, -2.0 * (B.T @ r), atol=1e-13)


@pytest.mark.parametrize("most", [1, 4, 60])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_gains_are_those_of_all_pairs(size, most):
    """Against the table of all exchanges, with a dependent feature, a null one and a tie."""
    rng = np.random.default_rng(size)
    n, d = 12, 15
    own = np.arange(size) * 2
    Q = np.linalg.qr(rng.standard_normal((n, size)))[0]
    W = np.linalg.qr(rng.standard_normal((size, size)))[0]
    X = rng.standard_normal((n, d))
    X[:, 11] = 0.0
    X[:, 13] = X[:, 12]
    if size:
        X[:, own] = Q @ rng.standard_normal((size, size))
        X[:, 1] = Q @ rng.standard_normal(size)
    y = rng.standard_normal(n)
    r, b = y - Q @ (Q.T @ y), W @ Q.T @ y
    falls, out, into = np.empty(most), np.empty(most, np.intp), np.empty(most, np.intp)
    products = np.ascontiguousarray(np.column_stack([r, Q]).T @ X)
    norms = np.linalg.norm(X, axis=0)
    fall, feature = best_gains(
        products, W @ products[1:], b, norms, own, 1e-9, 1e-20, 1e-12, falls, out, into
    )
    X_left = X - Q @ (Q.T @ X)
    left, c, UX = (X_left**2).sum(axis=0), X.T @ r, W @ Q.T @ X
    others = [j for j in range(d) if j not in own and norms[j] > 0]
    added = {j: c[j] ** 2 / left[j] for j in others if left[j] > 1e-9 * norms[j] ** 2}
    np.testing.assert_allclose(fall, max(added.values()))
    assert np.isclose(added[feature], fall)
    pairs = {
        (i, j): (c[j] + UX[i, j] * b[i]) ** 2 / (left[j] + UX[i, j] ** 2) - b[i] ** 2
        for i in range(size)
        for j in others
        if left[j] + UX[i, j] ** 2 > 1e-9 * norms[j] ** 2
    }
    best = sorted(pairs.values(), reverse=True)[:most]
    np.testing.assert_allclose(falls[: len(best)], best, atol=1e-11)
    assert (falls[len(best) :] == -np.inf).all()
    found = list(zip(out.tolist(), into.tolist(), strict=True))[: len(best)]
    assert len(set(found)) == len(found)
    np.testing.assert_allclose([pairs[pair] for pair in found], best, atol=1e-11)


def test_a_singular_system_has_its_shortest_solution_and_the_lower_triangle_is_read_alone():
    """Second derivatives that are flat in one direction."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2, 30))
    A = np.vstack([A, A.sum(axis=0)])
    g, H = rng.standard_normal(30), np.tril(A @ A.T)
    H[np.triu_indices(3, 1)] = np.nan
    x, found = solve(H, A @ g)
    assert found
    lengths = np.linalg.norm(A, axis=1)  # the shortest, whatever units columns are in
    shortest = np.linalg.lstsq((A / lengths[:, None]).T, g, rcond=None)[0] / lengths
    np.testing.assert_allclose(x, shortest)
