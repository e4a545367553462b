"""OMP equals scikit-learn's, for every kind of X, and ends where there is nothing left to fit."""

import re
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.linear_model import orthogonal_mp, orthogonal_mp_gram

from ksupport import path
from ksupport.algorithms import make_method, omp
from ksupport.design.view import Design


def problem(n=30, d=50, k=4, seed=0, noise=0.5):
    """A design with zeros, exact in single precision, so that all kinds hold the same X."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X = X.astype(np.float32).astype(np.float64)
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1, 1], k) * (1 + rng.random(k))
    return X, X @ w + noise * rng.standard_normal(n), w


def memmap(X, folder):
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", X.dtype, "r", shape=X.shape)


KINDS = {
    "C": lambda X, folder: np.ascontiguousarray(X),
    "F": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "CSR": lambda X, folder: sp.csr_array(X),
    "CSC": lambda X, folder: sp.csc_array(X),
    "memmap": memmap,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_path_is_that_of_scikit_learn(kind, tmp_path):
    X, y, _ = problem()
    expected = orthogonal_mp(X, y, n_nonzero_coefs=20, return_path=True).T
    given = KINDS[kind](X, tmp_path)
    before = given.copy()
    models = path("omp", given, y, max_iter=20).iterates.toarray()
    np.testing.assert_array_equal(models[0], 0)
    np.testing.assert_allclose(models[1:], expected, atol=1e-10)
    assert abs(before - given).max() == 0


# 3000 x 30 is walked on compressed rows; blocks of steps end at 64.
@pytest.mark.parametrize(("n", "d", "steps"), [(3000, 30, 30), (100, 150, 90)])
def test_long_and_tall_problems_too(n, d, steps):
    X, y, _ = problem(n, d)
    expected = orthogonal_mp_gram(X.T @ X, X.T @ y, n_nonzero_coefs=steps, return_path=True).T
    models = path("omp", X, y, max_iter=steps).iterates.toarray()
    np.testing.assert_allclose(models[1:], expected, atol=1e-9)


def test_step_t_has_t_atoms_and_a_residual_orthogonal_to_them():
    X, y, _ = problem()
    result = path("omp", X, y, max_iter=20)
    np.testing.assert_array_equal(result.history["n_nonzero"], np.arange(21))
    models = result.iterates.toarray()
    for before, after in pairwise(models):
        correlation = X.T @ (y - X @ before)
        (new,) = np.flatnonzero((after != 0) & (before == 0))
        assert new == np.argmax(np.abs(correlation))
        np.testing.assert_allclose(X[:, after != 0].T @ (y - X @ after), 0, atol=1e-10)


def test_a_sparse_signal_is_recovered_and_ends_the_path():
    X, y, w = problem(noise=0.0)
    result = path("omp", X, y)
    assert (result.reason, result.n_iter) == ("exhausted", 4)
    np.testing.assert_allclose(result.coef, w, atol=1e-12)


def test_without_a_limit_the_path_ends_when_y_is_fitted():
    X, y, _ = problem()
    result = path("omp", X, y)
    assert (result.reason, result.n_iter) == ("exhausted", 30)
    assert result.history["residual"][-1] < 1e-8
    assert result.history["residual"][-2] > 1e-8


def test_dependent_atoms_end_the_path():
    X, y, _ = problem()
    X = X[:, [0, 1, 2, 0, 1, 2]]
    result = path("omp", X, y)
    assert (result.reason, result.n_iter) == ("exhausted", 3)
    fit = X @ np.linalg.lstsq(X, y)[0]
    np.testing.assert_allclose(X @ result.coef, fit, atol=1e-12)


@pytest.mark.parametrize("x_scale", [1e-12, 1.0, 1e9])
@pytest.mark.parametrize("y_scale", [1e-12, 1.0, 1e9])
def test_the_units_of_x_and_y_make_no_difference(x_scale, y_scale):
    X, y, _ = problem()
    expected = path("omp", X, y)
    result = path("omp", X * x_scale, y * y_scale)
    assert (result.reason, result.n_iter) == (expected.reason, expected.n_iter)
    actual = result.iterates.toarray()[:21] * (x_scale / y_scale)
    np.testing.assert_allclose(actual, expected.iterates.toarray()[:21], atol=1e-9)


def test_an_atom_whose_coefficient_returns_to_zero_stays_an_atom():
    # y = e1 + e2; the first atom lies along y, then e1 and e2 fit y without it.
    X = np.array([[0.9, 1.0, 0.0, 0.0], [0.9, 0.0, 1.0, 0.0], [0.3, 0.0, 0.0, 0.0]])
    y = np.array([1.0, 1.0, 0.0])
    expected = orthogonal_mp(X, y, n_nonzero_coefs=3, return_path=True).T
    assert abs(expected[0, 0]) > 0.1 > abs(expected[-1, 0])
    models = path("omp", X, y).iterates.toarray()
    np.testing.assert_allclose(models[1:], expected, atol=1e-12)


@pytest.mark.parametrize("lost", [0, 2])
def test_an_exact_zero_among_the_coefficients_is_no_trap(lost, monkeypatch):
    X, y, _ = problem()
    expected = path("omp", X, y, max_iter=10).iterates.toarray()

    def with_a_zero(*args, **kwargs):
        out = orthogonal_mp(*args, **kwargs)
        if kwargs.get("return_n_iter"):
            out[0][np.flatnonzero(out[0])[lost]] = 0.0
        return out

    monkeypatch.setattr(omp, "orthogonal_mp", with_a_zero)
    models = path("omp", X, y, max_iter=10).iterates.toarray()
    np.testing.assert_allclose(models, expected, atol=1e-12)


def test_y_zero_ends_at_once():
    X, y, _ = problem()
    result = path("omp", X, 0 * y)
    assert (result.reason, result.n_iter) == ("exhausted", 0)
    np.testing.assert_array_equal(result.coef, 0)


@pytest.mark.parametrize("every", [1, 3, 8])
def test_the_last_model_is_recorded_wherever_the_path_ends(every):
    X, y, _ = problem(n=45, noise=0.0, k=7)
    full = path("omp", X, y).iterates.toarray()
    result = path("omp", X, y, every=every)
    steps = sorted({*range(0, 8, every), 7})
    np.testing.assert_array_equal(result.history["t"], steps)
    np.testing.assert_allclose(result.iterates.toarray(), full[steps], atol=1e-12)


def test_small_blocks_give_the_same_path():
    X, y, _ = problem(n=45, noise=0.0, k=7)
    full = path("omp", X, y, every=2)
    walked = make_method("omp").start(Design.of(X), y)
    steps, rows = [], []
    while not walked.exhausted:
        block = walked.advance(1000, 2, 50)  # room for one model
        steps.extend(block.t)
        rows.append(block.dense(50))
    np.testing.assert_array_equal(steps, full.history["t"])
    np.testing.assert_allclose(np.vstack(rows), full.iterates.toarray(), atol=1e-12)


def test_n_atoms_bounds_the_path():
    X, y, _ = problem()
    result = path("omp", X, y, n_atoms=3)
    assert (result.reason, result.n_iter) == ("exhausted", 3)


def test_an_operator_is_refused_with_a_way_out():
    X, y, _ = problem()
    message = "method 'omp' needs the columns of X, which a LinearOperator does not give.*iht"
    with pytest.raises(ValueError, match=message):
        path("omp", aslinearoperator(X), y)


def test_a_huge_sparse_x_is_refused_before_memory_runs_out():
    X = sp.eye_array(40_000, format="csr")
    message = re.escape("sparse X of shape (40000, 40000) takes 11.9 GB")
    with pytest.raises(ValueError, match=message):
        path("omp", X, np.ones(40_000))


@pytest.mark.parametrize("n_atoms", [0, 51])
def test_a_wrong_number_of_atoms_is_named(n_atoms):
    X, y, _ = problem()
    message = f"n_atoms must be between 1 and n_features=50, got {n_atoms}"
    with pytest.raises(ValueError, match=message):
        path("omp", X, y, n_atoms=n_atoms)
