"""Columns projected off, against regression on them and explicit residuals (Frisch and Waugh)."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport import limits
from ksupport.design import Problem, Unpenalized, Weights
from ksupport.design.adjusting import Adjusting
from ksupport.design.projection import Basis
from ksupport.design.rounds import Round, forward_and_adjoint
from ksupport.design.view import Design

U = np.array([0, 4])  # unpenalised columns of X
COPY = 2  # a column that depends on them and the intercept
NEARLY = 3  # one that nearly does
SHAPES = [(30, 45), (900, 80)]  # wide; tall enough for sums of squares


def dask_array(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(X.shape[0] // 3 + 1, 17))


def zarr_array(X, folder):
    zarr = pytest.importorskip("zarr")
    return zarr.array(X, chunks=(X.shape[0] // 2 + 1, 11))


def memmap(X, folder):
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", X.dtype, "r", shape=X.shape)


KINDS = {
    "C": lambda X, folder: X,
    "F": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "CSR": lambda X, folder: sp.csr_array(X),
    "CSC": lambda X, folder: sp.csc_array(X),
    "LinearOperator": lambda X, folder: aslinearoperator(X),
    "memmap": memmap,
    "Zarr": zarr_array,
    "Dask": dask_array,
}


@cache
def data(n, d):
    """X, exact in single precision, two responses, weights, and columns beside X."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d)) + 2 * rng.standard_normal((n, 1)) + rng.integers(-3, 4, d)
    X[rng.random((n, d)) < 0.2] = 0.0
    X = np.round(64 * X) / 64
    X[:, COPY] = 2 * X[:, 0] - X[:, 4] + 3
    X[:, NEARLY] = X[:, 0] + (np.arange(n) % 7 == 0) / 64
    Y = rng.standard_normal((n, 2)) + X[:, [0, 1]] - 3 * X[:, [4, 7]] + 5
    return X, Y, 0.1 + rng.random(n), rng.integers(0, 2, (n, 1)).astype(float)


def fitted_on(A, M, rows, weights):
    """Least squares of M on A, on some rows."""
    root = np.sqrt(weights[rows])[:, None]
    return np.linalg.lstsq(A[rows] * root, M[rows] * root, rcond=None)[0]


def residuals(n, d, weighted, center, rows, at):
    """X and Y at some rows, less what is said by a regression on all unpenalised on others."""
    X, Y, weights, extra = data(n, d)
    weights = weights if weighted else np.ones(n)
    A = np.hstack([X[:, U], extra, *([np.ones((n, 1))] if center else [])])
    X, Y = ((M - A @ fitted_on(A, M, rows, weights))[at] for M in (X, Y))
    X[:, U] = 0.0
    if center:
        X[:, COPY] = 0.0
    weights = weights[at] / weights[at].mean()
    return X, Y, weights


def problem_on(given, n, d, weighted, center, scale, compress):
    X, Y, weights, extra = data(n, d)
    rows = np.arange(n)
    split = (rows[rows % 3 > 0], rows[rows % 3 == 0])
    columns = Unpenalized(U, ("x0", "x4", "extra"), extra)
    weights = Weights(weights if weighted else None)
    return Problem(given, Y, weights, rows, center, scale, compress, [split], columns)


def cases():
    for kind in KINDS:
        for n, d in SHAPES:
            for compress in (False, True) if n > d and kind != "LinearOperator" else (False,):
                yield pytest.param(kind, n, d, compress, id=f"{kind}-{n}-{compress}")


def assert_close(actual, expected, tolerance=1e-8):
    size = np.abs(expected).max()
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize(("kind", "n", "d", "compress"), list(cases()))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_designs_and_targets_are_residuals(kind, n, d, compress, weighted, center, scale, tmp_path):
    problem = problem_on(
        KINDS[kind](data(n, d)[0], tmp_path), n, d, weighted, center, scale, compress
    )
    assert (problem.squares is not None) == compress
    (fold, unseen), rows = problem.folds()[0], np.arange(n)
    train, test = problem.splits[0]
    tolerance = 1e-4 if kind == "float32" else 1e-8
    for walked, at in [(problem.whole, rows), (fold, train)]:
        X, Y, weights = residuals(n, d, weighted, center, at, at)
        if scale:
            middle = np.average(X, axis=0, weights=weights)
            deviation = np.sqrt(np.average((X - middle) ** 2, axis=0, weights=weights))
            X /= np.where(deviation > 0, deviation, 1.0)
        X, Y = X * np.sqrt(weights)[:, None], Y * np.sqrt(weights)[:, None]
        design, targets = walked.design, np.column_stack(walked.targets)
        w = np.cos(np.arange(d))
        assert_close(design.rmatmat(targets), X.T @ Y, tolerance)
        assert_close(np.linalg.norm(design.matvec(w)), np.linalg.norm(X @ w), tolerance)
        assert_close(design.column_norms, np.linalg.norm(X, axis=0), tolerance)
        assert_close(targets.T @ targets, Y.T @ Y, tolerance)
        if not compress and design.near:
            assert_close(design.columns(np.arange(d)).T, X, tolerance)
        np.testing.assert_allclose(design.norm(), np.linalg.norm(X, 2), rtol=2e-3)
        assert not design.rmatvec(targets[:, 0])[U].any()
    X, Y, weights = residuals(n, d, weighted, center, train, test)
    coef = np.where(np.isinf(fold.view.scale), 0.0, np.sin(np.arange(d)))
    error = np.average((X @ (coef / fold.view.scale) - Y[:, 0]) ** 2, weights=weights)
    assert_close(unseen.errors_of(coef[None])[0], error, tolerance)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("compress", [False, True])
