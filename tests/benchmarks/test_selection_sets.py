"""What sets claim and what they hold, counted by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.selection_metrics import of_sets
from benchmarks.selection_scores import Scores, kinds_of
from benchmarks.selection_sets import coverage, median_size, power, share


def model(*sets):
    return SimpleNamespace(
        sets_=[SimpleNamespace(features=list(S), probability=p) for S, p in sets]
    )


@pytest.fixture
def data():
    X = np.random.default_rng(0).standard_normal((40, 8))
    w = np.array([1.0, 1.0, 0, 0, 0, 0, 0, 1.0])
    return X, X @ w, w


def row(data, sets, method="AutoIRKSN", seed=0, kind="ar1", setting="ar1 n=40"):
    return {
        "method": method, "seed": seed, "kind": kind, "setting": setting, "problem": setting,
        "snr": 1.0, **of_sets(model(*sets), *data),
    }  # fmt: skip


def test_sets_are_counted_by_what_they_claim(data):
    found = of_sets(model(([0, 2], 0.96), ([3], 0.95), ([1], 0.5), ([4], 0.1)), *data)
    assert found["level_count"] == [1, 0, 1, 0, 0, 2]
    assert found["level_true"] == [0, 0, 1, 0, 0, 1]
    assert found["level_claimed"] == pytest.approx([0.1, 0, 0.5, 0, 0, 1.91])
    assert found["credible_sizes"] == [2, 1]
    assert (found["true"], found["true_in_credible"]) == (3, 1)


def test_a_claim_that_rounding_keeps_below_95_counts_as_95(data):
    assert of_sets(model(([0], 0.95 - 1e-9)), *data)["level_count"][-1] == 1


def test_no_set_holds_nothing(data):
    found = of_sets(model(), *data)
    assert found["level_count"] == [0] * 6
    assert (found["true_in_credible"], found["strong_in_sets"]) == (0, 0)


def test_power_is_a_share_of_all_true_features_and_overlapping_sets_count_once(data):
    rows = [row(data, [([0, 1], 0.95), ([1, 2, 3], 0.97)]), row(data, [], seed=1)]
    assert power(rows) == pytest.approx(2 / 6)
    assert median_size(rows) == 2.5


def test_a_share_has_its_exact_interval():
    assert share(0, 0) == "none"
    assert share(10, 10) == "10 of 10, 1.000 (0.69 to 1.00)"


def test_every_kind_has_its_own_lines_beside_the_rival_on_draws_of_both(data):
    ours = [row(data, [([0], 0.99), ([3], 0.5)]), row(data, [([2], 0.95)], seed=1)]
    theirs = [row(data, [([0, 1, 4], 0.95)], method="pysusie")]
    other = [row(data, [], kind="factor", setting="factor k=3")]
    text = "\n".join(coverage(Scores([*ours, *theirs, *other])))
    assert (
        "sets, ar1, AutoIRKSN: .95 claimed, 1 of 2, 0.500 (0.01 to 0.99) below .93, "
        "power 0.167, median size 1" in text
    )
    assert "  0.50 claimed: 0 of 1, 0.000" in text
    assert "beside pysusie, 1 draws: power 0.333 and 0.667 (target 1.2 times)" in text
    assert "sets, factor, AutoIRKSN: .95 claimed, none, power 0.000, median size nan" in text


def test_truths_on_real_designs_and_rows_of_genotypes_are_judged_apart():
    def kinds(kind, setting):
        return kinds_of({"kind": kind, "setting": setting})

    assert kinds("real", "real sizes=equal k=10 snr=1.0") == ("real", "real, scattered truth")
    assert kinds("real", "real sizes=mixed k=10 snr=1.0")[1] == "real, grouped truth"
    assert kinds("held_out", "held_out sizes=grouped k=10")[1] == "held_out, grouped truth"
    assert kinds("linked", "linked causes=3 rows=50") == ("linked causes=3 rows=50",)
    assert kinds("blocks", "blocks n=30 sizes=gaussian") == ("blocks",)
