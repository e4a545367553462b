"""A new kind of X is one store: the five methods it must have are enough for everything else."""

import numpy as np
import pytest

from ksupport import IRKSN, IRKSNCV, METHODS, path
from ksupport.design import Design
from ksupport.design.blocks import KINDS
from ksupport.design.stores import Store


class LowRank:
    """X = A B, never formed."""

    ndim, dtype = 2, np.dtype(np.float64)

    def __init__(self, A, B):
        self.A, self.B, self.shape = A, B, (A.shape[0], B.shape[1])


class LowRankStore(Store):
    def __init__(self, X):
        super().__init__(X.shape, X.dtype)
        self.A, self.B = X.A, X.B

    def rmatmat(self, U):
        self.passes += 1
        return self.B.T @ (self.A.T @ U)

    def matvec(self, index, values):
        self.columns_read += index.size
        return self.A @ (self.B[:, index] @ values)

    def columns(self, index):
        self.columns_read += index.size
        return self.A @ self.B[:, index]

    def moments(self, weights):
        self.passes += 1
        share = weights / weights.sum()
        A = self.A - share @ self.A
        return share @ self.A @ self.B, np.einsum(
            "ij,ik,kj->j", self.B, (A * share[:, None]).T @ A, self.B
        )

    def _dense(self, rows, columns):
        return self.A[rows] @ self.B[:, columns]


@pytest.fixture(params=[(30, 200), (3500, 20)], ids=str)
def problem(request, rng, monkeypatch):
    monkeypatch.setattr("ksupport.design.blocks.KINDS", [*KINDS, (is_low_rank, LowRankStore)])
    n, d = request.param
    X = LowRank(rng.standard_normal((n, 15)), rng.standard_normal((15, d)))
    dense = X.A @ X.B
    return X, dense, dense[:, :3].sum(axis=1) + rng.standard_normal(n)


def is_low_rank(X):
    return isinstance(X, LowRank)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_walks_on_it(method, problem):
    X, dense, y = problem
    params = {"k": 3} if "k" in METHODS[method].describe().parameters else {}
    found, expected = (path(method, each, y, max_iter=30, **params) for each in (X, dense))
    size = abs(expected.iterates).max()
    assert abs(found.iterates - expected.iterates).max() <= 1e-9 * size


@pytest.mark.parametrize("model", [IRKSN(k=3, stopping="held_out", random_state=0), IRKSNCV(k=3)])
def test_estimators_take_it(model, problem):
    X, dense, y = problem
    expected = model.fit(dense, y).predict(dense)
    np.testing.assert_allclose(model.fit(X, y).predict(X), expected, atol=1e-8)


def test_a_view_of_it_has_sizes(problem):
    X, dense, y = problem
    found, expected = (Design.of(each).centred(standardize=True) for each in (X, dense))
    np.testing.assert_allclose(found.column_norms, expected.column_norms)
    np.testing.assert_allclose(found.norm(), expected.norm())
    np.testing.assert_allclose(found.gram(y), expected.gram(y), atol=1e-8)


def test_a_store_that_is_not_sparse_says_so():
    with pytest.raises(TypeError, match="X is not stored as a sparse matrix, but by DenseStore"):
        Design.of(np.eye(3)).as_csc()
