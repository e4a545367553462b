"""How many rows count."""

import numpy as np
import pytest

from ksupport.posterior.effective_rows import (
    common_range,
    design_effect,
    intraclass_correlation,
    kish,
    whitened,
)


def test_covariates_that_were_projected_out_take_their_rows(rng):
    Q = np.linalg.qr(rng.standard_normal((47, 22)))[0]
    X, y = rng.standard_normal((47, 200)), rng.standard_normal(47)
    X, y = X - X.mean(0), y - y.mean()
    assert common_range(X.T, y[None]) is None
    left_X, left_y = X - Q @ (Q.T @ X), y - Q @ (Q.T @ y)
    assert common_range(left_X.T, left_y[None]).shape in ((47, 24), (47, 25))
    assert common_range(left_X.T, y[None]) is None  # y varies in more dimensions
    assert common_range(X[:, :5].T, y[None]) is None  # few features are no sign of it


def test_rows_of_a_group_count_by_how_much_they_resemble_each_other(rng):
    groups = np.repeat(np.arange(30), 5)
    noise = rng.standard_normal(150)
    assert design_effect(noise[None], groups) == pytest.approx(1.0, abs=0.6)
    alike = np.repeat(rng.standard_normal(30), 5)
    assert design_effect((alike + 1e-3 * noise)[None], groups) == pytest.approx(5.0, abs=0.05)
    assert intraclass_correlation(noise[None], np.arange(150)) == (0.0, 1.0)


def test_whitening_makes_rows_of_a_group_independent():
    """The covariance I + t J of a group becomes the identity."""
    groups = np.array([0, 0, 0, 1, 1])
    correlation = 0.6
    t = correlation / (1 - correlation)
    V = np.eye(5) + t * (groups[:, None] == groups)
    root = whitened(np.eye(5), groups, correlation)
    np.testing.assert_allclose(root @ V @ root.T, np.eye(5), atol=1e-12)


def test_weights_count_as_kish_has_it():
    assert kish(np.ones(10)) == pytest.approx(1.0)
    assert kish(np.array([1.0] * 90 + [9.0] * 10)) == pytest.approx(180**2 / 100 / 900)
