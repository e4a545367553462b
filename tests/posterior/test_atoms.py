"""Which clusters are plausible, and which features that were left out would be drawn."""

import numpy as np
import pytest

from ksupport import AutoIRKSN, NoSignalWarning
from ksupport.datasets import make_block_data
from ksupport.posterior import left_out
from ksupport.posterior.atoms import SHARED, _misfit, atoms_of, clusters_of
from ksupport.posterior.chains import Budget, sample
from ksupport.posterior.likelihood import of_squares
from ksupport.posterior.prior import PRECISIONS, log_prior


def correlations(X):
    return np.corrcoef(X.T)


def test_one_factor_leaves_nothing():
    loadings = np.array([0.9, -0.8, 0.7, 0.6, -0.5])
    R = np.outer(loadings, loadings)
    np.fill_diagonal(R, 0.0)
    assert _misfit(R) < 1e-3 * np.sum(R**2)


def measured_several_times(rng, n, rho):
    """Ten things, each measured five times with errors: pure blocks."""
    things = np.repeat(rng.standard_normal((n, 10)), 5, axis=1)
    return np.sqrt(rho) * things + np.sqrt(1 - rho) * rng.standard_normal((n, 50))


def autoregressive(rng, n, rho):
    X = rng.standard_normal((n, 50))
    for j in range(1, 50):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


@pytest.mark.parametrize("n", [40, 200])
@pytest.mark.parametrize("rho", [0.7, 0.9])
def test_blocks_are_told_from_neighbours(n, rho):
    rng = np.random.default_rng(0)
    everyone = list(range(50))
    inside = clusters_of(correlations(measured_several_times(rng, n, rho)), everyone, n)
    assert sum(inside.shared.values()) + sum(inside.blocks.values()) > 0.95
    assert {(5 * i, 5 * i + 1, 5 * i + 2, 5 * i + 3, 5 * i + 4) for i in range(10)} <= set(
        inside.blocks
    )
    others = clusters_of(correlations(autoregressive(rng, n, rho)), everyone, n)
    assert not others.blocks
    assert sum(others.shared.values()) + others.background == pytest.approx(SHARED)
    assert others.background < 0.01 * SHARED  # half of the others are too far


@pytest.mark.parametrize("rho", [0.36, 0.8])
def test_a_common_background_makes_no_blocks(rho):
    rng = np.random.default_rng(0)
    background = rng.standard_normal((100, 1))
    X = np.sqrt(rho) * background + np.sqrt(1 - rho) * rng.standard_normal((100, 150))
    assert not clusters_of(correlations(X), list(range(150)), 100).blocks
    y = X[:, [3, 50, 99]] @ [2.0, -1.5, 2.0] + rng.standard_normal(100)
    assert AutoIRKSN().fit(X, y).get_support(indices=True).tolist() == [3, 50, 99]


def common_background(rng, n, d, rho=0.6):
    return np.sqrt(rho) * rng.standard_normal((n, 1)) + np.sqrt(1 - rho) * rng.standard_normal(
        (n, d)
    )


@pytest.mark.parametrize("d", [2, 3, 12, 200])
def test_no_cluster_has_more_than_half_of_the_features(d):
    X = common_background(np.random.default_rng(0), 60, d)
    found = clusters_of(correlations(X), list(range(d)), 60)
    assert max(map(len, [*found.shared, *found.blocks]), default=0) <= d // 2
    total = sum(found.shared.values()) + found.background
    assert total == pytest.approx(SHARED)
    assert found.background > (0.9 if d == 2 else 0.01) * SHARED


def test_the_background_is_the_signed_sum_of_all_and_names_none():
    rng = np.random.default_rng(0)
    n, d = 50, 10
    X = common_background(rng, n, d) * np.where(np.arange(d) % 3, 1.0, -1.0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = rng.standard_normal(n)
    likelihood = of_squares(np.arange(d), X.T.copy(), y[None], n - 1.0, float(n))
    atoms, X = atoms_of(likelihood, d), X[:, likelihood.features]
    at = atoms.members.index(())
    total = X @ atoms.loadings[:, at]
    assert np.mean(total**2) == pytest.approx(1.0)
    assert np.all(np.sign(atoms.loadings[:, at]) == np.sign(X.T @ total))


def test_a_response_to_the_background_names_no_feature():
    rng = np.random.default_rng(1)
    X = common_background(rng, 300, 40)
    y = X.mean(axis=1) + 0.6 * rng.standard_normal(300)
    model = AutoIRKSN().fit(X, y)
    assert model.signal_
    assert not model.support_.any()
    assert model.posterior_.background > 0.5 > model.posterior_.noise
    assert model.performance_.score > 0.3  # the background predicts
    assert "a component that most features share" in model.decision_
    y = rng.standard_normal(300)
    with pytest.warns(NoSignalWarning):
        noise = AutoIRKSN().fit(X, y)
    assert not noise.signal_
    assert noise.posterior_.background == 0.0
    assert np.isnan(noise.p_value_) or noise.p_value_ > 0.05


def test_features_of_a_block_are_found_together():
    X, y, w = make_block_data(60, 100, block_size=10, n_active_blocks=2, rho=0.9, random_state=0)
    model = AutoIRKSN(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.support_, w != 0)


def test_what_was_left_out_is_drawn_as_by_the_evidence_itself():
    """Of one model, with one atom out at a time: the ratio of evidences, written out."""
    rng = np.random.default_rng(2)
    n, d = 40, 12
    X = 0.7 * rng.standard_normal((n, 1)) + rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    X *= np.sqrt(n) / np.linalg.norm(X, axis=0)
    y = X[:, 0] - X[:, 1] + rng.standard_normal(n)
    y -= y.mean()
    nu, most = n - 1.0, d - 2
    likelihood = of_squares(np.arange(d - 2), X[:, : d - 2].T.copy(), y[None], nu, float(n))
    atoms = atoms_of(likelihood, d, clustered=False)
    drawn = sample(atoms, nu, [np.zeros(0, int)], 0, False, Budget(1, 100, 200, 1))
    models, used = left_out._models(atoms, drawn, nu)
    prior = log_prior(d, 0.0, most)
    columns = X[:, likelihood.features[used]]
    B, c = columns.T @ X[:, d - 2 :], (X[:, d - 2 :].T @ y)[None]

    def evidence(D, lam):
        A = D.T @ D + lam * np.eye(D.shape[1])
        left = y @ y - (D.T @ y) @ np.linalg.solve(A, D.T @ y) if D.size else y @ y
        return -0.5 * (nu * np.log(left) + np.linalg.slogdet(A)[1] - D.shape[1] * np.log(lam))

    for model in models:
        own, at = columns[:, model.at], PRECISIONS.tolist().index(model.lam)
        sets = [own, *(np.delete(own, place, axis=1) for place in model.out[1:])]
        features = model.beside(B, c, float(n))
        for rest, odds in zip(sets, model.log_odds(features, nu), strict=True):
            s = rest.shape[1]
            step = prior[at, s + 1, 0] - prior[at, s, 0] - np.log(most - s)
            for j, found in zip((d - 2, d - 1), odds, strict=True):
                more = np.column_stack([rest, X[:, j]])
                expected = evidence(more, model.lam) - evidence(rest, model.lam) + step
                assert found == pytest.approx(expected, abs=1e-8)
        alone = [
            evidence(np.column_stack([own, X[:, j]]), model.lam) - evidence(own, model.lam)
            for j in (d - 2, d - 1)
        ]
        factors = model.bayes_factors(features, nu)
        assert factors[at] == pytest.approx(np.exp(alone).sum(), rel=1e-8)
