"""Which rows make a fold: groups together, classes and responses evenly, rows of weight."""

import numpy as np
import pandas as pd
import pytest

from ksupport import (
    IRKSNCV,
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNCVClassifier,
    NoSignalWarning,
    PathCV,
)
from ksupport.choosing import folds
from ksupport.choosing.folds import folds_of_rows, labels_of, splits_of, stratification_key
from ksupport.design import Problem, Weights
from ksupport.design.adjusting import Unpenalized

N, D = 60, 8
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
ETA = 2 * X[:, 1] - 2 * X[:, 4]
NUMBERS = ETA + RNG.standard_normal(N)
CLASS = np.where(ETA + RNG.logistic(size=N) > 0, "ill", "well")
TIMES = np.column_stack([RNG.exponential(np.exp(-ETA)), RNG.random(N) < 0.7])
COUNTS = RNG.poisson(np.exp(0.5 * ETA)) * 1.0
GROUPS = RNG.permutation(np.repeat(np.arange(15), 4))
FITS = {
    "AutoIRKSN": (AutoIRKSN(), NUMBERS),
    "AutoIRKSN, huber": (AutoIRKSN(loss="huber"), NUMBERS),
    "AutoIRKSN, counts": (AutoIRKSN(loss="poisson"), COUNTS),
    "AutoIRKSN, several": (AutoIRKSN(shared_support=True), np.column_stack([NUMBERS, ETA])),
    "AutoIRKSNClassifier": (AutoIRKSNClassifier(), CLASS),
    "AutoIRKSNSurvival": (AutoIRKSNSurvival(), TIMES),
    "IRKSNCV": (IRKSNCV(max_iter=20), NUMBERS),
    "IRKSNCVClassifier": (IRKSNCVClassifier(max_iter=20), CLASS),
    "PathCV": (PathCV("omp"), NUMBERS),
}


@pytest.fixture
def made(monkeypatch):
    """The folds that are made, all of them."""
    noted = []

    def noting(*args, **options):
        found = splits_of(*args, **options)
        noted.extend(found)
        return found

    monkeypatch.setattr(folds, "splits_of", noting)
    return noted


def apart(splits, labels):
    return all(not set(labels[train]) & set(labels[test]) for train, test in splits)


# -- groups --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore")
def test_a_number_of_folds_keeps_groups_together(made, name):
    model, y = FITS[name]
    model.set_params(cv=4, random_state=0).fit(X, y, groups=GROUPS)
    assert len(made) % 4 == 0
    assert made
    assert apart(made, GROUPS)
    assert sorted(np.concatenate([test for _, test in made[:4]])) == list(range(N))


