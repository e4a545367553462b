"""Holes are filled with the means of the rows that are learned from, in folds as in all rows."""

import numpy as np
import pytest

from ksupport import IRKSN, IRKSNIC, AutoIRKSN
from ksupport.design import Design, Incomplete, Problem, Weights


@pytest.fixture
def holed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200)) + 3
    y = X[:, :4] @ [3, -2, 2, 2] + 0.3 * rng.standard_normal(60)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y


def by_hand(X, rows=slice(None)):
    return np.where(np.isnan(X), np.nanmean(X[rows], axis=0), X)


@pytest.mark.parametrize("standardize", [False, True])
def test_on_all_rows_it_is_the_array_filled_with_means(holed, standardize):
    X, y = holed
    ours = IRKSN(k=4, standardize=standardize).fit(Incomplete(X), y)
    theirs = IRKSN(k=4, standardize=standardize).fit(by_hand(X), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    assert ours.intercept_ == pytest.approx(theirs.intercept_)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_fill_in_what_the_rows_that_are_walked_on_say(holed, weighted):
    X, y = holed
    train, test = np.arange(40), np.arange(40, 60)
    values = np.random.default_rng(1).integers(1, 4, 60).astype(float) if weighted else None
    weights = Weights(values, "repetitions")
    problem = Problem(
        Incomplete(X), y[:, None], weights, np.arange(60), True, True, True, [(train, test)]
    )
    ((walked, unseen),) = problem.folds()
    share = np.ones(40) if values is None else values[:40]
    means = np.array([np.average(x[~np.isnan(x)], weights=share[~np.isnan(x)]) for x in X[:40].T])
    filled = np.where(np.isnan(X), means, X)
    deviation = np.sqrt(np.average((filled[:40] - means) ** 2, axis=0, weights=share))
    expected = (filled - means) / deviation
    every = np.arange(200)
    np.testing.assert_allclose(
        walked.design.columns(every).T, expected[:40] * np.sqrt(share)[:, None], atol=1e-12
    )
    np.testing.assert_allclose(unseen.design.columns(every).T, expected[40:], atol=1e-12)


@pytest.mark.parametrize("make", [IRKSNIC, AutoIRKSN])
def test_estimators_that_choose_find_the_features(make, holed):
    X, y = holed
    model = make().fit(Incomplete(X), y)
    assert set(np.flatnonzero(model.support_)) >= {0, 1, 2, 3}
    assert model.n_passes_ < 60


def test_new_rows_are_filled_with_the_means_of_the_fit(holed):
    X, y = holed
    model = IRKSNIC().fit(Incomplete(X[:40]), y[:40])
    expected = model.predict(by_hand(X, slice(0, 40))[40:])
    np.testing.assert_allclose(model.predict(Incomplete(X)[40:]), expected)
    with pytest.raises(ValueError, match=r"missing entries, but the model was fitted .* without"):
        IRKSNIC().fit(by_hand(X), y).predict(Incomplete(X))


def test_what_numpy_and_columns_see_is_filled_and_rows_are_not(holed):
    X, _ = holed
    incomplete = Incomplete(X)
    np.testing.assert_allclose(np.asarray(incomplete), by_hand(X))
    np.testing.assert_allclose(incomplete[:, [5, 0]], by_hand(X)[:, [5, 0]])
    np.testing.assert_array_equal(incomplete[10:20].values, X[10:20])
    assert incomplete.missing.sum() == np.isnan(X).sum()


def test_a_column_without_entries_where_it_is_learned_from_is_zero():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, 5.0]])
    view = Design.of(Incomplete(X)).take([0, 1]).learned().centred()
    np.testing.assert_allclose(view.columns(np.arange(2)), [[-0.5, 0.5], [0, 0]])


def test_the_mean_of_a_constant_is_exact():
    X = np.full((7, 1), 0.1)
    X[3] = np.nan
    assert (np.asarray(Incomplete(X)) == 0.1).all()
