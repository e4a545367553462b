"""The noise level is estimated from the data, also with more features than samples."""

import numpy as np
import pytest

from ksupport import METHODS, path
from ksupport.choosing.noise import noise_level, noise_norm
from ksupport.design.view import Design
from ksupport.stopping import Discrepancy


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_noise_level_is_found_with_more_features_than_samples(rng, scale):
    ratios = []
    for _ in range(5):
        X = rng.standard_normal((80, 300))
        noise = 0.7 * rng.standard_normal(80)
        y = X[:, :4] @ [3.0, -2.0, 2.0, 2.5] + noise
        X, y = X - X.mean(axis=0), y - y.mean()
        ratios.append(noise_level(X, scale * y) / (0.7 * scale))
        delta = noise_norm(Design.of(X), y) / np.linalg.norm(noise - noise.mean())
        assert 0.85 < delta < 1.15
    assert 0.9 < np.mean(ratios) < 1.1


def test_without_noise_the_level_is_nothing(rng):
    X = rng.standard_normal((40, 60))
    assert noise_level(X, X[:, 3] - X[:, 5]) < 1e-6
    assert noise_level(X, np.zeros(40)) == 0


def test_the_noise_level_does_not_depend_on_the_method(rng):
    X = rng.standard_normal((60, 90))
    y = X[:, :3] @ [3.0, -2.0, 2.0] + rng.standard_normal(60)
    levels = {
        path(name, X, y, max_iter=5, stopping=Discrepancy()).history["noise"][0] for name in METHODS
    }
    assert len(levels) == 1
