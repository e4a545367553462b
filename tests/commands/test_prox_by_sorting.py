"""The naive side of ``ksupport bench`` computes the same."""

import numpy as np
import pytest

from ksupport import prox_ksupport
from ksupport.commands.timing import prox_by_sorting


@pytest.mark.parametrize("lam", [0.1, 1.0, 30.0])
def test_the_naive_prox_is_ours(lam, rng):
    for k in (1, 3, 19, 20):
        q = rng.standard_normal(20)
        np.testing.assert_allclose(prox_by_sorting(q, lam, k), prox_ksupport(q, lam, k), atol=1e-12)
