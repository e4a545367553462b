"""Losses: convex, blind to the order of rows, and numbers wherever eta goes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example
from hypothesis import strategies as st

from ksupport.losses import Cox, Huber, Logistic, Multinomial, Poisson, Squared

from .inputs import LAYOUTS, holds, layouts


class Drawn(tuple[Any, ...]):
    """It prints itself: hypothesis would look for what classes of losses may lack."""

    def _repr_pretty_(self, printer, cycle):
        printer.text(repr(tuple(self)))


TIED = np.ones((3, 2)), 1e-10 * np.array([[2.6, -0.4, 0.4], [-0.6, -0.4, -0.4]])  # all at once


def _times(rng, n):
    time, event = rng.integers(1, 6, n), rng.random(n) < 0.7
    event[np.argmin(time)] = True
    return np.column_stack([time, event]).astype(float)


LOSSES = {
    "squared": (Squared(), lambda rng, n: 3 * rng.standard_normal(n)),
    "huber": (Huber(0.7), lambda rng, n: rng.standard_t(2, n)),
    "logistic": (Logistic(), lambda rng, n: np.resize([0.0, 1.0, 1.0], n)),
    "poisson": (Poisson(), lambda rng, n: rng.poisson(2.0, n) + np.eye(n)[0]),
    "cox-efron": (Cox("efron"), _times),
    "cox-breslow": (Cox("breslow"), _times),
    "multinomial": (Multinomial(3), lambda rng, n: np.resize([0.0, 1.0, 2.0], n)),
}


@st.composite
def responses(draw, names=tuple(LOSSES)):
    """A loss, its response, two etas and weights."""
    loss, make = LOSSES[draw(st.sampled_from(sorted(names)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, 15))
    size = 10.0 ** draw(st.integers(-12, 2))
    y = loss.checked(make(rng, n))
    eta = size * rng.standard_normal((2, n, 3) if loss.n_dual > 1 else (2, n))
    return Drawn((loss, y, eta, rng.uniform(0.2, 2.0, n)))


def total(loss, eta, y, weights):
    return float(loss.value(eta, y, weights) @ weights)


@holds(drawn=responses())
@example(drawn=Drawn((Cox("breslow"), *TIED, np.array([1.52, 1.86, 1.16]))))
def test_values_lie_above_their_tangents(drawn):
    loss, y, (a, b), weights = drawn
    rise = total(loss, b, y, weights) - total(loss, a, y, weights)
    tangent = float((loss.gradient(a, y, weights) * (b - a)).sum())
    size = abs(total(loss, b, y, weights)) + abs(total(loss, a, y, weights)) + abs(tangent)
    rounding = 1e-15 * weights.sum()  # of logarithms of what is about one
    assert rise >= tangent - 1e-12 * (size + np.abs(a - b).max()) - rounding


@holds(drawn=responses())
def test_curvature_is_neither_negative_nor_above_its_bound(drawn):
    loss, y, (eta, _), weights = drawn
    h = loss.curvature(eta, y, weights)
    assert (h >= -1e-13 * weights.max()).all()
    if loss.smoothness is not None:
        assert (weights * loss.smoothness * (1 + 1e-12) >= h.T).all()


@holds(drawn=responses(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_says_nothing(drawn, seed):
    loss, y, (eta, _), weights = drawn
    order = np.random.default_rng(seed).permutation(len(y))
    other = eta[order], y[order], weights[order]
    expected = loss.gradient(eta, y, weights)[order]
    np.testing.assert_allclose(loss.gradient(*other), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(total(loss, *other), total(loss, eta, y, weights), rtol=1e-12)


@holds(drawn=responses(["squared", "huber", "logistic", "poisson", "cox-breslow"]))
def test_a_row_of_weight_two_counts_as_two(drawn):
    loss, y, (eta, _), _ = drawn
    times = 1 + np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), times)
    once = loss.gradient(eta, y, times.astype(float))
    each = np.zeros(len(y))
    np.add.at(each, rows, loss.gradient(eta[rows], y[rows]))
    np.testing.assert_allclose(once, each, rtol=1e-9, atol=1e-11)
    constant = loss.constant(y, times.astype(float))
    np.testing.assert_allclose(constant, loss.constant(y[rows]), rtol=1e-7, atol=1e-9)


@holds(drawn=responses(), layout=layouts)
def test_memory_layouts_change_nothing(drawn, layout):
    loss, y, (eta, _), weights = drawn
    moved = [LAYOUTS[layout](each) for each in (eta, y, weights)]
    for f in (loss.gradient, loss.curvature, loss.value):
        np.testing.assert_array_equal(f(eta, y, weights), f(*moved))


@holds(drawn=responses(), far=st.sampled_from([1e3, 1e5, 1e100, 1e300]))
def test_far_away_slopes_are_numbers_or_infinite_and_never_nan(drawn, far):
    loss, y, (eta, _), weights = drawn
    with np.errstate(over="ignore", invalid="ignore"):
        away = far * eta / np.abs(eta).max()
    for sign in (1, -1):
        with np.errstate(over="ignore"):
            g, value = loss.gradient(sign * away, y, weights), loss.value(sign * away, y, weights)
        assert not np.isnan(g).any()
        assert not np.isnan(value).any()
        assert value @ weights >= -1e-9 * np.abs(away).max()


@holds(drawn=responses(["squared", "huber", "logistic", "poisson"]), size=st.integers(-20, 20))
@example(drawn=Drawn((Poisson(), np.full(3, 3.0), None, np.array([0.729, 1.854, 0.894]))), size=0)
def test_the_constant_is_where_slopes_cancel(drawn, size):
    loss, y, _, weights = drawn
    weights = weights * 2.0**size
    slopes = loss.gradient(np.full(len(y), loss.constant(y, weights)), y, weights)
    rounding = 1e-14 * weights @ np.abs(y)  # all that is left where all responses are equal
    assert abs(slopes.sum()) <= 1e-8 * np.abs(slopes).sum() + rounding


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_tried(name):
    loss, make = LOSSES[name]
    assert loss.checked(make(np.random.default_rng(0), 9)).shape[0] == 9
