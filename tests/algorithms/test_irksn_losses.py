"""IRKSN on losses other than squares: the way it takes, where it goes, on every kind of X."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer

from ksupport import path, prox_ksupport
from ksupport.algorithms import make_method
from ksupport.algorithms.irksn import OtherLoss
from ksupport.design import Design, Problem, Unpenalized, Weights
from ksupport.losses import Cox, Huber, Logistic, Poisson, Squared
from ksupport.stopping import Discrepancy, HeldOut
from ksupport.walking import run, working_set
from ksupport.walking.working_set import WorkingSetPath

LOSSES = {
    "huber": Huber(1.0),
    "logistic": Logistic(),
    "poisson": Poisson(),
    "cox-efron": Cox("efron"),
    "cox-breslow": Cox("breslow"),
}
every_loss = pytest.mark.parametrize("name", LOSSES)


@cache
def data(name, n, d):
    """A design, exact in single precision, and a response that four features explain."""
    rng = np.random.default_rng([0, n, d])
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    X[rng.random((n, d)) < 0.2] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    eta = X[:, :4] @ [1.0, -1.0, 0.5, 1.5]
    if name == "huber":
        return X, eta + rng.standard_t(2, n)
    if name == "logistic":
        return X, (rng.random(n) < 1 / (1 + np.exp(-eta))) * 1.0
    if name == "poisson":
        return X, rng.poisson(np.exp(0.5 * eta)) * 1.0
    times = np.ceil(4 * rng.exponential(np.exp(-eta)))
    return X, np.column_stack([times, rng.random(n) < 0.7, rng.integers(0, 2, n)])


def problem(name, X, y, rows=None, splits=(), **options):
    rows = np.arange(len(y)) if rows is None else rows
    weights = options.pop("weights", Weights())
    Y = y.reshape(len(y), -1)
    loss = LOSSES[name]
    return Problem(X, Y, weights, rows, True, False, True, splits, loss=loss, **options)


def walked(name, X, y, k=4, alpha=0.05, steps=40, **options):
    given = problem(name, X, y, **options)
    method = make_method("irksn", k=k, alpha=alpha, loss=LOSSES[name])
    return run([method.start(given.design, given.targets[0])], max_iter=steps)[0]


def assert_close(actual, expected, tolerance):
    actual, expected = actual.toarray(), expected.toarray()
    assert np.abs(expected).max() > 0
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# -- the way -------------------------------------------------------------------------------


def mirror_descent(X, loss, y, k, alpha, steps):
    """The iteration in a few lines: z⁺ = v + gamma ∇loss(Xr) if the loss falls all along."""
    n, lam, emphasis = len(X), (1 - alpha) / alpha, loss.emphasis(y)
    Q = np.ones((1 if loss.has_constant else 0, n))

    def primal(v):
        return prox_ksupport(-X.T @ v / alpha, lam, k)

    def gradient(eta):
        if len(Q):
            c = loss.refit(np.empty((0, n)), y, emphasis, unpenalized=Q)  # only to start from
            b = float(c.unpenalized[0])
            for _ in range(500):
                g = loss.gradient(eta + b, y, emphasis)
                b -= 0.5 * g.sum() / max(loss.curvature(eta + b, y, emphasis).sum(), 0.1)
            eta = eta + b
        return loss.gradient(eta, y, emphasis), eta

    g, eta = gradient(np.zeros(n))
    Xw = X @ primal(g)
    curvature = loss.hessian(Xw[None], eta, y, emphasis)[0, 0]
    gamma = (g @ g) / -(g @ Xw) * (Xw @ Xw) / curvature / 16
    z = before = np.zeros(n)
    theta, grows, iterates = 0.0, 1.0, [np.zeros(X.shape[1])]
    growth = 1.5
    for _ in range(steps):
        trial = gamma * grows
        while True:
            theta_next = 1.0 if theta == 0 else 0.5 + np.sqrt(0.25 + gamma / trial * theta**2)
            v = z + (0.0 if theta == 0 else (theta - 1) / theta_next) * (z - before)
            r = primal(v)
            new = v + trial * gradient(X @ r)[0]
            w = primal(new)
            if gradient(X @ w)[0] @ X @ (w - r) <= 0:
                break
            trial, growth = trial / 2, 1.1
        z, before, theta, gamma, grows = new, z, theta_next, trial, growth
        iterates.append(w)
    return sp.csr_array(np.array(iterates))


@every_loss
def test_the_path_is_mirror_descent_with_momentum(name):
    X, y = data(name, 40, 30)
    X = X - X.mean(axis=0)
    expected = mirror_descent(X, LOSSES[name], y, 4, 0.05, 15)
    assert_close(walked(name, X, y, steps=15).iterates, expected, 1e-6)


def test_with_squares_it_is_the_path_on_squares():
    X, y = data("huber", 50, 80)
    X, y = X - X.mean(axis=0), y - y.mean()
    response = Squared().on(y, None, np.ones((1, 50)))
    general = WorkingSetPath(Design.of(X), OtherLoss(response, 4, 0.05))
    special = make_method("irksn", k=4, alpha=0.05).start(Design.of(X), y)
    found, known = run([general], max_iter=30)[0], run([special], max_iter=30)[0]
    assert_close(found.iterates, known.iterates, 1e-9)
    np.testing.assert_allclose(found.history["residual"], known.history["residual"], rtol=1e-9)


@every_loss
def test_the_loss_falls(name):
    X, y = data(name, 60, 100)
    residual = walked(name, X, y, steps=60).history["residual"]
    assert residual[1] < residual[0]
    assert residual[-1] < 0.7 * residual[0]


# -- every kind of X -----------------------------------------------------------------------

KINDS = {
    "F": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
    "LinearOperator": aslinearoperator,
}


def emphasis(n, weighted, adjusted):
    """Weights of the rows, and columns that are adjusted for."""
    weights = np.random.default_rng(0).uniform(0.5, 2.0, n) if weighted else None
    always = Unpenalized(np.array([1, 7]), ("x1", "x7")) if adjusted else None
    return {"weights": Weights(weights), "unpenalized": always}


@cache
def reference(name, n, d, weighted, adjusted):
    X, y = data(name, n, d)
    return walked(name, X, y, steps=25, **emphasis(n, weighted, adjusted)).iterates


@every_loss
@pytest.mark.parametrize("kind", [*KINDS, "memmap", "dask"])
@pytest.mark.parametrize(("n", "d"), [(25, 40), (40, 8000)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("adjusted", [False, True])
def test_every_kind_of_X_gives_the_same_iterates(name, kind, n, d, weighted, adjusted, tmp_path):
    X, y = data(name, n, d)
    expected = reference(name, n, d, weighted, adjusted)
    assert not (adjusted and expected.toarray()[:, [1, 7]].any())
    if kind == "memmap":
        X.tofile(tmp_path / "X")
        given = np.memmap(tmp_path / "X", X.dtype, "r", shape=X.shape)
    elif kind == "dask":
        given = pytest.importorskip("dask.array").from_array(X, chunks=(20, 1000))
    else:
        given = KINDS[kind](X)
    result = walked(name, given, y, steps=25, **emphasis(n, weighted, adjusted))
    assert_close(result.iterates, expected, 1e-3 if kind == "float32" else 1e-7)


@every_loss
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 0.6])
@pytest.mark.parametrize(("n", "d"), [(30, 900), (60, 700)])
def test_the_walk_on_a_working_set_is_the_full_walk(name, alpha, n, d, monkeypatch):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    X, y = data(name, n, d)
    given = problem(name, X, y)
    method = make_method("irksn", k=4, alpha=alpha, loss=LOSSES[name])
    lazy, plain = (method.start(given.design, given.targets[0]) for _ in range(2))
    plain._go_plain(working_set.FOREVER)  # type: ignore[attr-defined]
    result = run([lazy], max_iter=40)[0]
    assert given.design.columns_read > 0
    assert_close(result.iterates, run([plain], max_iter=40)[0].iterates, 1e-7)


@every_loss
def test_the_order_of_rows_and_columns_does_not_matter(name):
    X, y = data(name, 50, 200)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(50), rng.permutation(200)
    expected = walked(name, X, y).iterates.toarray()[:, columns]
    found = walked(name, X[rows][:, columns], y[rows]).iterates
    assert_close(found, sp.csr_array(expected), 1e-7)


@pytest.mark.parametrize("name", ["huber", "logistic", "poisson", "cox-breslow"])
def test_a_row_of_weight_two_is_two_rows(name):
    X, y = data(name, 40, 60)
    times = np.where(np.arange(40) < 15, 2, 1)
    weights = Weights(times * 1.0, "repetitions")
    twice = np.repeat(np.arange(40), times)
    expected = walked(name, X[twice], y[twice]).iterates
    assert_close(walked(name, X, y, weights=weights).iterates, expected, 1e-7)


# -- where it goes -------------------------------------------------------------------------


def least_r(X, k, alpha, constraints):
    """argmin R(w) under constraints on w and a constant."""
    d = X.shape[1]
    w, b, theta = cp.Variable(d), cp.Variable(), cp.Variable(d)
    norm2 = cp.sum(cp.hstack([cp.quad_over_lin(w[i], theta[i]) for i in range(d)]))
    objective = (1 - alpha) / 2 * norm2 + alpha / 2 * cp.sum_squares(w)
    known = [theta >= 0, theta <= 1, cp.sum(theta) <= k, *constraints(w, b)]
    accuracy = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    cp.Problem(cp.Minimize(objective), known).solve(solver=cp.CLARABEL, **accuracy)
    return w.value


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("name", "link"), [("huber", lambda y: y), ("poisson", np.log)])
def test_the_limit_minimises_r_among_the_perfect_fits(k, name, link):
    rng = np.random.default_rng(k)
    X = rng.standard_normal((5, 9))
    y = rng.poisson(3.0, 5) + 1.0
    limit = walked(name, X, y, k=k, alpha=0.3, steps=4000).iterates[[-1]].toarray()[0]
    expected = least_r(X, k, 0.3, lambda w, b: [X @ w + b == link(y)])
    np.testing.assert_allclose(limit, expected, atol=1e-4)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", ["logistic", "cox-efron", "cox-breslow", "poisson", "huber"])
def test_the_limit_minimises_r_among_the_best_fits(k, name):
    """Columns are dependent, so that there are many; all have the same fitted values."""
    X, y = data(name, 60, 4)
    X = np.hstack([X, X[:, :2] + X[:, 2:], X[:, [0]]])
    limit = walked(name, X, y, k=k, alpha=0.3, steps=3000).iterates[[-1]].toarray()[0]
    loss = LOSSES[name]
    Q = np.ones((1 if loss.has_constant else 0, 60))
    best = loss.refit(X[:, :4].T.copy(), y, loss.emphasis(y), unpenalized=Q)
    fitted = X[:, :4] @ best.coef
    np.testing.assert_allclose(X @ limit, fitted, atol=2e-4)
    expected = least_r(X, k, 0.3, lambda w, b: [X @ w == fitted])
    np.testing.assert_allclose(limit, expected, atol=1e-3)


def test_classes_that_separate_are_separated_by_the_widest_margin():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 12))
    y = np.array([0.0, 1.0] * 4)
    X -= X.mean(axis=0)
    w = walked("logistic", X, y, k=2, alpha=0.3, steps=400).iterates[[-1]].toarray()[0]
    sign = 2 * y - 1
    expected = least_r(X, 2, 0.3, lambda w, b: [cp.multiply(sign, X @ w + b) >= 1])
    cosine = w @ expected / np.linalg.norm(w) / np.linalg.norm(expected)
    assert cosine > 0.99


# -- rows held out -------------------------------------------------------------------------


@every_loss
def test_unseen_rows_are_measured_with_the_intercept_of_the_others(name):
    X, y = data(name, 60, 20)
    train, rest = np.arange(45), np.arange(45, 60)
    given = problem(name, X, y, train, [(train, rest)])
    method = make_method("irksn", k=4, alpha=0.05, loss=LOSSES[name])
    start = method.start(given.design, given.targets[0])
    unseen = given.unseen(0, given.whole)
    result = run([start], max_iter=10, metrics={start: {"validation": unseen}})[0]
    W = result.iterates.toarray()
    np.testing.assert_allclose(result.history["validation"], unseen.errors_of(W))
    loss, Q = LOSSES[name], np.ones((1, 45))
    for w, each in zip(W[[0, 3, 10]], unseen.each_of(W)[[0, 3, 10]], strict=True):
        eta = X @ w
        if loss.has_constant:
            response = loss.on(y[train], None, Q)
            expected = loss.deviance(eta[rest] + response.unpenalized_coef(eta[train])[0], y[rest])
        else:
            seen = loss.on(y[train])
            expected = loss.deviance_of_new(seen, eta[None, train], eta[None, rest], y[rest])[0]
        np.testing.assert_allclose(each, expected, atol=1e-8)


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "neg_log_loss"])
def test_classes_of_unseen_rows_are_scored_by_any_scorer(scoring):
    X, y = data("logistic", 60, 20)
    train, rest = np.arange(45), np.arange(45, 60)
    given = problem("logistic", X, y, train, [(train, rest)])
    W = np.zeros((3, 20))
    W[1:, :4] = [[1, 0, 0, 0], [1, -1, 0.5, 1.5]]
    found = given.unseen(0, given.whole, scoring=scoring).errors_of(W)
    model = LogisticRegression()
    for w, error in zip(W, found, strict=True):
        model.classes_, model.coef_ = np.array([0.0, 1.0]), w[None]
        intercept = Logistic().on(y[train], None, np.ones((1, 45))).unpenalized_coef(X[train] @ w)
        model.intercept_ = intercept
        np.testing.assert_allclose(error, -get_scorer(scoring)(model, X[rest], y[rest]))


# -- what it is told -----------------------------------------------------------------------


def test_path_takes_a_loss_by_name():
    X, y = data("logistic", 40, 30)
    by_name = path("irksn", X, y, k=3, loss="logistic", max_iter=10)
    by_class = path("irksn", X, y, k=3, loss=Logistic(), max_iter=10)
    np.testing.assert_array_equal(by_name.coef, by_class.coef)
    assert not np.array_equal(by_name.coef, path("irksn", X, y, k=3, max_iter=10).coef)


def test_what_other_losses_cannot_do_is_said():
    X, y = data("logistic", 40, 30)
    with pytest.raises(ValueError, match="step must be 'adaptive' with loss='logistic'"):
        path("irksn", X, y, loss="logistic", step="spectral")
    with pytest.raises(ValueError, match="Discrepancy requires loss='squared', got"):
        path("irksn", X, y, loss="logistic", stopping=Discrepancy())
    with pytest.raises(ValueError, match="loss must be one of"):
        path("irksn", X, y, loss="hinge")
    with pytest.raises(ValueError, match="y must be 0 or 1"):
        path("irksn", X, y + 1, loss="logistic")
    assert HeldOut().squares_only is False
