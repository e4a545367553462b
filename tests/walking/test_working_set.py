"""The lazy working set walks the plain iteration, on a fraction of the passes over the data."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport import path
from ksupport._kernels.working_set import bound_outside, carry_rows, choose_for
from ksupport.algorithms import make_method
from ksupport.design.view import Design
from ksupport.walking import run
from ksupport.walking.iterates import together
from ksupport.walking.working_set import State


@pytest.fixture(params=["held columns", "all columns", "plain steps"])
def lazy(request, monkeypatch):
    """Let small problems use the lazy block too, held or not, and either of its two ways out."""
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    if request.param != "held columns":
        monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    if request.param == "plain steps":
        monkeypatch.setattr("ksupport.limits.ALL_COLUMNS", 0)


def assert_same_path(X, y, k, alpha, steps, algorithm_1, tolerance=1e-9, given=None):
    A = np.asarray(X, float)
    norm = np.linalg.norm(A, 2)
    expected = algorithm_1(A, y, k, alpha, steps, norm)
    result = path(
        "irksn", A if given is None else given, y, k=k, alpha=alpha, step=alpha / norm**2,
        max_iter=steps,
    )  # fmt: skip
    W = result.iterates.toarray()
    size = np.abs(expected).max()
    np.testing.assert_allclose(W, expected, rtol=0, atol=tolerance * size)
    # Supports are the same, but for entries that are zero up to the rounding of theta.
    noise = (np.abs(expected) <= tolerance * size) & (np.abs(W) <= tolerance * size)
    np.testing.assert_array_equal((W != 0) | noise, (expected != 0) | noise)
    return result


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def correlated(rng, n, d):
    """AR(1) with correlation 0.9."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * X[:, j]
    return X


def blocks(rng, n, d):
    """Blocks of ten columns at correlation 0.9."""
    return 3 * np.repeat(rng.standard_normal((n, d // 10)), 10, axis=1) + rng.standard_normal(
        (n, d)
    )


def duplicated(rng, n, d):
    return np.tile(rng.standard_normal((n, d // 4)), 4)


def scaled(rng, n, d):
    return rng.standard_normal((n, d)) * np.exp(2 * rng.standard_normal(d))


def integers(rng, n, d):
    """Many exact ties among the correlations."""
    return rng.integers(-1, 2, (n, d)).astype(float)


@pytest.mark.parametrize("make", [gaussian, correlated, blocks, duplicated, scaled, integers])
@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 0.1, 0.5, 0.9])
@pytest.mark.parametrize(("n", "d", "k"), [(20, 600, 1), (40, 400, 5), (15, 1000, 20)])
def test_iterates_are_those_of_algorithm_1(make, n, d, k, alpha, lazy, algorithm_1):
    rng = np.random.default_rng([n, k, round(1 / alpha)])
    X = make(rng, n, d)
    y = X[:, rng.choice(d, 6)] @ rng.standard_normal(6) + 0.1 * rng.standard_normal(n)
    assert_same_path(X, y, k, alpha, 120, algorithm_1)


@pytest.mark.parametrize("seed", range(12))
def test_iterates_are_those_of_algorithm_1_on_random_problems(seed, lazy, algorithm_1):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 60)), int(rng.integers(130, 500))
    k = int(rng.integers(1, d // 10))
    X = rng.standard_normal((n, d))
    assert_same_path(X, rng.standard_normal(n), k, 10 ** rng.uniform(-3, -0.05), 200, algorithm_1)


@pytest.mark.parametrize("alpha", [1e-2, 0.5])
@pytest.mark.parametrize("k", [1, 50, 200])
@pytest.mark.parametrize("n", [5, 60, 400])
def test_whole_and_small_problems(n, k, alpha, algorithm_1):
    rng = np.random.default_rng(n + k)
    X = rng.standard_normal((n, 200))
    assert_same_path(X, rng.standard_normal(n), k, alpha, 100, algorithm_1)


@pytest.mark.parametrize("k", [1, 4, 20])
def test_the_gram_route_for_many_rows(k, algorithm_1, rng):
    X = rng.standard_normal((4000, 20)) @ rng.standard_normal((20, 20))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(4000)
    assert Design.of(X).compresses
    assert_same_path(X, y, k, 0.05, 100, algorithm_1)


KINDS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "operator": aslinearoperator,
}


@pytest.mark.parametrize("alpha", [1e-3, 0.05])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_x_walks_the_same_path(kind, alpha, lazy, algorithm_1, rng):
    X = np.round(rng.standard_normal((25, 500)), 1) * (rng.random((25, 500)) < 0.3)
    X = X.astype(np.float32).astype(float)
    y = X[:, :4].sum(axis=1)
    # float32 products decide which columns to keep, and plain steps use them.
    tolerance = 1e-4 if "float32" in kind else 1e-9
    assert_same_path(X, y, 4, alpha, 150, algorithm_1, tolerance, given=KINDS[kind](X))


def test_a_memmap_walks_the_same_path(lazy, algorithm_1, rng, tmp_path):
    X = np.memmap(tmp_path / "X", float, "w+", shape=(25, 500))
    X[:] = rng.standard_normal(X.shape)
    assert_same_path(np.array(X), X[:, 0] - X[:, 9], 3, 1e-2, 150, algorithm_1, given=X)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 0.9])
