"""What `AutoIRKSN` concludes: invariances, and verdicts on noise of several kinds."""

import warnings

import numpy as np
import pytest

from ksupport import AutoIRKSN, AutoIRKSNClassifier, NoSignalWarning, permutation_test
from ksupport.datasets import make_block_data, make_correlated_data
from ksupport.posterior.global_test import permutation_p_value


def quiet(X, y, **options):
    fit = {name: options.pop(name) for name in ("groups", "sample_weight") if name in options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoSignalWarning)
        return AutoIRKSN(**options).fit(X, y, **fit)


@pytest.fixture(scope="module")
def problem():
    truth = np.zeros(60)
    truth[[3, 17, 40]] = [2.0, -1.5, 1.0]
    return make_correlated_data(80, 60, rho=0.6, w_true=truth, snr=3, random_state=1)[:2]


@pytest.fixture(scope="module")
def model(problem):
    return quiet(*problem)


def test_it_finds_what_matters(model):
    assert {3, 17, 40} <= set(model.get_support(indices=True))
    assert model.signal_
    assert model.p_value_ <= 0.05
    assert model.posterior_.all_of([3, 17]) > 0.9
    np.testing.assert_array_equal(model.probability_, model.posterior_.probability())


@pytest.mark.parametrize("change", ["columns", "rows", "sign of y", "units of y", "signs of X"])
def test_order_units_and_signs_change_nothing(problem, model, change, rng):
    X, y = problem
    order, rows = rng.permutation(60), rng.permutation(80)
    back = np.arange(60)
    if change == "columns":
        X, back = X[:, order], np.argsort(order)
    elif change == "rows":
        X, y = X[rows], y[rows]
    elif change == "sign of y":
        y = -y
    elif change == "units of y":
        y = 1e7 * y + 3.0
    else:
        X = X * rng.choice([-1.0, 1.0], 60)
    other = quiet(X, y)
    assert np.array_equal(other.support_[back], model.support_)
    if change not in ("rows", "sign of y"):  # which change the folds, and nothing else
        np.testing.assert_allclose(other.probability_[back], model.probability_, atol=1e-6)


def test_equal_columns_share_the_probability_of_one(problem):
    X, y = problem
    found = quiet(np.column_stack([X, X[:, 3], 2 * X[:, 3]]), y)
    copies = [3, 60, 61]
    p = found.probability_[copies]
    assert np.ptp(p) < 1e-12
    assert p.sum() == pytest.approx(1.0, abs=0.02)
    assert any(set(copies) == set(each.features) for each in found.sets_)


def test_a_block_that_acts_together_is_told_from_stand_ins():
    X, y, w = make_block_data(
        100, 200, block_size=10, n_active_blocks=1, rho=0.5, snr=5, random_state=0
    )
    found = quiet(X, y)
    assert np.array_equal(found.support_, w != 0)
    assert found.posterior_.all_of(np.flatnonzero(w)) > 0.5


@pytest.mark.parametrize("kind", ["residualised", "grouped", "copied rows", "skewed", "rare"])
def test_noise_is_no_signal(kind):
    """Of eight data sets at most two are called a signal: at a rate of 5 % that is 99 % sure."""
    called = 0
    for seed in range(8):
        rng = np.random.default_rng([17, seed])
        fit = {}
        X, y = rng.standard_normal((48, 100)), rng.standard_normal(48)
        if kind == "residualised":
            Q = np.linalg.qr(np.column_stack([np.ones(48), rng.standard_normal((48, 22))]))[0]
            X, y = X - Q @ (Q.T @ X), y - Q @ (Q.T @ y)
        elif kind == "grouped":
            fit["groups"] = np.repeat(np.arange(12), 4)
            X, y = np.repeat(X[:12], 4, axis=0) + 0.1 * X, np.repeat(y[:12], 4) + 0.1 * y
        elif kind == "copied rows":
            X, y = np.tile(X[:16], (3, 1)), np.tile(y[:16], 3)
        elif kind == "skewed":
            X, y = np.exp(X), np.exp(1.5 * y)
        else:
            X, y = (X > 1.7).astype(float), y**5
        called += quiet(X, y, random_state=seed, **fit).signal_
    assert called <= 2


@pytest.mark.parametrize("model", [AutoIRKSN, AutoIRKSNClassifier])
def test_copies_of_rows_are_weights(model):
    """Rows of unequal numbers of copies: what is chosen is what weights choose."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 80))
    y = 2 * X[:, 4] - 2 * X[:, 9] + 0.5 * rng.standard_normal(60)
    y = y if model is AutoIRKSN else (y > 0).astype(int)
    times = rng.integers(1, 5, 60)
    weighted = model().fit(X, y, sample_weight=times)
    copied = model().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.signal_
    np.testing.assert_array_equal(copied.support_, weighted.support_)
    np.testing.assert_allclose(copied.probability_, weighted.probability_, atol=1e-6)
    np.testing.assert_allclose(copied.coef_, weighted.coef_, rtol=1e-6)
    assert copied.effective_rows_ == pytest.approx(weighted.effective_rows_)
    count = times.sum() - 60
    assert f"{count} rows are exact copies of others: each set of copies" in copied.decision_
    assert "exact copies" not in weighted.decision_


def test_permutations_keep_copies_of_rows_together():
    """Of 30 data sets of noise; with rows permuted one by one 8 were called a signal."""
    called = 0
    for seed in range(30):
        rng = np.random.default_rng([5, seed])
        X, y, times = rng.standard_normal((24, 30)), rng.standard_normal(24), rng.integers(1, 9, 24)
        model = AutoIRKSN(random_state=seed)
        copied = np.repeat(X, times, axis=0), np.repeat(y, times)
        found = permutation_test(model, *copied, n_permutations=39)
        called += found.p_value <= 0.05
    assert called <= 5


def test_p_values_of_noise_are_uniform_at_the_least():
    from ksupport.design import Design
    from ksupport.posterior.candidates import Task
    from ksupport.posterior.effective_rows import EffectiveRows

    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.exponential(size=(30, 40)), rng.standard_t(2, 30)
        design = Design.of(np.asfortranarray(X - X.mean(axis=0)))
        task = Task(design, y - y.mean(), [], seed=seed)
        found.append(permutation_p_value(task, EffectiveRows(29.0, 29.0), 39))
    assert np.mean(np.array(found) <= 0.05) <= 0.15
    assert 0.35 < np.mean(np.array(found) <= 0.5) < 0.65


def test_rows_that_do_not_count_are_told():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((47, 22)))[0]
    X, y = rng.standard_normal((47, 60)), rng.standard_normal(47)
    y += 3 * X[:, 0]
    X, y = X - Q @ (Q.T @ X), y - Q @ (Q.T @ y)
    found = quiet(X, y)
    assert found.effective_rows_ < 26
    assert "as if covariates had been projected out of both" in found.decision_


def test_groups_of_the_wrong_length_are_refused(problem):
    X, y = problem
    with pytest.raises(ValueError, match=r"shape \(80,\), got \(3,\)"):
        AutoIRKSN(cv=[(np.arange(40), np.arange(40, 80))]).fit(X, y, groups=[0, 1, 2])


@pytest.mark.parametrize("seed", [0, 4, 22])
def test_counts_of_very_different_sizes(seed):
    """From one to several hundred: an expansion at nothing says little of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 100))
    y = rng.poisson(np.exp(2 * X[:, 3] - 2 * X[:, 7]))
    assert AutoIRKSN(loss="poisson").fit(X, y).get_support(indices=True).tolist() == [3, 7]
