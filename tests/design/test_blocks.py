"""Arrays read block by block: the same models as in memory, and nothing of the size of X."""

import mmap
import sys
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
import zarr
from sklearn.base import clone

from ksupport import IRKSN, IRKSNCV, IRKSNIC, AutoIRKSN
from ksupport._common.phases import Phase
from ksupport.algorithms import make_method
from ksupport.design import passes as design_module
from ksupport.design import spectra
from ksupport.design.blocks import ArrayStore, ZarrStore
from ksupport.design.sweeps import read_ahead
from ksupport.design.view import Design
from ksupport.theory import recovery_report
from ksupport.walking import run

SHAPE = (40, 3000)
CHUNKS = (15, 700)  # divide neither side


def mapped(X, folder, order="C"):
    file = np.memmap(folder / f"X{order}", X.dtype, "w+", shape=X.shape, order=order)
    file[:] = X
    file.flush()
    return np.memmap(folder / f"X{order}", X.dtype, "r", shape=X.shape, order=order)


def zarr_array(X, folder, chunks=CHUNKS):
    out = zarr.create_array(folder / "X.zarr", shape=X.shape, chunks=chunks, dtype=X.dtype)
    out[:] = X
    return zarr.open_array(folder / "X.zarr", mode="r")


KINDS = {
    "memmap C": mapped,
    "memmap F": lambda X, folder: mapped(X, folder, "F"),
    "Zarr": zarr_array,
    "memory": lambda X, folder: X,
    "memory F": lambda X, folder: np.asfortranarray(X),
}
DTYPES = ["float64", "float32", "float16", "int8", "uint8", "int16", "bool"]
OUTSIDE = [(kind, dtype) for kind in KINDS for dtype in DTYPES if kind in ("Zarr", "memmap C")]
OUTSIDE += [("memmap F", "float32"), ("memmap F", "int8")]
OUTSIDE += [("memory", "float16"), ("memory F", "float16"), ("memory", "int8"), ("memory", "bool")]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("ksupport.limits.CHUNK", 1 << 14)


def problem(dtype, shape=SHAPE, seed=0):
    """X of this type, whose values double precision holds exactly, and a y of three features."""
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal(shape)
    X = X > 0 if dtype == "bool" else (X + 10 * (dtype == "uint8")).astype(dtype)
    y = X[:, [5, 900, 2999]].astype(float) @ [2.0, -2.0, 1.5]
    return X, y + 0.2 * y.std() * rng.standard_normal(len(y))


# -- the same models -------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "dtype"), OUTSIDE)
@pytest.mark.parametrize("standardize", [False, True])
def test_every_kind_and_type_gives_the_model_of_doubles(
    kind, dtype, standardize, tmp_path, small_blocks
):
    X, y = problem(dtype)
    given = KINDS[kind](X, tmp_path)
    model = IRKSN(k=3, alpha=0.01, max_iter=150, standardize=standardize)
    expected = clone(model).fit(X.astype(float), y)
    model.fit(given, y)
    size = np.abs(expected.coef_).max()
    atol = (1e-6 if dtype == "float32" else 1e-9) * size
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=atol)
    np.testing.assert_array_equal(model.support_, expected.support_)
    assert model.coef_.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert model.n_features_in_ == 3000
    assert model.n_passes_ <= 30  # of 150 steps
    np.testing.assert_allclose(model.predict(given), expected.predict(X), rtol=1e-5, atol=1e-5)
    assert model.score(given, y) == pytest.approx(expected.score(X, y), abs=1e-6)


