"""What a few products say of other vectors is true, and all there is to say within their span."""

import numpy as np
import pytest

from ksupport.walking.recall import Recall, orthonormal


@pytest.fixture
def data(rng):
    X = rng.standard_normal((20, 50)) * np.exp(rng.standard_normal(50))
    Q = orthonormal(list(rng.standard_normal((4, 20))))
    return X, Recall(Q, Q @ X, 1e-12)


def test_within_the_span_products_are_known(data, rng):
    X, recall = data
    U = rng.standard_normal((3, 4)) @ recall.Q
    products, wrong = recall(U)
    np.testing.assert_allclose(products, U @ X, atol=1e-12)
    assert all(recall.knows(u) for u in U)
    assert (wrong < 1e-10).all()


@pytest.mark.parametrize("away", [1e-8, 1e-2, 1.0])
def test_outside_it_errors_are_bounded(away, data, rng):
    X, recall = data
    u = rng.standard_normal(4) @ recall.Q + away * rng.standard_normal(20)
    (products,), (wrong,) = recall(u[None])
    assert not recall.knows(u)
    assert (np.abs(products - X.T @ u) <= wrong * np.linalg.norm(X, axis=0)).all()
    assert wrong < 2 * away * np.sqrt(20)


def test_bases_leave_out_what_depends_on_others(rng):
    u, v = rng.standard_normal((2, 20))
    Q = orthonormal([u, 1e9 * v, u - v, np.zeros(20)])
    assert Q.shape == (2, 20)
    np.testing.assert_allclose(Q @ Q.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose((Q @ u) @ Q, u, atol=1e-12)
    np.testing.assert_array_equal(orthonormal([np.zeros(20)]), np.zeros((1, 20)))
