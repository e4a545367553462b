"""Unions of clusters: what they are, their evidence, and which are found."""

import numpy as np
import pytest
from scipy.stats import norm

from ksupport.choosing.clusters import ALIKE, STRENGTHS, Clusters, Search, unions_of
from ksupport.choosing.criteria import log_choose
from ksupport.choosing.policy import POLICY
from ksupport.choosing.posterior import Sought, explored
from ksupport.design.view import Design
from ksupport.metrics import support_f1


def blocks(rng, n=80, count=12, size=8, rho=0.8):
    """Columns in blocks, each of which shares a factor."""
    factors = rng.standard_normal((n, count))
    own = rng.standard_normal((n, count * size))
    return np.sqrt(rho) * np.repeat(factors, size, axis=1) + np.sqrt(1 - rho) * own


def posterior_of(X, y):
    design = Design.of(X).centred()
    (found,) = explored([Sought(design, y - y.mean(), ())])
    return found


def search_on(X, y):
    found = posterior_of(X, y)
    return Search.on(found.columns, found.y, found.n, found.d, POLICY)


@pytest.mark.parametrize("alike", [True, False])
def test_blocks_are_found_almost_whole(rng, alike):
    X = blocks(rng)
    w = np.zeros(X.shape[1])
    w[:8], w[24:32] = (1.0, -1.0) if alike else rng.standard_normal((2, 8))
    signal = X @ w
    y = signal + rng.standard_normal(len(X)) * signal.std() / 5
    few = posterior_of(X, y)
    found = unions_of(few)
    assert found.best < few.best - 10
    assert support_f1(w, found.probability > 0.5) > 0.95


def test_single_features_are_no_worse_a_model_than_few(rng):
    X = rng.standard_normal((60, 40))
    y = X[:, [3, 17]] @ [2.0, -3.0] + 0.5 * rng.standard_normal(60)
    few = posterior_of(X, y)
    found = unions_of(few)
    assert found.best == pytest.approx(few.best, abs=2.0)
    np.testing.assert_array_equal(np.flatnonzero(found.probability > 0.5), [3, 17])


@pytest.mark.parametrize("many", [False, True])
def test_noise_has_no_union(rng, many):
    # Of very many independent features, those that go with y most must make no cluster.
    X = rng.standard_normal((100, 2000)) if many else blocks(rng)
    few = posterior_of(X, rng.standard_normal(len(X)))
    found = unions_of(few)
    assert found.best > few.empty - 1.0
    assert found.probability.max() < 0.5


