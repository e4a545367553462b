"""Every kind of X under every view gives the products of one explicitly built dense matrix."""

import tracemalloc

import numpy as np
import pylops
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ksupport import IRKSN
from ksupport.design import Survey, sharing, surveyed
from ksupport.design.view import Design

N, D = 23, 31


def memmapped(X, order, folder):
    out = np.memmap(folder / f"X{order}", X.dtype, "w+", shape=X.shape, order=order)
    out[:] = X
    out.flush()
    return np.memmap(folder / f"X{order}", X.dtype, "r", shape=X.shape, order=order)


KINDS = {
    "C": lambda X, folder: np.ascontiguousarray(X),
    "F": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "float32": lambda X, folder: X.astype(np.float32),
    "float16": lambda X, folder: X.astype(np.float16),
    "integers": lambda X, folder: X.astype(int),
    "memmap C": lambda X, folder: memmapped(X, "C", folder),
    "memmap F": lambda X, folder: memmapped(X, "F", folder),
    "memmap float32": lambda X, folder: memmapped(X.astype(np.float32), "C", folder),
    "memmap integers": lambda X, folder: memmapped(X.astype(np.int16), "C", folder),
    "csr_matrix": lambda X, folder: sp.csr_matrix(X),
    "csc_matrix": lambda X, folder: sp.csc_matrix(X),
    "csr_array": lambda X, folder: sp.csr_array(X),
    "csc_array": lambda X, folder: sp.csc_array(X),
    "coo_array": lambda X, folder: sp.coo_array(X),
    "csr float32": lambda X, folder: sp.csr_array(X.astype(np.float32)),
    "LinearOperator": lambda X, folder: aslinearoperator(X),
    "PyLops": lambda X, folder: pylops.MatrixMult(X, dtype="float64"),
}

ROWS = np.array([3, 0, 3, 7, 20, 11, 12, 5, -1, 9])  # unsorted, one twice, one from the end


def plain(design, A, weights):
    return design, A


def centred(design, A, weights):
    return design.centred(), A - A.mean(axis=0)


def standardised(design, A, weights):
    return design.centred(standardize=True), (A - A.mean(axis=0)) / A.std(axis=0)


def scaled_only(design, A, weights):
    return design.centred(standardize=True).uncentred(), A / A.std(axis=0)


def weighted(design, A, weights):
    return design.weighted(weights), np.sqrt(weights)[:, None] * A


def rows(design, A, weights):
    return design.take(ROWS), A[ROWS]


def mask(design, A, weights):
    chosen = np.arange(N) % 3 > 0
    return design.take(chosen).take([4, 1, 2]), A[chosen][[4, 1, 2]]


def everything(design, A, weights):
    w, A = weights[ROWS], A[ROWS]
    mean = np.average(A, axis=0, weights=w)
    deviation = np.sqrt(np.average((A - mean) ** 2, axis=0, weights=w))
    view = design.take(ROWS).weighted(w).centred(standardize=True)
    return view, np.sqrt(w)[:, None] * (A - mean) / np.where(deviation > 0, deviation, 1.0)


VIEWS = [plain, centred, standardised, scaled_only, weighted, rows, mask, everything]


@pytest.fixture
def data(rng):
    """Small integers, so that every dtype holds them exactly; about half are zero."""
    X = rng.integers(-4, 5, (N, D)) * (rng.random((N, D)) < 0.6)
    X[0], X[1] = 1, -1  # no constant columns
    return X.astype(float), rng.uniform(0.2, 3.0, N)


