"""Lasso and ElasticNet equal scikit-learn's, for every kind of X and every view of it."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path, lasso_path

from ksupport import path
from ksupport.algorithms import enet, make_method
from ksupport.design import Problem, Unpenalized, Weights
from ksupport.design.view import Design
from ksupport.walking import run

RATIOS = [0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0]
TIGHT = {"tol": 1e-12, "max_sweeps": 100_000}


def problem(n=30, d=50, seed=0, noise=0.5):
    """A design with zeros, exact in single precision, so that all kinds hold the same X."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)
    X = X.astype(np.float32).astype(np.float64)
    w = np.zeros(d)
    w[:4] = [2.0, -1.5, 1.0, 3.0]
    return X, X @ w + noise * rng.standard_normal(n)


def memmap(X, folder):
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", X.dtype, "r", shape=X.shape)


KINDS = {
    "C": lambda X, folder: np.ascontiguousarray(X),
    "F": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "CSR": lambda X, folder: sp.csr_array(X),
    "CSC": lambda X, folder: sp.csc_array(X),
    "CSR matrix": lambda X, folder: sp.csr_matrix(X),
    "memmap": memmap,
}


def walk(method, design, y, max_iter=1000, **params):
    """Walk on a design and return the models of steps 1, 2, … and the path."""
    chosen = make_method(method, **params).start(design, y)
    result = run([chosen], max_iter=max_iter)[0]
    return result.iterates.toarray()[1:], chosen


@pytest.mark.parametrize("kind", KINDS)
def test_lasso_is_that_of_scikit_learn(kind, tmp_path):
    X, y = problem()
    lambdas, expected, _ = lasso_path(X, y, eps=0.01)
    result = path("lasso", KINDS[kind](X, tmp_path), y, eps=0.01)
    assert result.reason == "exhausted"
    np.testing.assert_array_equal(result.history["t"], np.arange(101))
    np.testing.assert_array_equal(result.iterates.toarray()[0], 0)
    assert np.count_nonzero(expected[:, -1]) > 4
    tolerance = 1e-6 if kind == "float32" else 1e-10  # lambda from a product in that precision
    np.testing.assert_allclose(result.iterates.toarray()[1:], expected.T, atol=tolerance)
    chosen = make_method("lasso", eps=0.01).start(Design.of(X), y)
    np.testing.assert_allclose(chosen.lambdas[1:], lambdas)  # type: ignore[attr-defined]
    assert chosen.lambdas[0] == np.inf  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
def test_enet_walks_the_seven_ratios_one_after_the_other(kind, tmp_path):
    X, y = problem()
    expected = np.vstack([enet_path(X, y, l1_ratio=r, eps=0.05)[1].T for r in RATIOS])
    result = path("enet", KINDS[kind](X, tmp_path), y, eps=0.05)
    tolerance = 1e-6 if kind == "float32" else 1e-10
    np.testing.assert_allclose(result.iterates.toarray()[1:], expected, atol=tolerance)
    chosen = make_method("enet", eps=0.05).start(Design.of(X), y)
    assert chosen.lambdas.size == chosen.l1_ratios.size == 701  # type: ignore[attr-defined]
    np.testing.assert_array_equal(chosen.l1_ratios[1:], np.repeat(RATIOS, 100))  # type: ignore[attr-defined]
    np.testing.assert_allclose(chosen.lambdas[301:401], enet_path(X, y, l1_ratio=0.9, eps=0.05)[0])  # type: ignore[attr-defined]


def test_one_ratio_or_a_grid_of_ones_own():
    X, y = problem()
    mine = [0.1, 1.0, 0.3]
    expected = enet_path(X, y, l1_ratio=0.8, alphas=mine)[1].T
    models, chosen = walk("enet", Design.of(X), y, l1_ratio=0.8, lambdas=mine)
    np.testing.assert_array_equal(chosen.lambdas, [np.inf, 1.0, 0.3, 0.1])
    np.testing.assert_allclose(models, expected, atol=1e-12)


def test_a_ratio_given_twice_is_walked_twice():
    X, y = problem()
    models, _ = walk("enet", Design.of(X), y, l1_ratio=[0.5, 0.5], eps=0.1, n_lambdas=10)
    np.testing.assert_array_equal(models[:10], models[10:])
    assert np.any(models[9])


def test_a_model_satisfies_the_optimality_conditions():
    X, y = problem(noise=1.0)
    n, ratio = len(y), 0.7
    models, chosen = walk("enet", Design.of(X), y, l1_ratio=ratio, eps=0.05, **TIGHT)
    for w, lam in zip(models, chosen.lambdas[1:], strict=True):
        gradient = X.T @ (X @ w - y) / n + lam * (1 - ratio) * w
        used = w != 0
        np.testing.assert_allclose(gradient[used], -lam * ratio * np.sign(w[used]), atol=1e-6)
        assert np.all(np.abs(gradient[~used]) <= lam * ratio * (1 + 1e-6))


@pytest.mark.parametrize("method", ["lasso", "enet"])
def test_compressed_rows_keep_the_models(method):
    X, y = problem(5000, 20)
    compact, target = Design.of(X).compressed(y)
    assert compact.n < 30
    full, one = walk(method, Design.of(X), y, eps=0.01, **TIGHT)
    small, other = walk(method, compact, target[:, 0], eps=0.01, **TIGHT)
    np.testing.assert_allclose(other.lambdas, one.lambdas)
    np.testing.assert_allclose(small, full, atol=1e-8)


