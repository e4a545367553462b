"""Genotypes on disk are the array that they stand for, whatever is asked of them."""

import pickle

import numpy as np
import pytest

from ksupport import IRKSN, IRKSNIC
from ksupport.design import Design, Genotypes

bed_reader = pytest.importorskip("bed_reader")
N, D = 37, 90


@pytest.fixture(scope="module")
def calls():
    rng = np.random.default_rng(0)
    calls = rng.binomial(2, rng.uniform(0.1, 0.5, D), (N, D)).astype(float)
    calls[rng.random(calls.shape) < 0.05] = np.nan
    calls[:, 11] = np.nan  # of a variant that failed
    return calls


@pytest.fixture(scope="module")
def file(calls, tmp_path_factory):
    path = tmp_path_factory.mktemp("genotypes") / "g.bed"
    bed_reader.to_bed(path, calls)
    return path


@pytest.fixture(scope="module")
def whole(calls):
    known = np.delete(calls, 11, axis=1)
    means = np.insert(np.nanmean(known, axis=0), 11, 0.0)
    return np.where(np.isnan(calls), means, calls)


@pytest.fixture
def X(file):
    return Genotypes(file, (N, D))


def test_products_columns_and_moments_are_those_of_the_filled_array(X, whole):
    ours, theirs = (Design.of(each).centred(standardize=True) for each in (X, whole))
    rng = np.random.default_rng(1)
    u, w = rng.standard_normal(N), rng.standard_normal(D)
    np.testing.assert_allclose(ours.rmatvec(u), theirs.rmatvec(u), atol=1e-12)
    np.testing.assert_allclose(ours.matvec(w), theirs.matvec(w), atol=1e-12)
    index = np.array([80, 3, 3, 11])
    np.testing.assert_allclose(ours.columns(index), theirs.columns(index), atol=1e-12)
    np.testing.assert_allclose(ours.column_norms, theirs.column_norms, atol=1e-12)
    np.testing.assert_allclose(ours.gram(u[:, None]), theirs.gram(u[:, None]), atol=1e-10)


def test_blocks_of_few_columns_make_no_difference(X, whole, monkeypatch):
    monkeypatch.setattr("ksupport.limits.CHUNK", 8 * N * 2)
    u = np.random.default_rng(1).standard_normal(N)
    np.testing.assert_allclose(Design.of(X).rmatvec(u), whole.T @ u, atol=1e-12)


def test_rows_variants_and_columns_beside_can_be_taken(X, calls, whole):
    rng = np.random.default_rng(2)
    beside = rng.standard_normal((N, 2))
    rows = np.array([30, 2, 2, 9, 11, 4])
    joined = X.with_beside(beside)
    assert joined.shape == (N, D + 2)
    np.testing.assert_allclose(np.asarray(joined), np.hstack([whole, beside]))
    np.testing.assert_allclose(joined[:, [91, 5, 90]], np.hstack([whole, beside])[:, [91, 5, 90]])
    some = joined[rows]
    np.testing.assert_array_equal(some.values[:, :D], calls[rows])
    np.testing.assert_array_equal(some.values[:, D:], beside[rows])
    np.testing.assert_array_equal(X.select([8, 3]).values, calls[:, [8, 3]])
    np.testing.assert_allclose(np.asarray(pickle.loads(pickle.dumps(joined))), np.asarray(joined))


@pytest.mark.parametrize("make", [lambda: IRKSN(k=3, standardize=True), IRKSNIC])
def test_estimators_find_the_same_as_on_the_array(make, X, whole):
    y = whole[:, [4, 40]] @ [2, -1] + 0.1 * np.random.default_rng(3).standard_normal(N)
    ours, theirs = make().fit(X, y), make().fit(whole, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(whole))


def test_covariates_beside_genotypes_are_adjusted_for(X, whole):
    rng = np.random.default_rng(4)
    age = rng.normal(50, 10, (N, 1))
    y = whole[:, 4] + 0.3 * age[:, 0] + 0.1 * rng.standard_normal(N)
    ours = IRKSNIC(unpenalized=[D]).fit(X.with_beside(age), y)
    theirs = IRKSNIC(unpenalized=[D]).fit(np.hstack([whole, age]), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    assert ours.coef_[D] == pytest.approx(0.3, rel=0.1)


def test_a_file_of_another_size_is_refused(file):
    with pytest.raises(ValueError, match=r"g\.bed has 903 bytes, but 37 samples and 91 variants"):
        Genotypes(file, (N, D + 1))