@pytest.mark.parametrize("view", VIEWS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_every_product_is_that_of_the_dense_matrix(kind, view, data, tmp_path, rng):
    X, weights = data
    design, A = view(Design.of(KINDS[kind](X, tmp_path)), X, weights)
    rtol = 2e-6 if "float32" in kind else 1e-12
    atol = rtol * np.linalg.norm(A)
    n, d = A.shape
    assert design.shape == (n, d)

    U = rng.standard_normal((n, 3))
    np.testing.assert_allclose(design.rmatmat(U), A.T @ U, rtol, atol)
    np.testing.assert_allclose(design.rmatvec(U[:, 0]), A.T @ U[:, 0], rtol, atol)
    for w in (rng.standard_normal(d), np.eye(d)[5] - 2 * np.eye(d)[17], np.zeros(d)):
        np.testing.assert_allclose(design.matvec(w), A @ w, rtol, atol)
    index = np.array([17, 2, 30, 2])
    block = design.columns(index)
    np.testing.assert_allclose(block, A[:, index].T, rtol, atol)
    assert block.flags.c_contiguous
    assert block.dtype == np.float64
    assert design.columns(np.empty(0, np.intp)).shape == (0, n)
    both = np.hstack([A, U])
    np.testing.assert_allclose(design.gram(U), both.T @ both, rtol, rtol * (both**2).sum())
    singular_values = np.linalg.svd(A, compute_uv=False)
    assert design.norm() >= singular_values[0] * (1 - rtol)
    np.testing.assert_allclose(design.norm(), singular_values[0], max(rtol, 1e-10))
    np.testing.assert_allclose(design.norm("nuclear"), singular_values.sum(), 1e-6)
    np.testing.assert_allclose(design.column_norms, np.linalg.norm(A, axis=0), rtol, atol)


@pytest.mark.parametrize("limits", [(0, 10**6), (0, 0)], ids=["gram", "column by column"])
@pytest.mark.parametrize("kind", KINDS)
def test_column_norms_are_the_same_on_every_route(kind, limits, data, tmp_path, monkeypatch):
    monkeypatch.setattr("ksupport.limits.SVD", limits[0])
    monkeypatch.setattr("ksupport.limits.GRAM", limits[1])
    X, weights = data
    for matrix in (X, X.T):
        chunk = 5 * matrix.shape[0]  # several chunks
        monkeypatch.setattr("ksupport.limits.CHUNK", chunk)
        design = Design.of(KINDS[kind](matrix, tmp_path)).weighted(np.ones(len(matrix))).centred()
        A = matrix - matrix.mean(axis=0)
        np.testing.assert_allclose(design.column_norms, np.linalg.norm(A, axis=0), 1e-6, 1e-14)


# -- norms --------------------------------------------------------------------------------


def spectra(rng):
    """Matrices with flat, decaying, clustered and degenerate spectra."""
    for n, d in [(25, 40), (60, 30), (45, 45)]:
        m = min(n, d)
        U = np.linalg.qr(rng.standard_normal((n, m)))[0]
        V = np.linalg.qr(rng.standard_normal((d, m)))[0]
        for values in (
            np.ones(m),
            1 - 1e-4 * np.arange(m) / m,
            0.5 ** np.arange(m),
            np.r_[1.0, np.full(m - 1, 1 - 1e-3)],
            np.r_[1.0, np.zeros(m - 1)],
            1 / (1 + np.arange(m)),
        ):
            yield (U * values) @ V.T
        for scale in (1e-8, 1.0, 1e8):
            yield scale * rng.standard_normal((n, d))


@pytest.mark.parametrize(
    ("svd_limit", "gram_limit"),
    [(1 << 16, 3000), (0, 3000), (0, 0)],
    ids=["svd", "gram", "lanczos"],
)
@pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
def test_spectral_norm_is_never_below_the_truth(svd_limit, gram_limit, kind, rng, monkeypatch):
    monkeypatch.setattr("ksupport.limits.SVD", svd_limit)
    monkeypatch.setattr("ksupport.limits.GRAM", gram_limit)
    wrap = {"dense": np.asarray, "sparse": sp.csr_array, "operator": aslinearoperator}[kind]
    for A in spectra(rng):
        norm = Design.of(wrap(A)).norm()
        assert norm >= np.linalg.norm(A, 2)
        assert norm <= np.linalg.norm(A, 2) * 1.01


def test_lanczos_is_never_below_the_truth_on_many_draws(monkeypatch):
    monkeypatch.setattr("ksupport.limits.SVD", 0)
    monkeypatch.setattr("ksupport.limits.GRAM", 0)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(22, 60, 2)
        A = rng.standard_normal((n, d)) * rng.exponential(size=d) ** rng.uniform(0, 2)
        assert Design.of(A).norm() >= np.linalg.norm(A, 2)


@pytest.mark.parametrize("svd_limit", [1 << 16, 0])
def test_nuclear_norm(svd_limit, rng, monkeypatch):
    monkeypatch.setattr("ksupport.limits.SVD", svd_limit)
    for A in spectra(rng):
        np.testing.assert_allclose(Design.of(A).norm("nuclear"), np.linalg.norm(A, "nuc"), 1e-6)


def test_nuclear_norm_of_a_matrix_too_large_for_it_is_refused(monkeypatch, rng):
    monkeypatch.setattr("ksupport.limits.SVD", 0)
    monkeypatch.setattr("ksupport.limits.GRAM", 0)
    with pytest.raises(ValueError, match=r"norm='nuclear'.*\(30, 40\)"):
        Design.of(rng.standard_normal((30, 40))).norm("nuclear")


def test_unknown_norm_is_refused():
    with pytest.raises(ValueError, match=r"'spectral' or 'nuclear', got 'frobenius'"):
        Design.of(np.eye(2)).norm("frobenius")


# -- passes over the data -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["C", "F", "memmap C", "memmap F", "csr_array", "csc_array"])
def test_passes_are_counted_exactly(kind, data, tmp_path, rng):
    X, weights = data
    design = Design.of(KINDS[kind](X, tmp_path))
    assert design.passes == 0
    view = design.take(np.arange(20)).weighted(weights[:20])
    assert design.passes == 0  # views are free
    view = view.centred(standardize=True)
    assert design.passes == 1
    view.rmatvec(rng.standard_normal(20))
    assert design.passes == 2
    view.rmatmat(rng.standard_normal((20, 50)))
    assert design.passes == 3
    view.columns(np.array([1, 2, 3]))
    view.matvec(np.eye(D)[0] + np.eye(D)[4])
    # A few columns are no pass, unless they lie on all pages of a file.
    passes = 4 if kind == "memmap C" else 3
    assert (design.passes, design.columns_read) == (passes, 5)
    view.gram(np.ones(20))
    assert design.passes == passes + 1
    assert view.passes == passes + 1  # one counter for all views
    assert view.column_norms is view.column_norms  # found with the means, and remembered
    assert view.passes == passes + 1
    assert (design.column_norms > 0).any()
    assert view.passes == passes + 2


def test_an_operator_counts_its_products(rng):
    A = rng.standard_normal((8, 5))
    calls = []
    X = LinearOperator(
        A.shape,
        matvec=lambda w: (calls.append("X"), A @ w)[1],
        rmatvec=lambda u: (calls.append("Xt"), A.T @ u)[1],
        dtype=float,
    )
    design = Design.of(X)
    calls.clear()  # the dot test
    design.rmatvec(np.ones(8))
    design.matvec(np.ones(5))
    assert design.passes == len(calls) == 2


@pytest.mark.parametrize("shape", [(20, 4000), (4000, 20)])
def test_products_with_an_operator_grow_with_its_smaller_side_only(shape, rng):
    A = rng.standard_normal(shape)
    calls = []
    X = LinearOperator(
        shape,
        matvec=lambda w: (calls.append(1), A @ w)[1],
        rmatvec=lambda u: (calls.append(1), A.T @ u)[1],
        dtype=float,
    )
    design = Design.of(X).centred(standardize=True)
    centred = (A - A.mean(axis=0)) / A.std(axis=0)
    np.testing.assert_allclose(design.norm(), np.linalg.norm(centred, 2), 1e-9)
    assert len(calls) < 5 * min(shape)


# -- memory -------------------------------------------------------------------------------


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def exercise(design):
    """Every product of a fully dressed view, with norms by the routes for large X."""
    rng = np.random.default_rng(0)
    n = design.n
    view = design.take(np.arange(0, n - 5)).weighted(rng.random(n - 5)).centred(standardize=True)
    view.rmatmat(rng.standard_normal((n - 5, 4)))
    view.matvec(rng.standard_normal(view.d))
    view.columns(np.arange(8))
    assert view.norm() >= view.column_norms.max()


def test_a_sparse_x_is_never_densified(monkeypatch, rng):
    monkeypatch.setattr("ksupport.limits.GRAM", 100)
    monkeypatch.setattr("ksupport.limits.CHUNK", 1 << 19)
    n, d = 20_000, 3_000
    X = sp.random_array((n, d), density=1e-3, format="csr", random_state=rng)
    peak = peak_of(lambda: exercise(Design.of(X)))
    assert peak < n * d * 8 / 16


def test_a_mapped_file_is_never_copied(monkeypatch, tmp_path, rng):
    monkeypatch.setattr("ksupport.limits.GRAM", 10)
    monkeypatch.setattr("ksupport.limits.CHUNK", 1 << 16)
    n, d = 20_000, 200
    X = np.memmap(tmp_path / "X", np.float32, "w+", shape=(n, d))
    X[:] = rng.standard_normal((n, d), np.float32)
    peak = peak_of(lambda: exercise(Design.of(X)))
    assert peak < n * d * 4 / 2


def test_a_dense_x_is_never_copied(monkeypatch, rng):
    monkeypatch.setattr("ksupport.limits.GRAM", 10)
    monkeypatch.setattr("ksupport.limits.CHUNK", 1 << 16)
    for order in "CF":
        X = np.asarray(rng.standard_normal((5_000, 400)), order=order)
        assert peak_of(lambda X=X: exercise(Design.of(X))) < X.nbytes / 3


def test_a_view_leaves_the_data_alone(data, rng):
    X, weights = data
    before = X.copy()
    design = Design.of(X)
    assert design.store.X is X  # type: ignore[attr-defined]
    exercise(design)
    np.testing.assert_array_equal(X, before)


def test_changes_to_a_private_map_survive(tmp_path, rng):
    """Pages of a copy-on-write map must not be given back: they hold the user's changes."""
    A = rng.standard_normal((300, 40))
    A.tofile(tmp_path / "X")
    X = np.memmap(tmp_path / "X", float, "c", shape=A.shape)
    X[:, 3] = 7.0
    A[:, 3] = 7.0
    for view in (X, np.asarray(X), X[10:]):
        design = Design.of(view)
        design.columns(np.arange(5))
        design.rmatvec(np.ones(design.n))
    np.testing.assert_array_equal(X, A)


# -- fewer rows ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["C", "memmap float32", "csr_array", "LinearOperator"])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_compression_keeps_inner_products(kind, n_targets, tmp_path, rng):
    X = rng.standard_normal((2000, 7)).astype(np.float32).astype(float)
    X[:, 4] = X[:, 2]  # rank-deficient
    X[:, 5] *= 2.0**-20  # and badly scaled
    Y = rng.standard_normal((2000, n_targets))
    weights = rng.uniform(0.5, 2, 2000)
    design = Design.of(KINDS[kind](X, tmp_path)).weighted(weights).centred()
    A = np.sqrt(weights)[:, None] * (X - np.average(X, axis=0, weights=weights))
    small, targets = design.compressed(Y)
    assert small.n <= 7 + n_targets
    R = np.hstack([small.columns(np.arange(7)).T, targets])
    both = np.hstack([A, Y])
    size = np.linalg.norm(both, axis=0)
    tolerance = 2e-6 if "float32" in kind else 1e-11
    assert (abs(R.T @ R - both.T @ both) <= tolerance * np.outer(size, size)).all()
    assert small.n_samples == pytest.approx(weights.sum())  # a weight counts as repetitions
    np.testing.assert_allclose(small.norm(), np.linalg.norm(A, 2), 1e-6)
    np.testing.assert_allclose(small.norm("nuclear"), np.linalg.norm(A, "nuc"), 1e-6)


# -- hard cases ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["C", "F", "memmap C", "csr_array", "csc_array", "LinearOperator"])
def test_large_means_do_not_spoil_standardisation(kind, tmp_path, rng):
    X = 1e6 + rng.standard_normal((500, 6)) * [1e-2, 1, 1, 10, 1, 1]
    A = (X - X.mean(axis=0)) / X.std(axis=0)
    view = Design.of(KINDS[kind](X, tmp_path)).centred(standardize=True)
    np.testing.assert_allclose(view.columns(np.arange(6)).T, A, rtol=1e-7, atol=1e-7)
    if view.has_columns:
        np.testing.assert_allclose(view.column_norms, np.sqrt(500), rtol=1e-7)
    u = rng.standard_normal(500)
    # Implicit centring of a product cancels means of 1e6 against each other.
    np.testing.assert_allclose(view.rmatvec(u), A.T @ u, atol=1e-5)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "integers" and "integers" not in k])
