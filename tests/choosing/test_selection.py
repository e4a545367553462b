"""What was chosen says the same as what it was made of: paths, criteria, folds."""

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from ksupport import IRKSN, IRKSNIC, AutoIRKSN, PathCV, PathIC, path
from ksupport.algorithms import METHODS, make_method
from ksupport.choosing.selecting import (
    Search,
    irksn_stages,
    iterate_at,
    select_by_criterion,
    select_by_folds,
    select_on_path,
    walk_to,
)
from ksupport.choosing.selection import Selection
from ksupport.choosing.tables import FoldTable
from ksupport.datasets import make_block_data, make_correlated_data
from ksupport.design import Design, Problem, Weights
from ksupport.explain.models import chosen_by
from ksupport.stopping import NoChange

TRUTH = np.r_[3.0, -2.0, 2.0, np.zeros(27)]
X, Y, _ = make_correlated_data(60, 30, rho=0.5, w_true=TRUTH, snr=5, random_state=0)


@pytest.fixture(scope="module")
def problem():
    return Problem(X, Y[:, None], Weights(), np.arange(60), True, True)


@pytest.fixture(scope="module")
def walked(problem):
    method = make_method("irksn", k=3, alpha=0.01)
    return method, walk_to(method, problem.design, problem.targets[0], 40)


@pytest.fixture(scope="module")
def searched(problem):
    settings = [{"k": 2}, {"k": 4}]
    return select_by_criterion(problem, Search("iht", [settings], stopping=NoChange()))


@pytest.fixture
def folded():
    errors = np.array([[[4.0, 2.0, 3.0], [4.0, 1.0, 2.0]], [[4.0, 3.0, 3.0], [4.0, 2.0, 3.0]]])
    table = FoldTable(errors, np.array([0, 5, 10]), np.array([[0, 1, 2], [0, 3, 4]]))
    coef = np.r_[1.0, 0.0, -2.0, 3.0, 0.0]
    return table, select_by_folds("irksn", [{"k": 1}, {"k": 3}], table, (1, 1), coef, "ols")


# -- one path --------------------------------------------------------------------------------


def test_a_path_is_what_was_walked(walked):
    method, result = walked
    chosen = select_on_path(method, [result], by=None)
    assert chosen.method_behind == method
    assert (chosen.how, chosen.steps, chosen.reasons) == ("path", (40,), ("max_iter",))
    assert chosen.histories == (result.history,)
    assert (chosen.refit, chosen.alternatives, dict(chosen.table)) == (None, (), {})
    assert chosen.words == (
        "IRKSN with k=3, alpha=0.01: kept step 40 of 40; it walked all the steps it was given."
    )


def test_several_targets_stand_side_by_side(walked):
    method, result = walked
    other = replace(result, coef=np.roll(result.coef, 1), n_iter=30, reason="stopped")
    chosen = select_on_path(method, [result, other], by="held_out", flat=False)
    assert (chosen.coef.shape, chosen.flat, chosen.steps) == ((2, 30), False, (40, 30))
    np.testing.assert_array_equal(chosen.support, (result.coef != 0) | (other.coef != 0))
    assert "kept steps 30 to 40 of 40" in chosen.words
    assert "the stopping rule held_out ended the walk" in chosen.words


def test_without_a_rule_a_callback_ended_the_walk(walked):
    method, result = walked
    stopped = replace(result, reason="stopped")
    assert "a callback ended the walk" in select_on_path(method, [stopped], by=None).words


@pytest.mark.parametrize("name", METHODS)
def test_the_iterate_of_a_step_is_on_the_path(name):
    design, y = Design.of(X), Y - Y.mean()
    method = make_method(name)
    whole = path(method, X, y, max_iter=8)
    np.testing.assert_array_equal(iterate_at(method, design, y, 0), np.zeros(30))
    at = min(5, len(whole.history["t"]) - 1)
    expected = whole.iterates[[at]].toarray()[0]
    np.testing.assert_allclose(iterate_at(method, design, y, 5), expected, rtol=1e-9, atol=1e-12)


# -- a criterion -----------------------------------------------------------------------------


def test_a_criterion_chooses_the_first_row_of_its_table(searched, problem):
    table = searched.table
    assert (searched.how, searched.by, searched.refit) == ("criterion", "ebic", "ols")
    assert searched.score == table["score"][0] == table["score"].min()
    assert tuple(np.flatnonzero(searched.support)) == table["support"][0]
    columns = problem.design.columns(np.flatnonzero(searched.support))
    rest = problem.targets[0] - searched.coef[searched.support] @ columns
    np.testing.assert_allclose(columns @ rest, 0.0, atol=1e-9)  # least squares
    assert rest @ rest == pytest.approx(table["rss"][0])


def test_the_path_behind_is_where_the_support_was_first_met(problem):
    search = Search("iht", [[{"k": 2}, {"k": 3}]], exchange=0, stopping=NoChange())
    chosen = select_by_criterion(problem, search)
    assert chosen.params == {"k": 3}
    assert chosen.path is not None
    w = iterate_at(chosen.method_behind, problem.design, problem.targets[0], chosen.steps[0])
    np.testing.assert_array_equal(w != 0, chosen.support)
    assert "first visited on the path with k=3" in chosen.words


def test_off_the_paths_there_are_no_parameters(problem):
    search = Search("iht", [[{"k": 1, "step": "normalised"}]], stopping=NoChange())
    chosen = select_by_criterion(problem, search)
    assert (chosen.path, chosen.params, chosen.reported) == (None, None, {})
    assert chosen.table["t"][0] == -1
    assert chosen.method_behind == make_method("iht", k=chosen.size, step="normalised")
    assert chosen.words == (
        f"EBIC chose {chosen.size} features among the supports that IHT visits, "
        "reached by exchanging features."
    )


