"""Compiled losses, profile losses and refits, against their definitions."""

import copy
import pickle

import numpy as np
import pytest

from ksupport._kernels.newton import refit_models
from ksupport._kernels.profile import ProfileLoss
from ksupport._kernels.refits import fill_calls, refit_many
from ksupport.losses import Cox, Huber, Logistic, Multinomial, Poisson, Squared

N = 60
LOSSES = [Squared(), Huber(0.5), Logistic(), Poisson(), Cox(), Cox("breslow"), Multinomial(3)]


def rows_of(loss, rng):
    """The loss on random rows: times have ties and strata, weights differ."""
    y = {
        "logistic": rng.integers(0, 2, N),
        "multinomial": rng.integers(0, 3, N),
        "poisson": rng.poisson(2.0, N),
        "cox": np.column_stack([rng.integers(1, 15, N), rng.random(N) < 0.7, np.arange(N) % 2]),
    }.get(loss.name, 2 * rng.standard_normal(N))
    return loss.compiled(np.asarray(y, float), rng.uniform(0.5, 2.0, N))


def value(rows, weights, eta):
    out = np.empty((1, N))
    rows.values_rows(eta[None], out)
    return float(out[0] @ weights)


def slopes(rows, eta):
    g, h = np.empty((1, rows.size)), np.empty((1, rows.size))
    rows.slopes_rows(eta[None], g, h)
    return g[0], h[0]


@pytest.fixture(params=LOSSES, ids=str)
def case(request):
    rng = np.random.default_rng(3)
    rows = rows_of(request.param, rng)
    return rows, rows.__reduce__()[1][1], 0.7 * rng.standard_normal(rows.size), rng


def test_slopes_are_those_of_the_values(case):
    rows, weights, eta, rng = case
    along, step = rng.standard_normal(rows.size), 1e-6
    rise = value(rows, weights, eta + step * along) - value(rows, weights, eta - step * along)
    assert slopes(rows, eta)[0] @ along == pytest.approx(rise / (2 * step), rel=1e-6)


def test_second_derivatives_are_those_of_the_slopes(case):
    rows, _, eta, rng = case
    classes, step = rows.size // N, 1e-6
    A, b = rng.standard_normal((3, N)), rng.standard_normal((classes, 3))
    along = (b @ A).ravel()
    change = slopes(rows, eta + step * along)[0] - slopes(rows, eta - step * along)[0]
    product = (change.reshape(classes, N) @ A.T).ravel() / (2 * step)
    np.testing.assert_allclose(rows.hessian_of(eta, A) @ b.ravel(), product, rtol=1e-5, atol=1e-6)


def test_unpenalised_coefficients_have_no_gradient(case):
    """And the gradient of the profile loss is that of the loss there, over the roots of weights."""
    rows, weights, eta, rng = case
    Q = rng.standard_normal((2, N))
    profile = ProfileLoss(rows, Q, np.sqrt(weights))
    c, whole, g = (np.zeros(size) for size in (profile.n_free, rows.size, rows.size))
    roots = np.tile(np.sqrt(weights), rows.size // N)
    assert profile.gradient(roots * eta, c, whole, g)
    np.testing.assert_allclose(whole, eta + (c.reshape(-1, 2) @ Q).ravel(), atol=1e-12)
    np.testing.assert_allclose(g * roots, slopes(rows, whole)[0], atol=1e-9)
    assert np.abs((g * roots).reshape(-1, N) @ Q.T).max() < 1e-8


def test_the_first_step_is_as_long_as_the_loss_is_flat(case):
    rows, weights, eta, rng = case
    profile = ProfileLoss(rows, np.empty((0, N)), np.ones(N))
    along, step = rng.standard_normal(rows.size), 1e-6
    change = slopes(rows, eta + step * along)[0] - slopes(rows, eta - step * along)[0]
    curvature = change @ along / (2 * step)
    found = profile.step_factor(eta, along)
    assert found == pytest.approx(along @ along / curvature, rel=1e-5)
    assert profile.step_factor(eta, np.zeros(rows.size)) == 1.0


def test_infinity_and_nan_are_seen(case):
    rows, weights, eta, _ = case
    eta[0] = np.nan
    profile = ProfileLoss(rows, np.empty((0, N)), np.sqrt(weights))
    assert not profile.gradient(eta, np.empty(0), np.empty_like(eta), np.empty_like(eta))


def test_copies_are_the_same_loss(case):
    rows, _, eta, _ = case
    for other in (pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)):
        assert type(other) is type(rows)
        np.testing.assert_array_equal(slopes(other, eta), slopes(rows, eta))