def test_a_finished_model_is_the_regression_on_features_and_unpenalised(weighted, center, compress):
    n, d = SHAPES[1]
    X, Y, weights, extra = data(n, d)
    problem = problem_on(X, n, d, weighted, center, True, compress)
    S = [7, 11]
    design = problem.design
    w = np.zeros((2, d))
    columns = design.columns(np.array(S))
    w[:, S] = [np.linalg.lstsq(columns.T, y)[0] for y in problem.targets]
    coef, adjustment, intercept = problem.to_original_units(problem.unscaled(w))
    A = np.hstack([X[:, U], extra, X[:, S], *([np.ones((n, 1))] if center else [])])
    expected = fitted_on(A, Y, np.arange(n), weights if weighted else np.ones(n))
    assert_close(adjustment.T, expected[:3])
    assert_close(coef[:, S].T, expected[3:5])
    assert_close(coef[:, U].T, expected[:2])
    assert_close(intercept, expected[5] if center else np.zeros(2))
    one = problem.to_original_units(problem.unscaled(w[0]))
    assert_close(one[1], expected[:3, 0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("few", [False, True])
def test_norms_are_right_where_little_is_left(kind, compress, few, tmp_path):
    """A column of ones instead of an intercept, and means a thousand times the deviations."""
    n, d = SHAPES[1]
    if kind == "float32" or (kind == "LinearOperator" and compress):
        pytest.skip("has no such digits, or no such way")
    X = np.round(64 * np.random.default_rng(0).standard_normal((n, d))) / 64
    X[:, : 5 if few else d] += 1024
    X[:, 1] = 1.0
    rows = np.arange(n)
    problem = Problem(
        KINDS[kind](X, tmp_path), X[:, :1] * 1.0, Weights(), rows, False, True, compress,
        unpenalized=Unpenalized(np.array([1]), ("ones",)),
    )  # fmt: skip
    left = X - X.mean(axis=0)
    expected = np.delete(np.full(d, np.sqrt(n)), 1)
    np.testing.assert_allclose(np.delete(problem.view.column_norms, 1), expected, rtol=1e-9)
    np.testing.assert_allclose(np.delete(problem.view.scale, 1), np.delete(left.std(axis=0), 1))
    assert problem.view.column_norms[1] == 0


@pytest.mark.parametrize("kind", ["C", "F", "CSR"])
def test_forward_and_adjoint_are_the_products(kind):
    n, d = SHAPES[0]
    problem = problem_on(KINDS[kind](data(n, d)[0], None), n, d, True, True, True, False)
    rng = np.random.default_rng(0)
    views = [problem.design, problem.folds()[0][0].design]
    rounds = [
        Round(rng.standard_normal((d, 2)), rng.standard_normal((v.n, 3)), np.ones((2, 3)))
        for v in views
    ]
    there, back = forward_and_adjoint(views, rounds)
    for view, each, XW, XtU in zip(views, rounds, there, back, strict=True):
        X = view.columns(np.arange(d)).T
        assert_close(XW, X @ each.W)
        assert_close(XtU, X.T @ (each.A + X @ each.W @ each.C))


@pytest.mark.parametrize("kind", ["C", "F", "CSR", "memmap"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("adjusted", [False, True])
def test_products_with_the_response_come_with_the_pass_that_prepares(
    kind, weighted, adjusted, tmp_path, monkeypatch
):
    monkeypatch.setattr(limits, "COPIED_COLUMNS", 0)
    X, Y, weights, extra = data(30, 45)
    rows = np.arange(30)
    split = (rows[rows % 3 > 0], rows[rows % 3 == 0])
    columns = Unpenalized(U, ("x0", "x4", "extra"), extra) if adjusted else None
    problem = Problem(
        KINDS[kind](X, tmp_path), Y, Weights(weights if weighted else None), rows, True, True,
        False, [split], columns,
    )  # fmt: skip
    ((walked, _),) = problem.folds()
    passes = problem.raw.passes
    for each in (problem.whole, walked):
        assert each.design.known is not None
        vectors, products = each.design.known
        np.testing.assert_array_equal(vectors, np.stack(each.targets))
        assert_close(products, each.design.rmatmat(vectors.T).T)
    assert problem.raw.passes == passes + 2  # what was just compared with
    if kind in ("C", "F"):
        assert passes == 1


@pytest.mark.parametrize("center", [False, True])
def test_what_is_in_every_model_explains_what_is_expected(center):
    n, d = SHAPES[0]
    problem = problem_on(data(n, d)[0], n, d, False, center, False, False)
    fold = problem.folds()[0][0]
    train, test = problem.splits[0]
    A, Y = problem.always_on(train), data(n, d)[1]
    assert A.shape[1] == 3 + center
    coef = np.linalg.lstsq(A, Y[train, 1])[0]
    assert_close(fold.expected(problem.always_on(test), 1), problem.always_on(test) @ coef)


def test_what_unpenalised_columns_explain_is_exactly_nothing():
    n, d = SHAPES[0]
    X = data(n, d)[0]
    y = 3 * X[:, 0] - 7 * X[:, 4] + 1
    rows = np.arange(n)
    problem = Problem(
        X, y[:, None], Weights(), rows, True, False, unpenalized=Unpenalized(U, ("a", "b"))
    )
    assert not problem.targets[0].any()
    assert not problem.design.columns(np.array([0, COPY, 4])).any()
    assert problem.design.column_norms[NEARLY] > 0


def test_every_row_order_and_column_order_gives_the_same_residuals():
    n, d = SHAPES[0]
    X, Y, _, extra = data(n, d)
    rows, columns = np.random.default_rng(0).permutation(n), np.arange(d)[::-1]
    one = problem_on(X, n, d, False, True, True, False)
    moved = Unpenalized(d - 1 - U[::-1], ("x4", "x0", "extra"), extra[rows])
    other = Problem(
        X[rows][:, columns], Y[rows], Weights(), np.arange(n), True, True, unpenalized=moved
    )
    expected = one.design.columns(columns)[:, rows]
    assert_close(other.design.columns(np.arange(d)), expected, 1e-10)


def test_a_basis_is_orthonormal_and_leaves_out_what_depends():
    rng = np.random.default_rng(0)
    A, weights = rng.standard_normal((20, 3)), rng.random(20)
    A = np.column_stack([A, A @ [1, 2, 3] + 4, np.ones(20)])
    basis, left_out = Basis.of(A, weights, center=True)
    Z = basis.rows(A)
    np.testing.assert_allclose(Z.T @ (Z * weights[:, None]), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(weights @ Z, 0, atol=1e-12)
    assert left_out.size == 2
    assert 4 in left_out
    assert Basis.of(A[:, :3], None, center=False)[0].rank == 3


def test_a_fold_without_a_level_is_adjusted_for_the_others():
    n, d = SHAPES[0]
    X, Y, _, _ = data(n, d)
    rare = np.zeros((n, 1))
    rare[:3] = 1.0
    split = (np.arange(3, n), np.arange(3))
    columns = Unpenalized(U, ("x0", "x4", "rare"), rare)
    problem = Problem(X, Y, Weights(), np.arange(n), True, False, False, [split], columns)
    fold, unseen = problem.folds()[0]
    assert fold.adjustment.basis.rank == 2
    assert problem.whole.adjustment.basis.rank == 3
    assert np.isfinite(unseen.errors_of(np.ones((1, d)))).all()


# -- what cannot be adjusted for -----------------------------------------------------------


def check(X, index, center=True, sets=None, weights=None):
    names = tuple("abcdefg"[: len(index)])
    Adjusting(Design.of(X), Unpenalized(np.array(index), names), center).check(
        sets or [np.arange(len(X))], weights
    )


def test_what_is_wrong_with_unpenalised_columns_is_told():
    X = np.random.default_rng(0).standard_normal((12, 5))
    X[:, 3] = 2.5
    check(X, [0, 1])
    check(X, [0, 3], center=False)
    with pytest.raises(ValueError, match="column 'b' is constant, as the intercept is; leave it"):
        check(X, [0, 3])
    X[:, 3] = 0
    with pytest.raises(ValueError, match="column 'a' is zero; leave it out"):
        check(X, [3], center=False)
    X[:, 3] = X[:, 0] - 2 * X[:, 1] + 1
    with pytest.raises(ValueError, match=r"is a linear combination of ., . and a constant"):
        check(X, [0, 1, 2, 3])
    check(X, [0, 1, 2, 3], center=False)
    with pytest.raises(
        ValueError, match=r"4 columns and the intercept leave nothing .* of n_samples=5 rows;"
    ):
        check(X[:5], [0, 1, 2, 4])
    with pytest.raises(ValueError, match="nothing to explain of n_samples=4 rows of a fold"):
        check(X, [0, 1, 2], sets=[np.arange(12), np.arange(4)])
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="column 'b' contains NaN"):
        check(X, [0, 1])