@pytest.mark.parametrize("subset", [False, True], ids=["all rows", "some rows"])
def test_constant_columns_become_zero_and_keep_scale_one(kind, subset, tmp_path, rng):
    X = rng.standard_normal((300, 5)).astype(np.float16).astype(float)
    X[:, 1], X[:, 3] = np.float16(0.1), np.float16(1000.3)
    X[0, [1, 3]] = 3 if subset else X[1, [1, 3]]  # the row left out differs
    view = Design.of(KINDS[kind](X, tmp_path))
    view = (view.take(np.arange(1, 300)) if subset else view).centred(standardize=True)
    np.testing.assert_array_equal(view.scale[[1, 3]], 1.0)
    np.testing.assert_allclose(view.columns(np.array([1, 3])), 0.0, atol=1e-10)
    assert np.isfinite(view.norm())


@pytest.mark.parametrize("kind", ["C", "F", "memmap C", "csr_array", "LinearOperator"])
def test_rows_left_out_do_not_disturb_a_constant_column(kind, tmp_path, rng):
    X = rng.standard_normal((200, 6))
    X[:, :5] = [0.1, 1 / 3, 1e6 / 7, -2.3, 1e-9 / 3]
    X[[0, 77], :5] = rng.standard_normal((2, 5)) * 1e3
    used = np.setdiff1d(np.arange(200), [0, 77])
    view = Design.of(KINDS[kind](X, tmp_path)).take(used).centred(standardize=True)
    np.testing.assert_array_equal(view.scale[:5], 1.0)