def test_a_dressed_view_walks_the_path_of_the_matrix_it_stands_for(alpha, lazy, algorithm_1, rng):
    X = 3 + rng.standard_normal((40, 400)) * rng.uniform(0.5, 5, 400)
    rows, weights = rng.permutation(40)[:30], rng.uniform(0.5, 2, 30)
    design = Design.of(sp.csr_array(X)).take(rows).weighted(weights).centred(standardize=True)
    A = X[rows] - np.average(X[rows], axis=0, weights=weights)
    A *= np.sqrt(weights)[:, None]
    A /= np.linalg.norm(A, axis=0) / np.sqrt(weights.sum())
    y = A[:, :3].sum(axis=1)
    assert_same_path(A, y, 3, alpha, 150, algorithm_1, given=design)


@pytest.mark.parametrize("k", [3, 10, 40])
@pytest.mark.parametrize("alpha", [1e-3, 0.5])
def test_fewer_than_k_features_are_correlated_at_all(k, alpha, lazy, algorithm_1, rng):
    """Only three columns live on the rows where y does: all other correlations are zero."""
    X = np.zeros((30, 400))
    X[:8, :3] = rng.standard_normal((8, 3))
    X[8:, 3:] = rng.standard_normal((22, 397))
    y = X[:, :3].sum(axis=1)
    result = assert_same_path(X, y, k, alpha, 100, algorithm_1)
    assert set(result.support) <= {0, 1, 2}


@pytest.mark.parametrize("y_scale", [0.0, 1e-100, 1e100])
def test_y_of_any_size(y_scale, lazy, algorithm_1, rng):
    X = rng.standard_normal((20, 400))
    y = y_scale * X[:, 0]
    result = path("irksn", X, y, k=3, alpha=0.1, max_iter=100)
    unit = path("irksn", X, X[:, 0], k=3, alpha=0.1, max_iter=100)
    np.testing.assert_allclose(result.coef, y_scale * unit.coef, rtol=1e-9, atol=1e-9 * y_scale)


def test_x_of_zeros_gives_zero(lazy):
    result = path("irksn", np.zeros((20, 400)), np.ones(20), k=3, max_iter=50)
    np.testing.assert_array_equal(result.coef, 0)


@pytest.mark.parametrize("make", [gaussian, scaled])
@pytest.mark.parametrize("kind", ["C", "F", "csr_matrix", "float32"])
def test_passes_are_far_fewer_than_steps(make, kind, rng):
    X = make(rng, 60, 3000)
    y = X[:, :5] @ [1, -1, 2, -2, 3] + 0.1 * rng.standard_normal(60)
    design = Design.of(KINDS[kind](X))
    path("irksn", design, y, k=5, alpha=1e-3, max_iter=1000, every=10)
    assert design.passes <= 20
    # And the columns that were read besides are fewer than a few passes' worth.
    assert design.columns_read <= 5 * 3000


def test_passes_never_exceed_two_a_step(rng):
    """A step takes one product with Xᵀ, and one with X where r is dense."""
    X = rng.standard_normal((60, 3000))
    y = rng.standard_normal(60)
    for alpha in (0.1, 0.5, 0.9):
        design = Design.of(X)
        path("irksn", design, y, k=5, alpha=alpha, max_iter=200, every=200)
        assert design.passes <= 2.2 * 200


