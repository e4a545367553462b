"""Who is elected by rows that were held out, and what that says of new ones."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from ksupport.choosing.elections import Candidates, HeldOutRows
from ksupport.design import Design, Unseen

D = 6


def unseen_of(rng, w, n=30, noise=0.5):
    X = rng.standard_normal((n, D))
    return Unseen(Design.of(X), X @ w + noise * rng.standard_normal(n), None)


def path(*models):
    return SimpleNamespace(iterates=sp.csr_array(np.array(models, float)), targets=1)


@pytest.fixture
def truth():
    return np.array([2.0, -1.0, 0, 0, 0, 0])


@pytest.fixture
def candidates(truth):
    rng = np.random.default_rng(0)
    unseen = [unseen_of(rng, truth) for _ in range(3)]
    other = np.array([0, 0, 1.0, 0, 0, 0])
    walked = [[path(0 * truth, truth), path(other)] for _ in unseen]
    return Candidates.of(walked, unseen, beside=[truth / 2] * 3)


def test_every_row_is_measured(truth):
    unseen = unseen_of(np.random.default_rng(1), truth)
    models = sp.csr_array(np.array([truth, 0 * truth]))
    rows = HeldOutRows.of(unseen, models)
    X = unseen.design.columns(np.arange(D)).T
    np.testing.assert_allclose(rows.losses[0], (X @ truth - unseen.truth) ** 2)
    np.testing.assert_allclose(rows.losses[1], unseen.truth**2)
    np.testing.assert_array_equal(rows.mass, 1.0)


def test_many_rows_are_averaged_in_blocks(truth):
    unseen = unseen_of(np.random.default_rng(1), truth, n=5000)
    rows = HeldOutRows.of(unseen, sp.csr_array(truth[None]))
    assert rows.mass.size <= 400
    assert rows.mass.sum() == 5000
    mean = rows.losses[0] @ rows.mass / 5000
    assert mean == pytest.approx(unseen.errors_of(sp.csr_array(truth[None]))[0])


def test_the_truth_is_elected(candidates, truth):
    elected = candidates.elected()
    assert elected.sum() == pytest.approx(1)
    best = candidates.cells[int(np.argmax(elected))]
    assert (best.path, best.record) == (0, 1)
    shares = candidates.shares(elected, D)
    np.testing.assert_allclose(shares[truth != 0], 1.0)
    np.testing.assert_allclose(shares[truth == 0], 0.0)


def test_a_path_that_ended_stays_where_it_was(truth):
    rng = np.random.default_rng(0)
    unseen = [unseen_of(rng, truth) for _ in range(2)]
    walked = [[path(truth)], [path(0 * truth, 0 * truth, truth)]]
    found = Candidates.of(walked, unseen, beside=[truth] * 2)
    assert len(found.cells) == 3
    np.testing.assert_allclose(found.errors[0, :30], found.errors[2, :30])


def test_performance_is_that_on_other_folds(candidates, truth):
    found = candidates.performance()
    mean = np.average(candidates.errors[-1], weights=candidates.mass)
    assert found.baseline_loss == pytest.approx(mean)
    assert 0.9 < found.score < 1
    assert found.score == pytest.approx(1 - found.loss / found.baseline_loss)
    assert found.standard_error < 0.1
    assert found.doubt == 0


def test_choosing_among_noise_explains_nothing():
    """The best of many wrong models looks good on the rows that chose it, and not on others."""
    rng = np.random.default_rng(0)
    zero = np.zeros(D)
    unseen = [unseen_of(rng, zero, n=10, noise=1.0) for _ in range(5)]
    models = 0.3 * rng.standard_normal((40, D))
    walked = [[path(*models)] for _ in unseen]
    found = Candidates.of(walked, unseen, beside=[zero] * 5)
    apparent = 1 - found.means[:-2].min() / found.means[-1]
    assert found.performance().score < apparent
    assert found.performance().score < 0.1


def test_few_are_ahead_where_their_model_predicts_better(truth):
    rng = np.random.default_rng(0)
    unseen = [unseen_of(rng, truth) for _ in range(3)]
    walked = [[path(truth / 2)] for _ in unseen]
    ahead = Candidates.of(walked, unseen, beside=[truth] * 3).ahead
    behind = Candidates.of(walked, unseen, beside=[0 * truth] * 3).ahead
    assert ahead > 20
    assert behind < -20


def test_the_earliest_near_the_best_is_taken(truth):
    rng = np.random.default_rng(0)
    unseen = [unseen_of(rng, truth) for _ in range(3)]
    walked = [[path(0 * truth, truth * 0.99, truth, truth * 1.01)] for _ in unseen]
    found = Candidates.of(walked, unseen, beside=[truth] * 3)
    assert found.cells[found.earliest()].record == 1
