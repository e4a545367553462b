"""Truths drawn from the prior are found as often as the posterior says (Talts and others 2018)."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from ksupport.design import Design
from ksupport.posterior import candidates, left_out, sampling
from ksupport.posterior.atoms import atoms_of
from ksupport.posterior.candidates import Task
from ksupport.posterior.chains import Budget, most_atoms, sample
from ksupport.posterior.coefficients import coefficients_by_squares
from ksupport.posterior.likelihood import of_squares
from ksupport.posterior.prior import PRECISIONS, Others, log_precisions

DRAWS = 50  # of each posterior, among which the truth is ranked


def design(rng, n, d, common=0.6):
    X = common * rng.standard_normal((n, 1)) + rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    return X * np.sqrt(n) / np.linalg.norm(X, axis=0)


def truth(rng, d, most):
    """A precision and coefficients, by the prior of features."""
    s = int(rng.integers(0, most + 1))
    at = int(rng.choice(PRECISIONS.size, p=np.exp(log_precisions(np.array(s)))))
    w = np.zeros(d)
    w[rng.choice(d, s, replace=False)] = rng.standard_normal(s) / np.sqrt(PRECISIONS[at])
    return at, w


def rank(rng, value, drawn):
    """Of a value among draws, between 0 and 1; ties are broken at random."""
    below, equal = np.sum(drawn < value - 1e-12), np.sum(np.abs(drawn - value) <= 1e-12)
    return (below + rng.uniform(0, equal + 1)) / (len(drawn) + 1)


@pytest.mark.parametrize("known", [False, True], ids=["unknown noise", "known noise"])
def test_ranks_of_truths_are_uniform(known):
    """Of the number of features, the precision, what is explained, and a coefficient."""
    rng = np.random.default_rng(0)
    n, d, ranks = 30, 10, []
    most = most_atoms(n - 1, d)
    for seed in range(150):
        X = design(rng, n, d)
        at, w = truth(rng, d, most)
        y = X @ w + rng.standard_normal(n)
        likelihood = of_squares(np.arange(d), X.T.copy(), (y - y.mean())[None], n - 1.0, float(n))
        likelihood = replace(likelihood, nu=0.0 if known else n - 1.0)
        atoms = atoms_of(likelihood, d, clustered=False)
        drawn = sample(atoms, n - 1.0, [np.zeros(0, int)], seed, budget=Budget(2, 200, 1500, 1))
        places = rng.choice(len(drawn.sets), DRAWS, p=drawn.weights)
        found = coefficients_by_squares(likelihood, atoms, drawn, drawn.weights, d, most=10_000)
        coef = found.sample(DRAWS, rng)[:, 0]
        ranks.append([
            rank(rng, np.count_nonzero(w), (drawn.sets[places] >= 0).sum(axis=1)),
            rank(rng, at, drawn.precisions[places]),
            rank(rng, np.sum((X @ w) ** 2), np.sum((X @ coef.T) ** 2, axis=0)),
            rank(rng, w[0], coef[:, 0]),
        ])  # fmt: skip
    for each in np.transpose(ranks):
        assert kstest(each, "uniform").pvalue > 0.01


def test_features_that_are_no_candidates_count(monkeypatch):
    """Nearly as many are expected to matter as where all features are candidates."""
    rng, found = np.random.default_rng(1), left_out.left_out
    n, d, sizes = 60, 500, []
    for seed in range(6):
        X, w = design(rng, n, d, common=0.0), np.repeat([0.6, 0.0], [5, d - 5])
        y = X @ w + rng.standard_normal(n)
        task = Task(Design.of(X), (y - y.mean())[None], [], seed=seed)
        for count, others in ((250, True), (250, False), (d, True)):
            monkeypatch.setattr(candidates, "CANDIDATES", count)
            forget = lambda *given: (*found(*given)[:2], Others())  # noqa: E731
            monkeypatch.setattr(sampling, "left_out", found if others else forget)
            ((posterior, _),) = sampling.posteriors([task], n_jobs=1)
            assert (posterior.n_left_out > 0.0) == (others and count < d)
            sizes.append(posterior.inclusion.sum() + posterior.n_left_out)
    summed, forgotten, sampled = np.reshape(sizes, (-1, 3)).mean(axis=0)
    assert abs(summed - sampled) < 0.5 * abs(forgotten - sampled)