def test_large_k_does_not_copy_a_large_x(monkeypatch, algorithm_1, rng):
    """With k near d there is nothing to leave out; then walk on X itself."""
    monkeypatch.setattr("ksupport.limits.ALL_COLUMNS", 1000)
    X = rng.standard_normal((40, 300))
    design = Design.of(X)
    path("irksn", design, X[:, 0], k=200, alpha=0.5, max_iter=5, every=5)
    read = design.columns_read - 300  # the norm's decomposition reads each column once
    assert read < 300
    assert_same_path(X, X[:, 0], 200, 0.5, 60, algorithm_1)


@pytest.mark.parametrize("has_columns", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 0.5])
def test_letting_go_of_the_data_and_coming_back_changes_nothing(has_columns, alpha, lazy, rng):
    X = rng.standard_normal((30, 500))
    y = X[:, :4].sum(axis=1)
    design = Design.of(X if has_columns else aslinearoperator(X))
    method = make_method("irksn", k=4, alpha=alpha)
    one = run([method.start(design, y)], max_iter=120)[0]
    parts = method.start(design, y)
    for end in (37, 80, 120):
        parts.attach(design)
        two = run([parts], max_iter=end)[0]
        parts.attach(None)
        assert not hasattr(parts, "design")
    np.testing.assert_allclose(two.coef, one.coef, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("method", ["irksn", "ksn", "ircr", "srdi", "iht"])
def test_copied_columns_save_all_passes_and_change_nothing(method, n_jobs, monkeypatch, rng):
    X = correlated(rng, 60, 2000)
    targets = [X[:, j : j + 4].sum(axis=1) + rng.standard_normal(60) for j in (0, 50)]

    def walk():
        design = Design.of(X).take(np.arange(50)).centred(standardize=True)
        walker = make_method(method, **({"k": 6} if method in ("irksn", "ksn", "iht") else {}))
        ys = [y[:50] - y[:50].mean() for y in targets]
        paths = [walker.start(design, y) for y in ys]
        before = design.passes
        results = run(paths, max_iter=150, every=4, n_jobs=n_jobs)
        return results, design.passes - before

    copied, passes = walk()
    assert passes == 0
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    shared, passes = walk()
    assert passes > 0
    for one, other in zip(copied, shared, strict=True):
        size = abs(other.iterates).max()
        assert abs(one.iterates - other.iterates).max() <= 1e-9 * size
        for name in ("t", "n_nonzero", "residual"):
            np.testing.assert_allclose(one.history[name], other.history[name], rtol=1e-9)


def test_rows_on_different_features_come_together():
    parts = [
        (np.array([1, 4]), np.array([[1.0, 0.0], [2.0, 0.0]])),
        (np.array([0, 1, 5]), np.array([[0.0, 3.0, 4.0]])),
    ]
    features, rows = together(parts, 6)
    np.testing.assert_array_equal(features, [1, 5])
    np.testing.assert_array_equal(rows, [[1, 0], [2, 0], [3, 4]])
    features, rows = together(parts[:1], 6)
    np.testing.assert_array_equal(features, [1])
    np.testing.assert_array_equal(rows, [[1], [2]])


# -- passes that look ahead ------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "alpha"), [(2, 0.1), (10, 0.01), (20, 0.1), (60, 0.1)])
def test_adaptive_steps_are_those_on_all_columns(k, alpha, monkeypatch, rng):
    """Steps that are refused between two passes, and where the path goes on, included."""
    X = correlated(rng, 80, 900)
    y = X[:, ::100] @ rng.standard_normal(9) + rng.standard_normal(80)
    method = make_method("irksn", k=k, alpha=alpha)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    (whole,) = run([method.start(Design.of(X), y)], max_iter=60)
    for limit in ("ALL_AT_ONCE", "ALL_COLUMNS"):
        monkeypatch.setattr(f"ksupport.limits.{limit}", 0)
    (lazy,) = run([method.start(Design.of(X), y)], max_iter=60)
    expected = whole.iterates.toarray()
    size = np.abs(expected).max()
    np.testing.assert_allclose(lazy.iterates.toarray(), expected, rtol=0, atol=1e-9 * size)


def test_a_pass_does_for_many_steps(monkeypatch, rng):
    X = correlated(rng, 200, 4000)
    y = X[:, ::400] @ rng.standard_normal(10) + rng.standard_normal(200)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    design = Design.of(X)
    run([make_method("irksn", k=8, alpha=0.01).start(design, y)], max_iter=60)
    assert design.passes <= 12


@pytest.mark.parametrize("near", [1e-9, 1e-3, 1.0])
def test_no_feature_left_out_exceeds_the_bound_of_many_references(near, rng):
    """Nor is the bound worse than the best of those of the single references."""
    X = rng.standard_normal((30, 200)) * np.exp(rng.standard_normal(200))
    refs = np.vstack([rng.standard_normal((6, 30)), np.zeros(30)])
    edges = np.column_stack([np.abs(refs @ X).max(axis=1)] * 2)
    reach = float(np.linalg.norm(X, axis=0).max())
    for scale in (1e-8, 1.0, 1e8):
        u = scale * (rng.standard_normal() * refs[4] + near * rng.standard_normal(30))
        bound = bound_outside(u, refs, edges, reach)
        single = [bound_outside(u, refs[[j]], edges[[j]], reach) for j in range(len(refs))]
        assert np.abs(X.T @ u).max() <= bound * (1 + 1e-12)
        assert bound == pytest.approx(min(single), rel=1e-12)


def test_columns_are_chosen_for_several_steps(monkeypatch, rng):
    """A working set does for more than one step on average, where every step moves far."""
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    X = rng.standard_normal((300, 3000))
    y = X[:, :20].sum(axis=1) + 5 * rng.standard_normal(300)
    walked: Any = make_method("irksn", k=8, alpha=0.1).start(Design.of(X), y)
    chosen, choose = [], walked._chosen
    walked._chosen = lambda: chosen.append(walked.t) or choose()
    run([walked], max_iter=60)
    assert 2 * len(chosen) < walked.t == 60


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_looking_ahead_in_one_go_sees_what_step_by_step_is_seen(loss, rng):
    """To the last bit; and the path is where it was."""
    X = rng.standard_normal((40, 60))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(40)
    y = y if loss == "squared" else (y > 0).astype(float)
    walked: Any = make_method("irksn", k=4, alpha=0.1, loss=loss).start(Design.of(X), y)
    run([walked], max_iter=7)
    state, free = walked.state, replace(walked.working, reach=0.0)
    before, seen = deepcopy(state), np.empty((2, 12, 2, 40))
    assert state.look_ahead(free, seen[0]) == State.look_ahead(state, free, seen[1]) == 12
    np.testing.assert_array_equal(*seen)
    for name in state.moving:
        np.testing.assert_array_equal(getattr(state, name), getattr(before, name))


def test_columns_chosen_for_several_vectors_are_those_that_lead_for_one(rng):
    up, down = np.abs(rng.standard_normal((2, 3, 400)))
    lengths, wrong, norms = np.array([1.0, 5.0, 0.0]), np.array([0.0, 0.1, 0.2]), rng.random(400)
    chosen, edges = np.zeros(400, bool), np.empty((3, 2))
    chosen[17] = True
    reach = choose_for(up, down, lengths, wrong, norms, 20, chosen, edges)
    largest = (up / np.array([[1.0], [5.0], [1.0]])).max(axis=0)
    left = ~chosen
    assert 20 <= chosen.sum() <= 60
    assert chosen[17]
    assert largest[left].max() <= np.sort(largest[chosen])[1]  # but for what was marked
    assert reach == norms[left].max()
    expected = [side[:, left].max(axis=1) + reach * wrong for side in (up, down)]
    np.testing.assert_array_equal(edges.T, expected)


def test_columns_at_hand_are_carried_over(rng):
    for _ in range(20):
        before, now = (np.flatnonzero(rng.random(12) < 0.5) for _ in range(2))
        columns = rng.standard_normal((12, 3))
        A = np.zeros((12, 3))
        A[: before.size] = columns[before]
        missing = carry_rows(A, before, now)
        np.testing.assert_array_equal(missing, ~np.isin(now, before))
        np.testing.assert_array_equal(A[: now.size][~missing], columns[now[~missing]])
