"""Coefficients of sampled models, against formulas written out and penalised likelihoods."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from ksupport.losses import Logistic
from ksupport.posterior.atoms import atoms_of
from ksupport.posterior.chains import Sample
from ksupport.posterior.coefficients import coefficients_by_squares, of_atoms
from ksupport.posterior.likelihood import of_loss, of_squares
from ksupport.posterior.loss_weights import Expansion, by_loss
from ksupport.posterior.prior import PRECISIONS


def standardised(rng, n, d):
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    X -= X.mean(axis=0)
    return X / X.std(axis=0)


def drawn(likelihood, atoms, supports, precisions, weights):
    """Models of single features, as chains would have drawn them."""
    place = {
        int(likelihood.features[i]): j
        for j, members in enumerate(atoms.members)
        if len(members) == 1
        for i in atoms.copies[members[0]]
    }
    width = max(len(S) for S in supports)
    sets = np.full((len(supports), width), -1)
    for row, S in zip(sets, supports, strict=True):
        row[: len(S)] = sorted((place[j] for j in S), reverse=True)
    by_chain = np.zeros((1, len(likelihood.features)))
    return Sample(sets, np.array(precisions), np.array(weights), np.zeros(len(sets)), by_chain, 10)


def test_by_squares_they_have_the_t_distribution_of_conjugate_regression(rng):
    n, S = 40, [1, 3]
    X = standardised(rng, n, 5)
    y = X[:, 1] - 0.3 * X[:, 3] + rng.standard_normal(n)
    y -= y.mean()
    likelihood = of_squares(np.arange(5), X.T, y[None], n - 1.0, n)
    atoms = atoms_of(likelihood, 5, clustered=False)
    sample = drawn(likelihood, atoms, [(1, 3), (1, 3), ()], [2, 3, 2], [0.5, 0.25, 0.25])
    known = coefficients_by_squares(likelihood, atoms, sample, sample.weights, 5)
    A = np.linalg.inv(X[:, S].T @ X[:, S] + PRECISIONS[2] * np.eye(2))  # the likelier precision
    mean, left = A @ X[:, S].T @ y, y @ y - y @ X[:, S] @ A @ X[:, S].T @ y
    first, empty = known.models
    order = np.argsort(first.features)
    assert (first.weight, empty.weight) == pytest.approx((0.75, 0.25))
    np.testing.assert_allclose(first.mean[order, 0], mean, rtol=1e-9)
    covariance = (first.factor @ first.factor.T * first.noise)[np.ix_(order, order)]
    np.testing.assert_allclose(covariance, A * left / (n - 1), rtol=1e-8)
    assert empty.noise[0] == pytest.approx(y @ y / (n - 1))
    np.testing.assert_allclose(known.moments[0][0][S], 0.75 * mean)


def test_features_of_a_cluster_share_one_effect(rng):
    n = 60
    common = rng.standard_normal((n, 1))
    X = np.hstack([common + 0.3 * rng.standard_normal((n, 6)), rng.standard_normal((n, 7))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :6].sum(axis=1) + rng.standard_normal(n)
    y -= y.mean()
    likelihood = of_squares(np.arange(13), X.T, y[None], n - 1.0, n)
    atoms = atoms_of(likelihood, 13)
    whole = frozenset(range(6))
    at = next(
        j for j, members in enumerate(atoms.members)
        if frozenset(likelihood.features[list(members)].tolist()) == whole
        and atoms.widths[j] == 1
    )  # fmt: skip
    sample = Sample(np.array([[at]]), np.array([2]), np.ones(1), np.zeros(1), np.zeros((1, 13)), 10)
    (model,) = coefficients_by_squares(likelihood, atoms, sample, np.ones(1), 13).models
    assert set(model.features.tolist()) == whole
    np.testing.assert_allclose(model.mean[:, 0], model.mean[0, 0])
    total = X[:, :6].sum(axis=1)
    shrunk = total @ y / (total @ total + PRECISIONS[2] * total @ total / n)
    np.testing.assert_allclose(model.mean[0, 0], shrunk)
    assert np.linalg.matrix_rank(model.factor) == 1


def test_copies_take_turns(rng):
    n = 30
    X = standardised(rng, n, 3)
    X = np.column_stack([X, X[:, 0]])
    y = X[:, 0] + X[:, 1] + rng.standard_normal(n)
    y -= y.mean()
    likelihood = of_squares(np.arange(4), X.T, y[None], n - 1.0, n)
    atoms = atoms_of(likelihood, 4, clustered=False)
    sample = drawn(likelihood, atoms, [(0, 1)], [2], [1.0])
    known = coefficients_by_squares(likelihood, atoms, sample, sample.weights, 4)
    assert sorted(sorted(each.features.tolist()) for each in known.models) == [[0, 1], [1, 3]]
    mean = known.moments[0][0]
    assert mean[0] == pytest.approx(mean[3])
    assert mean[0] != 0.0


def test_by_a_loss_they_are_normal_about_the_penalised_mode(rng):
    n, S = 120, [0, 2]
    X = standardised(rng, n, 4)
    y = (rng.random(n) < expit(0.4 + X[:, 0] - X[:, 2])).astype(float)
    response = Logistic().on(y, None, np.ones((1, n)))
    start = np.array([0.8, 0.0, -0.8, 0.0])
    likelihood = of_loss(np.arange(4), X.T, response, start, 1.0)
    atoms = atoms_of(likelihood, 4, clustered=False)
    sample = drawn(likelihood, atoms, [(0, 2)], [3], [1.0])
    expansion = Expansion(response, np.arange(4), X.T, 1.0, likelihood, atoms)
    found = by_loss(expansion, sample, False, 10)
    assert found.weights == pytest.approx([1.0])
    (model,) = found.coefficients(4, 10, False).models
    order = [list(model.features).index(j) for j in S]
    scale = likelihood.scale[[list(likelihood.features).index(j) for j in S]]
    ridge = PRECISIONS[3] * scale**2  # of coefficients in units of X

    def penalised(v):
        eta = v[0] + X[:, S] @ v[1:]
        return np.sum(np.logaddexp(0, eta) - y * eta) + 0.5 * ridge @ v[1:] ** 2

    mode = minimize(penalised, np.zeros(3), options={"gtol": 1e-9}).x
    np.testing.assert_allclose(model.mean[order, 0], mode[1:], atol=1e-5)
    np.testing.assert_allclose(found.mean[S], mode[1:], atol=1e-5)
    p = expit(mode[0] + X[:, S] @ mode[1:])
    A = np.column_stack([np.ones(n), X[:, S]])
    H = (A * (p * (1 - p))[:, None]).T @ A + np.diag([0, *ridge])
    covariance = (model.factor @ model.factor.T)[np.ix_(order, order)]
    np.testing.assert_allclose(covariance, np.linalg.inv(H)[1:, 1:], rtol=1e-4)
    volume = np.linalg.slogdet(H[1:, 1:])[1] - np.log(ridge).sum()  # at this intercept
    assert found.log_mass == pytest.approx(-penalised(mode) - 0.5 * volume, rel=1e-6)


def test_those_of_single_features_follow_from_loadings_as_those_of_clusters_do(rng):
    X = standardised(rng, 40, 8)
    y = X[:, 0] + rng.standard_normal(40)
    likelihood = of_squares(np.arange(8), X.T, y[None], 39.0, 40.0)
    atoms = atoms_of(likelihood, 8, clustered=False)
    columns = np.array([5, 0, 3])
    assert (atoms.alone[columns] >= 0).all()
    mean, root = rng.standard_normal((3, 1)), rng.standard_normal((3, 3))
    (found,) = of_atoms(likelihood, atoms, columns, 1.0, mean, root @ root.T, np.ones(1))
    L = atoms.loadings[:, columns] / likelihood.scale[:, None]
    place = {j: at for at, j in enumerate(likelihood.features.tolist())}
    rows = [place[j] for j in found.features.tolist()]
    assert found.mean == pytest.approx((L @ mean)[rows])
    covariance = (L @ root @ root.T @ L.T)[np.ix_(rows, rows)]
    assert found.factor @ found.factor.T == pytest.approx(covariance)


def test_the_covariance_over_models_is_that_of_draws(rng):
    n = 50
    X = standardised(rng, n, 4)
    y = X[:, 0] - 0.5 * X[:, 1] + rng.standard_normal(n)
    y -= y.mean()
    likelihood = of_squares(np.arange(4), X.T, y[None], n - 1.0, n)
    atoms = atoms_of(likelihood, 4, clustered=False)
    sample = drawn(likelihood, atoms, [(0, 1), (0,), (2,)], [2, 1, 2], [0.5, 0.3, 0.2])
    known = coefficients_by_squares(likelihood, atoms, sample, sample.weights, 4)
    draws = known.sample(200_000, np.random.default_rng(1))[:, 0]
    root = known.covariance_root(np.arange(4))
    np.testing.assert_allclose(root.T @ root, np.cov(draws.T), atol=2e-3)
    chosen = known.covariance_root(np.array([2, 0]))
    np.testing.assert_allclose(chosen, root[:, [2, 0]])
    mean, sd = known.moments
    np.testing.assert_allclose(draws.mean(axis=0), mean[0], atol=5e-3)
    np.testing.assert_allclose(np.sqrt(np.diag(root.T @ root))[:3], sd[0][:3], rtol=1e-6)
