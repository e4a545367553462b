"""Cox's partial likelihood in time linear in the rows, against its definition."""

import time

import numpy as np
import pytest

from ksupport.losses import Cox

from . import naive_cox

TIES = ("efron", "breslow")


def _drawn(n, seed, scale, strata, rounded):
    """Times, in strata or not, with ties or not; eta of any scale; weights."""
    rng = np.random.default_rng(seed)
    times = rng.exponential(5, n)
    y = [np.round(times) if rounded else times, rng.random(n) < 0.6]
    if strata:
        y.append(rng.integers(0, 3, n))
    return np.column_stack(y).astype(float), scale * rng.standard_normal(n), rng.uniform(0.3, 3, n)


every_draw = pytest.mark.parametrize(
    "draw", [(scale, s, r) for scale in (0.0, 1.0, 8.0) for s in (False, True) for r in (0, 1)]
)


@pytest.mark.parametrize("ties", TIES)
@every_draw
def test_derivatives_are_those_of_the_definition(ties, draw):
    for seed in range(5):
        y, eta, weights = _drawn(41, seed, *draw)
        expected = naive_cox.hessian(y, eta, weights, ties == "efron")
        found = Cox(ties).hessian(np.eye(41), eta, y, weights)
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(
            Cox(ties).gradient(eta, y, weights),
            naive_cox.gradient(y, eta, weights, ties == "efron"),
            atol=1e-11 * size,
        )
        np.testing.assert_allclose(found, expected, atol=1e-11 * size)


@every_draw
@pytest.mark.parametrize("shift", [0.0, 3.0, -30.0, 300.0])
def test_what_a_new_row_adds_is_that_of_the_definition(draw, shift):
    """Also where a new row is far more at risk than all others together, or far less."""
    for seed in range(3):
        y, eta, weights = _drawn(150, seed, *draw)
        old, new = np.arange(100), np.arange(100, 150)
        new_eta = eta[new] + shift * np.random.default_rng(seed).random(50)
        seen = Cox().on(y[old], weights[old])
        found = Cox().deviance_of_new(seen, eta[None, old], new_eta[None], y[new])[0]
        expected = naive_cox.added(y[old], eta[old], weights[old], y[new], new_eta)
        np.testing.assert_allclose(found, 2 * expected, rtol=1e-11, atol=1e-11)


def test_new_rows_of_a_stratum_that_was_not_seen_add_nothing():
    y, eta, weights = _drawn(60, 0, 1.0, True, False)
    seen, new = Cox().on(y, weights), y.copy()
    new[:, 2] = np.resize([-1.0, 0.5, 7.0], 60)
    np.testing.assert_array_equal(Cox().deviance_of_new(seen, eta[None], eta[None], new), 0.0)


def test_new_rows_in_any_order_add_the_same():
    y, eta, weights = _drawn(80, 1, 1.0, True, True)
    seen, order = Cox().on(y, weights), np.random.default_rng(0).permutation(80)
    here = Cox().deviance_of_new(seen, eta[None], eta[None], y)
    there = Cox().deviance_of_new(seen, eta[None], eta[None, order], y[order])
    np.testing.assert_array_equal(there, here[:, order])


def test_a_model_that_is_no_number_adds_none():
    y, eta, _ = _drawn(30, 0, 1.0, False, False)
    eta[3] = np.inf
    assert np.isnan(Cox().deviance_of_new(Cox().on(y), eta[None], eta[None], y)).all()


@pytest.mark.parametrize("far", [1e3, 1e9, 1e18, 1e300])
def test_risks_of_any_range_take_no_more_memory_than_rows(far):
    """Of a column that separates, coefficients are as large as the search makes them."""
    y, eta, _ = _drawn(30, 0, 1.0, False, False)
    eta[y[:, 0] > np.median(y[:, 0])] -= far
    found = Cox().deviance_of_new(Cox().on(y), eta[None], eta[None], y)
    assert np.isfinite(found).all()


def _seconds(work):
    work()
    return min(_timed(work) for _ in range(3))


def _timed(work):
    started = time.process_time()
    work()
    return time.process_time() - started


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_time_is_linear_in_the_rows(scale):
    """Eight times the rows take eight times as long, or little more; 64 times if all pairs count.

    Of a wide range of eta, too, where single rows are more at risk than all others together.
    """
    spent = []
    for n in (4000, 32_000):
        y, eta, weights = _drawn(n, 0, scale, False, False)
        seen, half = Cox().on(y[::2], weights[::2]), (eta[None, ::2], eta[None, 1::2], y[1::2])
        V = eta[None, ::2]
        works = [
            lambda seen=seen, half=half: Cox().deviance_of_new(seen, *half),
            lambda seen=seen, V=V: Cox().hessian(V, V[0], seen.y, seen.weights),
            lambda seen=seen, eta=eta: Cox().gradient(eta[::2], seen.y),
        ]
        spent.append([_seconds(work) for work in works])
    assert max(b / a for a, b in zip(*spent, strict=True)) < 24
