"""feature_groups=, positive= and shared_support= in the estimators."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import (
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    NoSignalWarning,
)
from ksupport.stopping import StoppingCallback

CLASSES = {
    "one path": lambda **given: IRKSN(k=2, max_iter=40, **given),
    "criterion": lambda **given: IRKSNIC(**given),
    "folds": lambda **given: IRKSNCV(random_state=0, **given),
    "automatic": lambda **given: AutoIRKSN(**given),
}
every_class = pytest.mark.parametrize("kind", list(CLASSES))
all_but_automatic = pytest.mark.parametrize("kind", ["one path", "criterion", "folds"])


@pytest.fixture
def grouped():
    """Two groups of five matter, of sixty; those with an effect of either sign."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300)) + 0.4 * rng.standard_normal((80, 1))
    w = np.zeros(300)
    w[10:15], w[100:105] = 1.0, [1.0, -1.0, 1.0, -1.0, 1.0]
    return X, X @ w + rng.standard_normal(80), w, np.arange(300) // 5


@pytest.fixture
def joint():
    """Five responses, three features."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 200))
    W = np.zeros((5, 200))
    W[:, [3, 50, 150]] = rng.standard_normal((5, 3))
    return X, X @ W.T + rng.standard_normal((80, 5)) + np.arange(5), W


# -- groups ----------------------------------------------------------------------------------


@every_class
def test_groups_come_in_and_stay_out_together(kind, grouped):
    X, y, _, groups = grouped
    model = CLASSES[kind](feature_groups=groups).fit(X, y)
    for group in range(60):
        assert len(set(model.support_[groups == group].tolist())) == 1
    assert model.support_[[10, 100]].all()


@pytest.mark.parametrize("kind", ["criterion", "folds"])
def test_known_groups_are_found(kind, grouped):
    X, y, w, groups = grouped
    model = CLASSES[kind](feature_groups=groups).fit(X, y)
    np.testing.assert_array_equal(model.support_, w != 0)
    np.testing.assert_allclose(model.coef_, w, atol=0.6)
    assert set(model.params_) <= {"k", "alpha", "step"}
    assert "feature_groups" not in model.path_
    assert "feature_groups" not in model._selection.words


@every_class
def test_labels_lists_and_names_are_the_same(kind, grouped):
    X, y, _, groups = grouped
    X, groups = X[:, :120], groups[:120]
    expected = CLASSES[kind](feature_groups=groups).fit(X, y).coef_
    numbers = [np.flatnonzero(groups == g) for g in range(24)]
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(120)])
    names = [[f"gene {j}" for j in each] for each in numbers]
    for given, data in (
        ([f"path {g}" for g in groups], X),
        (numbers, X),
        (pd.Series(groups), frame),
        (names, frame),
        (pd.Series(groups, index=frame.columns)[::-1], frame),
        (dict(zip(frame.columns, groups.tolist(), strict=True)), frame),
        (dict(enumerate(groups)), X),
    ):
        found = CLASSES[kind](feature_groups=given).fit(data, y).coef_
        np.testing.assert_array_equal(found, expected)


def test_groups_are_judged(grouped):
    X, y, w, groups = grouped
    model = AutoIRKSN(feature_groups=groups).fit(X, y)
    np.testing.assert_array_equal(model.support_, w != 0)
    np.testing.assert_allclose(model.coef_, w, atol=0.6)
    assert model.signal_
    assert model.probability_[w != 0].min() > 0.9
    for group in range(60):
        assert np.ptp(model.probability_[groups == group]) < 1e-9
    assert model.decision_.startswith(
        "2 of 60 groups (10 features) selected, of which about 10 are expected to be right"
    )
    assert model.performance_.score > 0.6
    assert model.alternatives_ == [] or len(model.alternatives_[0][0]) % 5 == 0


def test_a_feature_that_a_mapping_leaves_out_is_by_itself(grouped):
    X, y, _, _ = grouped
    some = AutoIRKSN(feature_groups={10: "a", 11: "a"}).fit(X[:, :40], y)
    lists = AutoIRKSN(feature_groups=[[10, 11]]).fit(X[:, :40], y)
    np.testing.assert_array_equal(some.coef_, lists.coef_)
    with pytest.raises(ValueError, match="feature_groups has no label for 3; leave it out"):
        AutoIRKSN(feature_groups={3: None}).fit(X, y)


def test_levels_that_are_rare_have_the_probability_of_their_group():
    """Where a fold has none of a level's rows, that level can say nothing on it."""
    rng = np.random.default_rng(0)
    level = rng.permutation(np.repeat(np.arange(5), [24, 18, 14, 2, 2]))
    X = np.column_stack([np.eye(5)[level], rng.standard_normal((60, 45))])
    groups = np.arange(50) // 5
    y = np.array([0.0, 2.0, -2.0, 1.0, 0.0])[level] + X[:, 10:15].sum(axis=1)
    model = AutoIRKSN(feature_groups=groups).fit(X, y + rng.standard_normal(60))
    for group in range(10):
        assert np.ptp(model.probability_[groups == group]) < 1e-9
    assert set(groups[model.support_]) == {0, 2}
    assert model.support_[:5].all()


