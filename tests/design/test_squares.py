"""Sums of squares of sets of rows, against the rows themselves."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
import zarr
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from ksupport import limits
from ksupport.choosing.refits import least_squares
from ksupport.choosing.supports import different_rows
from ksupport.design import Design, Problem, Weights, squares

N, D = 1700, 45
EQUAL = Weights()
SPLITTERS = {
    "folds": KFold(5, shuffle=True, random_state=0),
    "in order": KFold(3),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "shuffled": ShuffleSplit(4, random_state=0),
    "in time": TimeSeriesSplit(3),
}


@pytest.fixture
def data(rng):
    X = rng.standard_normal((N, D)) * rng.uniform(0.1, 9, D) + rng.uniform(-30, 30, D)
    X[:, 7] = X[:, 6] + 0.1 * X[:, 7]
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + rng.standard_normal((N, 2)) + 12
    return X, Y


def splits(cv=SPLITTERS["folds"]):
    return [tuple(each) for each in cv.split(np.zeros((N, 1)))]


def both_ways(monkeypatch, X, Y, *, weights=EQUAL, folds=(), center=True, scale=True):
    """The problem from squares, and from rows."""
    train = np.arange(len(Y))
    data = (X, Y, weights, train, center, scale)
    few = Problem(*data, compress=True, splits=folds)
    assert few.squares is not None
    assert few.design.compact
    assert few.raw.passes == 1
    monkeypatch.setattr(squares, "pays", lambda *_: False)
    rows = Problem(*data, compress=True, splits=folds)
    monkeypatch.undo()
    assert rows.squares is None
    return few, rows


def assert_same_design(one, other, rtol):
    """Inner products of all columns and targets agree, beside the columns' lengths."""
    few, rows = (np.vstack([each.design.all_columns, *each.targets]) for each in (one, other))
    size = np.linalg.norm(rows, axis=1)
    size[size == 0] = 1
    scale = np.outer(size, size)
    np.testing.assert_allclose(few @ few.T / scale, rows @ rows.T / scale, atol=rtol)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12, atol=1e-12)
    for name in ("mean", "scale"):
        mine, theirs = getattr(one.view, name), getattr(other.view, name)
        if theirs is None:
            assert mine is None
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    assert one.design.n_samples == pytest.approx(other.design.n_samples, rel=1e-13)
    for target in (0, 1)[: len(one.targets)]:
        counts = [different_rows(each.design, each.targets[target]) for each in (one, other)]
        assert counts[0] == counts[1]


def assert_same(few, rows, rtol=1e-11, rng_seed=0):
    """Whole, folds and errors on held-out rows agree."""
    assert_same_design(few.whole, rows.whole, rtol)
    models = np.random.default_rng(rng_seed).standard_normal((4, few.design.d))
    for (walked, unseen), (twin, errors) in zip(few.folds(), rows.folds(), strict=True):
        assert_same_design(walked, twin, rtol)
        np.testing.assert_allclose(unseen.errors_of(models), errors.errors_of(models), rtol=1e-9)
        nothing = np.zeros((1, few.design.d))
        np.testing.assert_allclose(unseen.errors_of(nothing), errors.errors_of(nothing), rtol=1e-9)


@pytest.mark.parametrize("name", SPLITTERS)
def test_folds_are_those_of_the_rows(data, monkeypatch, name):
    assert_same(*both_ways(monkeypatch, *data, folds=splits(SPLITTERS[name])))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_centred_and_scaled_or_not(data, monkeypatch, center, scale):
    assert_same(*both_ways(monkeypatch, *data, folds=splits(), center=center, scale=scale))


@pytest.mark.parametrize("meaning", ["relative", "repetitions"])
def test_weights_of_both_kinds_and_none(data, monkeypatch, rng, meaning):
    values = rng.integers(0, 20, N) * (1.0 if meaning == "repetitions" else 1e-7)
    weights = Weights(values, meaning)
    folds = [(weights.positive(train), weights.positive(test)) for train, test in splits()]
    few, rows = both_ways(monkeypatch, *data, weights=weights, folds=folds)
    assert_same(few, rows)
    counted = np.count_nonzero(values) if meaning == "relative" else values.sum()
    assert few.design.n_samples == pytest.approx(counted)


