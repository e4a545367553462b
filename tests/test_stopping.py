"""Stopping rules are what a person would do reading the history record by record."""

import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksupport import IRKSN
from ksupport.path import History, Verdict
from ksupport.stopping import Discrepancy, HeldOut

errors_lists = st.lists(
    st.one_of(st.integers(0, 4).map(float), st.floats(0, 10)), min_size=1, max_size=60
)


def held_out_by_hand(errors, patience):
    best = 0
    for record, error in enumerate(errors):
        if error < errors[best]:
            best = record
        if record - best >= patience:
            return Verdict(best, record)
    return Verdict(best)


@given(errors_lists, st.integers(1, 10))
def test_held_out_stops_where_patience_ends_and_keeps_the_best(errors, patience):
    history = History({"t": np.arange(len(errors)), "validation": errors})
    assert HeldOut(patience=patience)(history) == held_out_by_hand(errors, patience)


@given(errors_lists, st.floats(0, 10), st.floats(1, 3))
def test_discrepancy_stops_at_the_first_residual_as_small_as_the_noise(residuals, delta, tau):
    expected = Verdict(len(residuals) - 1)
    for record, residual in enumerate(residuals):
        if residual <= tau * delta:
            expected = Verdict(record, record)
            break
    history = History({"t": np.arange(len(residuals)), "residual": residuals})
    assert Discrepancy(delta, tau)(history) == expected


@given(errors_lists, st.integers(1, 10), st.integers(0, 60))
def test_a_longer_history_does_not_change_where_it_stopped(errors, patience, more):
    """So block sizes do not matter: what comes after the stop is not looked at."""
    rule = HeldOut(patience=patience)
    verdict = rule(History({"t": np.arange(len(errors)), "validation": errors}))
    if verdict.stop is not None:
        longer = errors + [-1.0] * more
        assert rule(History({"t": np.arange(len(longer)), "validation": longer})) == verdict


@pytest.mark.parametrize("rule", ["held_out", HeldOut(0.3, 4), Discrepancy(7.0)])
def test_printing_changes_nothing(rule, rng, monkeypatch, capsys):
    X = rng.standard_normal((60, 30))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(60)
    monkeypatch.setattr(sys.modules["ksupport.path"], "FIRST_STEPS", 4)  # many small blocks
    fits = []
    for verbose in (False, True):
        if verbose:  # print from the start, not after two seconds
            monkeypatch.setattr(
                "ksupport._progress.time.monotonic", iter(range(0, 10**7, 10)).__next__
            )
        fits.append(
            IRKSN(k=2, alpha=0.1, stopping=rule, verbose=verbose, random_state=0, every=1).fit(X, y)
        )
    silent, printing = fits
    assert "IRKSN" in capsys.readouterr().err
    assert silent.stop_reason_ == printing.stop_reason_ == "stopped"
    assert silent.n_iter_ == printing.n_iter_ < 1000
    np.testing.assert_array_equal(silent.coef_, printing.coef_)


def test_held_out_keeps_the_iterate_of_least_error_on_the_rows_held_out(rng):
    X = rng.standard_normal((80, 40))
    y = X[:, :3].sum(axis=1) + 2 * rng.standard_normal(80) + 5
    model = IRKSN(k=3, alpha=0.1, stopping=HeldOut(0.25, 15), random_state=3, every=2).fit(X, y)
    history = model.history_
    best = int(np.argmin(history["validation"]))
    assert model.n_iter_ == history["t"][best]
    assert len(history["t"]) == best + 15 + 1
    # Which rows were held out: 20 of them, those on which this is the error.
    order = np.random.RandomState(3).permutation(80)
    rows = order[:20]
    error = np.mean((model.predict(X[rows]) - y[rows]) ** 2)
    np.testing.assert_allclose(history["validation"][best], error)
    refit = IRKSN(k=3, alpha=0.1, max_iter=model.n_iter_).fit(X[order[20:]], y[order[20:]])
    np.testing.assert_allclose(refit.coef_, model.coef_, atol=1e-10)
    np.testing.assert_allclose(refit.intercept_, model.intercept_, atol=1e-10)


def test_discrepancy_stops_at_the_noise_level(rng):
    X = rng.standard_normal((50, 20))
    noise = rng.standard_normal(50)
    y = X[:, 0] * 3 + noise
    delta = float(np.linalg.norm(noise))
    model = IRKSN(k=2, alpha=0.1, stopping=Discrepancy(delta), every=1, fit_intercept=False).fit(
        X, y
    )
    assert model.stop_reason_ == "stopped"
    assert np.linalg.norm(X @ model.coef_ - y) <= delta
    residual = model.history_["residual"]
    assert (residual[:-1] > delta).all()
    np.testing.assert_allclose(residual[-1], np.linalg.norm(X @ model.coef_ - y))


def test_a_rule_that_is_never_met_walks_to_the_end(rng):
    X = rng.standard_normal((30, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IRKSN(k=2, stopping=Discrepancy(0.0), max_iter=70).fit(X, rng.standard_normal(30))
    assert (model.stop_reason_, model.n_iter_) == ("max_iter", 70)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HeldOut(fraction=0.0), "fraction must lie strictly between 0 and 1, got 0.0"),
        (lambda: HeldOut(fraction=1.5), "fraction .* got 1.5"),
        (lambda: HeldOut(patience=0), "patience must be at least 1, got 0"),
        (lambda: Discrepancy(-1.0), "delta, .* must be at least 0, got -1.0"),
        (lambda: Discrepancy(float("nan")), "delta, .* got nan"),
        (lambda: Discrepancy(1.0, tau=0.5), "tau must be at least 1, got 0.5"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