@pytest.mark.parametrize("method", ["lasso", "enet"])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("own_mean", [False, True])
def test_views_of_a_sparse_x_are_solved_as_if_dense(method, standardize, weighted, own_mean):
    X, y = problem(40, 25)
    rows = np.random.default_rng(1).permutation(40)[:30]
    weights = np.random.default_rng(2).random(40) + 0.1

    def view(kind):
        design = Design.of(kind(X))
        if weighted:
            design = design.weighted(weights)
        if own_mean:
            return design.take(rows).centred(standardize=standardize)
        return design.centred(standardize=standardize).take(rows)

    target = y[rows] * (np.sqrt(weights[rows]) if weighted else 1.0)
    dense, sparse = view(np.asarray), view(sp.csr_array)
    X_given, _, more = enet._problem(method, sparse, target)
    assert sp.issparse(X_given) == bool(more) == own_mean
    grid = {"eps": 0.02, "n_lambdas": 30, **TIGHT}
    expected, _ = walk(method, dense, target, **grid)
    models, _ = walk(method, sparse, target, **grid)
    assert np.count_nonzero(expected[-1]) > 3
    np.testing.assert_allclose(models, expected, atol=1e-7)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_sparse_x_is_never_made_dense_where_it_need_not(standardize, monkeypatch):
    X, y = problem(40, 25)
    monkeypatch.setattr("ksupport.limits.DENSE", 10)
    centred = Design.of(sp.csr_array(X)).centred(standardize=standardize)
    models, _ = walk("lasso", centred, y, n_lambdas=20, eps=0.01)
    assert np.any(models)
    with pytest.raises(ValueError, match="needs a sparse X that is centred by other means"):
        walk("lasso", centred.take(np.arange(20)), y[:20])
    columns = Unpenalized(np.array([0]), ("a",))
    adjusted = Problem(
        sp.csr_array(X), y[:, None], Weights(), np.arange(40), True, standardize,
        unpenalized=columns,
    )  # fmt: skip
    with pytest.raises(ValueError, match="needs a sparse X that is adjusted for columns"):
        walk("lasso", adjusted.design, y)


@pytest.mark.parametrize("max_iter", [0, 1, 10, 150])
@pytest.mark.parametrize("every", [1, 4])
def test_only_the_lambdas_asked_for_are_walked(max_iter, every, monkeypatch):
    X, y = problem()
    params = {"l1_ratio": [0.5, 1.0], "eps": 0.05}
    full = path("enet", X, y, **params).iterates.toarray()
    solved = []

    def counting(*args, **kwargs):
        solved.extend(kwargs["alphas"])
        return enet_path(*args, **kwargs)

    monkeypatch.setattr(enet, "enet_path", counting)
    result = path("enet", X, y, max_iter=max_iter, every=every, **params)
    assert len(solved) == max_iter
    assert result.reason == "max_iter"
    steps = sorted({*range(0, max_iter + 1, every), max_iter})
    np.testing.assert_array_equal(result.history["t"], steps)
    np.testing.assert_array_equal(result.iterates.toarray(), full[steps])


def test_small_blocks_give_the_same_path():
    X, y = problem()
    design = Design.of(X)
    full = path("enet", X, y, eps=0.05, every=7)
    walked = make_method("enet", eps=0.05).start(design, y)
    steps, rows = [], []
    while not walked.exhausted:
        block = walked.advance(700, 7, 3 * 50)  # room for three models
        steps.extend(block.t)
        rows.append(block.dense(50))
    np.testing.assert_array_equal(steps, full.history["t"])
    np.testing.assert_array_equal(np.vstack(rows), full.iterates.toarray())


def test_a_stored_path_goes_on_where_it_was():
    X, y = problem()
    full = path("lasso", X, y, eps=0.05).iterates.toarray()
    walked = make_method("lasso", eps=0.05).start(Design.of(X), y)
    first = walked.advance(30, 1, 1 << 20).dense(50)
    walked.attach(None)
    walked.attach(Design.of(X))
    second = walked.advance(100, 1, 1 << 20).dense(50)
    np.testing.assert_array_equal(np.vstack([first, second]), full)


def test_y_without_any_correlation_gives_zero_models():
    result = path("lasso", np.eye(4, 3), np.array([0.0, 0.0, 0.0, 2.0]))
    assert result.reason == "exhausted"
    np.testing.assert_array_equal(result.iterates.toarray(), np.zeros((101, 3)))


def test_unfinished_descent_is_told_once_with_what_to_do():
    X, y = problem()
    with pytest.warns(ConvergenceWarning) as caught:
        path("lasso", X, y, max_iter=50, tol=1e-10, max_sweeps=2)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert re.search(r"did not reach tol=1e-10 in max_sweeps=2 for \d+ of the 50 lambdas", message)
    assert "raise max_sweeps" in message


@pytest.mark.parametrize("method", ["lasso", "enet"])
def test_an_operator_is_refused_with_a_way_out(method):
    X, y = problem()
    message = f"method '{method}' needs the columns of X, which a LinearOperator does not give"
    with pytest.raises(ValueError, match=message + ".*irosr"):
        path(method, aslinearoperator(X), y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"l1_ratio": 0.0}, "l1_ratio must lie in (0, 1], got 0.0"),
        ({"l1_ratio": []}, "l1_ratio must lie in (0, 1], got []"),
        ({"eps": 1.0}, "eps must lie strictly between 0 and 1, got 1.0"),
        ({"n_lambdas": 0}, "n_lambdas must be at least 1, got 0"),
        ({"lambdas": [1.0, -1.0]}, "lambdas must be a sequence of positive numbers, got"),
        ({"tol": -1.0}, "tol must not be negative, got -1.0"),
        ({"max_sweeps": 0}, "max_sweeps must be at least 1, got 0"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        path("enet", np.eye(3), np.ones(3), **params)
