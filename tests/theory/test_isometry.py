"""Coherence and restricted isometry against brute force."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport.theory import isometry, mutual_coherence, omp_condition, restricted_isometry


def brute_force(X, k):
    s = [np.linalg.svd(X[:, T], compute_uv=False) for T in combinations(range(X.shape[1]), k)]
    low = min(v[-1] ** 2 if len(v) == k else 0.0 for v in s)
    return low, max(v[0] ** 2 for v in s)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 6])
def test_exact_constant(rng, k):
    X = rng.standard_normal((5, 8)) / 5**0.5
    low, high = brute_force(X, k)
    rip = restricted_isometry(X, k)
    assert rip.exact
    assert rip.lower == rip.upper == pytest.approx(max(1 - low, high - 1))
    assert rip.scaled_lower == pytest.approx((high - low) / (high + low))
    assert restricted_isometry(3 * X, k).scaled_lower == pytest.approx(rip.scaled_lower)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_bounds_enclose_the_constant(rng, monkeypatch, k):
    X = rng.standard_normal((40, 12)) / 40**0.5
    exact = restricted_isometry(X, k)
    monkeypatch.setattr(isometry, "MAX_SUBSETS", 1)
    bounds = restricted_isometry(X, k)
    assert not bounds.exact
    assert str(bounds.k) in bounds.why or "supports" in bounds.why
    assert bounds.lower <= exact.lower + 1e-12
    assert exact.lower <= bounds.upper + 1e-12
    assert bounds.scaled_lower <= exact.scaled_lower + 1e-12
    assert exact.scaled_lower <= bounds.scaled_upper + 1e-12


def test_more_features_than_samples_is_never_isometric(rng):
    X = rng.standard_normal((10, 60))
    assert comb(60, 11) > isometry.MAX_SUBSETS
    assert restricted_isometry(X, 11).scaled_lower == 1


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, aslinearoperator])
def test_coherence(rng, kind):
    X = rng.standard_normal((7, 150))
    X[:, 5] = 0
    keep = np.delete(X, 5, axis=1) / np.linalg.norm(np.delete(X, 5, axis=1), axis=0)
    gram = np.abs(keep.T @ keep)
    np.fill_diagonal(gram, 0)
    assert mutual_coherence(kind(X)) == pytest.approx(gram.max())


def test_low_coherence_implies_exact_recovery(rng):
    """Supports below (1 + 1/coherence)/2 satisfy Tropp's condition."""
    X = np.column_stack([np.eye(16), np.linalg.qr(rng.standard_normal((16, 16)))[0]])
    k = int(np.ceil((1 + 1 / mutual_coherence(X)) / 2)) - 1
    for _ in range(50):
        w = np.zeros(32)
        w[rng.choice(32, max(k, 1), replace=False)] = 1
        assert omp_condition(X, w).holds


def test_errors(rng):
    with pytest.raises(ValueError, match="k must be between 1 and n_features=4, got 5"):
        restricted_isometry(rng.standard_normal((3, 4)), 5)
