"""IROSR against its formula, on every kind of X, and where its start and its step matter."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from ksupport import path
from ksupport.algorithms import make_method
from ksupport.design.view import Design


def problem(n, d, k, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1, 1], k) * (1 + rng.random(k))
    return X, X @ w + noise * rng.standard_normal(n), w


def twin(X, y, u, v, eta, steps):
    n = len(y)
    for _ in range(steps):
        yield u**2 - v**2
        r = X @ (u**2 - v**2) - y
        u, v = u - (2 * eta / n) * (X.T @ r) * u, v + (2 * eta / n) * (X.T @ r) * v
    yield u**2 - v**2


def memmap(X, folder):
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", X.dtype, "r", shape=X.shape)


KINDS = {
    "C": lambda X, folder: np.ascontiguousarray(X),
    "F": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "CSR": lambda X, folder: sp.csr_array(X),
    "CSC": lambda X, folder: sp.csc_array(X),
    "LinearOperator": lambda X, folder: aslinearoperator(X),
    "memmap": memmap,
}


# 4000 x 20 walks on compressed rows, where n is not their number; 60 x 2500 by plain steps.
@pytest.mark.parametrize(("n", "d"), [(30, 50), (4000, 20), (60, 2500), (1, 3)])
@pytest.mark.parametrize("init", ["symmetric", "published"])
def test_the_iterates_are_those_of_the_formula(n, d, init):
    X, y, _ = problem(n, d, 2, noise=0.5)
    eta, u = 0.02, np.full(d, 0.1)
    v = u if init == "symmetric" else np.zeros(d)
    result = path("irosr", X, y, alpha=0.1, eta=eta, init=init, max_iter=100)
    expected = np.array(list(twin(X, y, u, v, eta, 100)))
    assert np.abs(expected[-1] - expected[0]).max() > 1e-3
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [True, False])
def test_every_kind_of_x_gives_the_same_iterates(kind, compiled, tmp_path, monkeypatch):
    if not compiled:
        monkeypatch.setattr("ksupport.limits.COMPILED", 0)
    X, y, _ = problem(25, 40, 3)
    X = X.astype(np.float32).astype(np.float64)  # exact in both precisions
    eta = make_method("irosr").start(Design.of(X), y).eta  # type: ignore[attr-defined]
    expected = np.array(list(twin(X, y, np.full(40, 1e-3), np.full(40, 1e-3), eta, 400)))
    assert np.abs(expected[-1]).max() > 1
    result = path("irosr", KINDS[kind](X, tmp_path), y, max_iter=400)
    tolerance = 1e-4 if kind == "float32" else 1e-9  # products in single precision
    np.testing.assert_allclose(result.iterates.toarray(), expected, atol=tolerance)


@pytest.mark.parametrize("every", [1, 5, 7])
def test_recording_less_often_changes_nothing(every):
    X, y, _ = problem(30, 50, 3)
    full = path("irosr", X, y, max_iter=500).iterates.toarray()
    some = path("irosr", X, y, max_iter=500, every=every)
    np.testing.assert_array_equal(some.history["t"][:-1] % every, 0)
    assert some.history["t"][-1] == 500
    np.testing.assert_array_equal(some.iterates.toarray(), full[some.history["t"]])


def test_a_sparse_signal_with_both_signs_is_recovered():
    X, y, w = problem(60, 100, 5)
    result = path("irosr", X, y, alpha=1e-4, max_iter=20_000, every=100)
    assert w.min() < -1
    assert w.max() > 1
    np.testing.assert_allclose(result.coef, w, atol=0.01)


def test_the_published_start_reaches_only_non_negative_models():
    X, y, w = problem(60, 100, 5)
    published = path("irosr", X, y, init="published", max_iter=5000, every=10)
    symmetric = path("irosr", X, y, max_iter=5000, every=10)
    assert published.iterates.min() >= 0
    assert symmetric.iterates.min() < -0.9
    assert np.linalg.norm(symmetric.coef - w) < 0.1 < 1 < np.linalg.norm(published.coef - w)


@pytest.mark.parametrize("init", ["symmetric", "published"])
def test_the_start_does_not_depend_on_y(init):
    X, y, _ = problem(20, 30, 3)
    starts = [
        path("irosr", X, target, alpha=0.2, init=init, max_iter=3).iterates[[0]].toarray()[0]
        for target in (y, -2 * y)
    ]
    expected = 0.0 if init == "symmetric" else 0.2**2
    np.testing.assert_array_equal(starts, np.full((2, 30), expected))


def test_flipping_a_column_flips_its_coefficient():
    X, y, _ = problem(30, 50, 4)
    signs = np.random.default_rng(1).choice([-1, 1], 50)
    plain = path("irosr", X, y, max_iter=800).coef
    flipped = path("irosr", X * signs, y, max_iter=800).coef
    np.testing.assert_allclose(flipped, plain * signs, atol=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_the_default_step_descends(rho, alpha):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 60))
    for j in range(1, 60):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    y = X[:, ::20] @ [1.0, -2.0, 1.5] + rng.standard_normal(40)
    residual = path("irosr", X, y, alpha=alpha, max_iter=5000, every=50).history["residual"]
    assert np.all(np.diff(residual) <= 1e-12 * residual[0])
    assert residual[-1] < 0.5 * residual[0]


def test_the_default_step_and_its_limit_survive_compression():
    X, y, _ = problem(5000, 20, 3)
    compact, target = Design.of(X).compressed(y)
    assert compact.n < 30
    full = make_method("irosr").start(Design.of(X), y)
    small = make_method("irosr").start(compact, target[:, 0])
    np.testing.assert_allclose([small.eta, small.largest], [full.eta, full.largest], rtol=1e-9)  # type: ignore[attr-defined]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_step_too_large_ends_with_the_last_finite_iterate(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr("ksupport.limits.COMPILED", 0)
    X, y, _ = problem(30, 50, 4)
    largest = make_method("irosr").start(Design.of(X), y).largest  # type: ignore[attr-defined]
    with pytest.warns(ConvergenceWarning, match=re.escape(f"stable one is about {largest:.3g}")):
        result = path("irosr", X, y, eta=20 * largest, max_iter=2000)
    assert result.reason == "diverged"
    assert np.isfinite(result.coef).all()
    assert np.abs(result.coef).max() > 1e3
    assert result.n_iter == result.history["t"][-1] < 2000
    # That step was the last one: the next iterate is not finite.
    start = np.full(50, 1e-3)
    with np.errstate(over="ignore", invalid="ignore"):
        *_, last, beyond = twin(X, y, start, start, 20 * largest, result.n_iter + 1)
    np.testing.assert_allclose(result.coef, last, rtol=1e-6)
    assert not np.isfinite(beyond).all()
    # And the step that the warning names is stable.
    assert path("irosr", X, y, eta=largest, max_iter=2000).reason == "max_iter"


def test_a_stored_path_goes_on_where_it_was():
    X, y, _ = problem(30, 50, 3)
    design = Design.of(X)
    full = path("irosr", X, y, max_iter=200).iterates.toarray()
    walk = make_method("irosr").start(design, y)
    first = walk.advance(120, 1, 1 << 20).rows
    walk.attach(None)
    walk.attach(Design.of(np.asfortranarray(X)))
    second = walk.advance(200, 1, 1 << 20).rows
    np.testing.assert_array_equal(np.vstack([first, second]), full)


@pytest.mark.parametrize("X", [np.zeros((5, 4)), np.eye(5, 4)])
def test_nothing_moves_where_there_is_nothing_to_fit(X):
    result = path("irosr", X, np.zeros(5), max_iter=50)
    np.testing.assert_array_equal(result.iterates.toarray(), np.zeros((51, 4)))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0.0}, "alpha must be positive and finite, got 0.0"),
        ({"eta": -1.0}, "eta must be positive and finite, or None, got -1.0"),
        ({"init": "zero"}, "init must be 'symmetric' or 'published', got 'zero'"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        path("irosr", np.eye(3), np.ones(3), **params)