def test_unpenalised_columns_are_no_groups_to_choose_from(grouped):
    X, y, _, groups = grouped
    model = AutoIRKSN(feature_groups=groups, unpenalized=range(50, 55)).fit(X, y)
    assert model.decision_.startswith("2 of 59 groups")


@pytest.mark.parametrize(("n", "count", "size"), [(9, 3, 50), (12, 20, 5), (80, 1, 20)])
def test_few_rows_and_few_groups_of_noise_are_hardly_a_signal(n, count, size):
    called = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((n, count * size)), rng.standard_normal(n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoSignalWarning)
            called += AutoIRKSN(feature_groups=np.repeat(range(count), size)).fit(X, y).signal_
    assert called <= 2


def test_groups_in_noise_are_none(grouped):
    X, _, _, groups = grouped
    y = np.random.default_rng(3).standard_normal(80)
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSN(feature_groups=groups).fit(X, y)
    assert not model.signal_
    assert not model.support_.any()


def test_groups_are_judged_by_squares_alone(grouped):
    X, y, _, groups = grouped
    with pytest.raises(ValueError, match="feature_groups requires loss='squared', got"):
        AutoIRKSN(feature_groups=groups, loss="poisson").fit(X, np.round(np.exp(y / 9)))
    y[3] = 99.0  # is left out, and the others are judged by squares
    model = AutoIRKSN(feature_groups=groups, loss="huber").fit(X, y)
    np.testing.assert_array_equal(model.outliers_, [3])
    assert set(groups[model.support_]) == {2, 20}


@all_but_automatic
def test_groups_of_one_change_nothing(kind, grouped):
    X, y, _, _ = grouped
    X = X[:, :100]
    by = {"criterion": {"criterion": "ebic"}, "folds": {"refit": None}}.get(kind, {})
    plain = CLASSES[kind](**by).fit(X, y)
    alone = CLASSES[kind](feature_groups=range(100), **by).fit(X, y)
    if kind != "criterion":
        np.testing.assert_allclose(alone.coef_, plain.coef_, atol=1e-12)
    else:  # the same score of the same supports, though others may have been met by exchanges
        both = set(map(tuple, plain.path_["support"])) & set(map(tuple, alone.path_["support"]))
        scores = [
            dict(zip(map(tuple, m.path_["support"]), m.path_["score"], strict=True))
            for m in (plain, alone)
        ]
        assert len(both) > 3
        for support in both:
            assert scores[0][support] == pytest.approx(scores[1][support], rel=1e-9)


@every_class
@pytest.mark.parametrize("form", ["sparse", "operator", "memmap"])
def test_every_kind_of_x_has_the_same_model(kind, form, grouped, tmp_path):
    X, y, _, groups = grouped
    X = np.where(np.abs(X) > 1, X, 0.0)
    expected = CLASSES[kind](feature_groups=groups).fit(X, y).coef_
    if form == "memmap":
        X.tofile(tmp_path / "X")
        given = np.memmap(tmp_path / "X", X.dtype, "r", shape=X.shape)
    else:
        given = {"sparse": sp.csr_array, "operator": aslinearoperator}[form](X)
    found = CLASSES[kind](feature_groups=groups).fit(given, y).coef_
    np.testing.assert_allclose(found, expected, atol=1e-6)


