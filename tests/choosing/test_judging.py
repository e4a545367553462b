"""Probabilities, the answer of the largest expected F1, and what is called noise."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from ksupport.choosing.elections import Performance
from ksupport.choosing.judging import (
    Belief,
    believed,
    calibrated,
    of_evidence,
    of_unions,
    pooled,
    tells_signal,
)
from ksupport.choosing.policy import POLICY

NOTHING = Performance(0.0, 0.1, 0.0, 1.0, 1.0, 0.5)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_no_other_support_has_a_larger_expected_f_beta(beta):
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.uniform(size=7) ** 3
        chosen, expected = Belief(p).answer(beta)

        def value(S, p=p, beta=beta):
            return (1 + beta**2) * p[list(S)].sum() / (len(S) + beta**2 * p.sum())

        every = [S for size in range(1, 8) for S in combinations(range(7), size)]
        assert value(np.flatnonzero(chosen)) == pytest.approx(max(map(value, every)))
        assert value(np.flatnonzero(chosen), beta=1.0) == pytest.approx(expected)


def test_a_larger_beta_names_more():
    p = np.linspace(0.01, 0.9, 30)
    answers = [Belief(p).answer(beta)[0] for beta in (0.25, 0.5, 1.0, 2.0, 4.0)]
    sizes = [each.sum() for each in answers]
    assert sizes == sorted(set(sizes))
    assert all((few <= more).all() for few, more in pairwise(answers))


def test_sure_features_are_chosen_and_impossible_ones_are_not():
    p = np.array([1.0, 0.0, 1.0, 0.0])
    chosen, expected = Belief(p).answer()
    np.testing.assert_array_equal(chosen, p == 1)
    assert expected == 1
    chosen, expected = Belief(np.zeros(3)).answer()
    assert not chosen.any()
    assert expected == 0


def test_more_evidence_and_better_predictions_speak_for_few():
    odds = [of_evidence(gap, 0.0) for gap in (-50, 0, 20, 50)]
    assert odds == sorted(odds)
    odds = [of_evidence(20.0, ahead) for ahead in (-50, 0, 20, 50)]
    assert odds == sorted(odds)
    assert of_evidence(np.inf, 0.0) > 0.9
    assert 0 < of_evidence(-1e9, -1e9) < of_evidence(1e9, 1e9) < 1


def test_calibration_keeps_the_order_and_the_ends():
    p = np.linspace(0, 1, 11)
    q = calibrated(p)
    assert (np.diff(q) > 0).all()
    assert q[0] == 0
    assert q[-1] > 0.99
    np.testing.assert_allclose(calibrated(p, replace(POLICY, calibration=(0.0, 1.0))), p, atol=1e-5)


BY_LOSS = POLICY.by_loss(of_classes=True)


def test_what_evidence_and_folds_both_say_is_surer_than_what_one_says():
    high, low = np.array([0.9]), np.array([0.001])
    both, neither = pooled(high, high, BY_LOSS).p, pooled(low, low, BY_LOSS).p
    for one in (pooled(high, low, BY_LOSS).p, pooled(low, high, BY_LOSS).p):
        assert neither < one < both
    p = np.linspace(0, 1, 11)
    found = pooled(p, p, BY_LOSS).p
    assert (np.diff(found) > 0).all()
    assert found[0] == 0 < found[1] < found[-1] < 1


def test_what_nothing_names_has_no_probability_and_may_be_missed():
    p, shares = np.array([0.9, 0.0, 0.2]), np.array([0.9, 0.0, 0.0])
    rest = np.zeros(500)
    few = pooled(p, shares, BY_LOSS)
    many = pooled(np.append(p, rest), np.append(shares, rest), BY_LOSS)
    np.testing.assert_allclose(many.p[:3], few.p)
    assert few.p[1] == 0 == many.p[3:].max()
    assert many.missed == pytest.approx(501 * few.missed)
    assert 0 < many.missed < 3
    assert many.answer()[1] < few.answer()[1]


def test_features_that_say_nothing_change_no_answer():
    rng = np.random.default_rng(0)
    p, shares = (np.append(rng.uniform(size=20) ** 3, np.zeros(1500)) for _ in range(2))
    rest = np.zeros(50_000)
    few = believed(p, shares, 0.8, BY_LOSS)
    many = believed(np.append(p, rest), np.append(shares, rest), 0.8, BY_LOSS)
    np.testing.assert_array_equal(many.answer()[0][: p.size], few.answer()[0])
    assert many.missed == few.missed


def test_the_pool_is_the_weighted_sum_of_log_odds():
    assert BY_LOSS.pool is not None
    shift, few, shares = BY_LOSS.pool
    p, s = 0.3, 0.6
    odds = shift + few * np.log(p / (1 - p)) + shares * np.log(s / (1 - s))
    (found,) = pooled(np.array([p]), np.array([s]), BY_LOSS).p
    assert found == pytest.approx(1 / (1 + np.exp(-odds)))


def test_a_class_says_less_than_a_count_or_a_time():
    assert POLICY.pool is None
    high = np.array([0.9])
    other = POLICY.by_loss(of_classes=False)
    assert pooled(high, high, BY_LOSS).p < pooled(high, high, other).p


def test_what_is_believed_hangs_on_whom_to_believe():
    p, shares = np.array([0.9, 0.1, 0.0]), np.array([0.0, 0.1, 0.9])
    by_evidence, by_folds = (believed(p, shares, evident, BY_LOSS).p for evident in (1.0, 0.0))
    assert by_evidence[0] > by_evidence[2]
    assert by_folds[2] > by_folds[0] == 0
    np.testing.assert_allclose(believed(p, shares, 0.5, BY_LOSS).p, (by_evidence + by_folds) / 2)
    by_squares = believed(p, shares, 0.25)
    np.testing.assert_allclose(by_squares.p, calibrated(0.25 * p + 0.75 * shares))
    assert by_squares.missed == 0


def test_signal_needs_evidence_or_held_out_rows():
    assert not tells_signal(0.0, 100.0, NOTHING)
    assert tells_signal(2 * POLICY.signal, 100.0, NOTHING)
    better = replace(NOTHING, score=0.5, standard_error=0.1)
    assert not tells_signal(-5.0, 100.0, replace(better, standard_error=0.4))
    assert not tells_signal(POLICY.signal / 2, 10.0, better)
    assert tells_signal(POLICY.signal / 2, 100.0, better)
    assert not tells_signal(POLICY.signal / 2, 100.0, None)


def test_unions_need_more_evidence_than_few_features_and_no_better_predictions_of_these():
    odds = [of_unions(lead, 0.0) for lead in (-20, 0, 10, 50)]
    assert odds == sorted(odds)
    assert odds[1] < 0.2
    assert odds[-1] > 0.9
    assert of_unions(20.0, 30.0) < 0.01 < of_unions(20.0, -30.0)
