"""Stopping by the residual: what it guarantees."""

import math

import numpy as np
import pytest

from ksupport import path
from ksupport.stopping import noise_level
from ksupport.theory import discrepancy_bound


def test_where_the_residual_is_that_of_the_noise_the_fit_is_off_by_twice_its_projection(rng):
    """What the bound rests on, along a walk; and the bound itself, from sizes alone."""
    n, d, k, sigma = 80, 150, 5, 0.5
    for _ in range(10):
        X, w = rng.standard_normal((n, d)), np.zeros(d)
        w[:k] = 2.0
        noise = sigma * rng.standard_normal(n)
        walk = path("irksn", X, X @ w + noise, k=k, alpha=0.05, max_iter=100)
        stops = np.flatnonzero(walk.history["residual"] <= np.linalg.norm(noise))
        assert stops.size
        for t in stops[::10]:
            coef = walk.iterates[[t]].toarray()[0]
            T = np.flatnonzero((coef != 0) | (w != 0))
            Q = np.linalg.qr(X[:, T])[0]
            off = np.linalg.norm(X @ (coef - w))
            assert off <= 2 * np.linalg.norm(Q.T @ noise) * (1 + 1e-9)
            size = int(np.count_nonzero(coef))
            reached = walk.history["residual"][t]
            assert off <= discrepancy_bound(n, d, size, k, sigma, threshold=reached)


def test_the_bound_holds_at_every_residual_where_the_noise_is_estimated(rng):
    """The level of the noise is the data's; the bound knows nothing of it."""
    n, d, k = 400, 100, 3
    finite = 0
    for sigma in (0.0, 0.3, 3.0):
        X, w = rng.standard_normal((n, d)), np.zeros(d)
        w[:k] = 2.0
        y = X @ w + sigma * rng.standard_normal(n)
        walk = path("irksn", X, y, k=k, alpha=0.05, max_iter=60)
        stop = int(np.argmax(walk.history["residual"] <= noise_level(X, y) * np.sqrt(n)))
        for t in (1, 5, stop, 60):
            coef = walk.iterates[[t]].toarray()[0]
            size, reached = int(np.count_nonzero(coef)), walk.history["residual"][t]
            bound = discrepancy_bound(n, d, size, k, threshold=reached)
            assert np.linalg.norm(X @ (coef - w)) <= bound
            finite += bound < 2 * reached
    assert finite >= 6  # the bound says something at most of these


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_probabilities_of_all_supports_of_all_sizes_add_up_to_the_level(level):
    """‖Pε‖ exceeds √|T| + u with a probability of exp(-u²/2) at most, for each support."""
    n, d, sparsity = 1000, 12, 3
    total = 0.0
    for size in range(d + 1):
        c = discrepancy_bound(n, d, size, sparsity, 1.0, threshold=0.0, level=level) / 2
        u = c - math.sqrt(min(size + sparsity, d))
        total += math.comb(d, size) * math.exp(-(u**2) / 2)
    assert total == pytest.approx((1 - level) / 2)


def test_without_sigma_it_is_the_largest_bound_of_all_sigmas():
    sizes, eta = (1000, 200, 5, 5), 31.6
    most = discrepancy_bound(*sizes, threshold=eta)
    # A sigma beyond these would leave a larger residual than eta.
    bounds = [discrepancy_bound(*sizes, s, threshold=eta) for s in np.linspace(0, 1.06, 2000)]
    assert max(bounds) == pytest.approx(most, rel=1e-4)
    assert max(bounds) <= most * (1 + 1e-12)
    assert discrepancy_bound(50, 200, 40, 5, threshold=eta) == math.inf


def test_it_grows_with_what_it_should():
    base = discrepancy_bound(100, 1000, 5, 5, 1.0)
    assert discrepancy_bound(100, 1000, 5, 5, 2.0) == pytest.approx(2 * base)
    assert base < discrepancy_bound(100, 1000, 6, 5, 1.0)
    assert base < discrepancy_bound(100, 2000, 5, 5, 1.0)
    assert base < discrepancy_bound(100, 1000, 5, 5, 1.0, level=0.99)
    assert base < discrepancy_bound(100, 1000, 5, 5, 1.0, threshold=11.0)


def test_errors():
    with pytest.raises(ValueError, match="size must be an integer between 0 and 1000, got 1001"):
        discrepancy_bound(100, 1000, 1001, 5, 1.0)
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 1"):
        discrepancy_bound(100, 1000, 5, 5, 1.0, level=1)
    with pytest.raises(ValueError, match="sigma or threshold must be given, got neither"):
        discrepancy_bound(100, 1000, 5, 5)
