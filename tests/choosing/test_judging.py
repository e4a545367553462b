"""Probabilities, the answer of the largest expected F1, and what is called noise."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from ksupport.choosing.elections import Performance
from ksupport.choosing.judging import (
    calibrated,
    largest_expected_f1,
    of_evidence,
    of_unions,
    tells_signal,
)
from ksupport.choosing.policy import POLICY

NOTHING = Performance(0.0, 0.1, 0.0, 1.0, 1.0, 0.5)


def test_no_other_support_has_a_larger_expected_f1():
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.uniform(size=7) ** 3
        chosen, expected = largest_expected_f1(p)

        def value(S, p=p):
            return 2 * p[list(S)].sum() / (len(S) + p.sum())

        every = [S for size in range(1, 8) for S in combinations(range(7), size)]
        assert expected == pytest.approx(max(map(value, every)))
        assert value(np.flatnonzero(chosen)) == pytest.approx(expected)


def test_sure_features_are_chosen_and_impossible_ones_are_not():
    p = np.array([1.0, 0.0, 1.0, 0.0])
    chosen, expected = largest_expected_f1(p)
    np.testing.assert_array_equal(chosen, p == 1)
    assert expected == 1
    chosen, expected = largest_expected_f1(np.zeros(3))
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
