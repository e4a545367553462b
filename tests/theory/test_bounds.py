"""Theorem 1 and its neighbours, against walks of IRKSN."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from ksupport import path
from ksupport.theory import (
    ErrorBound,
    alpha_max,
    error_bound,
    irksn_condition,
    l1_condition,
    stopping_time,
)

from .problems import draws, example1, example2, limits, walks


def noise_of_norm(rng, X, delta):
    noise = rng.standard_normal(X.shape[:2])
    return noise * (delta / np.linalg.norm(noise, axis=1))[:, None]


@pytest.mark.parametrize("kind", ["spectral", "nuclear"])
@pytest.mark.parametrize("limit", ["alpha_max", "alpha_sharp"])
def test_theorem(kind, limit):
    """Every iterate stays below the bound, and below the sharper one, in the norm of the step."""
    rng = np.random.default_rng(2)
    X, w = draws(rng, 60)
    conditions = [irksn_condition(*p) for p in zip(X, w, strict=True)]
    assert all(condition.holds for condition in conditions)
    delta = rng.choice([0.0, 1e-3, 1e-2, 0.1, 1.0], len(X))
    share = rng.uniform(0.1, 0.99, len(X))
    alpha = share * [getattr(condition, limit) for condition in conditions]
    y = np.einsum("bnd,bd->bn", X, w) + noise_of_norm(rng, X, delta)
    bounds = [error_bound(*p, norm=kind) for p in zip(X, w, alpha, delta, strict=True)]
    steps = np.arange(1, 600)
    curve = np.array([bound.curve(steps) for bound in bounds])
    tight = np.array([bound.tight(steps) for bound in bounds])
    assert np.all(tight <= curve)
    errors = np.linalg.norm(walks(X, y, alpha, 599, step=kind)[:, 1:] - w[:, None], axis=2)
    assert np.all(errors <= tight * (1 + 1e-9))


@pytest.mark.parametrize("limit", ["alpha_max", "alpha_sharp"])
def test_theorem_for_steps_that_are_found_by_backtracking(limit):
    """Every iterate stays below the bound along the gains, far earlier than constant steps."""
    rng = np.random.default_rng(5)
    X, w = draws(rng, 60)
    delta = rng.choice([0.0, 1e-3, 1e-2, 0.1, 1.0], len(X))
    Y = np.einsum("bnd,bd->bn", X, w) + noise_of_norm(rng, X, delta)
    for each, truth, y, noise, share in zip(
        X, w, Y, delta, rng.uniform(0.1, 0.99, len(X)), strict=True
    ):
        alpha = share * getattr(irksn_condition(each, truth), limit)
        bound = error_bound(each, truth, alpha, noise)
        result = path("irksn", each, y, k=3, alpha=alpha, max_iter=400)
        gain = result.history["gain"]
        errors = np.linalg.norm(result.iterates.toarray() - truth, axis=1)
        assert np.all(errors[1:] <= bound.along(gain[1:]) * (1 + 1e-9))
        t = np.arange(1, 401)  # backtracking that halves: at most twice too short
        assert np.all(gain[1:] >= (t - 5) / 2**1.5 / np.linalg.norm(each, 2) * (1 - 1e-9))


def test_constant_steps_are_a_case_of_the_bound_along_gains(rng):
    X, w = example1(rng)
    bound = error_bound(X, w, 0.05, 0.1)
    history = path("irksn", X, X @ w, k=3, alpha=0.05, step="spectral", max_iter=50).history
    t = history["t"][1:]
    np.testing.assert_allclose(bound.tight(t), bound.along(history["gain"][1:]), rtol=1e-9)


def test_the_best_gain_and_the_error_there(rng):
    X, w = example1(rng)
    step = error_bound(X, w, 0.05, 0.01)
    bound = ErrorBound(step.alpha, step.delta, step.dual_norm)
    gains = np.geomspace(1e-3, 1e5, 200_001)
    curve = bound.along(gains)
    assert bound.best == pytest.approx(curve.min(), rel=1e-6)
    assert bound.best_gain == pytest.approx(gains[np.argmin(curve)], rel=1e-3)
    assert ErrorBound(0.05, 0.0, 3.0).best_gain == math.inf
    assert ErrorBound(0.05, 0.0, 3.0).best == 0


def test_theorem_on_example2(rng):
    """The bound holds on a support of dependent columns too."""
    X, w, y = example2(rng)
    alpha = 0.5 * alpha_max(X, w)
    bound = error_bound(X, w, alpha, 0.1)
    noisy = y + noise_of_norm(rng, X[None], np.array([0.1]))[0]
    (walk,) = walks(X[None], noisy[None], [alpha], 400, k=8)
    assert np.all(np.linalg.norm(walk[1:] - w, axis=1) <= bound.tight(np.arange(1, 401)))


def test_noiseless_limit_is_w(rng):
    X, w = draws(rng, 20)
    alpha = 0.9 * np.array([alpha_max(*p) for p in zip(X, w, strict=True)])
    last = limits(X, np.einsum("bnd,bd->bn", X, w), alpha, 6000)
    np.testing.assert_allclose(last, w, atol=1e-4)


def test_alpha_sharp_is_sharp(rng):
    """Example 1 is recovered up to alpha = 4/15, four times the paper's 1/15, and not beyond."""
    X, w = example1(rng)
    for share, recovered in ((0.95, True), (1.2, False)):
        (last,) = limits(X[None], (X @ w)[None], [share * 4 / 15], 5000)
        assert np.allclose(last, w, atol=1e-3) == recovered