KINDS = {
    "by columns": lambda X, tmp: np.asfortranarray(X),
    "integers": lambda X, tmp: np.round(X).astype(np.int32),
    "single precision": lambda X, tmp: X.astype(np.float32),
    "csr": lambda X, tmp: sp.csr_array(np.where(np.abs(X) > 9, X, 0)),
    "csc": lambda X, tmp: sp.csc_array(np.where(np.abs(X) > 9, X, 0)),
    "mapped": lambda X, tmp: mapped(X, tmp / "x"),
    "zarr": lambda X, tmp: zarr.array(X, chunks=(400, 20)),
    "dask rows": lambda X, tmp: da.from_array(X, chunks=(200, D)),
    "dask columns": lambda X, tmp: da.from_array(X, chunks=(N, 10)),
    "dask": lambda X, tmp: da.from_array(X, chunks=(700, 30)),
}


def mapped(X, path):
    X.astype(np.float32).tofile(path)
    return np.memmap(path, np.float32, "r", shape=X.shape)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_X(data, monkeypatch, tmp_path, rng, kind):
    X, Y = data
    X = KINDS[kind](X, tmp_path)
    raw = X.compute() if hasattr(X, "compute") else X
    raw = raw.toarray() if sp.issparse(raw) else np.asarray(raw)
    weights = Weights(rng.uniform(0.5, 2, N))
    few, _ = both_ways(monkeypatch, X, Y, weights=weights, folds=splits())
    _, rows = both_ways(monkeypatch, raw.astype(float), Y, weights=weights, folds=splits())
    assert_same(few, rows)


def test_small_blocks_pool_to_the_same(data, monkeypatch):
    expected, _ = both_ways(monkeypatch, *data, folds=splits())
    monkeypatch.setattr(limits, "CHUNK", 1000)
    found, rows = both_ways(monkeypatch, *data, folds=splits())
    assert_same(found, rows)
    assert_same(found, expected)


# -- where digits could be lost ------------------------------------------------------------


def test_means_that_dwarf_deviations(data, monkeypatch):
    X, Y = data
    X = np.round((X - X.mean(axis=0)) * 2**10) / 2**10  # exact when shifted
    plain, _ = both_ways(monkeypatch, X, Y, folds=splits())
    moved, _ = both_ways(monkeypatch, X + 2.0**30, Y, folds=splits())
    one, other = moved.whole, plain.whole
    few, rows = (each.design.all_columns @ each.targets[0] for each in (one, other))
    np.testing.assert_allclose(few, rows, atol=1e-9 * np.abs(rows).max())
    for support in ((0, 1, 2), (3, 6, 7)):
        mine, theirs = (least_squares(w.design, w.targets[0], support) for w in (one, other))
        np.testing.assert_allclose(mine, theirs, atol=1e-9)


def test_a_wild_row_of_one_fold_leaves_the_others_alone(data, monkeypatch):
    X, Y = data
    X[3], Y[3] = 1e9, -1e9
    few, rows = both_ways(monkeypatch, X, Y, folds=splits())
    clean = [at for at, (train, _) in enumerate(splits()) if 3 not in train]
    assert len(clean) == 1
    mine, theirs = few.folds()[clean[0]][0], rows.folds()[clean[0]][0]
    assert_same_design(mine, theirs, 1e-11)


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-5])
def test_models_on_nearly_dependent_columns(data, monkeypatch, rng, apart):
    """Of coefficients about 1e-16 κ² is lost, of errors far less."""
    X, Y = data
    X[:, 9] = X[:, 8] + apart * X[:, 8].std() * rng.standard_normal(N)
    few, rows = both_ways(monkeypatch, X, Y, folds=splits())
    (walked, unseen), (twin, errors) = few.folds()[0], rows.folds()[0]
    w, v = (least_squares(each.design, each.targets[0], (0, 8, 9)) for each in (walked, twin))
    np.testing.assert_allclose(w, v, atol=100 * 2e-16 / apart**2 * np.abs(v).max())
    np.testing.assert_allclose(
        unseen.errors_of(w[None]), errors.errors_of(v[None]), max(1e-9, 1e-17 / apart**2)
    )


