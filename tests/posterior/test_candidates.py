"""Which features are candidates."""

import numpy as np
import pytest

from ksupport.posterior.candidates import largest_first


@pytest.mark.parametrize("count", [0, 1, 7, 40, 50])
def test_the_largest_come_first_and_equal_ones_by_place(rng, count):
    sizes = rng.integers(0, 9, (3, 40)) / 8.0
    expected = np.argsort(-sizes, axis=1, kind="stable")[:, :count]
    assert np.array_equal(largest_first(sizes, count), expected)