@pytest.mark.parametrize("kind", ["C", "csr_array", "memmap F"])
def test_a_constant_column_weighted_by_random_weights_is_still_constant(kind, tmp_path, rng):
    X = rng.standard_normal((1000, 3))
    X[:, 1] = 0.1
    view = Design.of(KINDS[kind](X, tmp_path)).weighted(rng.random(1000))
    np.testing.assert_array_equal(view.centred(standardize=True).scale[1], 1.0)


def test_zero_weight_rows_do_not_count(rng):
    X = rng.standard_normal((12, 4))
    X[:6] += 1e6
    weights = np.r_[np.zeros(6), rng.random(6) + 0.5]
    whole = Design.of(X).weighted(weights).centred(standardize=True)
    part = Design.of(X).take(np.arange(6, 12)).weighted(weights[6:]).centred(standardize=True)
    np.testing.assert_allclose(whole.mean, part.mean, 1e-10)
    np.testing.assert_allclose(whole.scale, part.scale, 1e-10)
    np.testing.assert_allclose(whole.gram(np.zeros(12)), part.gram(np.zeros(6)), 1e-9, 1e-9)


# -- what is refused ----------------------------------------------------------------------


def test_a_wrong_adjoint_is_caught_by_the_dot_test(rng):
    A = rng.standard_normal((6, 9))
    for rmatvec in (lambda u: -A.T @ u, lambda u: 1.001 * A.T @ u, lambda u: (A.T @ u)[::-1]):
        X = LinearOperator(A.shape, matvec=lambda w: A @ w, rmatvec=rmatvec, dtype=float)
        with pytest.raises(ValueError, match=r"X: the operator fails the dot test.*adjoint"):
            Design.of(X)


