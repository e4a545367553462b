"""IRKSN on singular values."""

import numpy as np
import pytest

from ksupport import path
from ksupport.algorithms import MatrixIRKSN


def test_on_diagonals_it_is_irksn_on_vectors(rng):
    """Singular values of a diagonal matrix are its entries, but for signs."""
    X = rng.standard_normal((5, 6))
    y = X @ [3.0, -2.0, 0, 0, 0, 0]
    sensing = np.zeros((5, 36))
    sensing[:, np.arange(6) * 7] = X
    vectors = path("irksn", X, y, k=2, alpha=0.1, max_iter=60).iterates.toarray()
    method = MatrixIRKSN(shape=(6, 6), k=2, alpha=0.1)
    matrices = path(method, sensing, y, max_iter=60).iterates.toarray().reshape(-1, 6, 6)
    np.testing.assert_allclose(np.einsum("tii->ti", matrices), vectors, atol=1e-8)
    off = matrices.copy()
    off[:, np.arange(6), np.arange(6)] = 0
    np.testing.assert_allclose(off, 0, atol=1e-10)


@pytest.mark.parametrize("shape", [(5, 4), (3, 7)])
def test_rotations_of_the_measurements_rotate_the_path(rng, shape):
    p, q = shape
    A = rng.standard_normal((10, p, q))
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in shape)
    y = rng.standard_normal(10)
    method = MatrixIRKSN(shape=shape, k=2, alpha=0.1)

    def walked(A):
        return path(method, A.reshape(10, -1), y, max_iter=30).iterates.toarray()

    turned = walked(U @ A @ V.T).reshape(-1, p, q)
    np.testing.assert_allclose(turned, U @ walked(A).reshape(-1, p, q) @ V.T, atol=1e-7)


def test_a_matrix_of_low_rank_is_the_limit_of_enough_measurements(rng):
    """20 degrees of freedom, 32 measurements, 36 entries; k = 1 is the nuclear norm."""
    W = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 6))
    X = rng.standard_normal((32, 36))
    for k in (1, 2):
        method = MatrixIRKSN(shape=(6, 6), k=k, alpha=0.05)
        last = path(method, X, X @ W.ravel(), max_iter=2000, keep="last").coef
        np.testing.assert_allclose(last, W.ravel(), atol=1e-2)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"shape": (3, 3)}, r"product is the number of columns of X, 12, got \(3, 3\)"),
        ({"shape": (3, 4), "k": 4}, r"k must be between 1 and min\(shape\)=3, got 4"),
        ({"shape": (3, 4), "alpha": 1.0}, "alpha must lie strictly between 0 and 1, got 1.0"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        path(MatrixIRKSN(**params), np.ones((2, 12)), np.ones(2))