def test_other_lengths_are_refused(case):
    rows, weights, *_ = case
    with pytest.raises(ValueError, match="fitted values"):
        rows.values_rows(np.zeros((1, rows.size + 1)), np.zeros((1, N)))
    with pytest.raises(ValueError, match="rows"):
        ProfileLoss(rows, np.ones((1, N + 1)), np.sqrt(weights))


@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_a_refit_by_squares_is_least_squares(ridge):
    """Of each model, first the column that is not penalised; a feature twice has half the share."""
    rng = np.random.default_rng(0)
    X, y, weights = rng.standard_normal((4, N)), rng.standard_normal(N), rng.uniform(1, 2, N)
    X[3] = X[0]
    indptr, features = np.array([0, 0, 2, 5]), np.array([0, 2, 0, 1, 3])
    rows, ones = Squared().compiled(y, weights), np.ones((1, N))
    coef, free, E, told = refit_models(
        rows, ones, np.zeros(1), X, indptr, features, np.full(3, ridge), 1.0, 0.0
    )
    for at in range(3):
        A = np.vstack([ones, X[features[indptr[at] : indptr[at + 1]]]])
        prior = ridge * np.diag(np.arange(len(A)) > 0)
        H = (A * weights) @ A.T
        b = np.linalg.lstsq(H + prior, A @ (weights * y), rcond=1e-12)[0]
        own = np.append(free[at], coef[indptr[at] : indptr[at + 1]])
        np.testing.assert_allclose(own, b, atol=1e-9)
        np.testing.assert_allclose(E[at], b @ A, atol=1e-9)
        if ridge:
            freedom = np.trace(np.linalg.solve(H[1:, 1:] + prior[1:, 1:], H[1:, 1:]))
            volume = np.linalg.slogdet(np.eye(len(A) - 1) + H[1:, 1:] / ridge)[1]
            np.testing.assert_allclose(told[at], [1, ridge, volume, freedom], atol=1e-9)


def test_least_squares_on_supports_that_share_a_factor():
    """Against NumPy's, with a feature that depends on two others and one that is zero."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((6, 30)), rng.standard_normal(30)
    X[4], X[5] = X[0] + X[1], 0.0
    supports = [(), (0,), (0, 1), (0, 1, 4), (0, 2, 3), (2, 5), (1, 4)]
    indptr = np.cumsum([0, *map(len, supports)])
    drop, rank, coef = np.empty(7), np.empty(7, np.intp), np.empty(indptr[-1])
    indices = np.concatenate([np.array(each, np.intp) for each in supports])
    refit_many(X @ X.T, X @ y, indptr, indices, np.arange(7), 1e-9, drop, rank, coef)
    for at, support in enumerate(supports):
        A = X[list(support)]
        w = coef[indptr[at] : indptr[at + 1]]
        fitted = A.T @ np.linalg.lstsq(A.T, y, rcond=None)[0]
        np.testing.assert_allclose(w @ A, fitted, atol=1e-10)
        assert drop[at] == pytest.approx(y @ fitted, abs=1e-10)
        assert rank[at] == (np.linalg.matrix_rank(A) if support else 0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_calls_that_failed_have_the_mean_of_their_column(order):
    calls = np.array([[0, 2, -127], [1, -127, -127], [2, 1, -127]], np.int8, order=order)
    out = np.empty((3, 3), order="F")
    fill_calls(calls, -127, out)
    np.testing.assert_array_equal(out, [[0, 2, 0], [1, 1.5, 0], [2, 1, 0]])
