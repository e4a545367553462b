"""Predictions by the average over models and ridge regression."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator
from scipy.special import expit, logit, softmax

from ksupport import AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival
from ksupport.losses import Logistic, Multinomial, Poisson
from ksupport.posterior.judgement import NoSignalWarning


def data(seed=0, n=80, d=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    return X, 1.5 * X[:, 3] - 1.5 * X[:, 7], rng


def responses(kind, eta, rng):
    if kind == "numbers":
        return AutoIRKSN, eta + rng.standard_normal(eta.size)
    if kind == "survival":
        died = rng.exponential(np.exp(-eta))
        return AutoIRKSNSurvival, np.column_stack([np.minimum(died, 3.0), died < 3.0])
    noisy = eta + rng.logistic(size=eta.size)
    return AutoIRKSNClassifier, noisy > 0 if kind == "two" else np.digitize(noisy, [-1.0, 1.0])


KINDS = ("numbers", "two", "three", "survival")


def predicted(model, X):
    return np.asarray(
        model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    )


# -- the average of two models ---------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_expectations_are_averaged_and_not_log_odds(share):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 3, (2, 6))
    p = (1 - share) * expit(a) + share * expit(b)
    np.testing.assert_allclose(Logistic().averaged(a, b, 0.0, share), logit(p), atol=1e-9)
    mean = (1 - share) * np.exp(a) + share * np.exp(b)
    np.testing.assert_allclose(np.exp(Poisson().averaged(a, b, 9.9, share)), mean)
    A, B = rng.normal(0, 3, (2, 6, 3))
    shares = (1 - share) * softmax(A, axis=1) + share * softmax(B, axis=1)
    found = Multinomial(3).averaged(A, B, 0.0, share)
    np.testing.assert_allclose(softmax(found, axis=1), shares)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-12)


def test_uncertain_log_odds_are_averaged_over_their_law():
    x, w = np.polynomial.hermite_e.hermegauss(40)
    for mean, variance in [(0.0, 4.0), (1.0, 1.0), (-2.0, 6.0)]:
        exact = expit(mean + np.sqrt(variance) * x) @ w / w.sum()
        found = expit(Logistic().averaged(mean, 0.0, variance, 0.0))
        assert abs(found - exact) < 0.02


def test_far_out_nothing_overflows():
    found = Logistic().averaged(np.array([-900.0, 900.0]), np.array([-900.0, 900.0]), 0.0, 0.5)
    np.testing.assert_allclose(found, [-900.0, 900.0])


# -- estimators ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_by_the_support_predictions_are_those_of_the_coefficients(kind):
    X, eta, rng = data()
    make, y = responses(kind, eta, rng)
    model = make(predict_by="support").fit(X, y)
    values = X @ model.coef_.T + model.intercept_
    said = model.predict(X) if not hasattr(model, "classes_") else model.decision_function(X)
    np.testing.assert_allclose(said, values.reshape(said.shape))


def test_the_average_lies_between_sampled_models_and_ridge_regression():
    X, eta, rng = data()
    model = AutoIRKSN().fit(X, eta + rng.standard_normal(80))
    share, sampled = model._averaging.share, model.posterior_.predict(X)
    assert 0 < share < 1
    ridge = sampled + (model.predict(X) - sampled) / share
    Z, y = X - X.mean(axis=0), ridge - ridge.mean()
    w, *_ = np.linalg.lstsq(Z, y, rcond=None)
    np.testing.assert_allclose(Z @ w, y, atol=1e-8)  # linear in X
    assert np.count_nonzero(np.abs(w) > 1e-6) > model.support_.sum()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_X_has_the_same_predictions(kind):
    pd = pytest.importorskip("pandas")
    da = pytest.importorskip("dask.array")
    X, eta, rng = data()
    make, y = responses(kind, eta, rng)
    model = make().fit(X, y)
    expected = predicted(model, X[:9])
    others = [
        csr_array(X[:9]), aslinearoperator(X[:9]), da.from_array(X[:9], chunks=(4, 11)),
        np.asfortranarray(X[:9]), pd.DataFrame(X[:9]).to_numpy(),
    ]  # fmt: skip
    for other in others:
        np.testing.assert_allclose(predicted(model, other), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_adjusted_for_may_be_in_the_features(kind):
    """A feature plus a multiple of an unpenalised column is the same feature."""
    X, eta, rng = data(n=120, d=20)
    make, y = responses(kind, eta + X[:, 0], rng)
    other = X.copy()
    other[:, 3] += 2 * X[:, 0]
    found = [
        predicted(make(unpenalized=[0], standardize=False).fit(each, y), each)
        for each in (X, other)
    ]
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_probabilities_decisions_and_classes_agree(kind):
    X, eta, rng = data()
    _, y = responses(kind, eta, rng)
    model = AutoIRKSNClassifier().fit(X, y)
    p, f = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(expit(f), p[:, 1]) if kind == "two" else np.testing.assert_allclose(
        softmax(f, axis=1), p
    )


def test_rows_held_out_tell_few_effects_from_many():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((100, 60)) + rng.standard_normal((100, 1))
    few = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(100)
    many = X @ rng.normal(0, 0.15, 60) + rng.standard_normal(100)
    shares = [AutoIRKSN().fit(X, y)._averaging.share for y in (few, many)]
    assert shares[0] < 0.3 < 0.5 < shares[1]


def test_without_a_signal_nothing_is_predicted_but_the_mean():
    X, _, rng = data()
    y = rng.standard_normal(80)
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSN().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_the_deviation_is_about_what_is_predicted():
    X, eta, rng = data(n=300)
    y = eta + rng.standard_normal(300)
    model = AutoIRKSN().fit(X[:100], y[:100])
    mean, sd = model.predict(X[100:], return_std=True)
    np.testing.assert_allclose(mean, model.predict(X[100:]))
    inside = np.abs(y[100:] - mean) < 1.96 * sd
    assert 0.9 < inside.mean() < 0.99


def test_other_ways_to_predict_are_refused():
    X, eta, _ = data()
    with pytest.raises(ValueError, match=r"predict_by must be one of .*, got 'mean'"):
        AutoIRKSN(predict_by="mean").fit(X, eta)


# -- survival --------------------------------------------------------------------------------


def test_bands_surround_survival_and_are_wider_at_higher_levels():
    X, eta, rng = data()
    make, y = responses("survival", eta, rng)
    model = make().fit(X, y)
    at = model.predict_survival_function(X[:5], return_array=True)
    narrow, wide = (model.predict_survival_band(X[:5], p, return_array=True) for p in (0.5, 0.95))
    first = model.unique_times_ >= y[y[:, 1] > 0, 0].min()
    assert (wide[0] <= narrow[0]).all()
    assert (narrow[1] <= wide[1]).all()
    assert ((narrow[0] < at) & (at < narrow[1]))[:, first][:, :20].all()
    assert (np.diff(at, axis=1) <= 0).all()
    functions = model.predict_survival_band(X[:2])[0]
    np.testing.assert_allclose(functions[0].y, wide[0][0])


def test_bands_cover_the_truth():
    inside = []
    for seed in range(6):
        X, eta, rng = data(seed, n=200, d=20)
        died = rng.exponential(np.exp(-eta))
        model = AutoIRKSNSurvival(cv=2).fit(X[:150], np.column_stack([died, np.ones(200)])[:150])
        lower, upper = model.predict_survival_band(X[150:], return_array=True)
        at = np.searchsorted(model.unique_times_, 0.5) - 1
        true = np.exp(-0.5 * np.exp(eta[150:]))
        inside.append(np.mean((lower[:, at] <= true) & (true <= upper[:, at])))
    assert np.mean(inside) > 0.9


def test_bands_of_the_support_alone_are_refused():
    X, eta, rng = data()
    make, y = responses("survival", eta, rng)
    with pytest.raises(ValueError, match="predict_by='average'"):
        make(predict_by="support").fit(X, y).predict_survival_band(X)
