"""The sampler against enumeration of all sets of atoms, and its updates against recomputation."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import log_ndtr

from ksupport._kernels import chains, posterior, sampler
from ksupport.posterior.atoms import atoms_of, groups_of
from ksupport.posterior.chains import Budget, sample
from ksupport.posterior.likelihood import of_squares
from ksupport.posterior.prior import PRECISIONS, log_prior

LONG = Budget(chains=2, burn_in=500, moves=150_000, rounds=1)


def columns_of(rng, n=40, d=8, copies=False):
    """Correlated columns, as rows, centred; perhaps with an equal pair."""
    X = 0.9 * rng.standard_normal((n, 1)) + rng.standard_normal((n, d))
    X[:, 4:] = rng.standard_normal((n, d - 4)) + 0.8 * rng.standard_normal((n, 1))
    if copies:
        X[:, 1] = X[:, 0]
    X -= X.mean(axis=0)
    return np.ascontiguousarray(X.T)


def likelihood_of(rng, T=1, known=False, effects=None, **options):
    columns = columns_of(rng, **options)
    n = columns.shape[1]
    W = rng.standard_normal((T, len(columns))) * (np.arange(len(columns)) < 2) * 0.4
    if effects is not None:
        W[:, :2] = effects
    Y = W @ columns + rng.standard_normal((T, n))
    Y -= Y.mean(axis=1, keepdims=True)
    found = of_squares(np.arange(len(columns)), columns, Y, n - 1.0, float(n))
    return replace(found, nu=0.0) if known else found


def enumerated(likelihood, atoms, most, positive=False):
    """Probability of each feature, by the evidence of every set of atoms at every precision."""
    data, m = atoms.data, len(likelihood.S)
    prior, T = log_prior(atoms.n_features, atoms.n_clusters, most), data.c.shape[1]
    logs, members = [], []
    for size in range(most + 1):
        for chosen in combinations(range(len(atoms.members)), size):
            clusters = int(atoms.atoms.cluster[list(chosen)].sum())
            own = prior[:, size - clusters, clusters] + atoms.atoms.bonus[list(chosen)].sum()
            if not np.isfinite(own).all():
                continue
            columns = atoms.columns_of(np.array(chosen, int))
            at = [log_evidence(data, columns, lam, T, positive) for lam in PRECISIONS]
            logs.append(np.logaddexp.reduce(own + at))
            inside = np.zeros(m)
            inside[[i for j in chosen for i in atoms.members[j]]] = 1.0
            members.append(inside)
    w = np.exp(np.array(logs) - max(logs))
    return (w / w.sum()) @ np.array(members)


def log_evidence(data, columns, lam, T, positive):
    A = data.products.rows(columns)[:, columns] + lam * np.eye(columns.size)
    C = data.c[columns]
    mean = np.linalg.solve(A, C)
    taken = C.T @ mean
    log_det = np.linalg.slogdet(A)[1] - columns.size * np.log(lam)
    left = data.total - taken
    if data.nu == 0:
        found = 0.5 * (np.trace(taken) - T * log_det)
    else:
        found = -0.5 * (data.nu * np.linalg.slogdet(left)[1] + T * log_det)
    if positive and columns.size:
        noise = np.ones(T) if data.nu == 0 else left.diagonal() / data.nu
        spread = np.sqrt(np.linalg.inv(A).diagonal()[:, None] * noise)
        found += np.sum(np.log(2) + log_ndtr(mean / spread))
    return found


CASES = {
    "features": {},
    "clusters": {"clustered": True},
    "equal columns": {"copies": True},
    "two responses": {"T": 2},
    "known noise": {"known": True},
    "known noise of two responses, with clusters": {"known": True, "T": 2, "clustered": True},
    "positive effects": {"positive": True},
    "positive effects, known noise": {"positive": True, "known": True},
    "positive effects on two responses": {"positive": True, "T": 2},
    "positive effects, truth of either sign": {"positive": True, "effects": (0.7, -0.7)},
}


@pytest.mark.parametrize("case", CASES)
def test_probabilities_are_those_of_enumeration(case):
    options = dict(CASES[case])
    clustered, positive = options.pop("clustered", False), options.pop("positive", False)
    likelihood = likelihood_of(np.random.default_rng(3), **options)
    atoms = atoms_of(likelihood, 8, clustered=clustered, positive=positive)
    assert (len(atoms.members) > len(atoms.copies)) == clustered
    most = 4
    drawn = sample(atoms, 3.0 * most, [np.zeros(0, int)], 0, positive, LONG)
    expected = enumerated(likelihood, atoms, most, positive)
    np.testing.assert_allclose(drawn.by_chain.mean(axis=0), expected, atol=0.01)
    # Frequencies of states say the same as what they were drawn from.
    inside = np.zeros((len(drawn.sets), len(likelihood.S)), bool)
    for row, each in zip(inside, drawn.sets, strict=True):
        row[[i for j in each[each >= 0] for i in atoms.members[j]]] = True
    np.testing.assert_allclose(drawn.weights @ inside, expected, atol=0.015)


def test_known_groups_are_enumerated_too():
    likelihood = likelihood_of(np.random.default_rng(5), d=8)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 3])
    atoms = groups_of(likelihood, labels, 4)
    drawn = sample(atoms, 12.0, [np.zeros(0, int)], 0, False, LONG)
    expected = enumerated(likelihood, atoms, 4)
    np.testing.assert_allclose(drawn.by_chain.mean(axis=0), expected, atol=0.01)
    for group in range(4):
        own = labels[likelihood.features] == group
        assert np.ptp(drawn.by_chain[0][own]) < 1e-12


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("options", [{}, {"T": 2}, {"known": True}])
def test_evidence_of_listed_sets(options, positive):
    likelihood = likelihood_of(np.random.default_rng(8), **options)
    atoms = atoms_of(likelihood, 8, clustered=False)
    sets = np.array([[-1, -1, -1], [3, -1, -1], [0, 1, -1], [0, 2, 7]])
    lams, T = np.array([1.0, 0.1, 10.0, 1.0]), options.get("T", 1)
    found = posterior.log_evidences(atoms.data, atoms.atoms, sets, lams, positive, 3, 5, 8)
    expected = np.array(
        [
            log_evidence(atoms.data, each[each >= 0], lam, T, positive)
            for each, lam in zip(sets, lams, strict=True)
        ]
    )
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-8)


@pytest.mark.parametrize("T", [1, 3])
def test_updates_are_what_a_fresh_start_gives(T):
    """Atoms enter and leave 2000 times without a refresh."""
    rng = np.random.default_rng(1)
    likelihood = likelihood_of(rng, T=T, n=60, d=40)
    atoms = atoms_of(likelihood, 40)
    most, widest, lam = 12, 120, 3.0
    state, fresh = (sampler.Sampler(atoms.data, atoms.atoms, most, widest, 40) for _ in range(2))
    state.refresh(lam)
    for _ in range(2000):
        count = len(state.atoms)
        if count == most or (count and rng.random() < 0.5):
            state.remove(int(rng.integers(count)))
        else:
            state.add(int(rng.choice(np.flatnonzero(~state.inside))))
    fresh.refresh(lam)
    for j in state.atoms:
        fresh.add(j)
    np.testing.assert_allclose(state.gains(lam), fresh.gains(lam), atol=1e-8)
    np.testing.assert_allclose(state.unexplained, fresh.unexplained, rtol=1e-8)


def test_an_atom_that_comes_back_leaves_no_trace():
    """Its products are taken as they were, not made again."""
    rng = np.random.default_rng(4)
    likelihood = likelihood_of(rng, T=2, n=60, d=40)
    atoms = atoms_of(likelihood, 40)
    state = sampler.Sampler(atoms.data, atoms.atoms, 6, 60, 40)
    state.refresh(1.0)
    for j in (3, 17, 5, 0):
        state.add(j)
    before, left = state.gains(1.0), state.unexplained
    for place in (1, 0, 3):
        j = state.atoms[place]
        state.remove(place)
        state.add(j)
    np.testing.assert_allclose(state.gains(1.0), before, rtol=1e-10)
    np.testing.assert_allclose(state.unexplained, left, rtol=1e-12)


def test_a_chain_does_not_depend_on_others():
    """Chains share the weights that they have found, and draw the same all the same."""
    likelihood = likelihood_of(np.random.default_rng(2), n=50, d=30)
    atoms = atoms_of(likelihood, 30)
    alone, among = (
        sample(atoms, 49.0, [np.zeros(0, int)], 7, budget=Budget(chains, 50, 600, 1))
        for chains in (1, 3)
    )
    np.testing.assert_allclose(alone.by_chain[0], among.by_chain[0], atol=1e-10)


def test_what_was_forgotten_is_found_again():
    likelihood = likelihood_of(np.random.default_rng(2), n=50, d=30)
    atoms = atoms_of(likelihood, 30)
    prior = log_prior(atoms.n_features, atoms.n_clusters, 10)
    found = []
    for room in (1 << 21, 200):  # the latter has room for some ten sets
        moves = chains.Conditionals(
            atoms.data, atoms.atoms, prior, PRECISIONS, False, 10, 20, 30, room
        )
        u = np.random.default_rng(0).random((3000, 4))
        found.append(moves.advance(chains.Chain(moves, np.zeros(0, int)), u, 2900, 7))
    (sets, places, p), (others, of_others, again) = found
    assert np.array_equal(np.sort(sets, axis=1), np.sort(others, axis=1))
    assert np.array_equal(places, of_others)
    assert sets.shape == (415, 10)
    np.testing.assert_allclose(p, again, atol=1e-10)