@pytest.mark.parametrize("kind", ["memmap C", "Zarr"])
@pytest.mark.parametrize(
    "model",
    [
        IRKSNIC(max_iter=100),
        IRKSNCV(k=[2, 4], max_iter=60),
        AutoIRKSN(max_iter=100, cv=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_selection_reads_blocks_too(kind, model, tmp_path, small_blocks):
    X, y = problem("int8")
    expected = clone(model).fit(X.astype(float), y)
    model.fit(KINDS[kind](X, tmp_path), y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


def test_many_rows_are_compressed_from_a_file(tmp_path, small_blocks):
    X = np.random.default_rng(0).integers(-5, 6, (6000, 20)).astype(np.int8)
    y = X[:, 0] - X[:, 3] + np.arange(6000) % 3
    model = IRKSN(k=2, max_iter=100)
    expected = clone(model).fit(X.astype(float), y)
    model.fit(zarr_array(X, tmp_path, (1000, 20)), y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-9)
    assert model.n_passes_ <= 3


def test_several_targets_are_predicted(tmp_path):
    X, y = problem("int8")
    Y = np.c_[y, y[::-1]]
    model = IRKSN(k=3, max_iter=50).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_.T + model.intercept_)
    assert model.predict(X).shape == Y.shape


def test_a_report_reads_blocks(tmp_path):
    X, _ = problem("int8")
    w = np.zeros(3000)
    w[[5, 900]] = 1.0, -1.0
    report = recovery_report(zarr_array(X, tmp_path), w)
    assert report.irksn.lhs == pytest.approx(recovery_report(X.astype(float), w).irksn.lhs)


# -- nothing of the size of X ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("memmap C", "int8"), ("memmap F", "float16"), ("memory", "int8"), ("Zarr", "int8")],
)
def test_no_copy_of_x_is_made(kind, dtype, tmp_path, monkeypatch):
    for name in ("CHUNK", "CHOSEN_FOR", "RECALLED"):  # which do not grow with X
        monkeypatch.setattr(f"ksupport.limits.{name}", 1 << 15)
    X, y = problem(dtype, (60, 60_000))
    given = zarr_array(X, tmp_path, (60, 3000)) if kind == "Zarr" else KINDS[kind](X, tmp_path)
    model = IRKSN(k=3, max_iter=100, standardize=True)
    clone(model).fit(given, y)  # what is imported meanwhile does not count
    tracemalloc.start()
    try:
        model.fit(given, y)
        model.predict(given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * X.size / 2.5  # of doubles


@pytest.mark.parametrize("store", ["memmap C", "memmap F", "Zarr"])
def test_no_read_is_large_and_a_pass_reads_everything_once(store, tmp_path, small_blocks):
    X, y = problem("float32")
    given = KINDS[store](X, tmp_path)
    kind = ZarrStore if store == "Zarr" else ArrayStore
    read = np.zeros(SHAPE, int)
    largest = []

    class Watched(kind):  # type: ignore[misc, valid-type]
        def _read(self, rows, columns):
            read[rows, columns] += 1
            largest.append((rows.stop - rows.start) * (columns.stop - columns.start))
            return super()._read(rows, columns)

    design = Design(Watched(given))
    sweeps = (
        lambda: design.rmatvec(np.ones(40)),
        lambda: design.centred(standardize=True),
        lambda: spectra.row_gram(design),
        lambda: design.gram(np.ones(40)),
    )
    for count, sweep in enumerate(sweeps, 1):
        sweep()
        assert (read == count).all()
        assert design.passes == count
    assert max(largest) <= 2 * 700 * 40  # two columns of chunks; or CHUNK
    assert len(largest) > 3 * len(sweeps)


def test_every_stored_chunk_is_read_once_a_pass(tmp_path, monkeypatch):
    X, _ = problem("float32")
    given = zarr_array(X, tmp_path)
    design = Design.of(given)
    chunks = []
    for sweep in (design.store.blocks, design.store.column_chunks, design.store.row_chunks):  # type: ignore[attr-defined]
        monkeypatch.setattr(
            ZarrStore,
            "_read",
            lambda self, *part: chunks.append(part) or self.X[part].astype(float),
        )
        for size in (1, 1 << 21):
            monkeypatch.setattr("ksupport.limits.CHUNK", size)
            chunks.clear()
            list(sweep())
            for rows, columns in chunks:
                assert rows.start % 15 == 0 or (rows.start, rows.stop) == (0, 40)
                assert columns.start % 700 == 0
                assert columns.stop % 700 == 0 or columns.stop == 3000


def test_strips_too_large_to_hold_are_cut_and_counted(tmp_path, monkeypatch):
    X, _ = problem("float32")
    design = Design.of(zarr_array(X, tmp_path, (10, 3000)))
    monkeypatch.setattr("ksupport.limits.STRIP", 40 * 1000)
    np.testing.assert_allclose(spectra.row_gram(design)[0], X.astype(float) @ X.T, rtol=1e-5)
    assert design.passes == 3  # every chunk was read for three strips


def test_columns_of_zarr_count_the_chunks_that_they_cross(tmp_path):
    X, _ = problem("float32")
    design = Design.of(zarr_array(X, tmp_path))  # five columns of chunks
    index = np.array([2999, 0, 701, 0])
    np.testing.assert_array_equal(design.columns(index), X[:, index].T)
    assert (design.passes, design.columns_read) == (0, 3)  # three fifths
    design.columns(np.array([1, 800]))
    assert (design.passes, design.columns_read) == (1, 5)
    design.columns(np.array([1, 800, 2999]))
    assert (design.passes, design.columns_read) == (1, 5)  # held


# -- reading ahead --------------------------------------------------------------------------------


def test_blocks_come_in_order_and_one_ahead():
    read, threads = [], set()

    def slow(key):
        read.append(key)
        threads.add(threading.get_ident())
        return key**2

    for key, value in read_ahead(slow, range(6)):
        assert value == key**2
        assert len(read) <= key + 2  # the one in hand and the next
    assert read == list(range(6))
    assert threads.isdisjoint({threading.get_ident()})


def test_a_failing_read_raises_promptly_and_names_the_block(tmp_path, small_blocks):
    X, y = problem("float32")
    before = threading.active_count()

    class Broken(ArrayStore):
        reads = 0

        def _read(self, rows, columns):
            self.reads += 1
            if self.reads == 3:
                raise RuntimeError("bad sector")
            return super()._read(rows, columns)

    store = Broken(mapped(X, tmp_path))
    with pytest.raises(OSError, match=r"X: rows 10:15, columns 0:3000 could not be .* bad sector"):
        Design(store).rmatvec(y)
    assert store.reads == 3
    assert threading.active_count() == before


def test_a_damaged_chunk_of_zarr_is_named(tmp_path):
    X, y = problem("float32")
    given = zarr_array(X, tmp_path)
    (tmp_path / "X.zarr" / "c" / "1" / "2").write_bytes(b"nonsense")
    with pytest.raises(OSError, match=r"X: rows 0:40, columns 0:3000 could not be read"):
        IRKSN(k=3).fit(given, y)


def test_a_pass_that_is_left_ends_its_thread(tmp_path, small_blocks):
    before = threading.active_count()
    for _ in Design.of(mapped(problem("float32")[0], tmp_path)).store.blocks():  # type: ignore[attr-defined]
        break
    assert threading.active_count() == before


# -- checks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["memmap C", "memmap F", "Zarr", "memory"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_block_with_nan_is_named(kind, value, fit_intercept, tmp_path, small_blocks):
    X, y = problem("float16")
    X[17, 2345] = value
    with pytest.raises(ValueError, match=r"NaN .* rows \d+:\d+, .*first at row 17, column 2345"):
        IRKSN(k=3, fit_intercept=fit_intercept).fit(KINDS[kind](X, tmp_path), y)


def test_looking_for_nan_takes_no_pass_of_its_own(tmp_path):
    X, y = problem("float16")
    walked = IRKSN(k=3, max_iter=50).fit(X, y)
    again = IRKSN(k=3, max_iter=50).fit(X.astype(float), y)
    assert walked.n_passes_ == again.n_passes_


def test_small_problems_and_single_columns_are_checked(tmp_path):
    X, y = problem("float32")
    X = X[:, :30].copy()
    X[3, 4] = np.nan
    file = mapped(X, tmp_path)
    with pytest.raises(ValueError, match="NaN"):
        IRKSN(k=3, fit_intercept=False).fit(file, y)
    with pytest.raises(ValueError, match="NaN or infinity in column 4"):
        Design.of(file).columns(np.array([1, 4]))


def test_conventions_of_scikit_learn(tmp_path):
    X, y = problem("int8")
    given = zarr_array(X, tmp_path)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        IRKSN(k=3).fit(given, y[:-1])
    with pytest.raises(ValueError, match="contains NaN"):
        IRKSN(k=3).fit(given, np.r_[np.nan, y[1:]])
    with pytest.raises(ValueError, match=r"1[dD] array"):
        IRKSNIC().fit(given, np.c_[y, y])
    model = IRKSN(k=3, max_iter=20).fit(given, y)
    with pytest.raises(ValueError, match="X has 29 features, but IRKSN is expecting 3000"):
        model.predict(X[:, :29])
    line = zarr.create_array(tmp_path / "line", shape=(5,), chunks=(5,), dtype="f4")
    with pytest.raises(ValueError, match="Expected 2D array"):
        IRKSN(k=3).fit(line, np.ones(5))
    with pytest.raises(ValueError, match="two-dimensional"):
        Design.of(line)
    with pytest.raises(ValueError, match="real"):
        Design.of(zarr.create_array(tmp_path / "C", shape=(5, 5), chunks=(5, 5), dtype="c8"))


def test_zarr_is_not_imported_for_others(monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "zarr")
    X, y = problem("float32")
    IRKSN(k=3, max_iter=5).fit(mapped(X, tmp_path), y)
    assert "zarr" not in sys.modules


@pytest.mark.parametrize(("order", "passes"), [("C", [1, 1, 2]), ("F", [0, 0, 0])])
def test_columns_of_a_file_count_the_pages_that_they_lie_on(order, passes, tmp_path):
    """A row has four pages here; each counts once between two passes."""
    page = mmap.PAGESIZE // 8
    X = np.asarray(np.random.default_rng(0).standard_normal((8, 4 * page)), order=order)
    X.ravel("K").tofile(tmp_path / "X")
    design = Design.of(np.memmap(tmp_path / "X", float, "r", shape=X.shape, order=order))
    before = design.passes
    counted = []
    pages = page * np.arange(4)
    for columns in (pages, pages[:2] + 1, pages + 2):
        design.columns(columns)
        counted.append(design.passes - before)
        if len(counted) == 2:
            design.rmatvec(np.ones(8))
            before += 1
    assert counted == passes


def test_paths_read_the_columns_of_a_file_together(tmp_path):
    X, y = problem("float32", (60, 9000))
    design = Design.of(mapped(X, tmp_path)).centred()
    store: Any = design.store
    reads, read = [], store._read_columns
    store._read_columns = lambda index: reads.append(index.size) or read(index)
    paths = [make_method("irksn", k=k, alpha=0.1).start(design, y) for k in (2, 4, 8, 16)]
    run(paths, max_iter=1)
    assert len(reads) == 1


# -- shared passes --------------------------------------------------------------------------------


def test_folds_share_the_passes_of_means_and_norms():
    X, y = problem("float64")
    rows = [np.setdiff1d(np.arange(40), np.arange(i, 40, 4)) for i in range(4)]
    design = Design.of(X)
    views = design_module.sharing(
        design_module.centred_together([design.take(r) for r in rows], standardize=True)
    )
    assert design.passes == 1
    norms = [view.norm() for view in views]
    assert design.passes == 2
    Us = [np.random.default_rng(i).standard_normal((len(r), 1 + i)) for i, r in enumerate(rows)]
    products = design_module.rmatmat_together(views, Us)
    assert design.passes == 3
    for r, norm, U, product, view in zip(rows, norms, Us, products, views, strict=True):
        A = (X[r] - X[r].mean(axis=0)) / X[r].std(axis=0)
        assert norm == pytest.approx(np.linalg.norm(A, 2))
        np.testing.assert_allclose(view.column_norms, np.linalg.norm(A, axis=0))
        np.testing.assert_allclose(product, A.T @ U, atol=1e-9)
    assert design.passes == 3


@pytest.mark.parametrize("order", ["C", "F"])
def test_moments_by_several_weights_are_those_by_each(order, rng):
    X = np.asarray(rng.standard_normal((40, 6)) + 1e3, order=order)
    X[:, 2] = 0.1
    X[:, 3] = 0.1
    X[0, 3] = 7e5  # which says nothing of the others
    X[20:, 4] = 0.3
    X[1:, 5] += 1e9
    rest, late = np.ones(40), rng.random(40)
    rest[0] = late[:20] = 0.0
    weights = [np.ones(40), rest, late]
    for w, (mean, variance) in zip(weights, Design.of(X).store.all_moments(weights), strict=True):
        expected = np.average(X - X[-1], axis=0, weights=w)
        np.testing.assert_allclose(mean, X[-1] + expected, rtol=1e-12)
        squares = np.average((X - X[-1] - expected) ** 2, axis=0, weights=w)
        np.testing.assert_allclose(variance, squares, rtol=1e-6)
        constant = [np.ptp(column[w > 0]) == 0 for column in X.T]
        np.testing.assert_array_equal(variance == 0, constant)


def test_folds_with_many_rows_share_the_gram(monkeypatch):
    monkeypatch.setattr("ksupport.limits.SVD", 0)
    X = np.random.default_rng(0).standard_normal((90, 7))
    design = Design.of(X)
    rows = [np.arange(60), np.arange(30, 90)]
    views = design_module.sharing([design.take(r) for r in rows])
    norms = [view.norm() for view in views]
    assert design.passes == 1
    np.testing.assert_allclose(norms, [np.linalg.norm(X[r], 2) for r in rows])


def test_many_paths_take_about_the_passes_of_one():
    X, y = problem("float64", (60, 6000))
    many = IRKSNIC([1, 2, 3, 4, 6, 8, 12, 16, 20], np.geomspace(1e-3, 1e-1, 5)).fit(X, y)
    one = IRKSNIC(8, 1e-2).fit(X, y)
    assert many.n_passes_ <= 3 * one.n_passes_


def test_folds_take_about_the_passes_of_one_fit():
    X, y = problem("float64", (60, 6000))
    one = IRKSN(8, 0.1, max_iter=200, standardize=True).fit(X, y)
    folds = IRKSNCV(8, 0.1, max_iter=200, cv=5, refit=None).fit(X, y)
    assert folds.n_passes_ <= 3 * one.n_passes_


# -- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [IRKSNIC(max_iter=100), IRKSNCV(k=[2, 4], max_iter=60), AutoIRKSN(max_iter=100, cv=3)],
    ids=lambda model: type(model).__name__,
)
def test_threads_change_nothing(model, tmp_path):
    X, y = problem("float32")
    for given in (X, mapped(X, tmp_path)):
        alone = clone(model).fit(given, y)
        threaded = clone(model).set_params(n_jobs=3).fit(given, y)
        np.testing.assert_array_equal(threaded.coef_, alone.coef_)
        assert threaded.n_passes_ == alone.n_passes_


def test_a_pass_over_a_file_tells_which_share_of_its_blocks_it_has_read(
    tmp_path, small_blocks, heard, monkeypatch
):
    shares = []
    monkeypatch.setattr(Phase, "read", lambda self, share: shares.append(share))
    store = ArrayStore(mapped(np.ones(SHAPE, np.float32), tmp_path))
    count = len(list(store.blocks()))
    assert count > 3
    assert shares == [*(at / count for at in range(count)), None]


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_read_from_a_file_are_told(order, tmp_path, heard, monkeypatch):
    monkeypatch.setattr("ksupport.limits.LOOSE", 1)  # a line at a time
    X = np.lib.format.open_memmap(
        tmp_path / "X.npy", "w+", np.float32, (40, 30), fortran_order=order == "F"
    )
    X[:] = np.arange(40 * 30).reshape(40, 30)
    index = np.array([3, 7, 20])
    np.testing.assert_array_equal(Design.of(X).store.columns(index), X[:, index])
    assert heard.shares("reading 3 columns of X") == [1.0]
