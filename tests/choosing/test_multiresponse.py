"""Several responses with one support: how much is left of them."""

import numpy as np
import pytest

from ksupport.choosing.evidence import log_left


@pytest.fixture
def left(rng):
    """What is left of three responses by five models, and their squares."""
    Y = rng.standard_normal((3, 40)) + rng.standard_normal(40)
    taken = 0.3 * rng.standard_normal((5, 3, 6))
    return Y @ Y.T - taken @ taken.transpose(0, 2, 1), Y


def test_it_is_the_determinant_with_a_few_rows_believed(left):
    E, Y = left
    believed = 2 / 40 * np.diag((Y**2).sum(axis=1))
    expected = [42 * np.linalg.slogdet((each + believed) / 40)[1] for each in E]
    np.testing.assert_allclose(log_left(E, (Y**2).sum(axis=1), 40.0), expected)


def test_one_response_has_none_believed(rng):
    y = rng.standard_normal((1, 30))
    found = log_left(y @ y.T, (y**2).sum(axis=1), 30.0)
    assert found == pytest.approx(30 * np.log(np.sum(y**2) / 30))


def test_units_change_nothing_but_a_constant(left):
    E, Y = left
    units = np.array([1e-4, 1.0, 1e5])
    scaled = log_left(E * np.outer(units, units), (Y**2).sum(axis=1) * units**2, 40.0)
    plain = log_left(E, (Y**2).sum(axis=1), 40.0)
    np.testing.assert_allclose(np.diff(scaled), np.diff(plain), rtol=1e-6)


def test_copies_and_constants_say_no_more(rng):
    """Of three copies what is explained counts about once; of a constant not at all."""
    y = rng.standard_normal(100)
    for Y in (np.array([y, y, y]), np.array([y, np.zeros(100)])):
        totals = (Y**2).sum(axis=1)
        before, after = (float(log_left(c * Y @ Y.T, totals, 100.0)) for c in (1.0, 0.7))
        gain = before - after
        assert gain == pytest.approx(-100 * np.log(0.7), rel=0.05)