def test_rounding_in_float32_is_no_wrong_adjoint(rng):
    A = rng.standard_normal((40, 50)).astype(np.float32)
    assert Design.of(aslinearoperator(A)).shape == (40, 50)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, aslinearoperator, pylops.MatrixMult])
def test_a_complex_x_is_refused(wrap):
    X = wrap(np.eye(3) * 1j) if wrap is not pylops.MatrixMult else wrap(np.eye(3) * 1j, dtype="c16")
    with pytest.raises(ValueError, match=r"X must be real, got dtype complex128"):
        Design.of(X)


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4)])
def test_only_matrices_are_accepted(shape):
    with pytest.raises(ValueError, match=r"X must be two-dimensional"):
        Design.of(np.ones(shape))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_an_empty_x_is_refused(wrap, shape):
    with pytest.raises(ValueError, match=r"at least one row and one column, got shape"):
        Design.of(wrap(np.empty(shape)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("limits", [(1 << 16, 3000), (0, 3000), (0, 0)])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_norm_is_finite_or_refused(wrap, bad, limits, monkeypatch, rng):
    monkeypatch.setattr("ksupport.limits.SVD", limits[0])
    monkeypatch.setattr("ksupport.limits.GRAM", limits[1])
    A = rng.standard_normal((25, 30))
    A[4, 5] = bad
    with pytest.raises(ValueError, match=r"NaN or infinity|dot test"):
        Design.of(wrap(A)).norm()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_centring_names_the_column_that_is_not_finite(bad, rng):
    A = rng.standard_normal((9, 6))
    A[3, 4] = bad
    with pytest.raises(ValueError, match=r"NaN or infinity in column 4"):
        Design.of(A).centred()


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_entries_whose_squares_leave_the_numbers_are_refused(scale):
    with pytest.raises(ValueError, match=r"norm of X is .*rescale X"):
        Design.of(scale * np.eye(3)).norm()
    with pytest.raises(ValueError, match=r"norm of X is .*rescale X"):
        Design.of(np.full((300, 300), scale)).norm()
    assert Design.of(np.zeros((3, 4))).norm() == 0


def test_only_small_x_with_few_views_is_copied(rng):
    X = rng.standard_normal((100, 2000))
    assert Design.of(X).copy_columns()
    few, many = (sharing([Design.of(X).take(np.arange(9))] * count) for count in (5, 50))
    assert few[0].copy_columns()
    assert not many[0].copy_columns()
    half = Design.of(np.tile(X, (2, 1))).take(np.arange(9))
    assert not half.copy_columns()  # all of X would be read
    np.testing.assert_array_equal(few[0].columns(np.array([7, 3])), X[:9, [7, 3]].T)
    np.testing.assert_allclose(
        surveyed([Survey(few[0], np.eye(9), lambda first, products, norms: products, list)])[0],
        X[:9].T,
    )
    assert few[0].columns_read == 2000


# -- facts and caches ----------------------------------------------------------------------

ASKED = {
    "norm": lambda design: design.norm(),
    "nuclear norm": lambda design: design.norm("nuclear"),
    "column norms": lambda design: design.column_norms,
    "columns": lambda design: design.columns(np.array([3, 0])),
    "all columns": lambda design: design.all_columns if design.has_columns else 0,
    "copied": lambda design: design.copy_columns(),
    "samples": lambda design: design.n_samples,
    "products": lambda design: surveyed(
        [Survey(design, np.eye(design.n, 2), lambda *all: all[1], list)]
    )[0],
    "compressed": lambda design: design.compressed(np.ones((design.n, 1)))[0].n_samples,
}


def kinds_of_design(X):
    """Designs that keep different things: of few rows, of few columns, compressed, in a family."""
    folds = sharing([Design.of(X).take(np.arange(9)).centred(), Design.of(X).take([1, 2])])
    small, _ = Design.of(np.tile(X, (9, 1))).compressed(np.ones((9 * len(X), 1)))
    return [Design.of(X), Design.of(X.T), Design.of(aslinearoperator(X)), folds[0], small]


@pytest.mark.parametrize("second", ASKED)
@pytest.mark.parametrize("first", ASKED)
def test_whatever_a_cache_forgets_is_found_again(first, second, rng, monkeypatch):
    monkeypatch.setattr("ksupport.limits.SVD", 0)
    for number, design in enumerate(kinds_of_design(rng.standard_normal((12, 15)))):
        expected = ASKED[second](design)
        ASKED[first](design)
        cached = list(design._cache)
        for forgotten in ([name] for name in [*cached, cached]):
            again = kinds_of_design(np.random.default_rng(0).standard_normal((12, 15)))[number]
            ASKED[first](again)
            for name in np.ravel(forgotten):
                again._cache.pop(name, None)
            np.testing.assert_allclose(ASKED[second](again), expected, 1e-6)


def test_views_of_compressed_rows_stand_for_as_many_samples(rng):
    small, _ = Design.of(rng.standard_normal((300, 5))).compressed(np.ones((300, 1)))
    for view in (small, small.centred(), small.centred(standardize=True), small.uncentred()):
        assert view.n_samples == 300
    assert small.take([0, 1]).n_samples == 2


def test_a_family_shares_the_pass_for_its_norms(rng):
    raw = Design.of(rng.standard_normal((30, 40)))
    folds = sharing([raw.take(np.arange(10)), raw.take(np.arange(10, 30))])
    passes = raw.passes
    norms = [fold.norm() for fold in folds]
    assert raw.passes == passes + 1
    np.testing.assert_allclose(
        norms, [raw.take(np.arange(10)).norm(), raw.take(np.arange(10, 30)).norm()]
    )


@pytest.mark.parametrize("size", [1e-300, 1e160])
def test_an_x_too_large_or_small_to_square_is_refused_from_two_passes(size, rng):
    X = rng.standard_normal((20, 5))
    usable, unusable = Design.of(X), Design.of(size * X)
    usable.check_magnitude()
    Design.of(np.zeros((20, 5))).check_magnitude()
    assert usable.magnitude == pytest.approx(np.linalg.norm(X, axis=0).max(), rel=3)
    with pytest.raises(ValueError, match=r"the norm of X is about .*square; rescale X"):
        unusable.check_magnitude()
    assert unusable.passes <= 2


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.asfortranarray])
@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("size", [1e307, 1e300, 1e160])
def test_large_entries_are_not_called_infinite(kind, options, size, rng):
    X = kind(size * rng.uniform(1, 10, (20, 5)))
    with pytest.raises(ValueError, match=r"too large to add up|too large or too small") as error:
        IRKSN(**options).fit(X, np.arange(20.0))
    assert "NaN" not in str(error.value)


def test_an_unpenalised_column_of_large_or_small_entries_is_named(rng):
    for size in (1e307, 1e200, 1e-200):
        X = rng.standard_normal((20, 5)) * [1, 1, size, 1, 1]
        with pytest.raises(ValueError, match=r"largest entry of column 'x2' .*; rescale it"):
            IRKSN(unpenalized=[2]).fit(X, X[:, 0])


def test_columns_whose_variance_is_no_number_are_refused(rng):
    X = rng.standard_normal((20, 5))
    with pytest.raises(ValueError, match="the norm of X is infinite"):
        Design.of(1e160 * X).centred(standardize=True)
