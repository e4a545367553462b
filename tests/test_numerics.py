"""Results do not depend on luck: threads of BLAS, orders of memory, sizes, conditioning."""

import signal
import threading
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ksupport import (
    IHT,
    IRCR,
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    IROSR,
    KSN,
    METHODS,
    SRDI,
    AutoIRKSN,
    path,
)  # fmt: skip
from ksupport.datasets import make_correlated_data
from ksupport.stopping import ResidualRatio

ESTIMATORS = [
    IRKSN(k=5), IRKSN(k=5, step="spectral", alpha=0.1), KSN(k=5, max_iter=200), IHT(k=5),
    SRDI(max_iter=200), IRCR(max_iter=200), IROSR(max_iter=200), IRKSNIC(), IRKSNCV(cv=3),
    AutoIRKSN(cv=3),
]  # fmt: skip


def fit(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return type(estimator)(**estimator.get_params()).fit(X, y)


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_correlated_data(100, 800, rho=0.5, density=0.008, snr=5, random_state=0)
    return X, y


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}-{e.max_iter}")
def test_threads_of_blas_and_orders_of_memory_change_rounding_alone(estimator, data):
    X, y = data
    coefs = []
    for threads, order in ((1, "C"), (2, "C"), (2, "F")):
        with threadpool_limits(threads, "blas"):
            coefs.append(fit(estimator, np.asarray(X, order=order), y).coef_)
    size = np.abs(coefs[0]).max()
    assert size > 0
    for coef in coefs[1:]:
        np.testing.assert_allclose(coef, coefs[0], rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e10, 1e14])
def test_ill_conditioned_designs_are_walked_as_the_paper_says(condition, algorithm_1, rng):
    n, d = 30, 20
    U, V = (np.linalg.qr(rng.standard_normal((size, d)))[0] for size in (n, d))
    X = U * np.logspace(0, -np.log10(condition), d) @ V.T
    y = X @ rng.standard_normal(d) + 0.01 * rng.standard_normal(n)
    assert np.linalg.cond(X) > 0.5 * condition
    result = path("irksn", X, y, k=4, alpha=0.1, step="spectral", max_iter=60)
    expected = algorithm_1(X, y, 4, 0.1, 60, np.linalg.norm(X, 2))
    size = np.abs(expected).max()
    np.testing.assert_allclose(result.iterates.toarray(), expected, rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"lasso", "enet", "omp"}))
@pytest.mark.parametrize("condition", [1e8, 1e14])
def test_ill_conditioned_designs_lower_the_residual(method, condition, rng):
    n, d = 30, 40
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    V = np.linalg.qr(rng.standard_normal((d, n)))[0]
    X = U * np.logspace(0, -np.log10(condition), n) @ V.T
    y = X @ rng.standard_normal(d)
    known = METHODS[method].describe().parameters
    result = path(method, X, y, max_iter=400, **({"k": 4} if "k" in known else {}))
    assert np.isfinite(result.coef).all()
    assert result.reason == "max_iter"
    assert result.history["residual"][-1] < result.history["residual"][0]


TOO_FAR = {
    "iht": {"k": 3, "step": 1e150},
    "ksn": {"k": 3, "L": 1e-200, "lam": 1e-300},
    "srdi": {"alpha": 1e200},
    "ircr": {"sigma": 1e200, "tau": 1e200},
    "irosr": {"eta": 1e150},
}


@pytest.mark.parametrize("method", TOO_FAR)
def test_overflow_is_seen_and_the_last_number_is_kept(method, data):
    X, y = data[0][:40, :30], data[1][:40]
    with pytest.warns(ConvergenceWarning, match="diverged; returning the last finite one"):
        result = path(method, X, y, max_iter=5000, **TOO_FAR[method])
    assert result.reason == "diverged"
    assert np.isfinite(result.coef).all()


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_a_dual_that_is_no_number_any_more_is_seen(loss, data):
    """Its size is that of y over that of X squared."""
    X, y = 1e-140 * data[0][:40, :30], 1e110 * data[1][:40]
    with pytest.warns(ConvergenceWarning, match="diverged; returning the last finite one"):
        model = IRKSN(k=3, loss=loss, max_iter=50).fit(X, y)
    assert np.isfinite(model.coef_).all()


def interrupt(block):
    if block.t[0] > 0:  # not in the first block, of which nothing would be there
        signal.raise_signal(signal.SIGINT)
    return np.zeros(len(block.t))


REASONS = {
    "max_iter": {"max_iter": 3},
    "stopped": {"max_iter": 500, "stopping": ResidualRatio(tol=0.5)},
    "diverged": {"max_iter": 500, "method": "iht", "step": 1e150},
    "exhausted": {"max_iter": 500, "method": "omp"},
    "interrupted": {"max_iter": 10**6, "metrics": {"none": interrupt}},
}


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_reason_to_end_is_met(reason, data):
    assert threading.current_thread() is threading.main_thread()
    X, y = data[0][:20, :60], data[1][:20]
    options = {"method": "irksn"} | REASONS[reason]
    params = {} if options["method"] == "omp" else {"k": 3}
    assert path(X=X, y=y, **options, **params).reason == reason
