"""Choosing among supports: refits are least squares, moves are what brute force finds."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ksupport import path
from ksupport.choosing.choice import choose
from ksupport.choosing.criteria import Criterion, noise_variance
from ksupport.choosing.exchange import Around, Asking, Wanted, improve, independent, side_by_side
from ksupport.choosing.grids import expand, settings_of
from ksupport.choosing.refits import least_squares, refit_all
from ksupport.choosing.supports import different_rows, largest_support, supports_of, visited_by
from ksupport.design.view import Design
from ksupport.stopping import NoChange
from ksupport.walking import Block


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((30, 9)) + rng.standard_normal((30, 1))
    y = X[:, :3] @ [2.0, -1.0, 1.0] + rng.standard_normal(30)
    return X, y


def rss_of(X, y, support):
    if not support:
        return float(y @ y)
    w = np.linalg.lstsq(X[:, support], y, rcond=None)[0]
    return float(((y - X[:, support] @ w) ** 2).sum())


def all_supports(d, largest):
    return [S for size in range(largest + 1) for S in combinations(range(d), size)]


# -- refits -------------------------------------------------------------------------------


def test_refits_are_least_squares(problem):
    X, y = problem
    supports = all_supports(9, 4)
    refits = refit_all(Design.of(X), y, supports)
    assert refits.supports == supports
    np.testing.assert_allclose(refits.rss, [rss_of(X, y, S) for S in supports])
    np.testing.assert_array_equal(refits.size, [len(S) for S in supports])
    for S, row in zip(supports, refits.coef.toarray(), strict=True):
        expected = np.zeros(9)
        if S:
            expected[list(S)] = np.linalg.lstsq(X[:, S], y, rcond=None)[0]
        np.testing.assert_allclose(row, expected, atol=1e-10)


def test_refits_on_dependent_columns_have_the_same_residual_and_a_smaller_size(rng):
    X = rng.standard_normal((12, 6))
    X[:, 3] = X[:, 0]
    X[:, 4] = X[:, 0] - 2 * X[:, 1]
    X[:, 5] = 0.0
    y = rng.standard_normal(12)
    supports = all_supports(6, 6)
    refits = refit_all(Design.of(X), y, supports)
    np.testing.assert_allclose(refits.rss, [rss_of(X, y, S) for S in supports], rtol=1e-8)
    ranks = [np.linalg.matrix_rank(X[:, S]) if S else 0 for S in supports]
    np.testing.assert_array_equal(refits.size, ranks)
    residuals = y - refits.coef.toarray() @ X.T
    np.testing.assert_allclose((residuals**2).sum(axis=1), refits.rss, rtol=1e-8)


def test_refits_of_nothing():
    design = Design.of(np.eye(3))
    refits = refit_all(design, np.ones(3), [()])
    assert (refits.rss.tolist(), refits.size.tolist(), refits.coef.nnz) == ([3.0], [0], 0)
    assert refit_all(design, np.ones(3), []).supports == []


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_least_squares_solves_the_normal_equations(problem, ridge):
    X, y = problem
    w = least_squares(Design.of(X), y, (1, 4, 5), ridge)
    assert np.flatnonzero(w).tolist() == [1, 4, 5]
    gradient = X.T @ (y - X @ w) - ridge * w
    np.testing.assert_allclose(gradient[[1, 4, 5]], 0, atol=1e-10)


# -- exchange -----------------------------------------------------------------------------


def neighbours(design, y, support):
    ((around,),) = Around.all([Wanted(design, y, [support], 1)])
    assert around.support == support
    return list(around.neighbours(design.d))


@pytest.mark.parametrize("support", [(), (0,), (2, 7), (0, 1, 2), (1, 3, 5, 8), tuple(range(9))])
def test_neighbours_are_the_best_that_brute_force_finds(problem, support):
    X, y = problem
    design = Design.of(X)
    moves = neighbours(design, y, support)
    outside = [j for j in range(9) if j not in support]
    more = [tuple(sorted((*support, j))) for j in outside]
    fewer = [tuple(j for j in support if j != i) for i in support]
    other = [tuple(sorted({*support, j} - {i})) for i in support for j in outside]
    for kind in (more, fewer, other):
        if not kind:
            continue
        best = min(rss_of(X, y, S) for S in kind)
        found = [move for move in moves if move.support in kind]
        if kind is other and not found:  # an exchange is offered only if it helps
            assert best >= rss_of(X, y, support)
            continue
        assert len(found) == 1
        np.testing.assert_allclose(found[0].rss, best, rtol=1e-8)
        np.testing.assert_allclose(found[0].rss, rss_of(X, y, found[0].support), rtol=1e-8)


def twins(design, y, support, criterion, within):
    ((around,),) = Around.all([Wanted(design, y, [support], 50)])
    return around.twins(criterion, within)


def seen_from(design, y, starts, criterion, largest):
    (passed,) = side_by_side([Asking(improve(design, y, starts, criterion, largest))])
    return {move.support: move for around in passed for move in around.moves(largest)}


def test_a_feature_can_be_exchanged_for_one_in_the_span_of_the_support(rng):
    """x_3 depends on the support, but not on what is left of it without x_0."""
    X = rng.standard_normal((20, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    y = X[:, 2] + 0.1 * X[:, 3]
    design = Design.of(X)
    found = {move.support for move in neighbours(design, y, (0, 2))}
    assert (2, 3) in found
    y = X[:, 0] + 2 * X[:, 1] + 0.1 * rng.standard_normal(20)
    found = {move.support for move in twins(design, y, (0, 1), _bic(design, y), 1e-3)}
    assert found == {(0, 3), (1, 3)}  # they span the same


def _bic(design, y):
    return Criterion("bic", design.n, design.d, float(y @ y))


def test_twins_are_all_exchanges_with_nearly_the_same_score(problem):
    X, y = problem
    design, support = Design.of(X), (0, 1, 4)
    criterion = _bic(design, y)
    score = criterion(rss_of(X, y, support), 3)
    expected = {
        S for S in combinations(range(9), 3)
        if len(set(S) & set(support)) == 2 and criterion(rss_of(X, y, S), 3) <= score + 5
    }  # fmt: skip
    found = twins(design, y, support, criterion, 5.0)
    assert {move.support for move in found} == expected
    np.testing.assert_allclose([m.rss for m in found], [rss_of(X, y, m.support) for m in found])
    assert twins(design, y, (), criterion, 5.0) == []


@pytest.mark.parametrize("name", ["ebic", "bic", "gic"])
def test_exchanging_never_worsens_and_ends_in_a_local_optimum(problem, name):
    X, y = problem
    design = Design.of(X)
    criterion = Criterion(name, 30, 9, float(y @ y))
    for start in [(), (4,), (5, 6, 7), tuple(range(9))]:
        score = float(criterion(rss_of(X, y, start), len(start)))
        passed = seen_from(design, y, [start], criterion, 9)
        scores = {S: float(criterion(rss_of(X, y, S), len(S))) for S in passed} | {start: score}
        end = min(scores, key=scores.get)
        assert scores[end] <= score
        for j in range(9):
            near = [tuple(sorted({*end} ^ {j}))]
            near += [tuple(sorted({*end, j} - {i})) for i in end if j not in end]
            for S in near:
                assert criterion(rss_of(X, y, S), len(S)) >= scores[end] - 1e-6


def test_exchanging_from_a_dependent_support_first_drops_what_is_not_needed(rng):
    X = rng.standard_normal((25, 6))
    X = np.hstack([X, X])
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(25)
    design = Design.of(X)
    assert independent(design, (0, 2, 6, 8))[0] == (0, 2)
    assert independent(design, ())[0] == ()
    criterion = _bic(design, y)
    passed = seen_from(design, y, [(0, 2, 6, 8)], criterion, 12)
    best = min(passed.values(), key=lambda move: float(criterion(move.rss, len(move.support))))
    assert sorted(j % 6 for j in best.support) == [0, 1]


def test_chains_side_by_side_see_what_each_sees_alone(problem):
    X, y = problem
    design, criterion = Design.of(X), Criterion("bic", 30, 9, float(y @ y))
    starts = [(), (4, 6), (3, 5, 7, 8)]
    alone, passes = [], [design.passes]
    for start in starts:
        alone.append(seen_from(design, y, [start], criterion, 9))
        passes.append(design.passes)
    together = seen_from(design, y, starts, criterion, 9)
    assert together.keys() == set().union(*alone)
    for S, move in together.items():
        np.testing.assert_allclose(move.rss, rss_of(X, y, S), rtol=1e-8)
    assert design.passes - passes[-1] <= max(np.diff(passes)) < passes[-1] - passes[0]
    again = seen_from(design, y, [*starts, *starts], criterion, 9)
    assert again.keys() == together.keys()


def test_no_twins_of_dependent_supports_are_listed(rng):
    X = rng.standard_normal((20, 3))
    X, y = np.hstack([X, X]), X[:, 0] + 1e-3 * rng.standard_normal(20)
    visited = [[(0, 3)]]
    choice = choose(Design.of(X), y, visited, "aic", 5, tie=1e3)
    assert {*choice.table["support"]} == {(), (0, 3)}


def test_more_features_than_samples_are_dependent(rng):
    design = Design.of(rng.standard_normal((3, 7)))
    assert len(independent(design, tuple(range(7)))[0]) == 3


def test_no_support_larger_than_allowed_is_met(problem):
    X, y = problem
    criterion = Criterion("aic", 30, 9, float(y @ y))
    passed = seen_from(Design.of(X), y, [()], criterion, 2)
    assert max(map(len, passed)) == 2


# -- criteria -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "penalty"),
    [
        ("aic", 2 * 3),
        ("bic", 3 * np.log(50)),
        ("ebic", 3 * np.log(50) + 2 * np.log(20 * 19 * 18 / 6)),
        ("gic", 3 * np.log(np.log(50)) * np.log(20)),
    ],
)
def test_criteria_are_their_formulas(name, penalty):
    value = Criterion(name, 50, 20, 100.0)(12.0, 3)
    np.testing.assert_allclose(value, 50 * np.log(12 / 50) + penalty)


def test_mallows_cp_counts_the_noise():
    assert Criterion("cp", 50, 20, 100.0, noise=0.25)(12.0, 3) == 12 / 0.25 + 2 * 3 - 50


def test_a_zero_residual_has_a_finite_score():
    for name in ("aic", "bic", "ebic", "gic"):
        scores = Criterion(name, 10, 5, 3.0)(np.zeros(4), np.arange(4))
        assert np.isfinite(scores).all()
        assert (np.diff(scores) > 0).all()  # of perfect fits, the smallest
    assert np.isfinite(Criterion("bic", 10, 5, 0.0)(0.0, 0))


def test_an_unknown_criterion_is_named():
    with pytest.raises(ValueError, match=r"criterion must be one of 'auto', 'ebic', .* got 'hqic'"):
        Criterion("hqic", 10, 5, 1.0)(1.0, 1)


def test_noise_variance_is_that_of_ordinary_regression_on_the_preferred_model():
    rss, size = np.array([100.0, 10.0, 9.9]), np.array([0, 2, 3])
    assert noise_variance(rss, size, Criterion("ebic", 40, 100, 100.0)) == 10 / (40 - 1 - 2)


# -- choosing -----------------------------------------------------------------------------


def test_the_truth_is_chosen_on_data_without_noise(rng):
    X = rng.standard_normal((40, 60))
    truth = (3, 17, 41)
    y = X[:, truth] @ [1.0, -2.0, 0.5]
    results = [path("irksn", X, y, k=k, alpha=0.01, max_iter=400, every=10) for k in (1, 3)]
    for criterion in ("ebic", "bic", "aic", "gic", "cp"):
        choice = choose(Design.of(X), y, visited_by(results), criterion, 20)
        assert choice.support == truth
        scores = choice.table["score"]
        assert choice.score == scores[0]
        assert (np.diff(scores) >= -1e-6).all()
        assert len(set(choice.table["support"])) == len(scores)


def test_places_in_the_table_are_where_supports_were_first_met(rng):
    X, y = rng.standard_normal((20, 8)), rng.standard_normal(20)
    visited = [[(), (1,), (1, 2)], [(), (2,), (1, 2), (3,)]]
    table = choose(Design.of(X), y, visited, "bic", 5, exchange=0).table
    places = dict(zip(table["support"], zip(table["path"], table["record"], strict=True),
                      strict=True))  # fmt: skip
    assert places == {(): (0, 0), (1,): (0, 1), (1, 2): (0, 2), (2,): (1, 1), (3,): (1, 3)}


def test_of_equal_scores_the_smaller_support_is_chosen(rng):
    X = rng.standard_normal((30, 4))
    X = np.hstack([X, X])
    y = X[:, 1] + 0.1 * rng.standard_normal(30)
    choice = choose(Design.of(X), y, [[(1, 5), (1,)]], "ebic", 10, exchange=0)
    assert choice.support == (1,)
    choice = choose(Design.of(X), y, [[(1, 5)]], "ebic", 10, tie=1.0)
    assert choice.support == (1,)
    assert (5,) in [support for support, _ in choice.alternatives(1.0)]


def test_supports_of_iterates(rng):
    result = path("iht", rng.standard_normal((15, 9)), rng.standard_normal(15), k=3, max_iter=20)
    rows = result.iterates.toarray()
    expected = [tuple(np.flatnonzero(row).tolist()) for row in rows]
    assert supports_of(result.iterates) == expected
    backwards = sp.csr_array(([9, 8, 7], [2, 0, 1], [0, 0, 2, 3]), shape=(3, 4))
    assert supports_of(backwards) == [(), (0, 2), (1,)]


@given(st.lists(st.integers(0, 2**12 - 1), min_size=2, max_size=40))
def test_fingerprints_are_equal_exactly_for_equal_supports(masks):
    rows = np.array([[(mask >> j) & 1 for j in range(12)] for mask in masks], float)
    rows *= np.random.default_rng(0).standard_normal(rows.shape)
    features = np.arange(30)[3:15]
    block = Block(np.arange(len(rows)), rows, Design.of(np.ones((2, 30))), features)
    prints = NoChange.fingerprint(30)(block)
    for i, one in enumerate(masks):
        assert (prints[i] == 0) == (one == 0)
        for j, other in enumerate(masks):
            assert (prints[i] == prints[j]) == (one == other)


# -- grids --------------------------------------------------------------------------------


def test_grids_expand_to_all_combinations():
    assert expand({}) == [{}]
    assert expand({"a": [1, 2], "b": "x"}) == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]
    assert len(expand({"a": np.arange(3), "b": (1, 2)})) == 6


def test_a_support_leaves_rows_to_spare():
    assert [largest_support(n) for n in (1, 2, 3, 4, 9, 10)] == [0, 0, 1, 1, 3, 3]


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match=r"method must be one of irksn, .* got 'ols'"):
        settings_of("ols", None, 10, 10)


@pytest.mark.parametrize("discrete", [True, False])
def test_rows_that_say_the_same_count_once(discrete, rng):
    X, y = rng.standard_normal((30, 8)), rng.standard_normal(30)
    y = np.sign(y) if discrete else y
    counts = rng.integers(1, 5, 30)
    root = np.sqrt(counts)
    repeated = Design.of(np.repeat(X, counts, axis=0)).centred()
    assert different_rows(Design.of(X).centred(), y) == 30
    assert different_rows(repeated, np.repeat(y, counts)) == 30
    assert different_rows(Design.of(X).weighted(counts).centred(), root * y) == 30
    assert different_rows(Design.of(np.ones((30, 2))), np.zeros(30)) == 1
