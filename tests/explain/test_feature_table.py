"""Every feature by itself and in the model: SciPy's tests, whole-matrix; ranks; a volcano."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

from ksupport import IRKSN, AutoIRKSN, AutoIRKSNClassifier
from ksupport.design import Incomplete
from ksupport.explain import univariate as module
from ksupport.explain.features import ranked_list
from ksupport.explain.univariate import benjamini_hochberg, univariate

rng = np.random.default_rng(0)
N, D = 60, 25
X = rng.standard_normal((N, D)) * 10.0 ** rng.integers(-3, 4, D) + 5.0
X[:, 4] = 7.0  # constant
Y = X[:, 0] / X[:, 0].std() + rng.standard_normal(N)
TWO = np.where(np.median(Y) < Y, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(Y, np.quantile(Y, [0.4, 0.7]))]
VARY = np.setdiff1d(np.arange(D), 4)


def test_slopes_and_p_values_of_numbers_are_those_of_linregress():
    found = univariate(X, Y, "numbers")
    for j in VARY:
        own = stats.linregress(X[:, j], Y)
        np.testing.assert_allclose(
            [found.columns["slope"][j], found.effect[j], found.p_value[j]],
            [own.slope, own.rvalue, own.pvalue], rtol=1e-8,
        )  # fmt: skip
    assert np.isnan([found.columns["slope"][4], found.effect[4], found.p_value[4]]).all()


def test_two_classes_are_compared_by_welch_s_test():
    found = univariate(X, TWO, "classes")
    sides = (X[each == TWO][:, VARY] for each in ("yes", "no"))
    own = stats.ttest_ind(*sides, equal_var=False)
    np.testing.assert_allclose(found.p_value[VARY], own.pvalue, rtol=1e-8)
    np.testing.assert_allclose(found.columns["mean of no"], X[TWO == "no"].mean(axis=0))
    assert np.array_equal(np.sign(found.effect[VARY]), np.sign(own.statistic))


def test_more_classes_are_compared_by_analysis_of_variance():
    found = univariate(X, THREE, "classes")
    own = stats.f_oneway(*(X[each == THREE][:, VARY] for each in "abc"))
    np.testing.assert_allclose(found.p_value[VARY], own.pvalue, rtol=1e-8)
    assert (found.effect[VARY] >= 0).all()
    assert (found.effect[VARY] <= 1).all()


def test_the_score_test_of_two_groups_is_the_log_rank_test():
    """Which SciPy has; with a group as the only feature they are the same test."""
    group = rng.integers(0, 2, N).astype(float)
    times = rng.permutation(N) + 1.0  # no ties
    event = rng.random(N) < 0.7
    y = np.array(list(zip(event, times, strict=True)), dtype=[("event", bool), ("time", float)])
    found = univariate(group[:, None], y, "survival")
    sides = [
        stats.CensoredData(
            uncensored=times[(group == g) & event], right=times[(group == g) & ~event]
        )
        for g in (0.0, 1.0)
    ]
    own = stats.logrank(*sides)
    np.testing.assert_allclose(found.p_value[0], own.pvalue, rtol=1e-8)


@pytest.mark.parametrize("kind", ["array", "sparse", "frame", "blocks", "incomplete"])
def test_every_kind_of_x_gives_the_same(kind, monkeypatch):
    expected = univariate(X, Y, "numbers")
    given = {"sparse": sp.csr_matrix(X), "frame": pd.DataFrame(X), "incomplete": Incomplete(X)}
    if kind == "blocks":
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 3 * N)
    found = univariate(given.get(kind, X), Y, "numbers")
    np.testing.assert_allclose(found.p_value, expected.p_value, rtol=1e-12)


def test_missing_values_are_left_out_column_by_column():
    holes = X.copy()
    holes[:7, 0], holes[10:13, 1] = np.nan, np.nan
    found = univariate(Incomplete(holes), Y, "numbers")
    for j in (0, 1, 2):
        there = np.isfinite(holes[:, j])
        own = stats.linregress(holes[there, j], Y[there])
        np.testing.assert_allclose(found.p_value[j], own.pvalue, rtol=1e-8)
    two = univariate(holes, TWO, "classes").p_value[:3]
    own = stats.ttest_ind(
        holes[TWO == "yes", :3], holes[TWO == "no", :3], equal_var=False, nan_policy="omit"
    )
    np.testing.assert_allclose(two, own.pvalue, rtol=1e-8)


def test_adjusted_p_values_do_not_count_what_has_none():
    p = np.array([0.01, np.nan, 0.02, 0.03])
    np.testing.assert_allclose(benjamini_hochberg(p), [0.03, np.nan, 0.03, 0.03])


def test_the_whole_table_has_every_feature_once_and_the_best_first():
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(D)])
    model = AutoIRKSN().fit(frame, Y)
    table = model.to_frame(frame, Y, all=True)
    assert list(table["rank"]) == list(range(1, D + 1))
    assert sorted(table["feature"]) == list(range(D))
    assert table["name"].iloc[0] == "g0"
    assert (np.diff(table["probability"]) <= 1e-9).all()
    np.testing.assert_array_equal(table["coefficient"], model.coef_[table["feature"]])
    assert {"slope", "univariate_effect", "p_value", "q_value"} <= set(table)
    bare = model.to_frame(all=True)
    assert "p_value" not in bare
    assert len(bare) == D


def test_classes_have_means_and_coefficients_of_their_own():
    scaled = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    model = AutoIRKSNClassifier().fit(scaled, THREE)
    table = model.to_frame(scaled, THREE, all=True)
    assert {"mean of a", "mean of b", "mean of c", "coefficient of a"} <= set(table)


def test_adjusted_for_is_no_feature():
    model = IRKSN(k=2, max_iter=50, unpenalized=[3]).fit(X, Y)
    assert 3 not in set(model.to_frame(X, Y, all=True)["feature"])


def test_x_and_y_belong_together_and_to_the_whole_table():
    model = IRKSN(k=2, max_iter=50).fit(X, Y)
    for given in ({"X": X, "all": True}, {"X": X, "y": Y}):
        with pytest.raises(ValueError, match="X and y together, and only with all=True"):
            model.to_frame(**given)
    with pytest.raises(ValueError, match="features"):
        model.to_frame(X[:, :5], Y, all=True)


def test_a_ranked_list_runs_from_the_surest_rise_to_the_surest_fall():
    lines = ranked_list([f"g{j}" for j in range(D)], univariate(X, Y, "numbers")).splitlines()
    names, scores = zip(*(line.split("\t") for line in lines), strict=True)
    assert "g4" not in names
    assert len(names) == D - 1
    assert names[0] == "g0"
    values = [float(each) for each in scores]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0


@pytest.mark.parametrize("against", ["p_value", "probability"])
def test_a_volcano_has_a_point_for_each_feature_that_varies(against):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from ksupport.plotting import VolcanoDisplay

    model = AutoIRKSN().fit(X, Y)
    display = VolcanoDisplay.from_estimator(model, X, Y, against=against, most=1)
    counts = [len(each.get_offsets()) for each in display.points_]
    assert counts == [D - 1 - model.support_.sum(), model.support_.sum()]
    assert [each.get_text() for each in display.ax_.texts] == ["x0"]
    with pytest.raises(ValueError, match="against must be 'p_value' or 'probability'"):
        VolcanoDisplay.from_estimator(model, X, Y, against="height")
