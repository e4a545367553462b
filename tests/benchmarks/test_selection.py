"""The problems, the scores and the report of the selection benchmark."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import selection_prediction
from benchmarks.selection import cells, compute
from benchmarks.selection_designs import (
    DEVELOPMENT,
    REPORTED,
    fixed,
    noise,
    problem,
    settings,
)
from benchmarks.selection_metrics import best_cut, by_correlation, calibration, scores
from benchmarks.selection_noise import LAWS, said_of_rows
from benchmarks.selection_real import (
    DRUGS,
    SHARES,
    WIDE,
    decaying,
    grouped,
    informative,
    mixed,
    standardised,
)
from benchmarks.selection_report import report, table
from benchmarks.selection_rivals import METHODS, draws
from benchmarks.selection_scores import Scores
from benchmarks.selection_stability import jaccard
from ksupport.datasets import dataset_path, fetch_dataset
from ksupport.metrics import support_f1

rng = np.random.RandomState
NEEDED = (*WIDE, *DRUGS, "spike_in_u133", "finemapping_n3")
needs_data = pytest.mark.skipif(
    not all(dataset_path(name).exists() for name in NEEDED), reason="the data are not here"
)
SIMULATED = settings("ar1", "blocks", "factor", "example2", "paper", "noise")


@pytest.mark.parametrize("setting", SIMULATED[::5], ids=str)
def test_a_seed_gives_one_problem_and_another_seed_another(setting):
    one, same, other = (problem(seed=seed, **setting) for seed in (0, 0, 1))
    for a, b in zip(one, same, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[1], other[1])


def test_no_setting_is_there_twice():
    every = [tuple(sorted(map(str, s.items()))) for s in settings()]
    assert len(set(every)) == len(every)


@needs_data
@pytest.mark.parametrize(
    "kind", ["real", "linked", "permuted", "noise_on", "hiv", "spike_in", "genotypes"]
)
def test_real_problems_are_finite_and_know_their_truth(kind):
    for setting in settings(kind)[::4]:
        X, y, w = problem(seed=REPORTED, **setting)
        assert X.shape == (len(y), len(w))
        assert np.isfinite(X).all()
        assert np.isfinite(y).all()
        assert (X.std(axis=0) > 0).all()
        assert w.any() == (kind not in ("permuted", "noise_on"))


@needs_data
def test_mutations_that_are_kept_are_known_and_differ():
    data = fetch_dataset("hiv_nnrti")
    X, y, w = problem("hiv", 3, name="hiv_nnrti", drug="EFV", rows=150)
    assert len(y) == 150
    assert X.sum(axis=0).min() >= 3
    assert len(np.unique(X, axis=1).T) == X.shape[1]
    measured = np.log(data.target[:, data.target_names.index("EFV")])
    assert np.isin(y, measured).all()
    whole = problem("hiv", 3, name="hiv_nnrti", drug="EFV")
    assert len(whole[1]) == np.isfinite(measured).sum()
    assert 0 < np.count_nonzero(w) < np.count_nonzero(whole[2]) <= data.truth.sum()


@needs_data
def test_causes_among_linked_genotypes_are_as_many_as_asked_for_and_explain_their_share():
    for rows, (low, high) in SHARES.items():
        for seed in range(5):
            X, y, w = problem("linked", seed, causes=3, rows=rows)
            assert len(X) == (rows or 574)
            assert 1 <= np.count_nonzero(w) <= 3
            assert (
                low < 1 - np.sum((y - X @ w) ** 2) / np.sum((X @ w) ** 2 + (y - X @ w) ** 2) < high
            )
            alleles = X - X.min(axis=0)
            assert np.isclose(alleles, np.round(alleles)).all()
            assert np.minimum(alleles.mean(axis=0), 2 - alleles.mean(axis=0)).min() >= 0.1


def test_designs_of_ones_own_are_a_kind_of_their_own(tmp_path, monkeypatch):
    assert settings("held_out") == []
    X = rng(0).standard_normal((30, 60)) * np.arange(1, 61)
    np.savez(tmp_path / "mine.npz", X=X)
    monkeypatch.setenv("KSUPPORT_DESIGNS", str(tmp_path))
    mine = settings("held_out")
    assert len(mine) == 15
    assert {setting["name"] for setting in mine} == {"mine"}
    drawn, y, w = problem(seed=0, **mine[0])
    assert sorted(map(tuple, drawn.T.round(9))) == sorted(map(tuple, standardised(X).T.round(9)))
    assert np.count_nonzero(w) == 10


def test_equal_columns_become_one_and_rare_ones_none():
    a, b = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([0, 0, 1, 1, 1, 0, 0])
    rare, common = np.array([1, 1, 0, 0, 0, 0, 0]), np.ones(7)
    X, where = informative(np.column_stack([b, rare, a, b, common, a]))
    np.testing.assert_array_equal(X, np.column_stack([b, a]))
    assert where.tolist() == [0, -1, 1, 0, -1, 1]


def test_truths_on_a_design_are_what_their_names_say():
    X = np.random.default_rng(0).standard_normal((50, 40))
    X[:, 20:30] = X[:, [20]] + 0.1 * X[:, 20:30]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    sizes = np.sort(np.abs(decaying(rng(0), X, 5)))[::-1]
    np.testing.assert_allclose(sizes[:5], 0.75 ** np.arange(5))
    assert not sizes[5:].any()
    w = next(w for s in range(99) if (w := grouped(rng(s), X, 10))[20])
    assert np.flatnonzero(w).tolist() == list(range(20, 30))
    assert np.linalg.norm(X @ w) > 9 * np.sqrt(50)  # they act together
    both = mixed(rng(0), X, 10)
    assert np.count_nonzero(both) == 15


def test_noise_has_no_truth():
    for design in ("independent", "ar1", "blocks"):
        assert not noise(rng(0), 20, 60, design)[2].any()


@pytest.mark.parametrize("law", LAWS)
def test_noise_of_every_law_is_a_function_of_its_seed(law):
    (X, y, w), (again, _, _) = (problem("noise_law", 5, law=law) for _ in range(2))
    np.testing.assert_array_equal(X, again)
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()
    assert X.shape == (len(y), len(w))
    assert not w.any()
    for values in said_of_rows(law, 5).values():
        assert len(values) == len(y)


def test_noise_that_was_residualised_has_as_many_ranks_as_were_left():
    X, y, _ = problem("noise_law", 0, law="residualised")
    assert (len(X), np.linalg.matrix_rank(X)) == (47, 24)
    assert np.linalg.matrix_rank(np.column_stack([X, y])) == 24  # y was, too


def test_what_is_known_of_rows_is_told_to_whoever_listens(monkeypatch):
    heard = []

    class Deaf:
        def __init__(self):
            self.support_, self.coef_ = np.zeros(200, bool), np.zeros(200)

        def fit(self, X, y, **told):
            heard.append(sorted(told))
            return self

    monkeypatch.setitem(METHODS, "AutoIRKSN", Deaf)
    monkeypatch.setitem(METHODS, "LassoCV", Deaf)
    for law, method in product(("grouped", "weighted", "skewed"), ("AutoIRKSN", "LassoCV")):
        compute(method, 1, 0, kind="noise_law", law=law)
    assert heard == [["groups"], [], ["sample_weight"], [], [], []]


def test_draws_to_choose_constants_on_are_none_of_those_reported(monkeypatch):
    reported = {cell["seed"] for cell in cells("fair", False)}
    monkeypatch.setenv("KSUPPORT_DEVELOPMENT", "1")
    chosen = cells("fair", False)
    assert min(reported) == REPORTED
    assert max(reported) < DEVELOPMENT == min(cell["seed"] for cell in chosen)
    only = ("method", "release", "seed")
    assert not any(fixed({k: v for k, v in c.items() if k not in only}) for c in chosen)


def test_the_best_cut_is_the_best_of_all_cuts():
    random = np.random.default_rng(1)
    for _ in range(20):
        p = random.choice([0.0, 0.1, 0.3, 0.7, 1.0], 12)
        truth = random.random(12) < 0.3
        cuts = [p >= c for c in np.unique(p[p > 0])] + [np.zeros(12, bool)]
        assert best_cut(p, truth) == pytest.approx(max(support_f1(truth, S) for S in cuts))


def test_bins_hold_every_feature_once():
    p, truth = np.array([0.0, 0.05, 0.1, 0.95, 1.0]), np.array([0, 1, 0, 1, 1], bool)
    bins = calibration(p, truth)
    assert bins["bin_count"] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert bins["bin_true"] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert bins["bin_claimed"] == pytest.approx([0.05, 0.1, 0, 0, 0, 0, 0, 0, 0, 1.95])


def test_a_near_copy_counts_where_copies_are_tolerated():
    X = np.random.default_rng(0).standard_normal((100, 6))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    truth, chosen = np.eye(6, dtype=bool)[0], np.eye(6, dtype=bool)[1]
    assert by_correlation(X, truth, chosen) == {"tolerant_f1": 1.0, "far": 0}
    far = by_correlation(X, truth, chosen | np.eye(6, dtype=bool)[4])
    assert far == {"tolerant_f1": pytest.approx(2 / 3), "far": 1}
    none = np.zeros(6, bool)
    assert by_correlation(X, truth, none) == {"tolerant_f1": 0.0, "far": 0}
    assert by_correlation(X, none, chosen) == {"tolerant_f1": 0.0, "far": 1}
    assert by_correlation(X, none, none) == {"tolerant_f1": 1.0, "far": 0}


def test_what_a_model_says_of_itself_is_taken_down():
    X = np.random.default_rng(0).standard_normal((50, 4))
    w = np.array([1.0, 0, 0, 0])
    model = SimpleNamespace(
        coef_=np.array([0.9, 0, 0.1, 0]),
        probability_=np.array([0.9, 0.2, 0.6, 0.0]),
        signal_=True,
        expected_f1_=0.8,
        sets_=[SimpleNamespace(features=[0, 1], probability=0.9)],
        performance_=SimpleNamespace(score=0.7, standard_error=0.1, baseline=0.0),
    )
    row = scores(model, X, X @ w, w, coefficients_known=True)
    assert row["f1"] == pytest.approx(2 / 3)
    assert (row["best_cut_f1"], row["expected_f1"], row["signal"]) == (1.0, 0.8, True)
    assert (row["sets"], row["sets_true"], row["sets_claimed"]) == (1, 1, 0.9)
    assert (row["strong"], row["strong_in_sets"]) == (1, 1)
    assert row["level_count"] == [0, 0, 0, 0, 1, 0]  # it claims less than .95
    assert (row["true"], row["true_in_credible"], row["credible_sizes"]) == (1, 0, [])
    assert (row["score"], row["baseline"]) == (0.7, 0.0)


def test_overlap_of_supports():
    a, b = np.array([1, 1, 0, 0], bool), np.array([0, 1, 1, 0], bool)
    assert jaccard(a, b) == pytest.approx(1 / 3)
    assert jaccard(a, a) == jaccard(a & b & ~b, b & ~b) == 1.0
    assert jaccard(a, ~a & ~b & b) == 0.0


def made(method, setting, seed, f1, kind="ar1"):
    return {
        "method": method, "setting": setting, "problem": setting, "seed": seed, "kind": kind,
        "snr": 1.0, "n": 100, "f1": f1, "precision": f1, "recall": f1, "tolerant_f1": f1,
        "prediction_error": 1 - f1, "size": 5, "far": 0, "seconds": 0.1, "passes": -1,
    }  # fmt: skip


def test_luck_with_fewer_draws_does_not_count():
    easy_and_hard = [made("AutoIRKSN", "a", seed, f1) for seed, f1 in enumerate((0.9, 0.1))]
    part = Scores([*easy_and_hard, made("LassoCV", "a", 0, 0.8)])
    assert part.mean("a", "AutoIRKSN") == pytest.approx(0.5)
    assert part.mean("a", "LassoCV") == pytest.approx(0.8)
    assert part.lead("a", "AutoIRKSN", "LassoCV") == pytest.approx(0.1)  # on the draw of both
    assert part.mean_ranks(part.ranked) == {"AutoIRKSN": 1.0, "LassoCV": 2.0}
    assert part.first_or_near("AutoIRKSN", part.ranked) == ["a"]
    assert part.first_or_near("LassoCV", part.ranked) == []


def test_ranks_count_who_is_better():
    f1 = {("a", "AutoIRKSN"): 0.9, ("a", "LassoCV"): 0.5, ("a", "OMPCV"): 0.5,
          ("b", "AutoIRKSN"): 0.1, ("b", "LassoCV"): 0.2, ("b", "OMPCV"): 0.3}  # fmt: skip
    part = Scores([made(m, s, 0, value) for (s, m), value in f1.items()])
    assert part.mean_ranks(part.ranked) == {"AutoIRKSN": 2.0, "LassoCV": 2.0, "OMPCV": 1.5}
    assert part.first_or_near("AutoIRKSN", part.ranked, 0.19) == ["a"]
    assert part.first_or_near("AutoIRKSN", part.ranked, 0.21) == ["a", "b"]


def test_a_report_tells_of_what_there_is():
    setting = {"kind": "paper", "n": 30, "rho": 0.5, "snr": 2.0}
    silent = {"kind": "noise", "n": 20, "d": 40, "design": "ar1"}
    fast = ("AutoIRKSN", "IRKSNIC", "OMPCV", "SuSiE PIP")
    rows = [
        row for m, s in product(fast, (setting, silent)) for row in compute(m, 1, DEVELOPMENT, **s)
    ]
    text = report(rows, [], [])
    assert "mean rank in F1: " in text
    assert "noise: share of data sets with any feature" in text
    assert "calibration, SuSiE PIP, signal: ECE" in text
    assert "calibration, SuSiE PIP, paper: ECE" in text
    assert "sets, paper, SuSiE PIP: .95 claimed, " in text
    assert "beside SuSiE PIP, 1 draws: power " in text
    assert {line["method"] for line in table(rows)} == {*fast}


@needs_data
def test_rows_to_predict_are_no_part_of_what_is_standardised():
    X, X_test, y, y_test = selection_prediction._split("rhee2006", 0)
    assert (len(X), len(X_test)) == (len(y), len(y_test)) == (631, 211)
    assert X.shape[1] == X_test.shape[1] < 361  # constant columns are gone
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    row = selection_prediction.compute("RidgeCV", 1, 0, "rhee2006")[0]
    assert 0.1 < row["error"] < 0.3
    text = "\n".join(selection_prediction.report([row, row | {"method": "LassoCV", "error": 0.9}]))
    assert "RidgeCV 1.00, LassoCV 2.00" in text


def test_slow_methods_never_have_more_draws():
    for method, setting in product(METHODS, settings()):
        assert draws(method, setting["kind"]) <= draws("AutoIRKSN", setting["kind"])
