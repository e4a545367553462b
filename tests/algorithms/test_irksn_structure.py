"""IRKSN with groups of features, one sign, and several responses with one support."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.sparse.linalg import aslinearoperator

from ksupport import path
from ksupport.algorithms import make_method
from ksupport.design import Design
from ksupport.walking import run, working_set

LOSS_Y = {"huber": lambda eta: eta, "logistic": lambda eta: (eta > 0) * 1.0}


def naive_prox(q, lam, k, labels, positive):
    """Of the squared k-support norm of norms of groups, by a search for s with plain sums."""
    cut = np.maximum(q, 0.0) if positive else q
    norms = np.array([np.linalg.norm(cut[..., labels == g]) for g in range(labels.max() + 1)])
    if np.count_nonzero(norms) <= k:
        theta = (norms > 0) * 1.0
    else:

        def excess(s):
            return np.clip(s * norms - lam, 0, 1).sum() - k

        high = (1 + lam) / norms[norms > 0].min()
        theta = np.clip(brentq(excess, 0.0, high, xtol=1e-15, rtol=1e-14) * norms - lam, 0, 1)
    return cut * (theta / (theta + lam))[labels]


def naive_walk(X, Y, k, alpha, labels, positive, steps):
    """Algorithm 1 with the spectral norm; W has a row for each response."""
    lam, gamma = (1 - alpha) / alpha, alpha / np.linalg.norm(X, 2) ** 2
    z = before = np.zeros_like(Y.T)
    theta, momentum, out = 1.0, 0.0, []
    for _ in range(steps + 1):
        out.append(naive_prox(-z @ X / alpha, lam, k, labels, positive))
        v = z + momentum * (z - before)
        r = naive_prox(-v @ X / alpha, lam, k, labels, positive)
        before, z = z, v + gamma * (r @ X.T - Y.T)
        new = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        theta, momentum = new, (theta - 1) / new
    return np.array([W.ravel() for W in out])


def data(n, d, targets=1, size=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    W = np.zeros((targets, d))
    W[:, : 2 * size] = np.abs(rng.standard_normal((targets, 2 * size))) + 0.5
    Y = X @ W.T + 0.3 * rng.standard_normal((n, targets))
    return X, Y, np.arange(d) // size


def flat(Y):
    return np.ascontiguousarray(Y.T).ravel()


STRUCTURES = {
    "groups": ({"feature_groups": True}, 1),
    "positive": ({"positive": True}, 1),
    "positive groups": ({"feature_groups": True, "positive": True}, 1),
    "shared": ({}, 4),
    "shared groups": ({"feature_groups": True}, 3),
    "shared positive": ({"positive": True}, 3),
}
every_structure = pytest.mark.parametrize("structure", list(STRUCTURES))


def asked(structure, n, d, seed=0):
    params, targets = STRUCTURES[structure]
    X, Y, labels = data(n, d, targets, seed=seed)
    if "feature_groups" in params:
        return X, Y, labels, params | {"feature_groups": labels.tolist()}
    return X, Y, np.arange(d), params


@every_structure
@pytest.mark.parametrize("k", [1, 3])
def test_the_walk_is_that_of_a_few_lines_of_numpy(structure, k):
    X, Y, labels, params = asked(structure, 20, 30)
    method = make_method("irksn", k=k, alpha=0.1, step="spectral", **params)
    (result,) = run([method.start(Design.of(X), flat(Y))], max_iter=60)
    positive = params.get("positive", False)
    expected = naive_walk(X, Y, k, 0.1, labels, positive, 60)
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-10)
    features = expected.reshape(61, -1, 30).any(axis=1)
    np.testing.assert_array_equal(result.history["n_nonzero"], features.sum(axis=1))


@every_structure
@pytest.mark.parametrize("step", ["adaptive", "spectral"])
@pytest.mark.parametrize(("n", "d", "alpha"), [(20, 600, 0.1), (40, 900, 1e-3), (30, 600, 0.5)])
def test_the_walk_on_a_working_set_is_the_full_walk(structure, step, n, d, alpha, monkeypatch):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    X, Y, _, params = asked(structure, n, d)
    design = Design.of(X)
    method = make_method("irksn", k=2, alpha=alpha, step=step, **params)
    lazy, plain = (method.start(design, flat(Y)) for _ in range(2))
    plain._go_plain(working_set.FOREVER)  # type: ignore[attr-defined]
    (result,) = run([lazy], max_iter=40)
    assert design.columns_read > 0
    expected = run([plain], max_iter=40)[0].iterates.toarray()
    np.testing.assert_allclose(
        result.iterates.toarray(), expected, atol=1e-9 * np.abs(expected).max()
    )


def least(X, Y, k, alpha, labels, positive):
    """argmin R(W) s.t. X Wᵀ = Y, by interior points."""
    W, theta = cp.Variable((Y.shape[1], X.shape[1])), cp.Variable(labels.max() + 1)
    parts = [
        cp.quad_over_lin(W[:, np.flatnonzero(labels == g)], theta[g])
        for g in range(labels.max() + 1)
    ]
    objective = (1 - alpha) / 2 * cp.sum(cp.hstack(parts)) + alpha / 2 * cp.sum_squares(W)
    bounds = [X @ W.T == Y, theta >= 0, theta <= 1, cp.sum(theta) <= k]
    problem = cp.Problem(cp.Minimize(objective), bounds + ([W >= 0] if positive else []))
    accuracy = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    problem.solve(solver=cp.CLARABEL, **accuracy)
    return W.value


@every_structure
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # to the digits asked for
@pytest.mark.parametrize(("k", "alpha"), [(1, 0.3), (2, 0.1), (3, 0.7)])
def test_the_limit_minimises_r_among_the_interpolators(structure, k, alpha):
    params, targets = STRUCTURES[structure]
    rng = np.random.default_rng(10 * k)
    X, labels = rng.standard_normal((4, 12)), np.arange(12) // 3
    Y = X @ np.maximum(rng.standard_normal((targets, 12)), 0.0).T  # there is a model of one sign
    if "feature_groups" in params:
        params = params | {"feature_groups": labels}
    else:
        labels = np.arange(12)
    start = make_method("irksn", k=k, alpha=alpha, **params).start(Design.of(X), flat(Y))
    (result,) = run([start], max_iter=60_000, every=1000, keep="last")
    limit = result.coef.reshape(targets, 12)
    np.testing.assert_allclose(X @ limit.T, Y, atol=1e-6)
    positive = params.get("positive", False)
    np.testing.assert_allclose(limit, least(X, Y, k, alpha, labels, positive), atol=1e-4)


@pytest.mark.parametrize("step", ["adaptive", "spectral", "nuclear", 1e-5])
@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_groups_of_one_are_the_plain_walk(step, loss):
    if loss != "squared" and step != "adaptive":
        pytest.skip("other losses take adaptive steps")
    X, Y, _ = data(30, 200)
    y = np.abs(np.round(Y[:, 0]))
    params = {"k": 4, "alpha": 0.05, "step": step, "loss": loss, "max_iter": 40}
    expected = path("irksn", X, y, **params).iterates.toarray()
    for groups in (list(range(200)), [[3], [5], [-1]], [f"g{j}" for j in range(200)]):
        found = path("irksn", X, y, feature_groups=groups, **params).iterates.toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_one_response_is_the_plain_walk_and_copies_of_it_are_as_well(rng):
    X, Y, _ = data(30, 200)
    one = path("irksn", X, Y[:, 0], k=4, alpha=0.05, max_iter=40)
    many = path("irksn", X, np.tile(Y[:, :1], 3), k=4, alpha=0.05, max_iter=40)
    assert many.coef.shape == (3, 200)
    for coef in many.coef:
        np.testing.assert_allclose(coef, one.coef, atol=1e-9)


def test_a_group_of_all_features_is_the_minimum_norm_solution(rng):
    X, y = rng.standard_normal((6, 15)), rng.standard_normal(6)
    params = {"k": 1, "alpha": 0.3, "max_iter": 20_000, "every": 1000, "keep": "last"}
    w = path("irksn", X, y, feature_groups=["all"] * 15, **params).coef
    np.testing.assert_allclose(w, np.linalg.pinv(X) @ y, atol=1e-7)


KINDS = {
    "sparse": sp.csr_matrix,
    "operator": aslinearoperator,
    "fortran": np.asfortranarray,
}


@every_structure
@pytest.mark.parametrize("kind", [*KINDS, "memmap", "dask"])
def test_every_kind_of_x_is_walked_alike(structure, kind, tmp_path, monkeypatch):
    X, Y, _, params = asked(structure, 30, 400)
    params = {"k": 3, "alpha": 0.1, "max_iter": 30} | params
    expected = path("irksn", X, Y, **params)
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    monkeypatch.setattr("ksupport.limits.SVD", 0)
    if kind == "memmap":
        X.tofile(tmp_path / "X")
        given = np.memmap(tmp_path / "X", X.dtype, "r", shape=X.shape)
    elif kind == "dask":
        given = pytest.importorskip("dask.array").from_array(X, chunks=(10, 150))
    else:
        given = KINDS[kind](X)
    found = path("irksn", given, Y, **params)
    scale = np.abs(expected.coef).max()
    np.testing.assert_allclose(
        found.iterates.toarray(), expected.iterates.toarray(), atol=1e-7 * scale
    )


def test_many_rows_are_compressed_and_change_nothing():
    X, Y, labels = data(3000, 30, targets=2)
    params = {"k": 2, "alpha": 0.1, "max_iter": 30, "feature_groups": labels}
    design = Design.of(X)
    assert design.compresses
    (expected,) = run(
        [make_method("irksn", k=2, alpha=0.1, feature_groups=labels).start(design, flat(Y))],
        max_iter=30,
    )
    found = path("irksn", X, Y, **params)
    np.testing.assert_allclose(found.coef.ravel(), expected.coef, atol=1e-9)


@pytest.mark.parametrize("loss", list(LOSS_Y))
def test_other_losses_keep_groups_and_signs(loss, monkeypatch):
    X, Y, labels = data(60, 300)
    y = LOSS_Y[loss](Y[:, 0] - np.median(Y[:, 0]))
    params = {"k": 2, "alpha": 0.05, "loss": loss, "feature_groups": labels, "positive": True}
    result = path("irksn", X, y, max_iter=30, **params)
    W = result.iterates.toarray()
    assert W.min() == 0.0 < W.max()
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    again = path("irksn", aslinearoperator(X), y, max_iter=30, **params)
    np.testing.assert_allclose(again.iterates.toarray(), W, atol=1e-8 * W.max())
    entered = path("irksn", X, y, max_iter=30, **(params | {"positive": False}))
    used = entered.iterates.toarray()[:, ::3] != 0
    for member in (1, 2):
        np.testing.assert_array_equal(entered.iterates.toarray()[:, member::3] != 0, used)


def test_where_nothing_is_positive_the_model_is_empty(rng):
    X = np.abs(rng.standard_normal((20, 30)))
    result = path("irksn", X, -X.sum(axis=1), k=3, max_iter=20, positive=True)
    assert not result.coef.any()
    assert np.isfinite(result.history["residual"]).all()


# -- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([0, 1], "has 2 labels, but X has n_features=5"),
        ("genes", "feature_groups must be None, a label for each feature or lists"),
        ([[0, 1], [1, 2]], "'1' is in two groups"),
        ([[0, 7]], "feature 7 is out of range for n_features=5"),
        ([[0, 1], 2], "mixes lists with 2"),
        ([["a", "b"]], "names the feature 'a', but X has no column names"),
        ([[0, 1.5]], r"got 1\.5 of type float"),
        ([0, 1, None, 2, 2], "no label for feature 2"),
    ],
)
def test_groups_that_are_none_are_named(groups, words, rng):
    X, y = rng.standard_normal((10, 5)), rng.standard_normal(10)
    with pytest.raises(ValueError, match=words):
        path("irksn", X, y, k=1, feature_groups=groups)


def test_k_counts_groups(rng):
    X, y = rng.standard_normal((10, 6)), rng.standard_normal(10)
    with pytest.raises(ValueError, match="k must be between 1 and n_groups=2, got 3"):
        path("irksn", X, y, k=3, feature_groups=[0, 0, 0, 1, 1, 1])


def test_several_responses_by_another_loss_are_refused(rng):
    X, Y = rng.standard_normal((10, 6)), rng.standard_normal((10, 2))
    with pytest.raises(ValueError, match=r"y must have shape \(n,\), got \(10, 2\)"):
        path("irksn", X, Y, k=3, loss="huber")
