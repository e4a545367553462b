"""Complex measurements are twice as many real ones, whatever X is."""

import dask.array as da
import numpy as np
import pylops
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport import IRKSN, IRKSNIC, path
from ksupport.design import Design, as_real, stacked, unstacked

KINDS = {
    "array": np.asarray,
    "sparse": sp.csr_array,
    "operator": aslinearoperator,
    "pylops": lambda X: pylops.MatrixMult(X, dtype=X.dtype),
    "dask": lambda X: da.from_array(X, chunks=(7, 20)),
}


@pytest.fixture(params=KINDS)
def wrap(request):
    return KINDS[request.param]


@pytest.fixture
def measured():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 60)) + 1j * rng.standard_normal((30, 60))
    w = np.zeros(60)
    w[[3, 17, 40]] = 2, -3, 1
    return X, X @ w + 0.01 * rng.standard_normal(30), w


def by_hand(X, y):
    return np.vstack([X.real, X.imag]), np.concatenate([y.real, y.imag])


def test_products_are_those_of_the_stacked_array(wrap, measured):
    X, y, _ = measured
    real, target = as_real(wrap(X), y)
    twin, expected = by_hand(X, y)
    rng = np.random.default_rng(1)
    u, w = rng.standard_normal(60), rng.standard_normal(60)
    design = Design.of(real)
    np.testing.assert_allclose(design.matvec(w), twin @ w, atol=1e-12)
    np.testing.assert_allclose(design.rmatvec(u), twin.T @ u, atol=1e-12)
    np.testing.assert_array_equal(target, expected)


def test_estimators_and_paths_find_real_coefficients(wrap, measured):
    X, y, w = measured
    ours = IRKSN(k=3, fit_intercept=False).fit(wrap(X), y)
    theirs = IRKSN(k=3, fit_intercept=False).fit(*by_hand(X, y))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    assert ours.coef_.dtype == np.float64
    np.testing.assert_allclose(ours.coef_, w, atol=0.05)
    np.testing.assert_allclose(np.asarray(ours.predict(wrap(X))), X @ ours.coef_, atol=1e-10)
    walked = path("irksn", wrap(X), y, k=3, alpha=0.1, max_iter=50)
    twin = path("irksn", *by_hand(X, y), k=3, alpha=0.1, max_iter=50)
    np.testing.assert_allclose(walked.coef, twin.coef, rtol=1e-6, atol=1e-8)


def test_a_fourier_operator_of_an_image_is_taken_as_it_is():
    rng = np.random.default_rng(0)
    image = np.zeros(256)
    image[rng.choice(256, 8, replace=False)] = rng.uniform(1, 2, 8)
    rows = np.sort(rng.choice(256, 60, replace=False))
    F = pylops.signalprocessing.FFT(256, norm="ortho", dtype=complex)
    X = pylops.Restriction(256, rows, dtype=complex) @ F
    model = IRKSN(k=8, fit_intercept=False, max_iter=300).fit(X, X @ image.astype(complex))
    np.testing.assert_allclose(model.coef_, image, atol=0.05)


def test_weights_are_of_measurements(measured):
    X, y, _ = measured
    weights = np.random.default_rng(2).integers(1, 4, 30).astype(float)
    ours = IRKSNIC(fit_intercept=False).fit(X, y, sample_weight=weights)
    real, target = by_hand(X, y)
    twin = IRKSNIC(fit_intercept=False).fit(real, target, sample_weight=np.tile(weights, 2))
    np.testing.assert_allclose(ours.coef_, twin.coef_, rtol=1e-6)


def test_there_and_back_is_the_same():
    z = np.arange(4) + 1j * np.arange(4, 8)
    np.testing.assert_array_equal(unstacked(stacked(z)), z)