@pytest.mark.parametrize("tall", [False, True])
def test_scores_are_log_evidence_by_definition(rng, tall):
    X = blocks(rng, n=100 if tall else 20, count=6, size=4)
    y = X[:, :4].sum(axis=1) + X[:, 9] + rng.standard_normal(len(X))
    search = search_on(X, y)
    search.run()
    n = len(X)
    C = X - X.mean(axis=0)
    C /= C.std(axis=0)
    y = y - y.mean()
    for parts, score in search.scores.items():
        K = np.eye(n)
        for cluster, strength in parts:
            B = C[:, search.clusters.members[cluster]]
            if strength == ALIKE:
                R = np.corrcoef(B.T)
                signs = np.sign(R[np.abs(R).sum(axis=0).argmax()])  # those of the most central
                mean = B @ signs
                B, strength = mean[:, None] / mean.std(), 1.0
            K += strength * B @ B.T
        q = y @ np.linalg.solve(K, y)
        price = 2 * log_choose(X.shape[1], len(parts))
        direct = n * np.log(q / n) + np.linalg.slogdet(K)[1] + price
        assert score == pytest.approx(direct, abs=1e-5)
    assert len(search.scores) > 20
    assert {strength for parts in search.scores for _, strength in parts} == {*STRENGTHS, ALIKE}


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_scores_of_one_sign_and_of_several_responses_by_definition(rng, tall, count):
    """The evidence of normal priors, and of each coefficient how far it is above zero.

    It counts by how much narrower it is than its prior.
    """
    X = blocks(rng, n=100 if tall else 20, count=6, size=4)
    n = len(X)
    Y = np.array([X[:, :4].sum(axis=1) + X[:, 9], X[:, :4] @ [0.5, 1, 0, 2] - X[:, 20]])[:count]
    Y = Y + rng.standard_normal(Y.shape)
    Y -= Y.mean(axis=1, keepdims=True)
    C = X - X.mean(axis=0)
    C /= C.std(axis=0)
    search = Search.on(np.ascontiguousarray(C.T), Y, n, X.shape[1], POLICY, positive=True)
    search.run()
    assert len(search.scores) > 20
    for parts, score in search.scores.items():
        rows, strengths = [np.empty((0, n))], []
        for cluster, strength in parts:
            B = C[:, search.clusters.members[cluster]]
            if strength == ALIKE:
                B, strength = B.sum(axis=1, keepdims=True) / B.sum(axis=1).std(), 1.0
            rows.append(B.T)
            strengths += [strength] * B.shape[1]
        F, s = np.vstack(rows), np.array(strengths)
        K = np.eye(n) + (F.T * s) @ F
        left = Y @ np.linalg.solve(K, Y.T)
        spread = s - s**2 * np.einsum("ij,ji->i", F, np.linalg.solve(K, F.T))
        means = s[:, None] * (F @ np.linalg.solve(K, Y.T))
        z = np.sqrt(n * np.log1p(means**2 / np.outer(spread, np.diag(left))))
        counted = np.sqrt(1 - spread / s)[:, None]
        signs = -2 * np.sum(counted * (np.log(2) + norm.logcdf(np.sign(means) * z)))
        believed = left + (count - 1) / n * np.diag((Y**2).sum(axis=1))
        volumes = (n + count - 1) * np.linalg.slogdet(believed / n)[1]
        volumes += count * np.linalg.slogdet(K)[1]
        price = 2 * log_choose(X.shape[1], len(parts))
        assert score == pytest.approx(volumes + price + signs, abs=1e-4)
        assert (search.coef(parts) >= 0).all()


def test_features_that_go_the_other_way_are_no_cluster_of_one_sign(rng):
    X = blocks(rng, n=60, count=2, size=4)
    X[:, 4:] = -X[:, :4] + 0.1 * rng.standard_normal((60, 4))
    members = Clusters.of(np.corrcoef(X.T), 60.0, positive=True).members
    assert all(len({j < 4 for j in S.tolist()}) == 1 for S in members)
    assert any(S.size == 8 for S in Clusters.of(np.corrcoef(X.T), 60.0).members)


def test_copies_are_one_cluster_in_any_order(rng):
    X = rng.standard_normal((30, 6))
    X = X[:, [0, 1, 0, 2, 0, 3, 4, 5]]  # three copies of the first
    found = Clusters.of(np.corrcoef(X.T), 30.0).members
    holding = [S.tolist() for S in found if 0 in S]
    assert [0] not in holding
    assert [0, 2, 4] in holding
    assert all({0, 2, 4} <= set(S) for S in holding)


def test_the_order_of_columns_does_not_matter(rng):
    X = blocks(rng, n=50, count=6)
    y = X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(50)
    order = rng.permutation(X.shape[1])
    there, here = unions_of(posterior_of(X[:, order], y)), unions_of(posterior_of(X, y))
    assert there.best == pytest.approx(here.best, abs=1e-5)
    np.testing.assert_allclose(there.probability, here.probability[order], atol=1e-6)


def test_nothing_to_cluster():
    found = unions_of(posterior_of(np.ones((6, 3)), np.arange(6.0)))
    np.testing.assert_array_equal(found.probability, 0)
    found = unions_of(posterior_of(np.arange(12.0).reshape(6, 2), np.zeros(6)))
    np.testing.assert_array_equal(found.probability, 0)