@every_class
def test_unpenalised_columns_are_adjusted_for_by_projection(kind, grouped):
    """Frisch and Waugh: as if X and y were residuals."""
    X, y, _, groups = grouped
    age = np.random.default_rng(5).standard_normal(80)
    U = np.column_stack([np.ones(80), age])
    both = np.column_stack([age, X + np.outer(age, np.ones(300))])
    response = y + 3 * age
    options = {} if kind == "one path" else {"standardize": False}
    model = CLASSES[kind](feature_groups=["age", *groups], unpenalized=[0], **options)
    if kind in ("folds", "automatic"):  # which project by their own rows
        model.fit(both, response)
        np.testing.assert_array_equal(
            np.flatnonzero(model.support_), [*range(11, 16), *range(101, 106)]
        )
        return
    off = np.eye(80) - U @ np.linalg.pinv(U)
    expected = CLASSES[kind](feature_groups=groups, fit_intercept=False, **options).fit(
        off @ X, off @ response
    )
    model.fit(both, response)
    if kind == "one path":
        np.testing.assert_allclose(model.coef_[1:], expected.coef_, atol=1e-8)
    else:
        np.testing.assert_array_equal(model.support_[1:], expected.support_)


def test_an_unpenalised_column_is_in_no_group(grouped):
    X, y, _, _ = grouped
    model = IRKSN(k=2, feature_groups=[[0, 1, 2]], unpenalized=[1])
    with pytest.raises(ValueError, match=r"'x1' in a group, but it is unpenalized.*remove it"):
        model.fit(X, y)
    labels = ["a"] * 3 + ["b"] * 297
    assert IRKSN(k=1, feature_groups=labels, unpenalized=[1]).fit(X, y).support_.sum() <= 299


def test_sample_weights_are_repetitions(grouped):
    X, y, _, groups = grouped
    times = np.where(np.arange(80) < 30, 2, 1)
    twice = np.repeat(np.arange(80), times)
    one = IRKSN(k=2, feature_groups=groups, max_iter=30).fit(X, y, times)
    other = IRKSN(k=2, feature_groups=groups, max_iter=30).fit(X[twice], y[twice])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-7)


def test_k_beyond_the_groups_means_all(grouped):
    X, y, _, groups = grouped
    with pytest.warns(UserWarning, match="k=99 is more than n_groups=60; k=60 is used"):
        IRKSN(k=99, feature_groups=groups, max_iter=3).fit(X, y)


# -- signs -----------------------------------------------------------------------------------


@every_class
def test_no_coefficient_is_negative(kind, grouped):
    X, y, _, groups = grouped
    for given in (None, groups):
        model = CLASSES[kind](positive=True, feature_groups=given).fit(X, y)
        assert model.coef_.min() == 0.0 < model.coef_.max()
    for refit in ("ols", "ridge", None):
        assert IRKSNCV(positive=True, refit=refit).fit(X, y).coef_.min() >= 0.0


def test_a_refit_keeps_signs(grouped):
    X, y, _, _ = grouped
    model = IRKSNIC(positive=True, standardize=False).fit(X, y)
    S = model.support_
    centred = X[:, S] - X[:, S].mean(axis=0)
    np.testing.assert_allclose(model.coef_[S], nnls(centred, y - y.mean())[0], atol=1e-8)


