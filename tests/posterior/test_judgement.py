"""What is concluded: conditions at their borders, and the words for them."""

import numpy as np
import pytest

from ksupport import AutoIRKSN, Posterior, permutation_test
from ksupport.posterior.effective_rows import EffectiveRows
from ksupport.posterior.judgement import DISAGREE, Kind, judged, words_of
from ksupport.posterior.performance import Performance

ROWS = EffectiveRows(30.0, 30.0)


def posterior_of(supports, weights, d=4, difference=0.0, background=0.0):
    inclusion = np.zeros(d)
    for S, w in zip(supports, weights, strict=True):
        inclusion[list(S)] += w
    none = np.zeros(d)
    return Posterior(
        supports, np.array(weights), d, difference, inclusion, np.arange(d), np.eye(d), none, none,
        background=background,
    )  # fmt: skip


def judgement_of(posterior, p_value=0.01, performance=None):
    return judged(posterior, p_value, ROWS, performance, 1.0)


def test_a_signal_needs_the_posterior_and_the_permutation_test():
    clear = posterior_of([(0,), ()], [0.51, 0.49])
    even = posterior_of([(0,), ()], [0.5, 0.5])
    assert judgement_of(clear, 0.05).signal
    assert not judgement_of(clear, 0.06).signal
    assert not judgement_of(even).signal
    none = judgement_of(even, np.nan)
    assert not none.signal
    assert not none.support.any()
    assert not none.probability.any()
    assert none.posterior.empty == 1.0
    assert "at least one half" in words_of(none, Kind(0))
    assert "p-value 0.06" in words_of(judgement_of(clear, 0.06), Kind(0))


def test_the_background_is_a_signal_that_selects_nothing():
    found = judgement_of(posterior_of([(0,), ()], [0.3, 0.7], background=0.6))
    assert found.signal
    assert not found.support.any()
    assert found.expected_f1 == 0.0
    assert "most features share" in words_of(found, Kind(0))
    assert found.posterior.noise == pytest.approx(0.1)


@pytest.mark.parametrize(("difference", "told"), [(DISAGREE, False), (DISAGREE + 0.01, True)])
def test_chains_that_disagree_are_told(difference, told):
    found = judgement_of(posterior_of([(0,)], [1.0], difference=difference))
    assert ("not converged" in words_of(found, Kind(1))) == told
    assert "not converged" not in words_of(
        judgement_of(posterior_of([()], [1.0], difference=1.0)), Kind(0)
    )


@pytest.mark.parametrize("by_squares", [True, False])
def test_the_words_name_what_was_measured(by_squares):
    performance = Performance(0.4, 0.05, 0.0, 0.6, 1.0)
    words = words_of(judgement_of(posterior_of([(0, 1)], [1.0]), performance=performance),
                     Kind(2, by_squares=by_squares, copied_rows=1))  # fmt: skip
    assert ("variance" in words) == by_squares
    assert ("deviance" in words) != by_squares
    assert words.startswith("2 features")
    assert "1 row is an exact copy" in words
    many = words_of(judgement_of(posterior_of([(0,)], [1.0])), Kind(1, copied_rows=3))
    assert "3 rows are exact copies" in many


def test_one_count_larger_than_all_others_does_not_hide_a_signal():
    """The permutation test of counts goes by ranks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    y = rng.poisson(np.exp(1.0 + 0.8 * X[:, 3]))
    y[np.argmin(X[:, 3])] = 5000
    assert permutation_test(AutoIRKSN(loss="poisson"), X, y, n_permutations=99).p_value <= 0.02
