"""Exact copies of rows are found, and told from rows that are equal by coincidence."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport.design import Design
from ksupport.design.copied_rows import first_copies

OF = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3, 3, 0, 9])


def found(X, Y):
    return first_copies(Design.of(X), np.asarray(Y, float).reshape(len(Y), -1))


@pytest.mark.parametrize("d", [5, 200])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
def test_each_row_is_given_its_first_copy(rng, kind, d):
    X, y = rng.standard_normal((12, d))[OF], rng.standard_normal(12)[OF]
    np.testing.assert_array_equal(found(kind(X), y), OF)
    classes = (y > 0).astype(float)
    np.testing.assert_array_equal(found(kind(X), classes), OF)
    assert found(kind(X[:12]), y[:12]) is None
    assert found(kind(X[:12]), classes[:12]) is None


def test_rows_that_differ_in_x_or_in_y_are_no_copies(rng):
    X, y = rng.standard_normal((12, 200))[OF], rng.standard_normal(12)[OF]
    measured_again = y + 0.1 * rng.standard_normal(len(y))
    assert found(X, measured_again) is None
    other = X.copy()
    other[12:, 151] += 1.0  # a column that is not among those compared first
    other[13, 151] = X[13, 151]
    np.testing.assert_array_equal(found(other, y), [*range(13), 3, 14, 15])
    with_offset = np.column_stack([X[:, :5], 1e9 + np.arange(len(X))])
    assert found(with_offset, y) is None


def test_few_values_are_equal_by_coincidence(rng):
    X = rng.integers(0, 2, (100, 4)).astype(float)
    assert found(X, rng.integers(0, 2, 100)) is None
    assert found(X[:, :2], X[:, 0] + 2 * X[:, 1]) is None  # four distinct rows


def test_copies_of_several_responses_are_equal_in_all(rng):
    X, Y = rng.standard_normal((12, 5))[OF], rng.standard_normal((12, 2))[OF]
    np.testing.assert_array_equal(found(X, Y), OF)
    Y[12:, 1] += rng.standard_normal(4)
    assert found(X, Y) is None
