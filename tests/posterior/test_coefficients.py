"""Coefficients over models: mixtures, against draws from them and against known distributions."""

import numpy as np
import pytest
from scipy import stats

from ksupport import Posterior
from ksupport.posterior.coefficients import Coefficients, ModelCoefficients


def model(weight, features, mean, cov, noise=1.0):
    factor = np.linalg.cholesky(np.atleast_2d(cov)) if len(features) else np.zeros((0, 0))
    mean = np.array(mean, float).reshape(len(features), 1)
    return ModelCoefficients(weight, np.array(features, int), mean, factor, np.array([noise]))


def mixture(**options):
    return Coefficients(
        [
            model(0.5, [0, 2], [2.0, -1.0], [[0.2, 0.1], [0.1, 0.3]], 0.5),
            model(0.3, [0], [1.5], [[0.4]], 0.7),
            model(0.2, [], [], [[]], 2.0),
        ],
        4, 1, **options,
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"freedom": 9.0}], ids=["normal", "t"])
def test_moments_and_quantiles_are_those_of_draws(options):
    known = mixture(**options)
    drawn = known.sample(100_000, np.random.default_rng(0))[:, 0]
    mean, sd = known.moments
    np.testing.assert_allclose(mean[0], drawn.mean(axis=0), atol=0.015)
    np.testing.assert_allclose(sd[0], drawn.std(axis=0), atol=0.02)
    for q in (0.025, 0.3, 0.6, 0.975):
        np.testing.assert_allclose(known.quantiles(q)[0], np.quantile(drawn, q, axis=0), atol=0.03)


def test_one_sure_model_gives_the_quantiles_of_its_t_distribution():
    known = Coefficients([model(1.0, [1], [3.0], [[0.25]], 4.0)], 2, 1, freedom=7.0)
    expected = stats.t(7.0, loc=3.0, scale=1.0)
    for q in (0.01, 0.5, 0.9):
        np.testing.assert_allclose(known.quantiles(q), [[0.0, expected.ppf(q)]], atol=1e-9)
    np.testing.assert_allclose(known.moments[1][0, 1], expected.std())


def test_the_mass_at_zero_is_in_the_interval():
    known = mixture()
    assert known.quantiles(0.1)[0, 0] == 0.0  # .2 of the models are without it
    assert known.quantiles(0.3)[0, 0] > 0.0
    assert known.quantiles(0.9)[0, 2] == 0.0
    np.testing.assert_array_equal(known.quantiles(0.3)[0, [1, 3]], 0.0)  # in no model


def test_coefficients_that_cannot_be_negative_are_truncated():
    known = Coefficients([model(1.0, [0], [0.5], [[1.0]])], 1, 1, positive=True)
    expected = stats.truncnorm(-0.5, np.inf, loc=0.5)
    np.testing.assert_allclose(known.moments[0], [[expected.mean()]])
    np.testing.assert_allclose(known.moments[1], [[expected.std()]])
    np.testing.assert_allclose(known.quantiles(0.3), [[expected.ppf(0.3)]])


@pytest.fixture
def posterior():
    supports = [(0, 2), (0,), ()]
    weights = np.array([0.5, 0.3, 0.2])
    nothing = np.zeros(4)
    return Posterior(
        supports, weights, 4, 0.0, np.array([0.8, 0, 0.5, 0]), np.array([0, 2]), np.eye(2), nothing,
        nothing, coefficients=mixture(freedom=9.0), origin=(np.arange(4.0), np.array([10.0])),
    )  # fmt: skip


def test_predictions_have_the_moments_of_responses_that_are_drawn(posterior, rng):
    X = rng.standard_normal((3, 4))
    mean, sd = posterior.predict(X, return_std=True)
    np.testing.assert_array_equal(posterior.predict(X), mean)
    # Noise and coefficients of a draw are those of one model, and of one variance.
    known, parts = posterior.coefficients, []
    for each in known.models:
        count = round(200_000 * each.weight)
        wide = np.sqrt(9.0 / rng.chisquare(9.0, count))[:, None]
        normal = rng.standard_normal((count, each.factor.shape[1]))
        b = np.zeros((count, 4))
        b[:, each.features] = each.mean[:, 0] + wide * np.sqrt(each.noise) * (
            normal @ each.factor.T
        )
        noise = wide * np.sqrt(each.noise) * rng.standard_normal((count, 3))
        parts.append(10.0 + b @ (X - np.arange(4.0)).T + noise)
    drawn = np.concatenate(parts)
    np.testing.assert_allclose(mean, drawn.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(sd, drawn.std(axis=0), rtol=0.02)


def test_units_change_coefficients_and_no_prediction(posterior, rng):
    X, by = rng.standard_normal((5, 4)), np.array([2.0, 1.0, 0.1, 3.0])
    means, value = posterior.origin
    other = posterior.in_units(1.0 / by, np.ones(1))
    moved = Posterior(**{**vars(other), "origin": (means * by, value)})
    for one, two in zip(posterior.predict(X, True), moved.predict(X * by, True), strict=True):
        np.testing.assert_allclose(one, two)
    np.testing.assert_allclose(other.effects().upper, posterior.effects().upper / by)
    twice = posterior.in_units(np.ones(4), np.array([2.0]))
    np.testing.assert_allclose(twice.effects().sd, 2 * posterior.effects().sd)


def test_ratios_are_exponentials(posterior):
    effects = posterior.effects(0.5)
    ratios = effects.ratios()
    np.testing.assert_allclose(ratios.lower, np.exp(effects.lower))
    assert ratios.mean[1] == 1.0  # of a feature that is in no model
    assert ratios.level == 0.5
    assert effects.excludes_zero.tolist() == [True, False, False, False]


def test_the_table_has_the_features_of_models(posterior):
    pytest.importorskip("pandas")
    frame = posterior.effects().to_frame(["a", "b", "c", "d"])
    assert frame["name"].tolist() == ["a", "c"]
    assert {"mean", "sd", "lower", "upper", "probability"} <= set(frame.columns)


def test_draws_go_to_arviz(posterior):
    arviz = pytest.importorskip("arviz")
    found = posterior.to_arviz(50)
    assert found["posterior"]["coef"].shape == (1, 50, 4)
    assert set(np.unique(found["posterior"]["size"])) <= {0, 1, 2}
    assert arviz.summary(found, var_names=["coef"]).shape[0] == 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.effects(1.2), r"level must be in \(0, 1\), got 1.2"),
        (lambda p: p.sample_coef(-1), "n must be an integer between 0"),
        (lambda p: p.predict(np.zeros((2, 3))), r"X must have 4 columns, got shape \(2, 3\)"),
    ],
)
def test_what_cannot_be_asked_of_coefficients_is_said(posterior, call, words):
    with pytest.raises(ValueError, match=words):
        call(posterior)


def test_a_posterior_without_coefficients_says_so(posterior):
    bare = Posterior(**{**vars(posterior), "coefficients": None})
    with pytest.raises(ValueError, match="has no distribution of coefficients"):
        bare.effects()
