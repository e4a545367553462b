"""`AutoIRKSN`: probabilities, and the model that goes with them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from ksupport import AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival, NoSignalWarning
from ksupport.datasets import make_block_data, make_correlated_data, make_fmri_process
from ksupport.design import Problem, Weights
from ksupport.metrics import support_f1

TOO_LARGE_OR_SMALL = "the largest entry of y .* has size .*; rescale y"
NOISE = "ignore:No signal:ksupport.NoSignalWarning"  # the checks hand in noise


@pytest.fixture(scope="module")
def scattered():
    truth = np.zeros(100)
    truth[[5, 30, 31, 70, 90]] = [3.0, -2.0, 2.0, 1.5, -3.0]
    X, y, w = make_correlated_data(100, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    return X, y, w


@pytest.fixture(scope="module")
def grouped():
    return make_block_data(60, 100, random_state=0)


def test_few_features_are_told_and_found(scattered):
    X, y, w = scattered
    model = AutoIRKSN().fit(X, y)
    np.testing.assert_array_equal(model.support_, w != 0)
    assert model.signal_
    assert model.probability_[w != 0].min() > 0.9
    assert model.probability_[w == 0].max() < 0.5
    assert model.expected_f1_ > 0.6
    assert {"support", "score", "size"} <= set(pd.DataFrame(model.path_))


def test_groups_are_told_and_found(grouped):
    X, y, w = grouped
    model = AutoIRKSN().fit(X, y)
    assert f"{model.support_.sum()} features" in model.decision_
    assert support_f1(w, model.coef_) > 0.7
    assert model.posterior_.size().argmax() > 5


def test_held_out_rows_tell_how_well_new_ones_are_predicted(scattered):
    X, y, _ = scattered
    model = AutoIRKSN().fit(X[:70], y[:70])
    found, there = model.performance_, model.score(X[70:], y[70:])
    assert found.baseline == 0
    assert found.standard_error > 0
    both = np.hypot(found.standard_error, found.standard_error * np.sqrt(70 / len(y[70:])))
    assert abs(found.score - there) < 3 * both


def test_noise_is_called_noise(scattered, rng):
    X, _, _ = scattered
    with pytest.warns(NoSignalWarning, match="No signal"):
        model = AutoIRKSN().fit(X, rng.standard_normal(100))
    assert not model.signal_
    assert not model.support_.any()
    assert not model.probability_.any()
    assert model.sets_ == []
    assert "No signal" in model.decision_
    assert model.performance_.score < 0.2


@pytest.mark.parametrize("of", [AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival])
def test_emphasis_changes_the_answer_and_no_probability(scattered, of):
    X, y, _ = scattered
    y = {
        AutoIRKSN: y,
        AutoIRKSNClassifier: y > np.median(y),
        AutoIRKSNSurvival: np.column_stack([np.exp(y - y.max()), np.ones(len(y))]),
    }[of]
    few, usual, many = (of(beta=beta).fit(X, y) for beta in (0.1, 1.0, 10.0))
    np.testing.assert_array_equal(usual.support_, of().fit(X, y).support_)
    for model in (few, many):
        np.testing.assert_array_equal(model.probability_, usual.probability_)
        assert model.expected_f1_ <= usual.expected_f1_
        np.testing.assert_array_equal(np.any(np.atleast_2d(model.coef_), axis=0), model.support_)
    assert 0 < few.support_.sum() <= many.support_.sum()
    assert (few.support_ <= usual.support_).all()
    assert (usual.support_ <= many.support_).all()


@pytest.mark.parametrize("beta", [0, -1.0, np.inf, np.nan, "much", None])
def test_emphasis_is_a_positive_number(scattered, beta):
    X, y, _ = scattered
    with pytest.raises((TypeError, ValueError), match="beta must be"):
        AutoIRKSN(beta=beta).fit(X, y)


def test_of_copies_one_is_named_and_the_others_stand_in_for_it(scattered):
    X, y, _ = scattered
    alone = AutoIRKSN().fit(X, y)
    model = AutoIRKSN().fit(np.hstack([X, X[:, 5:6], 1 - 2 * X[:, 5:6]]), y)
    assert alone.support_[5]
    np.testing.assert_array_equal(model.support_, [*alone.support_, False, False])
    np.testing.assert_allclose(model.coef_[:100], alone.coef_, atol=0.05)
    assert model.expected_f1_ == pytest.approx(alone.expected_f1_, abs=0.05)
    np.testing.assert_allclose(model.probability_[[5, 100, 101]], 1 / 3, atol=0.01)
    assert model.posterior_.copies == {5: (5, 100, 101)}
    (found,) = [each for each in model.sets_ if 5 in each.features]
    assert set(found.features) == {5, 100, 101}
    assert found.probability > 0.95
    assert "1 has exact copies among the features" in model.decision_


def test_copies_that_are_in_no_set_are_told_all_the_same(scattered):
    X, y, _ = scattered
    model = AutoIRKSN(beta=1000).fit(np.hstack([X, X]), y)
    told = model.to_frame().set_index("feature")
    alone = np.setdiff1d(
        np.flatnonzero(model.support_), [j for s in model.sets_ for j in s.features]
    )
    assert alone.size
    assert alone.max() < 100
    assert (told.stands_in_for[alone + 100] == alone).all()
    assert (told.coefficient[alone + 100] == 0).all()


def test_a_region_of_copies_is_one_feature_and_a_set():
    X, y, w = make_fmri_process(20, 300, region_size=30, snr=5.0, random_state=1)
    model = AutoIRKSN().fit(X, y)
    region = np.flatnonzero(w)
    assert model.get_support(indices=True).tolist() == [region[0]]
    assert set(model.sets_[0].features) <= set(region.tolist())
    assert model.posterior_.copies[int(region[0])] == tuple(region.tolist())


def test_the_order_of_features_does_not_matter(grouped, scattered, rng):
    for X, y, _ in (grouped, scattered):
        order = rng.permutation(X.shape[1])
        one, other = AutoIRKSN().fit(X, y), AutoIRKSN().fit(X[:, order], y)
        np.testing.assert_allclose(one.probability_[order], other.probability_, atol=1e-6)
        np.testing.assert_array_equal(one.support_[order], other.support_)


def test_units_do_not_matter(scattered):
    X, y, _ = scattered
    one, other = AutoIRKSN().fit(X, y), AutoIRKSN().fit(1e3 * X + 5, 1e-4 * y - 2)
    np.testing.assert_allclose(one.probability_, other.probability_, atol=1e-6)


def test_few_samples_are_not_split(scattered):
    X, y, _ = scattered
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSN().fit(X[:9], y[:9])
    assert model.performance_ is None


@pytest.fixture(scope="module")
def fitted(scattered, grouped):
    """With the defaults, on each of the two."""
    return [AutoIRKSN().fit(X, y) for X, y, _ in (scattered, grouped)]


def test_the_same_data_give_the_same_model(grouped, fitted):
    X, y, _ = grouped
    one = fitted[1]
    for other in (AutoIRKSN(n_jobs=2), AutoIRKSN(verbose=True)):
        other.fit(X, y)
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert one.decision_ == other.decision_


def test_groups_of_rows_are_passed_to_the_splitter(grouped):
    X, y, _ = grouped
    labels = np.arange(60) % 6
    by_group = AutoIRKSN(cv=GroupKFold(3), max_iter=150).fit(X, y, groups=labels)
    by_rows = AutoIRKSN(cv=list(GroupKFold(3).split(X, y, labels)), max_iter=150).fit(X, y)
    np.testing.assert_array_equal(by_group.coef_, by_rows.coef_)


def test_nothing_is_printed(grouped, capsys):
    AutoIRKSN().fit(*grouped[:2])
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize(
    "name",
    ["useless", "constant", "two rows", "one column", "duplicated", "perfect", "constant columns"],
)
@pytest.mark.filterwarnings(NOISE)
def test_odd_data_give_a_sensible_model(scattered, name, rng):
    X, y, _ = scattered
    X, y = {
        "useless": (X, rng.standard_normal(100)),
        "constant": (X, np.full(100, 3.0)),
        "two rows": (X[:2], y[:2]),
        "one column": (X[:, 5:6], y),
        "duplicated": (np.hstack([X, X]), y),
        "perfect": (X, X[:, 0] - 2 * X[:, 3]),
        "constant columns": (np.ones_like(X), y),
    }[name]
    model = AutoIRKSN(max_iter=300).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.probability_).all()
    if name in ("constant", "two rows", "constant columns"):
        assert not model.support_.any()
        np.testing.assert_allclose(model.intercept_, y.mean())
    if name == "perfect":
        assert model.support_[[0, 3]].all()
        assert model.support_.sum() <= 3  # what resembles one of them can stand in for a part
    if name == "useless":
        assert not model.support_.any()


def test_a_column_that_is_constant_on_a_fold_but_for_rounding_is_never_chosen():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    X[:, 3] = 0.1  # centred, it is rounding
    X[7, 3] += 1e-3
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(60)
    model = AutoIRKSN(standardize=False).fit(X, y)
    assert list(np.flatnonzero(model.support_)) == [0, 1]


@pytest.mark.parametrize("weight", [10, 0.1])
def test_the_scale_of_weights_changes_nothing(scattered, grouped, fitted, weight):
    for one, (X, y, _) in zip(fitted, (scattered, grouped), strict=True):
        other = AutoIRKSN().fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert one.decision_ == other.decision_


def test_unexplained_is_a_share_of_what_has_weight(scattered):
    X, y, _ = scattered
    wrong = np.where(np.arange(100) < 10, 1e6, y)
    weights = np.repeat([0.0, 1.0], [10, 90])
    one, other = (AutoIRKSN().fit(X, each, sample_weight=weights) for each in (y, wrong))
    assert one.decision_ == other.decision_
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("size", [1e154, 1e-160])
def test_a_y_that_cannot_be_squared_is_refused(scattered, size):
    X, y, _ = scattered
    with pytest.raises(ValueError, match=TOO_LARGE_OR_SMALL):
        AutoIRKSN().fit(X, y * size)


def test_unequal_weights_do_not_lose_a_row_to_rounding(rng):
    X = rng.standard_normal((10, 4))
    y = X[:, 0] + 0.1 * rng.standard_normal(10)
    for _ in range(20):
        model = AutoIRKSN(max_iter=20).fit(X, y, sample_weight=rng.uniform(0.5, 1, 10))
        assert model.performance_ is not None


@pytest.mark.parametrize(("n", "d"), [(60, 100), (150, 60)])
def test_noise_that_knows_nothing_of_uneven_weights_is_called_noise(n, d):
    called = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, weights = rng.standard_normal((n, d)), rng.uniform(0, 2, n) ** 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoSignalWarning)
            called += AutoIRKSN().fit(X, rng.standard_normal(n), sample_weight=weights).signal_
    assert called <= 1


def test_rows_count_as_far_as_weights_are_precisions():
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((2000, 3)), rng.uniform(0, 2, 2000)
    e = rng.standard_normal(2000)

    def counted(y, meaning="relative", w=weights):
        given = Weights.checked(w, 2000, meaning)
        return Problem(X, y[:, None], given, np.arange(2000), True, True).effective_share

    kish = weights.sum() ** 2 / np.sum(weights**2) / 2000
    assert counted(e) == pytest.approx(kish, abs=0.03)
    assert counted(e / np.sqrt(weights)) == pytest.approx(1.0, abs=0.06)
    assert counted(e, w=np.full(2000, 7.0)) == 1.0
    assert counted(e, "repetitions", np.round(5 * weights)) == 1.0


def test_rows_that_a_rare_feature_explains_are_not_far_off(rng):
    """Four rows of a hundred have a feature of effect 8: y alone would call them far off."""
    X = rng.standard_normal((100, 30))
    X[:, 7] = np.arange(100) < 4
    y = X[:, 2] + 8 * X[:, 7] + 0.5 * rng.standard_normal(100)
    model = AutoIRKSN(loss="huber").fit(X, y)
    assert model.probability_[[2, 7]].min() > 0.9
    assert not set(range(4)) & set(model.outliers_.tolist())
