"""Thresholds of the rivals against their definitions."""

import copy
import pickle

import numpy as np
import pytest

from ksupport._kernels.iht import iht_proposal, iht_support, same_support
from ksupport._kernels.rivals import Fista, ircr_primal, soft_threshold


def largest_kept(c, k):
    """H_k(c), ties to the lowest index."""
    kept = np.zeros_like(c)
    first = np.argsort(-np.abs(c), kind="stable")[:k]
    kept[first] = c[first]
    return kept


@pytest.mark.parametrize("k", [1, 3, 9, 12])
@pytest.mark.parametrize("n_active", [0, 3, 12])
@pytest.mark.parametrize("eta", [0.0, 0.01, 1.0])
def test_a_proposal_keeps_the_largest(k, n_active, eta):
    rng = np.random.default_rng(k)
    for _ in range(20):
        # Round numbers: ties are common.
        beta, g = np.round(rng.standard_normal((2, 12)), 1)
        beta[rng.permutation(12)[n_active:]] = 0.0
        new = np.empty(12)
        level = iht_proposal(beta, g, eta, k, new)
        expected = largest_kept(beta - eta * g, k)
        np.testing.assert_array_equal(new, expected)
        assert level >= np.sort(np.abs(beta - eta * g))[-k] - 1e-15
        assert same_support(new, expected)


def test_the_support_of_zero_is_where_the_gradient_is_largest():
    g, out = np.array([0.5, -2.0, 1.0, 0.0]), np.empty(4)
    assert iht_support(np.zeros(4), g, 2, out) == 1.0
    np.testing.assert_array_equal(out, [0.0, -2.0, 1.0, 0.0])
    beta = np.array([0.0, 0.0, 0.0, 3.0])
    assert iht_support(beta, g, 2, out) == np.inf
    np.testing.assert_array_equal(out, beta)


def test_soft_thresholds_keep_signs_and_what_is_not_finite():
    z, out = np.array([3.0, -2.0, 1.0, 1 + 1e-15, -0.5, 0.0]), np.empty(6)
    soft_threshold(z, 1.0, 10.0, out)
    np.testing.assert_array_equal(out, [20.0, -10.0, 0.0, 0.0, 0.0, 0.0])
    soft_threshold(np.array([np.nan, np.inf, 2.0]), 1.0, 1.0, out[:3])
    np.testing.assert_array_equal(out[:3], [np.nan, np.inf, 1.0])


def test_a_primal_step_of_ircr_and_the_sum_of_iterates():
    F = np.array([[1.0, -1.0, 0.0], [5.0, 5.0, 5.0]])
    ircr_primal(np.array([2.0, 0.0, -8.0]), 0.25, F)
    np.testing.assert_allclose(F, [[0.25, -0.75, 1.75], [5.25, 4.25, 6.75]])


def test_where_fista_stands_can_be_copied_and_stored():
    fista = Fista(3.0, momentum=0.5, theta=2.0, scale=0.1)
    for other in (copy.deepcopy(fista), pickle.loads(pickle.dumps(fista))):
        assert (other.inverse_step, other.momentum, other.theta, other.scale) == (3, 0.5, 2, 0.1)
