"""The prediction table repeats the published protocol, step by step and draw by draw."""

import numpy as np
import pytest
from sklearn.linear_model import lasso_path
from sklearn.model_selection import train_test_split

from ksupport import path, prox_ksupport
from ksupport.datasets import dataset_path
from ksupport.experiments import EXPERIMENTS, prediction_data, reproduce
from ksupport.experiments.prediction_data import rows_of_run, split_of
from ksupport.experiments.prediction_grids import FAIR, PAPER, SPECIAL
from ksupport.experiments.prediction_walk import tune
from ksupport.experiments.table_prediction import cells, compute, reference, table

EXPERIMENT = EXPERIMENTS["table-prediction"]
TENS = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]


@pytest.fixture
def small(monkeypatch):
    """Forty samples of correlated features instead of the real data; one feature is constant."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 14)) + 2 * rng.standard_normal((40, 1))
    X[:, 3] = 7.0
    y = X[:, 0] - 2 * X[:, 1] + X[:, 2] + 3 + 0.5 * rng.standard_normal(40)
    monkeypatch.setattr(prediction_data, "_data", lambda dataset: (X, y))
    return X, y


# -- splits ---------------------------------------------------------------------------------


def test_all_runs_share_one_random_state():
    state = np.random.RandomState(42)
    X, y = np.arange(38.0)[:, None], np.arange(38.0)
    for run in range(3):
        rest, test, y_rest, _ = train_test_split(X, y, random_state=state, test_size=0.25)
        train, valid, _, _ = train_test_split(rest, y_rest, random_state=state, test_size=0.25)
        rows = rows_of_run(38, run)
        for mine, theirs in ((rows.train, train), (rows.valid, valid), (rows.test, test)):
            np.testing.assert_array_equal(mine, theirs[:, 0])


def test_paths_of_scikit_learn_advance_the_shared_state():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 6)), rng.standard_normal(40)
    state = np.random.RandomState(42)
    for run in range(3):
        rest, test = train_test_split(np.arange(40), random_state=state, test_size=0.25)
        train, _ = train_test_split(rest, random_state=state, test_size=0.25)
        lasso_path(X[train], y[train] - y[train].mean(), random_state=state)
        rows = rows_of_run(40, run, draws=PAPER["lasso"].draws)
        np.testing.assert_array_equal(rows.train, train)
        np.testing.assert_array_equal(rows.test, test)


def test_constant_columns_go_and_the_train_part_is_standardised(small):
    split = split_of("any", 0)
    assert (split.d, split.n_columns) == (13, 14)
    np.testing.assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.X_train.std(axis=0), 1)
    X, y = small
    rows = rows_of_run(40, 0)
    kept = np.delete(X, 3, axis=1)
    expected = (kept[rows.test] - kept[rows.train].mean(axis=0)) / kept[rows.train].std(axis=0)
    np.testing.assert_allclose(split.X_test, expected)
    assert split.y_mean == pytest.approx(y[rows.train].mean())


# -- the protocol, in plain NumPy -----------------------------------------------------------
#
# Each function yields the models that the published loop validates, in its order.


def levels(d):
    return [int(k) for k in np.linspace(1, d, 5)]


def irksn_models(X, y, n_columns, alphas=(1e-4, 1e-3, 1e-2, 1e-1, 1, 10), ks=None, steps=500):
    norm = np.linalg.norm(X, "nuc")
    d = X.shape[1]
    for alpha in alphas:
        for k in ks or levels(d):
            if alpha >= 1 and k < d:
                continue
            z = v = np.zeros(len(y))
            theta, w = 1.0, np.zeros(d)
            lam = (1 - alpha) / alpha

            def prox(q, lam=lam, k=k):
                return q / (1 + lam) if lam <= 0 else prox_ksupport(q, lam, k)

            for t in range(steps):
                if t % 5 == 0:
                    yield w
                w, r = prox(-X.T @ z / alpha), prox(-X.T @ v / alpha)
                z_new = v + alpha / norm**2 * (X @ r - y)
                theta_new = (1 + np.sqrt(1 + 4 * theta**2)) / 2
                v = z_new + (theta - 1) / theta_new * (z_new - z)
                z, theta = z_new, theta_new


def special_models(X, y, n_columns):
    return irksn_models(X, y, n_columns, alphas=[0.6], ks=[min(33, X.shape[1])], steps=1000)


def iht_models(X, y, n_columns):
    for k in levels(X.shape[1]):
        for eta in TENS:
            w = np.zeros(X.shape[1])
            for _ in range(500):
                w = w - eta / len(y) * X.T @ (X @ w - y)
                w[np.argsort(-np.abs(w), kind="stable")[k:]] = 0.0
                yield w.copy()


def ksn_models(X, y, n_columns):
    for lam in (0.1, 1.0):
        for k in levels(X.shape[1]):
            w = a = np.zeros(X.shape[1])
            theta = 1.0
            for _ in range(500):
                w_new = prox_ksupport(a - X.T @ (X @ a - y) / 1e6, lam / 1e6, k)
                theta_new = (1 + np.sqrt(1 + 4 * theta**2)) / 2
                a = w_new + (theta - 1) / theta_new * (w_new - w)
                w, theta = w_new, theta_new
            yield w


def shrink(v, level):
    return np.sign(v) * np.maximum(np.abs(v) - level, 0.0)


def srdi_models(X, y, n_columns):
    for kappa in TENS:
        for alpha in TENS:
            z, w = np.zeros(X.shape[1]), np.zeros(X.shape[1])
            for t in range(500):
                if t % 5 == 0:
                    yield w
                z = z + alpha / n_columns * X.T @ (y - X @ w)
                w = kappa * shrink(z, 1.0)


def irosr_models(X, y, n_columns):
    for eta in TENS:
        u = np.full(X.shape[1], 1e-3)
        for t in range(500):
            if t % 5 == 0:
                yield u**2
            u = u - eta * 2 / len(y) * u * (X.T @ (X @ u**2 - y))


def ircr_models(X, y, n_columns):
    step = 0.9 / np.sqrt(2 * np.linalg.norm(X, "nuc") ** 2)
    w, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    theta = theta_old = np.zeros(len(y))
    for t in range(500):
        if t % 5 == 0:
            yield total / max(t - 1, 1)
        w = shrink(w - step * X.T @ (2 * theta - theta_old), step)
        theta, theta_old = theta + step * (X @ w - y), theta
        total = total + w


PLAIN = {
    "irksn": (PAPER["irksn"], irksn_models),
    "special": (SPECIAL, special_models),
    "iht": (PAPER["iht"], iht_models),
    "ksn": (PAPER["ksn"], ksn_models),
    "srdi": (PAPER["srdi"], srdi_models),
    "irosr": (PAPER["irosr"], irosr_models),
    "ircr": (PAPER["ircr"], ircr_models),
}


@pytest.mark.parametrize("name", PLAIN)
def test_tuning_finds_the_model_that_a_plain_loop_finds(small, name):
    walk, models = PLAIN[name]
    split = split_of("any", 1)
    y_valid = split.centred(split.y_valid)
    best, error = None, np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        for w in models(split.X_train, split.centred(split.y_train), split.n_columns):
            mse = np.mean((split.X_valid @ w - y_valid) ** 2)
            if mse < error:
                best, error = w, mse
    tuned = tune(walk, split)
    assert tuned.mse == pytest.approx(error, rel=1e-6)
    np.testing.assert_allclose(tuned.w, best, rtol=1e-4, atol=1e-6 * np.abs(best).max())


def test_with_k_equal_to_d_alpha_only_sets_the_step(small):
    """Why the published α = 1 and α = 10 are runs of IRKSN with another step."""
    split = split_of("any", 0)
    X, y = split.X_train, split.centred(split.y_train)
    walked = [
        path("irksn", X, y, k=split.d, alpha=alpha, step=1e-3, max_iter=50, every=10)
        for alpha in (0.01, 0.5)
    ]
    a, b = (result.iterates.toarray() for result in walked)
    np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(b).max())


def test_the_splits_are_the_same_for_all_methods_in_the_fair_protocol():
    assert set(FAIR) == set(PAPER)
    assert all(walk.draws == 0 for walk in FAIR.values())


# -- the experiment -------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["paper", "fair"])
def test_quick_version(small, tmp_path, protocol):
    pytest.importorskip("matplotlib")
    rows = reproduce(EXPERIMENT, protocol, quick=True, out=tmp_path, n_jobs=1, progress=False)
    assert len(rows) == len(cells(protocol, True))
    for suffix in ("csv", "png", "svg"):
        assert (tmp_path / f"{protocol}-quick/table-prediction.{suffix}").stat().st_size > 0
    figure = (tmp_path / f"{protocol}-quick/table-prediction.svg").read_text(encoding="utf-8")
    assert "standard error" in figure
    lines = table(rows)
    variance = np.var(small[1])
    for line in lines:
        assert 0 < line["mse_mean"] < 1.5 * variance, line


def test_published_values_have_a_cell_each():
    mine = {(c["method"], c["dataset"], c["tuning"]) for c in cells("paper", False)}
    published = {(r["method"], r["dataset"], r["tuning"]) for r in reference()}
    assert published == mine
    assert len(published) == 4 * 9 + 1


@pytest.mark.skipif(not dataset_path("leukemia").exists(), reason="leukemia is not at hand")
@pytest.mark.parametrize(
    ("method", "mse"), [("ircr", 0.3258370551), ("srdi", 0.3961412295), ("omp", 0.7144082064)]
)
def test_the_published_code_gives_the_same_on_leukemia(method, mse):
    """To all digits, on those methods that take no time."""
    rows = [
        row
        for cell in cells("paper", False)
        if (cell["dataset"], cell["method"]) == ("leukemia", method)
        for row in compute(**cell)
    ]
    assert np.mean([row["mse"] for row in rows]) == pytest.approx(mse, abs=1e-8)