@pytest.fixture
def lifting():
    """Three features raise the response, one lowers it."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((100, 150))
    y = X[:, [3, 50, 120]] @ [1.5, 1.0, 1.0] - X[:, 7] + rng.standard_normal(100)
    return X, y


def test_features_that_lower_the_response_are_none_where_effects_are_positive(lifting):
    X, y = lifting
    model = AutoIRKSN(positive=True).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 50, 120]
    assert model.probability_[7] < 0.01
    assert model.probability_[[3, 50, 120]].min() > 0.9
    assert model.coef_.min() == 0.0
    assert AutoIRKSN().fit(X, y).support_[7]


def test_signs_that_are_right_anyway_change_nothing(lifting):
    X, y = lifting
    y = y + X[:, 7]
    signed, either = AutoIRKSN(positive=True).fit(X, y), AutoIRKSN().fit(X, y)
    np.testing.assert_array_equal(signed.support_, either.support_)
    np.testing.assert_allclose(signed.coef_, either.coef_, atol=1e-8)


def test_where_all_effects_are_negative_there_is_no_positive_one(lifting):
    X, _ = lifting
    y = -X[:, :3].sum(axis=1) + 0.5 * np.random.default_rng(0).standard_normal(100)
    with pytest.warns(NoSignalWarning, match="No signal: no positive effect can be distinguished"):
        model = AutoIRKSN(positive=True).fit(X, y)
    assert not model.support_.any()
    with pytest.raises(ValueError, match="because no positive effect can be distinguished"):
        model.certify(X, y)


def test_blocks_of_features_that_raise_the_response_are_found_whole():
    rng = np.random.default_rng(6)
    X = 2 * np.repeat(rng.standard_normal((80, 12)), 8, axis=1) + rng.standard_normal((80, 96))
    X[:, 24:32] = -X[:, :8] + rng.standard_normal((80, 8))  # go the other way
    y = X[:, :8].sum(axis=1) + 3 * rng.standard_normal(80)
    model = AutoIRKSN(positive=True).fit(X, y)
    assert model.support_[:8].sum() >= 7
    assert not model.support_[8:].any()
    assert model.probability_[24:32].max() < 0.2
    together = [set(each.features) for each in model.sets_ if len(each.features) > 1]
    assert not any(each & set(range(24, 32)) for each in together)


@pytest.mark.parametrize("kind", ["classes", "survival", "counts"])
def test_other_losses_keep_signs(kind, lifting):
    X, y = lifting
    rng = np.random.default_rng(1)
    if kind == "classes":
        model, y = AutoIRKSNClassifier(positive=True), np.where(2 * y > 0, "yes", "no")
    elif kind == "survival":
        died, left = rng.exponential(np.exp(-y)), rng.exponential(3.0, 100)
        model, y = (
            AutoIRKSNSurvival(positive=True),
            np.column_stack([died.clip(0, left), died < left]),
        )
    else:
        model, y = AutoIRKSN(positive=True, loss="poisson"), rng.poisson(np.exp(0.4 * y)) * 1.0
    model.fit(X, y)
    assert model.coef_.min() == 0.0
    assert model.support_[3]
    assert not model.support_[7]
    assert model.probability_[7] < 0.05
    assert model.probability_[3] > 0.9


def test_more_than_two_classes_have_no_one_sign(lifting):
    X, y = lifting
    with pytest.raises(ValueError, match="3 classes, and positive=True is for two"):
        AutoIRKSNClassifier(positive=True).fit(X, np.digitize(y, [-1.0, 1.0]))


def test_classes_have_groups_and_signs(grouped):
    X, y, _, groups = grouped
    model = IRKSNClassifier(k=2, max_iter=10, feature_groups=groups).fit(X, y > 0)
    assert model.support_[[10, 100]].all()
    assert np.unique(groups[model.support_]).size * 5 == model.support_.sum()
    assert IRKSNClassifier(k=2, positive=True).fit(X, y > 0).coef_.min() >= 0.0


# -- several responses -----------------------------------------------------------------------


@every_class
def test_responses_share_their_support(kind, joint):
    X, Y, W = joint
    model = CLASSES[kind](shared_support=True).fit(X, Y)
    assert model.coef_.shape == (5, 200)
    assert model.intercept_.shape == (5,)
    assert model.predict(X).shape == (80, 5)
    assert isinstance(model.n_iter_, int)
    used = model.coef_ != 0
    np.testing.assert_array_equal(used.all(axis=0), used.any(axis=0))
    assert model.support_[[3, 50, 150]].all()
    if kind != "one path":
        np.testing.assert_array_equal(model.support_, W.any(axis=0))
        assert model.score(X, Y) > 0.5


def test_responses_are_judged_together(joint):
    X, Y, W = joint
    model = AutoIRKSN(shared_support=True).fit(X, Y)
    np.testing.assert_array_equal(model.support_, W.any(axis=0))
    np.testing.assert_allclose(model.coef_, W, atol=0.5)
    np.testing.assert_allclose(model.intercept_, np.arange(5), atol=0.6)
    assert model.probability_.shape == (200,)
    assert model.probability_[W.any(axis=0)].min() > 0.9
    assert model.decision_.startswith(
        "3 features for all 5 responses selected, of which about 3 are expected to be right"
    )
    assert "; without features: 0.00)" in model.decision_
    assert abs(model.performance_.score - model.score(X, Y)) < 0.2
    assert model.signal_
    frame = model.to_frame()
    assert list(frame["target"]) == [0, 1, 2, 3, 4] * (len(frame) // 5)
    np.testing.assert_array_equal(frame["probability"], model.probability_[frame["feature"]])
    np.testing.assert_array_equal(
        frame["coefficient"], model.coef_[frame["target"], frame["feature"]]
    )
    inside = frame[frame["stands_in_for"].isna()]["feature"]
    assert set(inside) == set(model.get_support(indices=True))
    other = AutoIRKSN(shared_support=True).fit(X, Y * 10.0 ** np.arange(5)).to_frame()
    assert list(other["feature"]) == list(frame["feature"])  # whatever the units
    assert "<th>probability</th><th>target 0</th>" in model._repr_html_().replace("\n", "")
    assert "3 features for all 5 responses" in model._repr_html_()


def test_copies_of_a_response_are_one(lifting):
    X, y = lifting
    one = AutoIRKSN().fit(X, y)
    copies = AutoIRKSN(shared_support=True).fit(X, np.column_stack([y, 2 * y, -y]))
    np.testing.assert_array_equal(copies.support_, one.support_)
    np.testing.assert_allclose(copies.coef_, np.outer([1, 2, -1], one.coef_), atol=0.1)


def test_one_column_is_one_response(joint):
    X, Y, _ = joint
    one, column = AutoIRKSN().fit(X, Y[:, 0]), AutoIRKSN(shared_support=True).fit(X, Y[:, :1])
    np.testing.assert_allclose(column.probability_, one.probability_, atol=1e-6)
    np.testing.assert_allclose(column.coef_, one.coef_[None], atol=1e-6)


def test_units_and_order_of_responses_and_features_do_not_matter(joint):
    X, Y, _ = joint
    Y = Y + np.random.default_rng(0).standard_normal((80, 1))
    expected = AutoIRKSN(shared_support=True).fit(X, Y)
    units = np.array([1e-3, 1.0, 7.0, 1e3, 50.0])
    scaled = AutoIRKSN(shared_support=True).fit(X, Y * units + 5.0)
    np.testing.assert_allclose(scaled.probability_, expected.probability_, atol=1e-6)
    np.testing.assert_allclose(scaled.coef_, expected.coef_ * units[:, None], rtol=1e-6)
    columns, order = np.random.default_rng(1).permutation(200), [3, 1, 0, 4, 2]
    turned = AutoIRKSN(shared_support=True).fit(X[:, columns], Y[:, order])
    np.testing.assert_allclose(turned.probability_, expected.probability_[columns], atol=1e-6)
    np.testing.assert_allclose(turned.coef_, expected.coef_[order][:, columns], atol=1e-6)


def test_responses_that_are_noise_alike_are_no_signal():
    """Five that share their noise say once, and not five times, what chance says."""
    called = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, shared = rng.standard_normal((60, 100)), rng.standard_normal((60, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoSignalWarning)
            model = AutoIRKSN(shared_support=True)
            called += model.fit(X, shared + 0.3 * rng.standard_normal((60, 5))).signal_
    assert called <= 1


def test_groups_signs_and_responses_go_together(grouped):
    X, _, _, groups = grouped
    rng = np.random.default_rng(5)
    W = np.where(np.isin(groups, [2, 20]), np.abs(rng.standard_normal((3, 300))), 0.0)
    Y = X @ W.T + 1.5 * rng.standard_normal((80, 3))
    known = {"shared_support": True, "feature_groups": groups, "positive": True}
    model = AutoIRKSN(beta=0.5, **known).fit(X, Y)  # the surest alone
    assert set(groups[model.support_]) == {2, 20}
    assert model.coef_.min() == 0.0
    found = "2 of 60 groups (10 features of positive effect) for all 3 responses"
    assert model.decision_.startswith(found)
    for group in range(60):
        assert np.ptp(model.probability_[groups == group]) < 1e-9


def test_unpenalised_columns_weights_and_far_rows_of_several_responses(joint):
    X, Y, W = joint
    rng = np.random.default_rng(3)
    age, weights = rng.standard_normal(80), rng.uniform(0.5, 1.5, 80)
    Y = Y + np.outer(age, np.arange(5.0))
    model = AutoIRKSN(shared_support=True, unpenalized=[0]).fit(
        np.column_stack([age, X]), Y, weights
    )
    np.testing.assert_array_equal(model.support_[1:], W.any(axis=0))
    np.testing.assert_allclose(model.adjustment_["x0"], np.arange(5.0), atol=0.6)
    wrong = Y - np.outer(age, np.arange(5.0))
    wrong[3, 2], wrong[11, 4] = 99.0, -99.0
    robust = AutoIRKSN(shared_support=True, loss="huber").fit(X, wrong)
    assert {3, 11} <= set(robust.outliers_.tolist())
    np.testing.assert_array_equal(robust.support_, W.any(axis=0))


@pytest.mark.parametrize("form", ["sparse", "operator", "memmap", "dask"])
@pytest.mark.parametrize("given", ["shared_support", "positive"])
def test_every_kind_of_x_has_the_same_answer(form, given, joint, lifting, tmp_path):
    X, Y = joint[:2] if given == "shared_support" else lifting
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    expected = AutoIRKSN(**{given: True}).fit(X, Y)
    if form == "memmap":
        X.tofile(tmp_path / "X")
        other = np.memmap(tmp_path / "X", X.dtype, "r", shape=X.shape)
    elif form == "dask":
        other = pytest.importorskip("dask.array").from_array(X, chunks=(40, 50))
    else:
        other = {"sparse": sp.csr_array, "operator": aslinearoperator}[form](X)
    found = AutoIRKSN(**{given: True}).fit(other, Y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(found.probability_, expected.probability_, atol=1e-6)
    np.testing.assert_allclose(np.asarray(found.predict(other)), expected.predict(X), atol=1e-5)


def test_rules_and_callbacks_see_all_responses(joint):
    X, Y, _ = joint
    for rule in ("held_out", "discrepancy", "no_change", "residual_ratio"):
        model = IRKSN(k=3, shared_support=True, stopping=rule, random_state=0).fit(X, Y)
        assert model.support_[[3, 50, 150]].all()
    model = IRKSN(k=3, shared_support=True, max_iter=200)
    if hasattr(model, "set_callbacks"):
        model.set_callbacks(StoppingCallback("no_change")).fit(X, Y)
        assert model.coef_.shape == (5, 200)


def test_a_warm_start_goes_on(joint):
    X, Y, _ = joint
    whole = IRKSN(k=3, shared_support=True, max_iter=40).fit(X, Y)
    parts = IRKSN(k=3, shared_support=True, max_iter=20, warm_start=True).fit(X, Y).fit(X, Y)
    assert parts.n_iter_ == 40
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-9)


def test_any_scorer_judges_all_responses(joint):
    X, Y, W = joint
    model = IRKSNCV(shared_support=True, scoring="r2", random_state=0).fit(X, Y)
    assert model.support_[W.any(axis=0)].all()
    weights = np.random.default_rng(0).uniform(0.5, 2, 80)
    assert IRKSNCV(shared_support=True).fit(X, Y, weights).support_[W.any(axis=0)].all()


def test_many_rows_are_summed_up_and_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((4000, 30))
    Y = X[:, [2, 7]] @ rng.standard_normal((2, 3)) + rng.standard_normal((4000, 3))
    few = IRKSNCV(shared_support=True, refit=None).fit(X, Y)
    judged = AutoIRKSN(shared_support=True).fit(X, Y)
    monkeypatch.setattr("ksupport.limits.SQUARES", 0)
    many = IRKSNCV(shared_support=True, refit=None).fit(X, Y)
    np.testing.assert_allclose(few.coef_, many.coef_, atol=1e-7)
    by_rows = AutoIRKSN(shared_support=True).fit(X, Y)
    np.testing.assert_allclose(judged.coef_, by_rows.coef_, atol=1e-6)
    assert judged.get_support(indices=True).tolist() == [2, 7]


def test_several_responses_need_a_shared_support_where_one_is_chosen(joint):
    X, Y, _ = joint
    for model in (IRKSNIC(), IRKSNCV(), AutoIRKSN()):
        with pytest.raises(ValueError, match=r"1d array.*shared_support=True"):
            model.fit(X, Y)


# -- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"positive": 1}, "positive must be True or False, got 1"),
        ({"shared_support": "yes"}, "shared_support must be True or False, got 'yes'"),
        ({"feature_groups": [0, 1]}, "has 2 labels, but X has n_features=200"),
        ({"feature_groups": [["a"]]}, "names the feature 'a', but X has no column names"),
        (
            {"shared_support": True, "loss": "huber"},
            "shared_support=True requires loss='squared', got loss='huber': fit the columns",
        ),
        (
            {"shared_support": True, "alpha": "auto"},
            "alpha must be a number with shared_support=True, got 'auto'",
        ),
        (
            {"feature_groups": [[0, 1]], "alpha": "auto"},
            "alpha must be a number with feature_groups, got 'auto'",
        ),
    ],
)
def test_what_cannot_be_is_named(given, words, joint):
    X, Y, _ = joint
    with pytest.raises(ValueError, match=words):
        IRKSN(k=3, **given).fit(X, Y)


def test_what_squares_alone_judge_is_refused_of_other_losses(joint):
    X, Y, _ = joint
    with pytest.raises(ValueError, match=r"shared_support=True requires loss='squared', got"):
        AutoIRKSN(shared_support=True, loss="poisson").fit(X, np.round(np.abs(Y)))


def test_certificates_are_for_single_features(grouped, joint):
    X, y, _, groups = grouped
    with pytest.raises(
        ValueError, match=r"certify requires single features, got feature_groups of 60"
    ):
        IRKSN(k=2, feature_groups=groups).fit(X, y).certify(X, y)
    X, Y, _ = joint
    with pytest.raises(ValueError, match="certify requires a model of one target, got 5"):
        IRKSN(k=2, shared_support=True).fit(X, Y).certify(X, Y)
    report = IRKSN(k=3, positive=True).fit(X, Y[:, 0]).certify(X, Y[:, 0])
    assert any("recovered with positive=True" in each for each in report.remarks)


@parametrize_with_checks(
    [
        IRKSN(positive=True),
        IRKSN(shared_support=True),
        IRKSNIC(positive=True, weights="repetitions"),
        IRKSNIC(shared_support=True),
        IRKSNCV(shared_support=True),
        AutoIRKSN(positive=True),
        AutoIRKSN(shared_support=True),
        AutoIRKSN(positive=True, shared_support=True, cv=3),
        AutoIRKSNClassifier(positive=True),
    ],
)
@pytest.mark.filterwarnings(
    "ignore:No features were selected:UserWarning", "ignore:No signal:ksupport.NoSignalWarning"
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_a_clone_keeps_the_groups(grouped):
    X, y, _, groups = grouped
    model = IRKSN(k=2, feature_groups=groups, positive=True)
    np.testing.assert_array_equal(clone(model).feature_groups, groups)
    assert clone(model).positive