def test_labels_of_any_kind_are_groups(made):
    names = np.array([f"patient {label}" for label in GROUPS])
    for given in (GROUPS, names, pd.Series(names), pd.Categorical(names), names.tolist()):
        IRKSNCV(max_iter=5, cv=4, random_state=0).fit(X, NUMBERS, groups=given)
    assert apart(made, GROUPS)
    assert len(made) == 20


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (GROUPS[:-1], r"groups must have a label for each row, shape \(60,\), got \(59,\)"),
        (np.zeros(N), "at least 2, got cv=5 and 1 group"),
        (np.where(GROUPS == 3, np.nan, GROUPS), "a label for each row, got nan in row"),
        (np.where(GROUPS == 3, None, "a"), "a label for each row, got None in row"),
        (np.array([1, "a"] * (N // 2), object), "groups must be labels of one kind"),
    ],
)
def test_groups_that_are_none_are_refused(groups, words):
    with pytest.raises(ValueError, match=words):
        IRKSNCV().fit(X, NUMBERS, groups=groups)


def test_folds_of_groups_are_of_one_size_and_have_each_sort():
    rng = np.random.default_rng(3)
    for _ in range(30):
        groups = rng.integers(0, 40, 300)
        sorts = (rng.random(300) < 0.2) * 1.0
        for _, test in folds_of_rows(300, 5, 0, groups, sorts):
            assert abs(test.size - 60) < 12
            assert abs(sorts[test].mean() - sorts.mean()) < 0.08


def test_a_rare_sort_is_divided_among_folds():
    sorts, groups = np.zeros(100), np.arange(100) // 5
    sorts[[3, 60]] = 1.0
    splits = folds_of_rows(100, 5, 0, groups, sorts)
    assert sorted(sorts[test].sum() for _, test in splits) == [0, 0, 0, 1, 1]


def test_folds_of_groups_have_small_and_large_responses():
    rng = np.random.default_rng(0)
    groups, y = np.arange(200) // 4, rng.standard_normal(200)
    spread = [y[test].mean() for _, test in folds_of_rows(200, 5, 0, groups, key=y)]
    by_chance = [y[test].mean() for _, test in folds_of_rows(200, 5, 0, groups)]
    assert np.std(spread) < 0.6 * np.std(by_chance)


def test_there_are_as_many_folds_as_groups_at_most():
    splits = folds_of_rows(12, 5, 0, np.repeat([0, 1, 2], 4))
    assert [test.tolist() for _, test in splits] != []
    assert len(splits) == 3


def test_folds_of_groups_are_shuffled_by_a_random_state_alone():
    groups = np.arange(60) // 3
    first, again = folds_of_rows(60, 5, 0, groups), folds_of_rows(60, 5, 0, groups)
    other, in_order = folds_of_rows(60, 5, 1, groups), folds_of_rows(60, 5, None, groups)
    tests = [[test.tolist() for _, test in each] for each in (first, again, other, in_order)]
    assert tests[0] == tests[1]
    assert tests[0] != tests[2]
    assert groups[tests[3][0]].tolist() == np.repeat([0, 5, 10, 15], 3).tolist()


def test_groups_do_not_depend_on_the_order_of_rows():
    order = np.random.default_rng(5).permutation(N)
    here, there = (folds_of_rows(N, 5, 0, g, key=k) for g, k in
                   ((GROUPS, NUMBERS), (GROUPS[order], NUMBERS[order])))  # fmt: skip
    for (_, test), (_, other) in zip(here, there, strict=True):
        assert set(test) == set(order[other])


def test_rows_without_weight_are_of_no_group():
    weights = np.where(GROUPS == 2, 0.0, 1.0)
    splits = splits_of(NUMBERS, Weights(weights), 5, 0, GROUPS)
    assert not np.isin(np.flatnonzero(GROUPS == 2), np.concatenate([t for _, t in splits])).any()


def test_events_of_one_group_alone_leave_nothing_to_hold_out():
    y = np.column_stack([TIMES[:, 0], GROUPS == 3])
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSNSurvival().fit(X, y, groups=GROUPS)
    assert model.performance_ is None


def test_labels_are_numbered_in_their_order():
    np.testing.assert_array_equal(labels_of(["b", "a", "b"], 3), [1, 0, 1])


# -- by responses --------------------------------------------------------------------------


def key_of(y, weights=None, columns=None, shared=False):
    given = Weights() if weights is None else Weights(weights)
    away = None if columns is None else Unpenalized(np.array(columns), tuple(map(str, columns)))
    Y = y.reshape(len(y), -1)
    problem = Problem(
        X, Y, given, np.arange(len(y)), True, True, unpenalized=away, shared=shared, alike=shared
    )
    return stratification_key(problem)


def orders(*keys):
    return [np.argsort(key, kind="stable").tolist() for key in keys]


@pytest.mark.parametrize("columns", [None, [2], [2, 5]])
def test_folds_do_not_depend_on_sign_units_or_what_is_adjusted_for(columns):
    shift = 0.0 if columns is None else 30.0 * X[:, 2]
    one, *others = orders(
        *(key_of(y, None, columns) for y in (
            NUMBERS, -NUMBERS, 5.0 * NUMBERS + 3.0, NUMBERS + shift, -NUMBERS - shift
        ))
    )  # fmt: skip
    assert others == [one] * 4


def test_of_several_responses_each_may_have_any_sign_and_unit():
    Y = np.column_stack([NUMBERS, ETA + RNG.standard_normal(N), COUNTS])
    one, *others = orders(
        *(key_of(Y * np.array(units), shared=True) for units in
          ([1, 1, 1], [-1, -1, -1], [1, -1, 1], [1e3, 1, -1e-3]))
    )  # fmt: skip
    assert others == [one] * 3


def test_rows_of_weight_zero_have_no_say_in_folds():
    Y = np.column_stack([NUMBERS, ETA + RNG.standard_normal(N)])
    weights = (np.arange(N) % 4 > 0) * 1.0
    far = np.where(weights[:, None] > 0, Y, 100.0 * RNG.standard_normal((N, 2)))
    for columns in (None, [3]):
        one, other = (key_of(y, weights, columns, True) for y in (Y, far))
        np.testing.assert_array_equal(one, other)
        alone, other = (key_of(y, weights, columns) for y in (Y[:, 0], far[:, 0]))
        np.testing.assert_array_equal(alone, other)


@pytest.mark.parametrize("values", [[-1.0, 1.0], [-3.0, -1.0, 1.0, 3.0], [0.0, 0.0]])
def test_responses_as_often_below_as_above_have_a_sign_too(values):
    y = np.resize(values, N)
    np.testing.assert_array_equal(key_of(y), key_of(-y))


def test_answers_do_not_depend_on_the_sign_of_the_response():
    y = ETA + 3 * RNG.standard_normal(N)
    one, other = AutoIRKSN().fit(X, y), AutoIRKSN().fit(X, -y)
    np.testing.assert_array_equal(one.probability_, other.probability_)
    np.testing.assert_array_equal(one.coef_, -other.coef_)


def test_nor_on_what_unpenalised_columns_add_to_it():
    y = ETA + 3 * RNG.standard_normal(N)
    one, other = (
        AutoIRKSN(unpenalized=[2]).fit(X, each) for each in (y, y + 10.0 * X[:, 2])
    )  # fmt: skip
    np.testing.assert_allclose(one.probability_, other.probability_, atol=1e-6)
    assert one.performance_.score == pytest.approx(other.performance_.score, abs=0.05)


# -- classes, counts and events that are few -----------------------------------------------


@pytest.mark.parametrize(("classes", "members"), [(3, 4), (4, 3), (4, 4), (6, 2)])
@pytest.mark.filterwarnings("ignore")
def test_folds_are_cut_to_what_classes_allow(made, classes, members):
    y = np.repeat(np.arange(classes), members)
    model = AutoIRKSNClassifier().fit(X[: len(y)], y)
    assert len(made) == min(5, members)
    assert all(set(y[train]) == set(y) for train, _ in made)
    assert model.performance_ is not None


def test_classes_of_one_row_each_are_an_error_that_says_so():
    with pytest.raises(ValueError, match="2 classes of one row each, and a fold needs"):
        folds_of_rows(2, 2, 0, sorts=np.arange(2))


@pytest.mark.filterwarnings("ignore")
def test_one_zero_count_or_one_censored_row_does_not_keep_rows_from_being_held_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    counts = 1.0 + rng.poisson(np.exp(X[:, 0]))
    counts[7] = 0.0
    assert AutoIRKSN(loss="poisson").fit(X, counts).performance_ is not None
    times = np.column_stack([rng.exponential(np.exp(-X[:, 0])), np.arange(200) != 7])
    assert AutoIRKSNSurvival().fit(X, times).performance_ is not None


@pytest.mark.filterwarnings("ignore")
def test_one_positive_count_or_one_event_does():
    X = np.random.default_rng(0).standard_normal((40, 5))
    counts = (np.arange(40) == 7) * 3.0
    assert AutoIRKSN(loss="poisson").fit(X, counts).performance_ is None
    times = np.column_stack([np.arange(40.0), np.arange(40) == 7])
    assert AutoIRKSNSurvival().fit(X, times).performance_ is None