def test_only_settings_of_the_table_are_kept(problem):
    """Paths that met nothing first have nothing to tell."""
    search = Search("iht", [[{"k": 2}, {"k": 2, "step": None}]], stopping=NoChange())
    assert select_by_criterion(problem, search).settings == ({"k": 2},)


def test_least_scores_are_above_the_least(searched):
    sizes, worse = searched.least_scores()
    assert list(sizes) == sorted(set(searched.table["size"]))
    assert worse.min() == 0.0
    assert sizes[np.argmin(worse)] == searched.table["size"][0]


def test_swaps_lead_to_the_alternatives(problem):
    chosen = select_by_criterion(problem, Search("iht", [[{"k": 3}]], tie=8.0, stopping=NoChange()))
    inside = set(np.flatnonzero(chosen.support).tolist())
    assert chosen.alternatives
    for swap, (support, score) in zip(chosen.swaps(), chosen.alternatives, strict=True):
        assert (inside | set(swap.into)) - set(swap.out) == set(support)
        assert swap.worse == pytest.approx(score - chosen.score)
        assert 0 <= swap.worse <= 8.0


def test_few_levels_of_k_are_compared():
    def levels(n):
        stages = irksn_stages("auto", 0.01, "spectral", n, 1000)
        return [[each["k"] for each in stage] for stage in stages]

    assert levels(100) == [[1, 4, 16]]
    assert levels(1000) == [[1, 4, 16], [64]]
    assert irksn_stages(7, [0.1, 0.2], "nuclear", 100, 1000) == [
        [
            {"k": 7, "alpha": 0.1, "step": "nuclear"},
            {"k": 7, "alpha": 0.2, "step": "nuclear"},
        ]
    ]


@pytest.mark.parametrize(("size", "walked"), [(3, {1, 4, 16}), (25, {1, 4, 16, 64})])
def test_larger_levels_are_walked_if_as_many_features_are_chosen(size, walked):
    draw = np.random.default_rng(0)
    Z = draw.standard_normal((300, 100))
    z = Z[:, :size] @ draw.choice([-1.0, 1.0], size) + 0.1 * draw.standard_normal(300)
    problem = Problem(Z, z[:, None], Weights(), np.arange(300), True, True)
    stages = irksn_stages("auto", 0.01, "adaptive", 300, 100)
    chosen = select_by_criterion(problem, Search("irksn", stages, max_iter=30))
    assert np.flatnonzero(chosen.coef).tolist() == list(range(size))
    assert {setting["k"] for setting in chosen.settings} <= walked
    assert max(chosen.table["k"][~np.isnan(chosen.table["k"])]) == max(walked)


# -- folds -----------------------------------------------------------------------------------


def test_folds_choose_a_cell_of_their_table(folded):
    table, chosen = folded
    assert (chosen.how, chosen.params, chosen.steps) == ("folds", {"k": 3}, (5,))
    np.testing.assert_array_equal(chosen.fold_errors, [1.0, 2.0])
    np.testing.assert_array_equal(chosen.of_paths("loss"), table.mean)
    np.testing.assert_array_equal(chosen.of_paths("t"), [[0, 5, 10]] * 2)
    assert chosen.of_paths("loss")[chosen.path, 1] == chosen.fold_errors.mean()
    assert chosen.words == "Cross-validation chose IRKSN with k=3, at step 5: 3 features."


def test_a_decision_is_told_instead(folded):
    _, chosen = folded
    assert replace(chosen, decision="Because.").words == "Because."


# -- the object ------------------------------------------------------------------------------


def test_it_is_frozen_and_copied_whole(searched):
    with pytest.raises(FrozenInstanceError):
        searched.how = "path"
    other = pickle.loads(pickle.dumps(searched))
    assert other.words == searched.words
    assert {each.name for each in fields(Selection)} == set(vars(other))
    np.testing.assert_array_equal(other.coef, searched.coef)


@pytest.mark.parametrize(
    ("model", "how"),
    [
        (IRKSN(k=3, max_iter=40, standardize=True), "path"),
        (IRKSNIC(max_iter=50), "criterion"),
        (PathIC("omp", criterion="bic"), "criterion"),
        (PathCV("lasso"), "folds"),
        (PathCV("iht", refit="auto"), "criterion"),
        (AutoIRKSN(max_iter=50), "criterion"),
    ],
    ids=str,
)
def test_estimators_show_what_was_chosen_in_the_units_of_x(model, how):
    chosen = chosen_by(model.fit(X * np.linspace(1, 9, 30), Y))
    assert (chosen.how, chosen.steps) == (how, (model.n_iter_,))
    scale = (X * np.linspace(1, 9, 30)).std(axis=0)
    np.testing.assert_allclose(model.coef_ * scale, chosen.coef, rtol=1e-9)
    np.testing.assert_array_equal(model.support_, chosen.support)
    if how != "path":
        assert list(model.path_) == list(chosen.table)
        assert model.alternatives_ == list(chosen.alternatives)


def test_groups_are_chosen_by_the_posterior():
    X, y, _ = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    model = AutoIRKSN().fit(X, y)
    chosen = chosen_by(model)
    assert (chosen.how, chosen.by, chosen.refit) == ("criterion", "evidence", "ridge")
    assert chosen.words == model.decision_
