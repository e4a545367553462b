"""Rehearsals: truths and responses as they are asked for, and counts that add up."""

import warnings

import numpy as np
import pytest
from scipy.special import expit

from ksupport import (
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    NoSignalWarning,
    Outcome,
    Rehearsal,
    rehearse,
)
from ksupport.inference.rehearsal import HALF, TWICE, _Stage


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12)) * np.arange(1, 13)
    return X, X[:, 3] - X[:, 7] / 4 + 2.0 * rng.standard_normal(80) + 5.0


@pytest.fixture(scope="module")
def stage(problem):
    return _Stage(AutoIRKSN().fit(*problem), *problem)


def test_truths_are_drawn_from_the_posterior_and_varied(stage, rng):
    drawn = stage.truths("as fitted", 400, np.random.default_rng(1))
    effects = stage.model.posterior_.effects()
    np.testing.assert_allclose(drawn.mean(axis=0), effects.mean, atol=0.02)
    half = stage.truths(HALF, 400, np.random.default_rng(1))
    np.testing.assert_allclose(half, drawn / 2)
    assert not stage.truths("no effects", 3, rng).any()


def test_twice_the_features_have_effects_of_the_same_sizes(stage, problem, rng):
    (truth,) = stage.truths("as fitted", 1, np.random.default_rng(2))
    (more,) = stage.truths(TWICE, 1, np.random.default_rng(2))
    own = np.flatnonzero(truth)
    np.testing.assert_array_equal(more[own], truth[own])
    assert np.count_nonzero(more) == 2 * own.size
    sizes = np.sort(np.abs(more * problem[0].std(axis=0)))[-2 * own.size :]
    np.testing.assert_allclose(sizes[::2], sizes[1::2])


def test_numbers_have_the_mean_and_noise_of_the_fit(stage, problem):
    X, y = problem
    rng, truth = np.random.default_rng(0), stage.model.posterior_.coef
    drawn = np.array([stage.response(truth, rng) for _ in range(2000)])
    expected = y.mean() + (X - X.mean(axis=0)) @ truth
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.25)
    left = y - expected
    assert drawn.std(axis=0).mean() == pytest.approx(left.std(), rel=0.1)


def test_classes_and_times_are_drawn_by_their_models():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    y = np.where(rng.random(120) < expit(2 * X[:, 1]), "yes", "no")
    stage = _Stage(AutoIRKSNClassifier().fit(X, y), X, y)
    truth = np.array([0, 1.5, 0, 0, 0, 0])
    drawn = np.array([stage.response(truth, rng) == "yes" for _ in range(500)])
    np.testing.assert_allclose(drawn.mean(axis=0), expit(stage.eta(truth)), atol=0.11)
    times = rng.exponential(np.exp(-X[:, 2]))
    event = (times < 2).astype(float)
    Y = np.column_stack([np.minimum(times, 2.0), event])
    stage = _Stage(AutoIRKSNSurvival().fit(X, Y), X, Y)
    found = np.array([stage.response(stage.model.coef_, rng) for _ in range(200)])
    assert found[..., 1].mean() == pytest.approx(event.mean(), abs=0.1)
    early = found[..., 0].mean(axis=0)  # of rows of much risk
    assert np.corrcoef(early, X[:, 2])[0, 1] < -0.6
    assert (found[..., 0] <= 2.0).all()


def test_counts_add_up_and_are_told(problem):
    found = rehearse(AutoIRKSN(), *problem, scenarios=["as fitted", "no effects"], n_draws=2)
    fitted, nothing = found.outcomes
    assert fitted.signals == 2
    assert fitted.found == fitted.selected - fitted.false
    assert fitted.power == fitted.found / fitted.true > 0.4
    assert fitted.weighted_power == fitted.effect_found / fitted.effect >= fitted.power
    assert nothing.true == 0
    assert np.isnan(nothing.power)
    assert str(found).startswith("If the truth were as fitted:")
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert frame["scenario"].tolist() == ["as fitted", "no effects"]
    assert frame["power"][0] == fitted.power
    again = rehearse(AutoIRKSN(), *problem, scenarios=["no effects"], n_draws=2)
    assert again.outcomes[0] == nothing  # scenarios do not depend on each other


def test_without_a_signal_there_is_no_truth_to_draw_from(rng):
    X, y = rng.standard_normal((30, 5)), rng.standard_normal(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoSignalWarning)
        found = rehearse(AutoIRKSN(), X, y, scenarios=["as fitted"], n_draws=1)
    if not found.outcomes[0].true:
        assert "no effects to simulate" in found.words


def test_shares_of_nothing_are_told_apart():
    outcome = Outcome("as fitted", 5, 5, 0, 0, 0, 0, 10, 0, 3.0, 0.0)
    assert np.isnan(outcome.coverage)
    assert outcome.false_share == 0.0
    assert "no credible set would be found" in Rehearsal((outcome,)).words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scenarios": ["more"]}, r"scenarios must be some of .*, got \['more'\]"),
        ({"scenarios": "nothing"}, "scenarios must be some of"),
        ({"n_draws": 0}, "n_draws must be an integer of at least 1"),
    ],
)
def test_wrong_arguments_of_a_rehearsal_are_named(problem, options, words):
    with pytest.raises(ValueError, match=words):
        rehearse(AutoIRKSN(), *problem, **options)


def test_several_responses_are_refused(problem):
    X, y = problem
    model = AutoIRKSN(shared_support=True)
    with pytest.raises(ValueError, match="rehearse needs one response, or two classes, got 2"):
        rehearse(model, X, np.column_stack([y, y + X[:, 0]]))
