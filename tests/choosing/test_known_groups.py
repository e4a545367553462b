"""Known groups: the evidence of their unions, what is expected of these, and which are found."""

import numpy as np
import pytest

from ksupport import limits
from ksupport.choosing.clusters import ALIKE, Search
from ksupport.choosing.criteria import log_choose
from ksupport.choosing.known_groups import FEWEST, explored_by_group
from ksupport.choosing.policy import POLICY
from ksupport.choosing.posterior import Sought
from ksupport.design import Design

COUNT = 21


@pytest.fixture
def data(rng):
    """Groups of 1 to 30 features, two of which matter; 60 rows."""
    labels = np.repeat(np.arange(COUNT), [30, *[1, 5, 8, 4] * 5])
    X = rng.standard_normal((60, 120)) + rng.standard_normal((60, COUNT))[:, labels]
    w = np.where(np.isin(labels, [2, 3]), rng.standard_normal(120), 0.0)
    return X, X @ w + rng.standard_normal(60), w, labels


def explored(X, y, labels):
    (found,) = explored_by_group([Sought(Design.of(X).centred(), y - y.mean(), ())], labels, COUNT)
    return found


@pytest.mark.parametrize("tall", [False, True])
def test_scores_and_coefficients_by_definition(rng, data, tall):
    X, y, _, labels = data
    rows = slice(None) if tall else slice(0, 25)  # fewer than the largest group has features
    features = slice(0, 40) if tall else slice(None)
    X, labels = X[:, features], labels[features]
    d, count = X.shape[1], labels.max() + 1
    C, y = X[rows] - X[rows].mean(axis=0), y[rows] - y[rows].mean()
    n, C = len(y), C / C.std(axis=0)
    groups = [np.flatnonzero(labels == g) for g in range(count)]
    search = Search.on(np.ascontiguousarray(C.T), y, n, count, POLICY, groups)
    search.run()
    assert len(search.scores) > 20
    assert any(0 in {group for group, _ in parts} for parts in search.scores)  # the largest
    for parts, score in search.scores.items():
        prior = np.zeros((d, d))  # covariance of the coefficients, in units of the noise
        for group, strength in parts:
            S = groups[group]
            R = C[:, S].T @ C[:, S] / n
            signs = np.where(R[np.abs(R).sum(axis=0).argmax()] < 0, -1.0, 1.0)
            alike = np.outer(signs, signs) / (signs @ R @ signs)
            prior[np.ix_(S, S)] = alike if strength == ALIKE else strength * np.eye(S.size)
        K = np.eye(n) + C @ prior @ C.T
        q = y @ np.linalg.solve(K, y)
        direct = n * np.log(q / n) + np.linalg.slogdet(K)[1] + 2 * log_choose(count, len(parts))
        assert score == pytest.approx(direct, abs=1e-5)
        expected = prior @ C.T @ np.linalg.solve(K, y)
        np.testing.assert_allclose(search.coef(parts)[0], expected, atol=1e-8)


def test_groups_that_matter_are_found(data):
    X, y, w, labels = data
    found = explored(X, y, labels)
    p = found.probability()
    assert p[w != 0].min() > 0.9 > 0.5 > p[w == 0].max()
    assert found.gain > 20
    for group in range(COUNT):
        assert np.ptp(p[labels == group]) < 1e-12
    fitted = (X - X.mean(axis=0)) @ found.mean()
    assert np.corrcoef(fitted, y)[0, 1] > 0.9


def test_a_union_is_listed_once(data):
    X, y, _, labels = data
    found = explored(X, y, labels)
    unions = found.supports(found.order(1000))
    assert len(set(unions)) == len(unions) > 20


def test_noise_has_hardly_a_group(data, rng):
    X, _, _, labels = data
    gains = [explored(X, rng.standard_normal(60), labels).gain for _ in range(20)]
    assert np.mean(np.array(gains) > 2.0) <= 0.1


def test_the_order_of_columns_and_names_of_groups_do_not_matter(data, rng):
    X, y, _, labels = data
    order, names = rng.permutation(120), rng.permutation(COUNT)
    here, there = explored(X, y, labels), explored(X[:, order], y, names[labels[order]])
    assert there.best == pytest.approx(here.best, abs=1e-5)
    np.testing.assert_allclose(there.probability(), here.probability()[order], atol=1e-6)


def test_of_many_features_whole_groups_are_looked_at(data, monkeypatch):
    X, y, _, labels = data
    monkeypatch.setattr(limits, "POOL", 1)
    monkeypatch.setattr(limits, "FEWEST_IN_POOL", 40)
    found = explored(X, y, labels)
    looked_at = np.bincount(labels[found.pool], minlength=COUNT)
    assert found.pool.size < 60
    assert np.count_nonzero(looked_at) >= FEWEST
    np.testing.assert_array_equal(looked_at[looked_at > 0], np.bincount(labels)[looked_at > 0])
    assert found.probability()[labels == 2].min() > 0.9


def test_a_group_of_constant_columns_says_nothing(data):
    X, y, w, labels = data
    X = np.where(labels == 6, 1.0, X)
    p = explored(X, y, labels).probability()
    assert p[labels == 6].max() == 0.0
    assert p[w != 0].min() > 0.9
