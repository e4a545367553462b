"""The prior, counted by hand; and features that are no candidates, summed over."""

from math import comb

import numpy as np
import pytest

from ksupport.posterior.prior import PRECISIONS, Others, log_precisions, log_prior, prior_of


def test_sizes_are_uniform_and_sum_to_one():
    """Over all sets of features and of many clusters of small weight."""
    d, count, weight, most = 6, 100_000, 1e-4, 3
    table = np.logaddexp.reduce(log_prior(d, count * weight, most))
    by_size = np.zeros(most + 1)
    for s1 in range(most + 1):
        for s2 in range(most + 1 - s1):
            sets = comb(d, s1) * comb(count, s2) * weight**s2
            by_size[s1 + s2] += sets * np.exp(table[s1, s2])
    np.testing.assert_allclose(by_size, 1.0, rtol=1e-4)
    alone = np.logaddexp.reduce(log_prior(d, 0.0, most))
    np.testing.assert_allclose([comb(d, s) * np.exp(alone[s, 0]) for s in range(most + 1)], 1.0)
    assert np.isneginf(alone[:, 1:]).all()
    assert np.isneginf(table[2, 2])


@pytest.mark.parametrize("size", [1, 5, 20])
def test_the_share_that_is_explained_is_uniform_at_any_size(size):
    """As far as the range of precisions goes, of which each stands for those nearest to it."""
    p = np.exp(log_precisions(np.array(size)))
    assert p.sum() == pytest.approx(1.0)
    edges = np.sqrt(PRECISIONS[1:] * PRECISIONS[:-1])
    explained = size / (size + edges)
    np.testing.assert_allclose(1.0 - np.cumsum(p)[:-1], explained, atol=0.1)


def test_others_are_summed_over_as_if_each_set_of_them_were_listed():
    d, others, most = 9, 4, 5
    factors = np.random.default_rng(0).uniform(0.2, 2.0, PRECISIONS.size)
    found = prior_of(d, 0.7, most, Others(others, np.log(factors)))
    table = np.exp(log_prior(d, 0.7, most))
    for f in range(most + 1):
        for c in range(most + 1 - f):
            counts = range(min(others, most - f - c) + 1)
            each = np.array([comb(others, g) * factors**g * table[:, f + g, c] for g in counts])
            np.testing.assert_allclose(np.exp(found.log[:, f, c]), each.sum(axis=0))
            mean = np.arange(len(each)) @ each / each.sum(axis=0)
            np.testing.assert_allclose(found.others[:, f, c], mean, atol=1e-12)


@pytest.mark.parametrize(("d", "others", "most"), [(1e6, 999_000, 100), (1000, 0, 100), (3, 2, 3)])
def test_no_number_of_features_is_beyond_double_precision(d, others, most):
    found = prior_of(d, d / 250, most, Others(others, np.full(PRECISIONS.size, -0.1)))
    s = np.arange(most + 2)
    possible = (s[:, None] + s <= most) & (s[:, None] <= d)
    assert np.isfinite(found.log[:, possible]).all()
    assert np.isneginf(found.log[:, ~possible]).all()
    assert (found.others >= 0).all()
    assert (found.others <= min(others, most)).all()
    if not others:
        np.testing.assert_allclose(found.log[:, possible], log_prior(d, d / 250, most)[:, possible])
