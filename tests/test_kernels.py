"""Compiled pieces of the walkers against their plain definitions."""

import numpy as np
import pytest

from ksupport import _kernels, prox_ksupport


@pytest.mark.parametrize("lam", [1e-3, 1.0, 9.0, 1e3, 1e5])
@pytest.mark.parametrize("k", [1, 7, 250, 499, 500])
@pytest.mark.parametrize("off", [1.0, 1 + 1e-6, 1.01, 0.97, 1.5, 1e-3, 1e3])
def test_a_warm_start_never_changes_the_prox(lam, k, off):
    """However close or far the first guess of s is, near search and fresh search agree."""
    q = np.random.default_rng(k).standard_normal(500)
    expected, out = prox_ksupport(q, lam, k), np.empty(500)
    s = _kernels.prox_warm(q, lam, k, 0.0, out)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-13)
    _kernels.prox_warm(q, lam, k, off * s, out)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("m", [1, 3, 50])
def test_combine_is_a_product_with_X(share, m):
    rng = np.random.default_rng(m)
    B, r, out = rng.standard_normal((m, 5)), rng.standard_normal(m), np.empty(5)
    r[rng.random(m) >= share] = 0.0
    _kernels.combine(B, r, -2.0, out)
    np.testing.assert_allclose(out, -2.0 * (B.T @ r), atol=1e-13)
