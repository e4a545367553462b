"""Coefficients that cannot be negative: what their signs say."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from ksupport import _evidence_kernels as kernels
from ksupport.choosing.signs import price_of_signs


@pytest.mark.parametrize("z", [-40.0, -9.0, -7.9, -1.0, 0.0, 2.0, 30.0])
def test_it_is_the_share_above_zero_over_one_half(z):
    price = price_of_signs(np.array([[1.0, 1.0]]), np.array([[z, 50.0]]))
    expected = -2 * (norm.logcdf(z) + 2 * np.log(2))
    assert price == pytest.approx(expected, rel=1e-9)
    assert kernels.log_below(z) == pytest.approx(norm.logcdf(z), rel=1e-4)


@pytest.mark.parametrize("estimate", [-0.2, 0.1, 0.5])
def test_of_one_coefficient_it_is_exact(estimate):
    """By quadrature: the evidence of a half-normal prior over that of a normal one."""
    noise, prior = 0.2, 1.0

    def likely(w):
        return norm.pdf(estimate, w, noise)

    half = quad(lambda w: likely(w) * 2 * norm.pdf(w, 0, prior), 0, 9)[0]
    whole = quad(lambda w: likely(w) * norm.pdf(w, 0, prior), -9, 9, points=[estimate])[0]
    spread = 1 / (1 / noise**2 + 1 / prior**2)
    mean = spread * estimate / noise**2
    z = np.array([[mean / np.sqrt(spread)]])
    assert price_of_signs(np.ones((1, 1)), z) == pytest.approx(-2 * np.log(half / whole), abs=1e-6)


def test_a_feature_without_a_positive_coefficient_is_not_to_be_had():
    z = np.ones((2, 2))
    assert price_of_signs(np.array([[1.0, -1.0], [-1.0, -2.0]]), z) == np.inf
    assert np.isfinite(price_of_signs(np.array([[1.0, -1.0], [-1.0, 2.0]]), z))
    assert price_of_signs(np.empty((0, 2)), np.empty((0, 2))) == 0.0
