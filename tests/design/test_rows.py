"""Weights of rows, and errors on rows held out."""

import numpy as np
import pytest

from ksupport.design import Unseen, Weights
from ksupport.design.view import Design

ROWS = np.arange(6)


def weights(values, meaning="relative"):
    return Weights.checked(values, 6, meaning)


@pytest.mark.parametrize("scale", [1, 7, 1e-300, 1e300])
def test_relative_weights_have_mean_one_over_any_rows(scale):
    given = weights(scale * np.array([1.0, 2, 3, 4, 5, 6]))
    np.testing.assert_allclose(given.of(ROWS[:3]), [0.5, 1, 1.5])
    assert given.of(ROWS).mean() == pytest.approx(1)


def test_constant_weights_are_exactly_one():
    np.testing.assert_array_equal(weights(0.1).of(ROWS), 1)
    np.testing.assert_array_equal(weights(np.full(6, 1 / 3)).of(ROWS), 1)


def test_repetitions_stay_as_they_are():
    np.testing.assert_array_equal(weights([0, 1, 2, 3, 4, 5], "repetitions").of(ROWS[2:4]), [2, 3])
    np.testing.assert_array_equal(weights(4, "repetitions").of(ROWS), 4)


def test_rows_without_weight_do_not_count():
    np.testing.assert_array_equal(weights([0, 1, 0, 2, 0, 3]).positive(ROWS[:4]), [1, 3])
    np.testing.assert_array_equal(weights(None).positive(ROWS), ROWS)
    assert weights(None).of(ROWS) is None


@pytest.mark.parametrize(
    ("given", "meaning", "message"),
    [
        (np.ones(5), "relative", r"must be a number or have shape \(6,\), got \(5,\)"),
        (np.ones((6, 1)), "relative", r"must be a number or have shape \(6,\), got \(6, 1\)"),
        (0, "relative", "sample_weight must be non-negative and not all zero"),
        (-1.0, "relative", "sample_weight must be non-negative and not all zero.*-1"),
        (np.nan, "relative", "sample_weight contains NaN"),
        (
            0.5,
            "repetitions",
            "must hold whole numbers where .* got 0.5; .*'relative'",
        ),
        (None, "counts", "weights must be 'relative' or 'repetitions', got 'counts'"),
    ],
)
def test_bad_weights_are_named(given, meaning, message):
    with pytest.raises(ValueError, match=message):
        weights(given, meaning)


def test_errors_are_weighted_means():
    X, truth, share = np.eye(2), np.array([1.0, 2.0]), np.array([3.0, 1.0])
    models = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    plain = Unseen(Design.of(X), truth, None)
    np.testing.assert_allclose(plain.errors_of(models), [2.5, 2, 0])
    weighted = Unseen(Design.of(X), truth, share)
    np.testing.assert_allclose(weighted.errors_of(models), [7 / 4, 1, 0])
