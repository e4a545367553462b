"""Compiled pieces of the walkers against their plain definitions."""

import ast
import inspect

import numpy as np
import pytest

from ksupport import _kernels, prox_ksupport


@pytest.mark.parametrize("lam", [1e-3, 1.0, 9.0, 1e3, 1e5])
@pytest.mark.parametrize("k", [1, 7, 250, 499, 500])
@pytest.mark.parametrize("off", [1.0, 1 + 1e-6, 1.01, 0.97, 1.5, 1e-3, 1e3])
def test_a_warm_start_never_changes_the_prox(lam, k, off):
    """However close or far the first guess of s is, near search and fresh search agree."""
    q = np.random.default_rng(k).standard_normal(500)
    expected, out = prox_ksupport(q, lam, k), np.empty(500)
    s = _kernels.prox_warm(q, lam, k, 0.0, out)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-13)
    _kernels.prox_warm(q, lam, k, off * s, out)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("m", [1, 3, 50])
def test_combine_is_a_product_with_X(share, m):
    rng = np.random.default_rng(m)
    B, r, out = rng.standard_normal((m, 5)), rng.standard_normal(m), np.empty(5)
    r[rng.random(m) >= share] = 0.0
    _kernels.combine(B, r, -2.0, out)
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
    fall, feature = _kernels.best_gains(
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


def called_and_decorated(module):
    """For each compiled function those that it calls by name, and its decorator."""
    functions = [
        node for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.FunctionDef)
    ]  # fmt: skip
    names = {node.name for node in functions}
    for node in functions:
        calls = {
            each.func.id for each in ast.walk(node)
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
        }  # fmt: skip
        yield node.name, calls & names, ast.unparse(node.decorator_list[0])


@pytest.mark.parametrize("module", [_kernels])
def test_what_compiled_code_calls_is_part_of_it_or_rounds_alike_in_every_copy(module):
    """Else last bits would depend on which copy a process loads first."""
    found = list(called_and_decorated(module))
    kinds = {name: kind for name, _, kind in found}
    for caller, called, kind in found:
        for name in called:
            assert kinds[name] in ("_part", "_exact", "_exact_finite"), name
            # What contains a part is optimised with it, and so no more exact.
            assert kinds[name] != "_part" or kind in ("_part", "_jit"), (caller, name)


def test_a_step_of_newton_reads_the_lower_triangle_alone():
    """Of second derivatives, which are flat in one direction; above them memory is as it was."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2, 30))
    A = np.vstack([A, A.sum(axis=0)])
    g, H = rng.standard_normal(30), np.tril(A @ A.T)
    H[np.triu_indices(3, 1)] = np.nan
    slope, step = np.empty(3), np.empty(3)
    _kernels.newton_step(np.ascontiguousarray(A.T), 0, 0.0, np.zeros(3), g, H, slope, step)
    lengths = np.linalg.norm(A, axis=1)  # the shortest step, whatever units columns are in
    shortest = np.linalg.lstsq((A / lengths[:, None]).T, g, rcond=None)[0] / lengths
    np.testing.assert_allclose(step, -shortest)
