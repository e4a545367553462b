"""Which rows are held out, and how often."""

from types import SimpleNamespace

import numpy as np
import pytest

from ksupport import AutoIRKSN
from ksupport.choosing import automatic
from ksupport.choosing.elections import Performance
from ksupport.choosing.folds import splits_of
from ksupport.choosing.judging import AllRows, Said, agreement, judge, settled
from ksupport.choosing.policy import POLICY
from ksupport.datasets import make_block_data
from ksupport.design import Weights


def _splits(y, **options):
    return splits_of(y, Weights(), 5, 0, None, **options)


@pytest.fixture
def grouped():
    X, y, _ = make_block_data(60, 100, random_state=0)
    return X, y


def test_balanced_folds_hold_out_small_and_large_responses_alike(rng):
    y = rng.standard_normal(50)
    for _, test in _splits(y, balanced=True):
        assert sorted(np.argsort(np.argsort(y))[test] // 5) == list(range(10))


def test_balanced_folds_do_not_depend_on_the_order_of_rows(rng):
    y, order = rng.standard_normal(43), rng.permutation(43)
    here, there = _splits(y, balanced=True), _splits(y[order], balanced=True)
    for (_, test), (_, other) in zip(here, there, strict=True):
        np.testing.assert_array_equal(y[test], y[order][other])


def test_each_time_every_row_is_held_out_once_by_other_folds(rng):
    y = rng.standard_normal(23)
    splits = _splits(y, balanced=True, times=3)
    held_out = [[tuple(test) for _, test in splits[at : at + 5]] for at in (0, 5, 10)]
    for folds in held_out:
        assert sorted(np.concatenate(folds)) == list(range(23))
    assert len({tuple(folds) for folds in held_out}) == 3
    first = _splits(y, balanced=True)
    np.testing.assert_array_equal(np.concatenate([test for _, test in first]),
                                  np.concatenate(held_out[0]))  # fmt: skip


def test_sorts_are_divided_evenly_before_sizes(rng):
    y, sorts = rng.standard_normal(40), np.repeat([0.0, 1.0], [10, 30])
    for _, test in _splits(y, sorts=sorts, balanced=True):
        assert sorts[test].sum() == 6


def _times(monkeypatch, X, y, **parameters):
    counted = []

    def counting(rows, said, policy):
        counted.append(len(said))
        return judge(rows, said, policy)

    monkeypatch.setattr(automatic, "judge", counting)
    AutoIRKSN(**parameters).fit(X, y)
    return counted


def test_rows_are_held_out_again_where_that_is_cheap_and_nothing_is_clear(monkeypatch, grouped):
    X, y = grouped
    assert _times(monkeypatch, X, y) == [POLICY.times]


def test_and_more_often_where_the_answer_depends_on_folds(monkeypatch, grouped):
    X, y = grouped
    noisy = y + 1.5 * np.std(y) * np.random.default_rng(1).standard_normal(len(y))
    monkeypatch.setattr(automatic, "settled", lambda _, said, __: len(said) > POLICY.times)
    assert _times(monkeypatch, X, noisy) == [2 * POLICY.times]
    monkeypatch.setattr(automatic, "settled", lambda *_: False)
    assert _times(monkeypatch, X, noisy) == [POLICY.most_times]


def test_halves_of_the_times_agree_as_far_as_their_answers_do():
    n = 4
    posterior = SimpleNamespace(best=0.0, gain=0.0, probability=lambda: np.zeros(n))
    rows = AllRows(posterior, None, elected=-60.0)  # groups alone count

    def said(*features):
        return Said(-60.0, np.isin(np.arange(n), features).astype(float), None)

    assert agreement(rows, [said(0, 1), said(0, 1)]) == 1
    assert agreement(rows, [said(0, 1), said(1, 2)]) == pytest.approx(1 / 3)
    assert agreement(rows, [said(0), said(1), said(0), said(1)]) == 0


@pytest.mark.parametrize(("gain", "expected"), [(0.0, True), (10.0, False)])
def test_more_times_are_for_answers_that_differ_and_not_for_noise(gain, expected):
    posterior = SimpleNamespace(best=0.0, gain=gain, n=50, probability=lambda: np.zeros(4))
    nothing = Performance(0.0, 0.1, 0.0, 1.0, 1.0, 0.5)
    said = [Said(-60.0, np.eye(4)[at], nothing) for at in (0, 1)]
    assert settled(AllRows(posterior, None, elected=-60.0), said) == expected
    assert settled(AllRows(posterior, None, elected=-60.0), said[:1] * 2)


@pytest.mark.parametrize(
    "parameters", [{"random_state": None}, {"cv": [(range(30), range(30, 60))]}]
)
def test_given_folds_are_taken_once(monkeypatch, grouped, parameters):
    assert _times(monkeypatch, *grouped, **parameters) == [1]


def test_the_order_of_rows_does_not_matter(grouped, rng):
    X, y = grouped
    order = rng.permutation(len(y))
    here, there = AutoIRKSN().fit(X, y), AutoIRKSN().fit(X[order], y[order])
    np.testing.assert_allclose(there.probability_, here.probability_, atol=1e-8)
    np.testing.assert_array_equal(there.support_, here.support_)


def test_what_is_seen_several_times_is_averaged():
    times = [Performance(0.5, 0.1, 0.0, 1.0, 2.0, 0.0), Performance(0.7, 0.3, 0.0, 0.6, 2.0, 0.2)]
    mean = Performance.mean(times)
    assert (mean.score, mean.standard_error) == pytest.approx((0.6, 0.2))
    assert (mean.loss, mean.baseline_loss, mean.doubt) == pytest.approx((0.8, 2.0, 0.1))


def test_a_score_of_zero_has_no_sign():
    assert (
        str(Performance(-0.001, 0.0, 0.0, 1.0, 1.0, 0.5)) == "0.00 ± 0.00 (knowing nothing: 0.00)"
    )
