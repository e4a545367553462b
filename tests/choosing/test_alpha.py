"""`alpha="auto"`: below the theorem's limit at the model found, if there is such a limit."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport import IRKSN
from ksupport.choosing.alpha import FLOOR, START, alpha_limit, tightened
from ksupport.datasets import make_example1
from ksupport.design.view import Design
from ksupport.theory import alpha_max

AUTO = {"alpha": "auto", "fit_intercept": False}


def narrow(margin):
    """A design on which w = (2, -1, 0) needs alpha < margin / 2."""
    X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, margin]])
    w = np.array([2.0, -1.0, 0.0])
    return X, X @ w, w


def test_alpha_stays_where_the_theorem_allows_it():
    X, y, w = make_example1()
    model = IRKSN(3, **AUTO, max_iter=10_000).fit(X, y)
    assert model.alpha_ == START < alpha_max(X, w)
    same = IRKSN(3, START, fit_intercept=False, max_iter=10_000).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)


@pytest.mark.parametrize("margin", [0.01, 0.004, 0.0015])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_alpha_falls_below_the_limit(margin, kind):
    X, y, w = narrow(margin)
    assert START > alpha_max(X, w) == pytest.approx(margin / 2)
    model = IRKSN(2, **AUTO, max_iter=20_000).fit(kind(X), y)
    assert FLOOR <= model.alpha_ < margin / 2
    np.testing.assert_array_equal(model.support_, w != 0)
    np.testing.assert_allclose(model.coef_, w, atol=1e-3)
    same = IRKSN(2, model.alpha_, fit_intercept=False, max_iter=20_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-8)


def test_an_operator_needs_products_alone():
    X, y, _ = narrow(0.01)
    models = [
        IRKSN(2, **AUTO, max_iter=500).fit(kind(X), y) for kind in (np.asarray, aslinearoperator)
    ]
    assert models[0].alpha_ == pytest.approx(models[1].alpha_)
    assert models[0].alpha_ < 0.005


def test_with_a_fixed_alpha_above_the_limit_that_support_is_missed():
    """So the limit is not only on paper."""
    X, y, w = narrow(0.004)
    model = IRKSN(2, 0.05, fit_intercept=False, max_iter=20_000).fit(X, y)
    assert model.support_[2]


def test_alpha_is_not_lowered_without_end():
    X, y, _ = narrow(1e-6)
    assert IRKSN(2, **AUTO).fit(X, y).alpha_ >= FLOOR
    assert tightened(START, [1e-7]) == FLOOR
    assert tightened(FLOOR, [1e-7]) is None
    rounds, alpha = 0, START
    while (alpha := tightened(alpha, [alpha])) is not None:
        rounds += 1
    assert rounds <= 4


def test_where_no_alpha_helps_it_stays():
    X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])  # x_2 is closer to w than its own columns
    y = X @ [2.0, -1.0, 0.0]
    assert alpha_max(X, [2.0, -1.0, 0.0]) == 0
    assert tightened(START, [0.0]) is None
    assert IRKSN(2, **AUTO).fit(X, y).alpha_ == START


def test_the_strictest_target_counts():
    X, y, _ = narrow(0.004)
    model = IRKSN(2, **AUTO, max_iter=5000).fit(X, np.column_stack([y, X[:, 0]]))
    assert model.alpha_ < 0.002


def test_the_limit_is_that_of_the_least_squares_model_on_the_k_largest():
    X, y, w = narrow(0.01)
    noisy = w + np.array([0.1, 0.2, 0.05])
    assert alpha_limit(Design.of(X), y, noisy, 2) == pytest.approx(alpha_max(X, w))
    assert alpha_limit(Design.of(X), y, np.zeros(3), 2) == 0
    assert alpha_limit(Design.of(X), np.zeros(2), w, 2) == 0


@pytest.mark.parametrize("stopping", [None, "held_out", "discrepancy"])
def test_alpha_is_chosen_with_any_stopping_rule(stopping, rng):
    X = rng.standard_normal((40, 60))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(40)
    model = IRKSN(2, alpha="auto", stopping=stopping, random_state=0).fit(X, y)
    again = IRKSN(2, alpha="auto", stopping=stopping, random_state=0).fit(X, y)
    assert 0 < model.alpha_ <= START
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_a_warm_start_goes_on_with_the_alpha_found():
    X, y, _ = narrow(0.004)
    model = IRKSN(2, **AUTO, warm_start=True, max_iter=3000).fit(X, y)
    alpha, steps = model.alpha_, model.n_iter_
    model.fit(X, y)
    assert (model.alpha_, model.n_iter_) == (alpha, steps + 3000)


def test_a_number_is_taken_as_it_is(rng):
    X, y = rng.standard_normal((10, 4)), rng.standard_normal(10)
    assert IRKSN(2, 0.3).fit(X, y).alpha_ == 0.3
    with pytest.raises(ValueError, match=r"alpha must be 'auto' or a number .* got 'small'"):
        IRKSN(2, "small").fit(X, y)
