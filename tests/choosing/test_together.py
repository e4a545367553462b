"""All features together: the chance of going with them as much, by other ways to it."""

import numpy as np
import pytest
from scipy.stats import beta, f

from ksupport import AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival
from ksupport.choosing.together import (
    chance_above_zero,
    chance_of,
    evidence_together,
    most_evidence,
)


def ready(model, X, y, **options):
    """The design and the response of a fit."""
    model._loss = model._asked_loss()
    problem = model._problem(X, y, options.get("sample_weight"))
    return problem.design, problem.targets[0]


def chance(model, X, y, **options):
    return chance_of(*ready(model, X, y, **options))


def labels(rng, n):
    return (rng.permutation(n) < n // 3) * 1


@pytest.mark.parametrize("t", [0.05, 0.2, 0.4])
def test_one_column_has_the_chance_of_a_correlation(t):
    """A squared correlation with any direction of R^m is Beta(1/2, (m - 1)/2)."""
    m = 30
    a = np.eye(m)[0] - t
    assert chance_above_zero(a) == pytest.approx(beta.sf(t, 0.5, (m - 1) / 2), rel=0.1)


def test_as_many_of_either_sign_have_the_chance_of_f():
    for t in (1.5, 4.0, 9.0):
        a = np.repeat([1.0, -t * 5 / 20], [5, 20])
        assert chance_above_zero(a) == pytest.approx(f.sf(t, 5, 20), rel=0.05)
    assert chance_above_zero(np.repeat([1.0, -1.0], 6)) == pytest.approx(0.5)
    assert chance_above_zero(-np.ones(3)) == 0.0
    assert chance_above_zero(np.array([0.0, 1.0])) == 1.0


def test_the_chance_is_that_of_other_orders_of_the_response(rng):
    """By permutations, of three kinds of responses on columns that go together."""
    X = rng.standard_normal((60, 40)) + 2 * rng.standard_normal((60, 4))[:, np.arange(40) % 4]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    times = np.column_stack([rng.exponential(np.exp(-0.5 * Z[:, 0])), rng.random(60) < 0.7])
    responses = [
        (AutoIRKSNClassifier(), labels(rng, 60)),
        (AutoIRKSNSurvival(), times),
        (AutoIRKSN(loss="poisson"), rng.poisson(np.exp(0.3 * Z[:, 1])) * 1.0),
    ]
    for model, y in responses:
        r = ready(model, X, y)[1].pull
        orders = np.array([rng.permutation(r) for _ in range(4000)])
        by_orders = np.mean(np.sum((orders @ Z) ** 2, axis=1) >= np.sum((r @ Z) ** 2))
        assert chance(model, X, y) == pytest.approx(by_orders, abs=0.03)


def test_order_scale_and_copies_of_rows_do_not_matter(rng):
    X, y = rng.standard_normal((40, 60)), labels(rng, 40)
    model = AutoIRKSNClassifier(weights="repetitions")
    found = chance(model, X, y)
    rows, columns = rng.permutation(40), rng.permutation(60)
    assert chance(model, X[rows][:, columns] * 3.0 + 1.0, y[rows]) == pytest.approx(found)
    twice = chance(model, np.vstack([X, X]), np.append(y, y))
    assert twice == pytest.approx(found)
    assert chance(model, X, y, sample_weight=np.full(40, 2.0)) == pytest.approx(found)


def test_what_is_adjusted_for_says_nothing(rng):
    """A column that tells the classes counts among the features, and not beside them."""
    y = labels(rng, 80)
    X = np.column_stack([y + 0.5 * rng.standard_normal(80), rng.standard_normal((80, 10))])
    X[:, 1:] += X[:, :1]  # which all others go with
    assert chance(AutoIRKSNClassifier(), X, y) < 1e-6
    assert chance(AutoIRKSNClassifier(unpenalized=[0]), X, y) > 0.01


def test_columns_that_say_nothing(rng):
    y = labels(rng, 12)
    assert chance(AutoIRKSNClassifier(), np.eye(12), y) == 1.0  # as long in all directions
    X = rng.standard_normal((12, 3))
    with_constant = np.column_stack([X, np.full(12, 7.0)])
    model = AutoIRKSNClassifier()
    assert chance(model, with_constant, y) == pytest.approx(chance(model, X, y))


def test_evidence_of_a_chance():
    """-2 log of -e p log p, which is 1 at p = 1/e; none of larger ones."""
    assert most_evidence(0.05) == pytest.approx(-2 * np.log(-np.exp(1) * 0.05 * np.log(0.05)))
    assert most_evidence(np.exp(-1)) == pytest.approx(0.0, abs=1e-12)
    assert most_evidence(0.9) == 0.0
    assert most_evidence(0.0) < np.inf


def test_large_x_is_not_looked_at(rng, monkeypatch):
    X = rng.standard_normal((50, 30))
    y = (X.sum(axis=1) > 0) * 1
    design, response = ready(AutoIRKSNClassifier(), X, y)
    assert evidence_together(design, response) > 5
    monkeypatch.setattr("ksupport.limits.POOL", 50 * 30 - 1)
    assert evidence_together(design, response) == 0.0


def test_many_small_effects_are_a_signal(rng):
    """No feature has evidence, and rows held out say little; sixty effects are there."""
    found = []
    for _ in range(6):
        hidden = rng.standard_normal((120, 3))
        X = 0.6 * hidden[:, np.arange(60) % 3] + rng.standard_normal((120, 60))
        eta = X @ np.full(60, 0.05)
        y = (rng.random(120) < 1 / (1 + np.exp(-eta))) * 1
        found.append(AutoIRKSNClassifier().fit(X, y).signal_)
    assert all(found)
