"""Features and sets that are named at a rate of false ones, against all that could be named."""

from itertools import chain, combinations

import numpy as np
import pytest

from ksupport import Posterior
from ksupport.posterior.credible_sets import best_disjoint


def subsets(things):
    return chain.from_iterable(combinations(things, m) for m in range(1, len(things) + 1))


def posterior_of(supports, weights, d, correlations=None):
    weights = np.asarray(weights, float)
    inside = np.array([[j in S for j in range(d)] for S in supports])
    C = np.eye(d) if correlations is None else correlations
    return Posterior(
        supports, weights, d, 0.0, weights @ inside, np.arange(d), C, np.zeros(d), np.zeros(d)
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("fdr", [0.05, 0.1, 0.3])
def test_no_larger_set_of_features_keeps_the_rate(seed, fdr):
    p = np.random.default_rng(seed).beta(0.5, 0.5, 10)
    nothing = Posterior.nothing(10)
    posterior = Posterior(
        nothing.supports, nothing.weights, 10, 0.0, p, np.arange(10), np.eye(10), p, p
    )
    named = posterior.select(fdr)
    within = [S for S in subsets(range(10)) if np.mean(1 - p[list(S)]) <= fdr]
    assert named.sum() == max(map(len, within), default=0)
    if named.any():
        assert np.mean(1 - p[named]) <= fdr
        assert p[named].min() >= p[~named].max()


def test_features_of_equal_probability_come_together_or_not_at_all():
    supports = [(0, 1), (0, 2), (0,)]
    posterior = posterior_of(supports, [0.4, 0.4, 0.2], 3)
    assert posterior.select(0.3).tolist() == [True, False, False]  # one of both would do
    assert posterior.select(0.5).tolist() == [True, True, True]


@pytest.mark.parametrize("seed", range(30))
def test_the_sets_named_are_the_best_of_all_disjoint_ones(seed):
    rng = np.random.default_rng(seed)
    sets = list({tuple(sorted(rng.choice(6, rng.integers(1, 4), False).tolist())) for _ in "x" * 9})
    p, fdr = rng.uniform(0.5, 1.0, len(sets)), float(rng.choice([0.05, 0.1, 0.2]))

    def worth(chosen):
        return sum(p[at] / len(sets[at]) for at in chosen)

    def allowed(chosen):
        features = [j for at in chosen for j in sets[at]]
        return len(features) == len(set(features)) and np.mean(1 - p[list(chosen)]) <= fdr + 1e-12

    best = max((worth(each) for each in subsets(range(len(sets))) if allowed(each)), default=0.0)
    found = best_disjoint(sets, p, fdr)
    assert not found or allowed(found)
    assert worth(found) == pytest.approx(best, abs=1e-7)


def test_what_cannot_be_told_apart_is_named_as_a_set():
    correlations = np.eye(5)
    correlations[1, 2] = correlations[2, 1] = 0.95
    supports = [(0, 1), (0, 2), (0, 1, 3), (0,)]
    posterior = posterior_of(supports, [0.48, 0.45, 0.04, 0.03], 5, correlations)
    first, second = posterior.select_sets(0.05)
    assert first.features == (0,)
    assert second.features == (1, 2)
    assert second.probability == pytest.approx(0.97)
    assert second.purity == pytest.approx(0.95)
    assert posterior.select(0.05).tolist() == [True, False, False, False, False]


def test_features_that_stand_in_for_each_other_make_a_set_without_correlation():
    posterior = posterior_of([(0,), (1,)], [0.5, 0.5], 3)
    (found,) = posterior.select_sets(0.05)
    assert found.features == (0, 1)


def test_nothing_is_named_where_nothing_matters():
    nothing = Posterior.nothing(4)
    assert not nothing.select(0.1).any()
    assert nothing.select_sets(0.1) == []


@pytest.mark.parametrize("method", ["select", "select_sets"])
@pytest.mark.parametrize("fdr", [0, 1, -0.1, None, np.nan])
def test_rates_outside_of_zero_to_one_are_refused(method, fdr):
    with pytest.raises(ValueError, match=r"fdr must be in \(0, 1\), got"):
        getattr(Posterior.nothing(3), method)(fdr)