def basis_pursuit(X, y):
    d = X.shape[1]
    solution = linprog(np.ones(2 * d), A_eq=np.column_stack([X, -X]), b_eq=y)
    return solution.x[:d] - solution.x[d:]


def test_where_ours_holds_and_l1_fails():
    """IRKSN recovers every support; basis pursuit only those that have another certificate."""
    rng = np.random.default_rng(3)
    dependent, independent = (draws(rng, 100, l1_fails=True, own=own) for own in (0, 0.3))
    X, w = (np.concatenate(pair) for pair in zip(dependent, independent, strict=True))
    conditions = [irksn_condition(*p) for p in zip(X, w, strict=True)]
    l1 = [l1_condition(*p) for p in zip(X, w, strict=True)]
    assert all(condition.holds for condition in conditions)
    assert not any(condition.holds for condition in l1)
    y = np.einsum("bnd,bd->bn", X, w)
    alpha = 0.9 * np.array([condition.alpha_sharp for condition in conditions])
    ours = np.all((limits(X, y, alpha, 2500) != 0) == (w != 0), axis=1)
    pursuit = np.array([basis_pursuit(*p) for p in zip(X, y, strict=True)])
    theirs = np.all((np.abs(pursuit) > 1e-7) == (w != 0), axis=1)
    assert not theirs[:100].any()  # features made of those on the support alone, as in Example 1
    print(f"IRKSN {ours.sum()}, basis pursuit {theirs.sum()} of {len(X)}")
    assert ours.all()
    # Basis pursuit recovers exactly where Grasmair's condition holds, closed form or not.
    np.testing.assert_array_equal(theirs, [condition.recovers for condition in l1])
    assert theirs.mean() < 0.8


def test_another_certificate_is_enough_for_irksn(rng):
    """Assumption 2 is sufficient only: a certificate other than the smallest one will do."""
    X, w = draws(rng, 40, ours=False, own=1.0)
    conditions = [irksn_condition(*p) for p in zip(X, w, strict=True)]
    assert not any(condition.holds for condition in conditions)
    limit = np.array([condition.alpha_sharp for condition in conditions])
    usable = limit > 0.05
    assert usable.sum() >= 10
    X, w, alpha = X[usable], w[usable], 0.5 * limit[usable]
    y = np.einsum("bnd,bd->bn", X, w)
    np.testing.assert_allclose(limits(X, y, alpha, 5000), w, atol=1e-3)
    bounds = [error_bound(*p, 0.0) for p in zip(X, w, alpha, strict=True)]
    errors = np.linalg.norm(walks(X, y, alpha, 200)[:, 1:] - w[:, None], axis=2)
    assert np.all(errors <= [bound.tight(np.arange(1, 201)) for bound in bounds])


def test_constants_and_minimiser(rng):
    X, w = example1(rng)
    bound = error_bound(X, w, 0.05, 0.01)
    S = np.flatnonzero(w)
    norm = np.linalg.norm(X, 2)
    assert bound.a == pytest.approx(4 / norm)
    dual = np.linalg.norm(np.linalg.pinv(X[:, S].T) @ w[S])
    assert bound.b == pytest.approx(2 * norm * dual / 0.05)
    t = np.arange(1, 20_000)
    assert bound.best_t == t[np.argmin(bound.curve(t))]
    assert bound.best == pytest.approx(bound.curve(t).min())
    assert error_bound(X, w, 0.05, 0).best_t == math.inf
    assert error_bound(X, w, 0.05, 0).best == 0
    assert error_bound(X, w, 0.05, 1e6).best_t == 1


@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.04, 0.5, 1.0])
@pytest.mark.parametrize("c", [0.3, 1.0, 7.0])
def test_stopping_time_gives_the_rate(rng, delta, c):
    bound = error_bound(*example1(rng), 0.05, delta)  # type: ignore[call-arg]
    t = stopping_time(delta, c)
    assert t == math.ceil(c * delta**-0.5 - 1e-9)
    assert bound.curve(t) <= (bound.a * (c + 1) + bound.b / c) * delta**0.5 * (1 + 1e-12)


def test_errors(rng):
    X, w = example1(rng)
    with pytest.raises(ValueError, match=r"alpha must be below 0.26\d+ for this X and w, got 0.5"):
        error_bound(X, w, 0.5, 0.1)
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 1\), got 1"):
        error_bound(X, w, 1, 0.1)
    with pytest.raises(ValueError, match=r"delta must be in \[0, inf\), got -1"):
        error_bound(X, w, 0.01, -1)
    with pytest.raises(ValueError, match="norm must be 'spectral' or 'nuclear', got 'frobenius'"):
        error_bound(X, w, 0.01, 0.1, norm="frobenius")
    with pytest.raises(ValueError, match="w has no error bound, because"):
        error_bound(np.column_stack([X, X[:, 0]]), np.r_[w, 0], 0.01, 0.1)
    with pytest.raises(ValueError, match="t must be whole numbers of at least 1, got 0"):
        error_bound(X, w, 0.01, 0.1).curve(0)
    with pytest.raises(ValueError, match="delta must be positive, got 0; without noise"):
        stopping_time(0, 1)
    with pytest.raises(ValueError, match=r"c must be in \(0, inf\), got -1"):
        stopping_time(0.1, -1)
    assert alpha_max(np.column_stack([X, X[:, 0]]), np.r_[w, 0]) == 0
