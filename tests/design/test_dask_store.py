"""A Dask array gives what the same NumPy array gives, and never comes to the client whole."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import ksupport
from ksupport import METHODS, limits, path
from ksupport._common.phases import Phase
from ksupport.design.view import Design

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

CHUNKS = {"rows": (17, -1), "columns": (-1, 700), "both": (25, 800)}
every_chunking = pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)


@pytest.fixture(autouse=True)
def nothing_whole(monkeypatch):
    """One thread; and an array that turns itself into one of NumPy is a mistake."""

    def refuse(self, *args, **kwargs):
        if self.ndim == 2:
            raise AssertionError("a Dask array was turned into a NumPy array")
        return self.compute()

    monkeypatch.setattr(da.Array, "__array__", refuse)
    with dask.config.set(scheduler="sync"):
        yield


@cache
def problem(n=40, d=1700, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1)) + 1.0
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1, 1], k) * (1 + rng.random(k))
    y = X @ w + 0.3 * rng.standard_normal(n)
    X.flags.writeable = y.flags.writeable = False
    return X, y


def assert_close(actual, expected, tolerance=1e-8):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# -- designs -------------------------------------------------------------------------------


VIEWS = {
    "raw": lambda X: X,
    "centred": lambda X: X.centred(),
    "rows, weighted, scaled": lambda X: (
        X.take(np.r_[np.arange(3, X.n, 2), 5, 5])
        .weighted(np.linspace(0.1, 2, len(np.r_[np.arange(3, X.n, 2), 5, 5])))
        .centred(standardize=True)
    ),
}


@pytest.mark.parametrize("chunks", [(17, -1), (-1, 30), (25, 40)])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize(("shape", "limit"), [((60, 120), 3000), ((120, 60), 3000), ((60, 120), 9)])
def test_every_view_of_a_dask_array_is_that_of_the_array(chunks, view, shape, limit, monkeypatch):
    monkeypatch.setattr("ksupport.limits.GRAM", limit)
    monkeypatch.setattr("ksupport.limits.SVD", 0)
    X, _ = problem(*shape)
    mine, known = (view(Design.of(A)) for A in (da.from_array(X, chunks=chunks), X))
    rng = np.random.default_rng(1)
    U, index = rng.standard_normal((known.n, 3)), np.array([1, 7, 30, 31, 59])
    w = rng.standard_normal(known.d)
    assert_close(mine.rmatmat(U), known.rmatmat(U))
    assert_close(mine.matvec(w), known.matvec(w))
    assert_close(mine.columns(index), known.columns(index))
    assert mine.columns(np.empty(0, np.intp)).shape == (0, known.n)
    assert_close(mine.matvec(np.bincount(index, minlength=known.d)), known.columns(index).sum(0))
    assert_close(mine.column_norms, np.linalg.norm(known.columns(np.arange(known.d)), axis=1))
    assert mine.norm() == pytest.approx(known.norm(), rel=1e-9 if limit > 9 else 2e-3)
    assert_close(mine.gram(U), known.gram(U))


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_moments_of_constant_and_shifted_columns(offset):
    X = np.random.default_rng(0).standard_normal((50, 8)) + offset
    X[:, 3] = offset + 0.1
    weights = np.r_[np.zeros(20), np.linspace(0.5, 1, 30)]  # a chunk without weight
    store = Design.of(da.from_array(X, chunks=(10, 3))).store
    mean, variance = store.moments(weights)
    assert variance[3] == 0.0
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weights), rtol=1e-13)
    expected = np.average(
        (X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights
    )
    np.testing.assert_allclose(np.delete(variance, 3), np.delete(expected, 3), rtol=1e-8)


# -- paths and estimators --------------------------------------------------------------------


def parameters(method):
    known = METHODS[method].describe().parameters
    return ({"k": 4} if "k" in known else {}) | ({"kappa": 0.05} if method == "srdi" else {})


@every_chunking
@pytest.mark.parametrize("method", ["irksn", "ksn", "ircr", "srdi", "iht", "irosr"])
def test_iterates_are_those_of_the_array(method, chunks):
    X, y = problem()
    steps = 10 if method == "irosr" else 40
    expected = path(method, X, y, max_iter=steps, **parameters(method))
    design = Design.of(da.from_array(X, chunks=chunks))
    result = path(method, design, y, max_iter=steps, **parameters(method))
    assert_close(result.iterates.toarray(), expected.iterates.toarray())
    if method in ("irksn", "iht"):  # others have more features in use
        assert 0 < design.columns_read < X.shape[1] / 5


def test_many_rows_are_compressed():
    X, y = problem(3500, 30)
    design = Design.of(da.from_array(X, chunks=(1000, 13)))
    result = path("irksn", design, y, k=3, max_iter=80)
    assert_close(
        result.iterates.toarray(), path("irksn", X, y, k=3, max_iter=80).iterates.toarray()
    )
    assert design.passes <= 2
    assert design.columns_read == 0


@pytest.mark.parametrize("name", ["IRKSN", "KSN", "IRCR", "SRDI", "IHT"])
@pytest.mark.parametrize("targets", [1, 2])
def test_estimators_take_dask_for_all_arguments(name, targets):
    X, y = problem()
    y = y if targets == 1 else np.column_stack([y, X[:, 5] + 0.1 * y])
    weights = np.linspace(0.5, 1.5, len(y))
    model = getattr(ksupport, name)(max_iter=50, standardize=True)
    expected = model.fit(X, y, sample_weight=weights).coef_
    intercept = model.intercept_
    given = (da.from_array(A, chunks=20) for A in (y, weights))
    model.fit(da.from_array(X, chunks=(25, 800)), *given)
    assert_close(model.coef_, expected)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-8)


MODELS = {
    "IRKSNIC": lambda: ksupport.IRKSNIC(max_iter=200),
    "PathIC": lambda: ksupport.PathIC("iht", {"k": [2, 4]}, max_iter=100),
    "IRKSNCV": lambda: ksupport.IRKSNCV(k=[2, 8], cv=3, max_iter=100, refit="ols"),
    "PathCV": lambda: ksupport.PathCV("ircr", {}, cv=2, max_iter=100),
    "AutoIRKSN": lambda: ksupport.AutoIRKSN(cv=3, max_iter=200),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_selection_from_dask_is_that_from_the_array(make):
    X, y = problem(seed=3)
    expected, model = make().fit(X, y), make().fit(da.from_array(X, chunks=(25, 800)), y)
    np.testing.assert_array_equal(model.support_, expected.support_)
    assert_close(model.coef_, expected.coef_, 1e-7)
    assert model.n_iter_ == expected.n_iter_
    if hasattr(expected, "score_"):
        assert model.score_ == pytest.approx(expected.score_, rel=1e-8)


def test_paths_share_passes_and_columns():
    X, y = problem()
    one, many = (
        ksupport.IRKSNIC(k=k, alpha=[1e-2], max_iter=200, exchange=0, tie=0.0)
        for k in (8, [1, 2, 3, 4, 5, 6, 7, 8])
    )
    lazy = da.from_array(X, chunks=(25, 800))
    assert many.fit(lazy, y).n_passes_ <= 2 * one.fit(lazy, y).n_passes_


@pytest.mark.parametrize("make", [lambda: ksupport.IRKSN(k=4), MODELS["AutoIRKSN"]])
def test_a_dask_array_takes_about_as_many_passes_as_a_file(make, tmp_path):
    X, y = problem(150, 2000)
    np.save(tmp_path / "X.npy", X)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    of_file = make().fit(on_disk, y).n_passes_
    assert 1 < make().fit(da.from_array(X, chunks=(25, 800)), y).n_passes_ <= 1.5 * of_file


@pytest.mark.parametrize("method", ["irksn", "iht", "srdi"])
def test_where_products_are_too_large_to_send_only_leading_features_are(method, monkeypatch):
    """A product with all features is reduced by the workers; iterates are those of the array."""
    X, y = problem(150, 2000)
    monkeypatch.setattr(limits, "SENT_PRODUCTS", X.shape[1] - 1)
    design = Design.of(da.from_array(X, chunks=(25, 800)))
    assert not design.recalls
    arguments = {"k": 4} if method != "srdi" else {}
    found = ksupport.path(method, design, y, max_iter=40, **arguments)
    expected = ksupport.path(method, X, y, max_iter=40, **arguments)
    assert_close(found.coef, expected.coef)


def test_a_warm_start_goes_on():
    X, y = problem()
    lazy = da.from_array(X, chunks=(25, 800))
    model = ksupport.IRKSN(k=4, max_iter=30, warm_start=True).fit(lazy, y).fit(lazy, y)
    assert_close(model.coef_, ksupport.IRKSN(k=4, max_iter=60).fit(X, y).coef_)


def test_held_out_rows_and_certificates():
    X, y = problem()
    model = ksupport.IRKSN(k=4, stopping="held_out", random_state=0)
    expected = model.fit(X, y)
    coef, steps, report = expected.coef_, expected.n_iter_, expected.certify(X, y)
    lazy = da.from_array(X, chunks=(25, 800))
    assert_close(model.fit(lazy, y).coef_, coef)
    assert model.n_iter_ == steps
    assert model.certify(lazy, y).words == report.words


def test_theory_and_half_samples():
    X, y = problem()
    lazy, w = da.from_array(X, chunks=(25, 800)), np.eye(1, X.shape[1])[0]
    mine, known = (ksupport.theory.irksn_condition(A, w) for A in (lazy, X))
    assert mine.alpha_max == pytest.approx(known.alpha_max)
    model = ksupport.IRKSN(k=2, max_iter=20)
    stable = ksupport.stability_selection(model, lazy, y, n_pairs=2, random_state=0)
    known = ksupport.stability_selection(model, X, y, n_pairs=2, random_state=0)
    np.testing.assert_array_equal(stable.frequency, known.frequency)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [np.float32, np.int8, np.uint16, bool])
def test_other_numbers(kind):
    X = np.random.default_rng(0).integers(0, 2 if kind is bool else 90, (40, 1700)).astype(kind)
    y = X[:, :3].astype(float).sum(axis=1)
    model = ksupport.IRKSN(k=4, max_iter=50)
    expected = model.fit(X.astype(float), y).coef_
    coef = model.fit(da.from_array(X, chunks=(25, 800)), y).coef_
    assert_close(coef, expected, 1e-5)
    assert coef.dtype == (np.float32 if kind is np.float32 else float)


def test_sparse_chunks():
    X, y = problem()
    X = X * (np.random.default_rng(0).random(X.shape) < 0.1)
    lazy = da.from_array(X, chunks=(25, 800)).map_blocks(sp.csr_array)
    expected = ksupport.IRKSN(k=4, max_iter=50).fit(sp.csr_array(X), y)
    assert_close(ksupport.IRKSN(k=4, max_iter=50).fit(lazy, y).coef_, expected.coef_)


def test_threads_give_the_same():
    X, y = problem()
    expected = ksupport.IRKSNCV(k=[2, 8], cv=3, max_iter=60).fit(X, y)
    with dask.config.set(scheduler="threads", num_workers=2):
        model = ksupport.IRKSNCV(k=[2, 8], cv=3, max_iter=60, n_jobs=2)
        assert_close(model.fit(da.from_array(X, chunks=(25, 800)), y).coef_, expected.coef_)


# -- what a model gives back -----------------------------------------------------------------


@pytest.mark.parametrize("targets", [1, 2])
def test_predict_and_transform_are_lazy(targets):
    X, y = problem()
    y = y if targets == 1 else np.column_stack([y, -y])
    lazy = da.from_array(X, chunks=(25, 800))
    model = ksupport.IRKSN(k=4, max_iter=50).fit(lazy, y)
    predicted, reduced = model.predict(lazy), model.transform(lazy)
    assert isinstance(predicted, da.Array)
    assert isinstance(reduced, da.Array)
    np.testing.assert_allclose(predicted.compute(), model.predict(X))
    np.testing.assert_array_equal(reduced.compute(), model.transform(X))
    unknown = lazy[lazy[:, 0] > 1]  # rows that nobody has counted
    np.testing.assert_allclose(model.predict(unknown).compute(), model.predict(X[X[:, 0] > 1]))
    if targets == 1:
        assert model.score(lazy, y) == pytest.approx(model.score(X, y))
    model.coef_ = np.zeros_like(model.coef_)
    assert np.ptp(model.predict(lazy).compute(), axis=0).max() == 0
    with pytest.raises(ValueError, match="X has 1699 features"):
        model.predict(lazy[:, 1:])


def test_a_data_frame_keeps_its_names():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y = problem(40, 1700)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    lazy = dd.from_pandas(frame, npartitions=3)
    response = dd.from_pandas(pd.Series(y), npartitions=3)
    model = ksupport.IRKSN(k=4, max_iter=50).fit(lazy, response)
    assert_close(model.coef_, ksupport.IRKSN(k=4, max_iter=50).fit(X, y).coef_)
    assert model.feature_names_in_[7] == "gene 7"
    np.testing.assert_allclose(model.predict(lazy).compute(), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy.rename(columns={"gene 7": "gene seven"}))


def test_passes_are_counted_and_followed_for_whoever_listens(heard):
    X, y = problem()
    for model in (ksupport.IRKSN(k=4), ksupport.IRKSNIC(k=[2, 4])):
        model.fit(da.from_array(X, chunks=(25, 800)), y)
        fit = heard.over[-1]
        assert fit.name == type(model).__name__
        assert fit.passes() == model.n_passes_
    assert set(heard.shares("centring X")) == {1.0}


def test_a_pass_tells_which_share_of_its_tasks_is_done(heard, monkeypatch):
    shares = []
    monkeypatch.setattr(Phase, "read", lambda self, share: shares.append(share))
    X, y = problem()
    design = Design.of(da.from_array(X, chunks=(25, 800)))
    design.rmatvec(y)
    *told, over = shares
    assert over is None
    assert told == sorted(told)
    assert told[0] < 0.5 < told[-2]
    assert told[-1] == 1.0


# -- what can be wrong -----------------------------------------------------------------------


def test_chunks_of_unknown_size():
    X, y = problem()
    lazy = da.from_array(X, chunks=(25, 800))
    lazy = lazy[lazy[:, 0] > -100]
    with pytest.raises(ValueError, match=r"unknown size.*X = X\.compute_chunk_sizes\(\)"):
        ksupport.IRKSN().fit(lazy, y)
    ksupport.IRKSN(max_iter=2).fit(lazy.compute_chunk_sizes(), y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_bad_number_is_placed(value, intercept):
    X, y = problem()
    X = X.copy()
    X[30, 900] = value
    place = r"block \(1, 1\) \(rows 25..39, columns 800..1599\)"
    with pytest.raises(ValueError, match=f"NaN or infinity in {place}"):
        ksupport.IRKSN(fit_intercept=intercept).fit(da.from_array(X, chunks=(25, 800)), y)


def test_a_bad_number_in_a_small_array_is_placed():
    X = np.ones((20, 30))
    X[7, 29] = np.nan
    with pytest.raises(ValueError, match=r"block \(0, 2\) \(rows 0..9, columns 20..29\)"):
        path("irksn", da.from_array(X, chunks=10), np.arange(20.0), k=2)


def test_a_block_that_cannot_be_read_is_placed():
    X, y = problem()

    def read(block, block_info=None):
        if block_info[0]["chunk-location"] == (1, 2):
            raise OSError("disk on fire")
        return block

    lazy = da.from_array(X, chunks=(25, 800)).map_blocks(read, dtype=float)
    place = r"block \(1, 2\) \(rows 25..39, columns 1600..1699\)"
    with pytest.raises(RuntimeError, match=f"{place} cannot be read: OSError: disk on fire"):
        ksupport.IRKSNIC().fit(lazy, y)


@pytest.mark.parametrize("kind", [object, "U3"])
def test_a_dtype_that_is_not_of_real_numbers(kind):
    X, y = problem(10, 20)
    with pytest.raises(ValueError, match=r"X must (be real|hold real numbers), got dtype"):
        ksupport.IRKSN().fit(da.from_array(np.ones((10, 20)).astype(kind), chunks=5), y)


def corrupted(X, change):
    """The array, with what it does not tell: one block is changed."""
    blocks = da.from_array(X, chunks=(25, 800)).to_delayed()
    blocks[1, 0] = dask.delayed(change)(blocks[1, 0])
    return da.block(
        [
            [
                da.from_delayed(block, shape, X.dtype)
                for block, shape in zip(row, ((n, 800), (n, 800), (n, 100)), strict=True)
            ]
            for row, n in zip(blocks, (25, 15), strict=True)
        ]
    )


def test_a_block_of_another_dtype_or_shape_is_placed():
    X, y = problem()
    place = r"X: block \(1, 0\) \(rows 25..39, columns 0..799\) has"
    with pytest.raises(ValueError, match=f"{place} dtype complex128"):
        ksupport.IRKSN().fit(corrupted(X, lambda block: block + 1j), y)
    with pytest.raises(ValueError, match=rf"{place} shape \(14, 800\)"):
        ksupport.IRKSN().fit(corrupted(X, lambda block: block[1:]), y)


def test_other_collections_and_shapes():
    X, y = problem()
    with pytest.raises(TypeError, match=r"Dask Delayed\w*, but must be a Dask array"):
        ksupport.IRKSN().fit(dask.delayed(X), y)
    with pytest.raises(ValueError, match="two-dimensional"):
        path("irksn", da.ones(5), np.ones(5))
    with pytest.raises(ValueError, match="y must have 40 rows"):
        ksupport.IRKSN().fit(da.from_array(X), y[1:])


@pytest.mark.parametrize("method", ["lasso", "enet", "omp"])
def test_methods_that_need_all_columns_say_so(method):
    X, y = problem()
    with pytest.raises(ValueError, match=r"needs all columns.*X\.compute\(\)"):
        path(method, da.from_array(X, chunks=(25, 800)), y)
