"""Every answer is an event of the sampled models."""

import numpy as np
import pytest

from ksupport import Posterior
from ksupport.posterior.credible_sets import credible_sets


@pytest.fixture
def posterior():
    supports = [(), (0,), (1,), (0, 2), (1, 2), (0, 1)]
    weights = np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.1])
    inside = np.array([[j in S for j in range(4)] for S in supports])
    correlations = np.eye(4)
    correlations[0, 1] = correlations[1, 0] = 0.9
    return Posterior(
        supports, weights, 4, 0.0, weights @ inside, np.arange(4), correlations,
        np.zeros(4), np.zeros(4),
    )  # fmt: skip


def test_events_add_up_the_weights_of_models(posterior):
    np.testing.assert_allclose(posterior.probability(), [0.5, 0.5, 0.4, 0.0])
    np.testing.assert_allclose(posterior.probability([2]), [0.4])
    assert posterior.any_of([0, 1]) == pytest.approx(0.9)
    assert posterior.all_of([0, 1]) == pytest.approx(0.1)
    assert posterior.any_of([3]) == 0.0
    assert posterior.empty == pytest.approx(0.1)
    np.testing.assert_allclose(posterior.size(), [0.1, 0.4, 0.5])
    assert posterior.prob(lambda S: 2 in S and 0 not in S) == pytest.approx(0.2)


def test_draws_have_the_weights_of_models(posterior):
    drawn = posterior.sample(4000)
    assert np.mean([not S for S in drawn]) == pytest.approx(0.1, abs=0.02)
    assert posterior.sample(5, random_state=3) == posterior.sample(5, random_state=3)


def test_sets_are_the_fewest_correlated_features_of_a_level(posterior):
    (found,) = posterior.sets(0.85)
    assert found.features == (0, 1)
    assert found.probability == pytest.approx(0.9)
    assert found.together == pytest.approx(0.1)
    assert found.purity == pytest.approx(0.9)
    assert posterior.sets(0.95) == []  # none is that sure


def test_sets_do_not_share_features():
    inside = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0]], bool)
    correlations = np.full((4, 4), 0.9)
    found = credible_sets(inside, np.array([0.4, 0.4, 0.2]), np.arange(4), correlations, 0.95)
    features = [j for each in found for j in each.features]
    assert len(features) == len(set(features))


def test_the_answer_has_the_largest_expected_f_beta(posterior):
    chosen, expected = posterior.select_f()
    assert chosen.tolist() == [True, True, True, False]
    assert expected == pytest.approx(2 * 1.4 / (3 + 1.4))
    few, _ = posterior.select_f(beta=0.1)
    assert few.sum() == 2  # both of the most probable, which are equally so


def test_no_other_number_of_features_has_a_larger_expected_f_beta():
    p = np.array([0.9, 0.85, 0.40, 0.37, 0.36, 0.05, 0.02])
    posterior = Posterior(
        [tuple(range(7))], np.ones(1), 7, 0.0, p, np.arange(7), np.eye(7), np.zeros(7), np.zeros(7)
    )
    for beta in (0.5, 1.0, 1.5):
        expected = [p[:k].sum() / (k + beta**2 * p.sum()) for k in range(1, 8)]
        assert posterior.select_f(beta)[0].sum() == np.argmax(expected) + 1


@pytest.mark.parametrize("together", [False, True])
def test_equal_columns_are_copies_unless_models_have_several(together):
    supports = [(0, 1, 2)] if together else [(0, 2), (1, 2)]
    weights = np.full(len(supports), 1 / len(supports))
    inclusion = np.array([1.0, 1.0, 1.0] if together else [0.5, 0.5, 1.0])
    correlations = np.eye(3)
    correlations[0, 1] = correlations[1, 0] = -1.0
    posterior = Posterior(
        supports, weights, 3, 0.0, inclusion, np.arange(3), correlations, np.zeros(3), np.zeros(3)
    )
    assert posterior.copies == ({} if together else {0: (0, 1)})
    chosen, expected = posterior.select_f()
    assert chosen.tolist() == [True, together, True]
    assert posterior.expected_hits(np.flatnonzero(chosen)) == chosen.sum()
    assert expected == 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.any_of([7]), "features must be integers from 0 to 3"),
        (lambda p: p.all_of([0.5]), "features must be integers"),
        (lambda p: p.sets(1.5), r"level must be in \(0, 1\), got 1.5"),
    ],
)
def test_what_cannot_be_asked_is_said(posterior, call, words):
    with pytest.raises(ValueError, match=words):
        call(posterior)


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("probability", -1, "features must be integers from 0 to"),
        ("probability", [0.5], "features must be integers from 0 to"),
        ("any_of", [[0, 1]], "features must be integers from 0 to"),
        ("all_of", "a", "features must be integers from 0 to"),
        ("sets", "a", "level must be in"),
        ("sets", 1.0, "level must be in"),
        ("sample", -1, "n must be an integer between 0 and"),
        ("sample", None, "n must be an integer between 0 and"),
        ("prob", 3, "statement must be a function"),
        ("select_f", None, "beta must be in"),
        ("select_f", np.nan, "beta must be in"),
    ],
)
def test_wrong_arguments_are_named(method, given, message):
    posterior = Posterior.nothing(5)
    with pytest.raises(ValueError, match=message):
        getattr(posterior, method)(given)


def test_no_features_have_no_probability():
    posterior = Posterior.nothing(5)
    assert posterior.probability([]).shape == (0,)
    assert posterior.any_of([]) == 0.0