def test_copies_and_constants_are_what_they_are_on_rows(data, monkeypatch):
    X, Y = data
    X[:, 5], X[:, 10], X[:, 11] = X[:, 4], 0.1, 1e9 / 3
    X[:, 12] = 0
    X[splits()[0][1], 12] = 5.0  # constant where fold 0 walks
    few, rows = both_ways(monkeypatch, X, Y, folds=splits())
    assert_same(few, rows)
    assert not few.design.all_columns[[10, 11]].any()
    walked, _ = few.folds()[0]
    assert not walked.design.all_columns[12].any()
    mine = least_squares(few.design, few.targets[0], (1, 4, 5))
    np.testing.assert_allclose(mine, least_squares(rows.design, rows.targets[0], (1, 4, 5)), 1e-9)
    assert mine[4] == pytest.approx(mine[5], rel=1e-9)  # the least norm, not chance


def test_a_constant_response_is_nothing(data, monkeypatch):
    X, Y = data
    Y[:] = 0.1
    few, rows = both_ways(monkeypatch, X, Y, folds=splits())
    assert not any(target.any() for target in few.targets)
    assert_same(few, rows)


def test_repeated_rows_are_not_different(data, monkeypatch):
    X, Y = data
    X, Y = np.repeat(X[:34], 50, axis=0), np.repeat(Y[:34], 50, axis=0)
    few, rows = both_ways(monkeypatch, X, Y, folds=splits())
    assert different_rows(few.design, few.targets[0]) == 34
    assert_same(few, rows)


@pytest.mark.parametrize(
    ("size", "words"), [(1e200, "norm of X is infinite"), (np.nan, "NaN or infinity")]
)
def test_what_cannot_be_squared_is_refused(data, size, words, tmp_path):
    X, Y = data
    X[17, 3] = size
    X.tofile(tmp_path / "x")
    X = np.memmap(tmp_path / "x", float, "r", shape=X.shape)
    with pytest.raises(ValueError, match=words):
        _ = Problem(X, Y, Weights(), np.arange(N), True, True, compress=True).whole


def test_what_is_too_small_to_be_squared_is_refused(data):
    X, Y = data
    with pytest.raises(ValueError, match=r"the norm of X is .*rescale X"):
        _ = Problem(X * 1e-300, Y, Weights(), np.arange(N), True, True, compress=True).whole


# -- where rows cost less ------------------------------------------------------------------


def squares_of(X, Y, folds=()):
    return Problem(X, Y, Weights(), np.arange(len(Y)), True, True, True, folds).squares


def test_few_rows_stay_rows(rng):
    Y = rng.standard_normal((400, 1))
    assert squares_of(rng.standard_normal((400, 250)), Y) is None  # hardly more rows than columns
    assert squares_of(rng.standard_normal((400, 20)), Y) is None  # small as it is


def test_very_sparse_data_stay_sparse():
    X = sp.random_array(
        (30_000, 400), density=1e-3, format="csr", random_state=np.random.default_rng(0)
    )
    assert squares_of(X, np.ones((30_000, 1))) is None


def test_too_many_classes_stay_rows(data, monkeypatch):
    X, Y = data
    one_out = [(np.delete(np.arange(N), i), np.array([i])) for i in range(0, N, 100)]
    assert squares_of(X, Y, one_out) is not None
    monkeypatch.setattr(limits, "SQUARES", 40 * D**2)
    assert squares_of(X, Y, one_out) is None
    assert squares_of(X, Y) is not None


def test_marks_are_not_asked_for_where_y_tells_rows_apart(data):
    X, Y = data
    problem = Problem(X, Y, Weights(), np.arange(N), True, True, compress=True)
    assert different_rows(problem.design, problem.targets[0]) == N
    assert problem.raw.passes == 1
    assert Design.of(X).passes == 0
