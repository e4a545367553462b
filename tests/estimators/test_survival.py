"""`AutoIRKSNSurvival`: scikit-survival's conventions, and its results."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score

from ksupport import (
    IRKSN,
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    NoSignalWarning,
)
from ksupport.losses import Cox
from ksupport.metrics import concordance, support_f1

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 60)) + 1.0
ETA = 2.0 * (X[:, 3] - X[:, 7])
DIED, LEFT = RNG.exponential(np.exp(-ETA)), RNG.exponential(3.0, 120)
Y = np.column_stack([np.minimum(DIED, LEFT), DIED <= LEFT])
STRUCTURED = np.array([(bool(e), t) for t, e in Y], [("event", bool), ("time", float)])


@pytest.fixture(scope="module")
def model():
    return AutoIRKSNSurvival().fit(X, Y)


def test_it_finds_the_features(model):
    assert model.probability_[[3, 7]].min() > 0.9
    assert support_f1(np.isin(np.arange(60), [3, 7]), model.coef_) >= 0.8
    assert model.signal_
    assert model.intercept_ == 0
    np.testing.assert_allclose(model.coef_[[3, 7]], [2, -2], atol=0.6)
    assert np.corrcoef(model.predict(X), X @ model.coef_)[0, 1] > 0.95
    assert model.score(X, Y) > 0.8


def test_y_may_be_structured_or_a_data_frame(model):
    frame = pd.DataFrame({"time": Y[:, 0], "event": Y[:, 1]})
    booleans = frame.assign(event=frame["event"] == 1)
    for y in (STRUCTURED, frame, booleans):
        other = clone(model).fit(X, y)
        np.testing.assert_array_equal(other.coef_, model.coef_)
        assert other.score(X, y) == model.score(X, Y)


@pytest.mark.parametrize(
    "frame",
    [
        lambda time, event: pd.DataFrame({"time": time, "event": event}),
        lambda time, event: pd.DataFrame({"event": event, "time": time}),
        lambda time, event: pd.DataFrame({"died": event, "months": time}).astype(
            {"died": "boolean", "months": "Float64"}
        ),
        lambda time, event: pd.DataFrame({"time": time, "event": event.astype(int)}),
        lambda time, event: pd.DataFrame({"time": time, "event": event}, dtype=object),
        lambda time, event: pytest.importorskip("polars").DataFrame({"time": time, "event": event}),
    ],
)
def test_a_column_of_booleans_is_the_event_and_the_other_the_time(frame):
    np.testing.assert_array_equal(Cox().checked(frame(Y[:, 0], Y[:, 1] == 1)), Y)


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (pd.DataFrame({"time": ["1 year"] * 3, "event": True}), "columns time and event"),
        (pd.DataFrame({"event": [1, 0, 1], "time": [3.0, 4.0, 5.0]}), "must be 0 .censored."),
        (pd.DataFrame({"time": [1.0, 2.0, None], "event": True}), "NaN"),
        (pd.DataFrame([[1.0, True]], columns=["a", "a"]), "two columns of one name: a, a"),
        (pd.DataFrame({"time": [3.0, 4.0, 5.0]}), "columns time and event"),
        (pd.DataFrame({"x": [True, False], "y": [True, False]}).assign(z="a"), "columns time"),
        (np.zeros(3, [("a", bool), ("b", bool)]), "one field of booleans"),
    ],
)
def test_other_data_frames_are_refused_in_words(frame, what):
    with pytest.raises(ValueError, match=what):
        Cox().checked(frame)


@pytest.mark.parametrize(
    ("beta", "error", "words"),
    [
        (1e160, ValueError, "beta must be at most 1e.06, got 1e.160"),
        ("1", TypeError, "beta must be a number, got the text '1'"),
        (0, ValueError, "beta must be positive"),
        (np.nan, ValueError, "beta must be positive"),
        ([1, 2], TypeError, "beta must be one number"),
    ],
)
@pytest.mark.parametrize("kind", [AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival])
def test_beta_is_a_positive_number_that_can_be_squared(kind, beta, error, words):
    with pytest.raises(error, match=words):
        kind(beta=beta).fit(X, Y)


def test_cumulative_hazards_far_from_the_data_are_finite(model):
    far = X[:1] + np.outer([1e3, -1e3, 1e200, -1e200], np.sign(model.coef_))
    hazards = model.predict_cumulative_hazard_function(far, return_array=True)
    survival = model.predict_survival_function(far, return_array=True)
    assert np.isfinite(hazards).all()
    assert (np.diff(hazards, axis=1) >= 0).all()
    past = np.searchsorted(model.unique_times_, Y[Y[:, 1] == 1, 0].min())
    assert (survival[[0, 2], past:] == 0).all()
    assert (survival[[1, 3]] == 1).all()


def test_breslow_s_hazard_beside_risks_of_any_size():
    """Times at which only rows of tiny risk are left have hazards of their own, e^1000 apart."""
    model = AutoIRKSNSurvival()
    eta, time = np.array([0.0, -1000.0, -2000.0]), np.array([1.0, 2.0, 3.0])
    model._keep_baseline(eta, np.column_stack([time, np.ones(3)]), np.array([1.0, 2.0, 0.5]))
    by_hand = [0.0, 1000.0, 2000.0]  # logarithms of 1 / (1 e^0), 2 / (2 e^-1000), and so on
    np.testing.assert_allclose(model._log_hazard, by_hand)


GROUP = (np.arange(120) % 4 == 0) * 1.0


def adjusted_for_group(kind, y, **options):
    frame = pd.DataFrame(X[:, :10]).add_prefix("x").assign(age=X[:, 20], group=GROUP)
    return kind(unpenalized=["age", "group"], **options).fit(frame, y)


CENSORED = np.column_stack([Y[:, 0], Y[:, 1] * (GROUP == 0)])
YES = (ETA + RNG.logistic(size=120) > 0) | (GROUP == 1)
THREE = np.where(GROUP == 1, 2, YES * 1)
COUNTS = RNG.poisson(np.exp(0.3 * ETA)) * (GROUP == 0) * 1.0


@pytest.mark.parametrize(
    ("kind", "y", "options"),
    [
        (AutoIRKSNSurvival, CENSORED, {}),
        (AutoIRKSNSurvival, CENSORED, {"ties": "breslow"}),
        (AutoIRKSNClassifier, YES, {}),
        (IRKSNClassifier, YES, {"k": 3, "max_iter": 10}),
        (IRKSNClassifier, THREE, {"k": 3, "max_iter": 10}),
        (IRKSN, COUNTS, {"k": 3, "max_iter": 10, "loss": "poisson"}),
    ],
)
def test_a_covariate_that_separates_is_named(kind, y, options):
    with pytest.warns(ConvergenceWarning, match="'group' separates the rows of y") as warned:
        adjusted_for_group(kind, y, **options)
    assert not any("'age'" in str(each.message) for each in warned)


@pytest.mark.parametrize(
    ("kind", "y", "options"),
    [
        (AutoIRKSNSurvival, Y, {}),
        (IRKSNClassifier, YES ^ (np.arange(120) == 4), {"k": 3, "max_iter": 10}),  # all but one
        (IRKSN, COUNTS + (np.arange(120) == 4), {"k": 3, "max_iter": 10, "loss": "poisson"}),
        (IRKSN, ETA, {"k": 3, "max_iter": 10, "loss": "huber"}),
        (IRKSN, 1e6 * GROUP, {"k": 3, "max_iter": 10}),
    ],
)
def test_strong_covariates_that_do_not_separate_give_no_warning(kind, y, options):
    model = adjusted_for_group(kind, y, **options)
    assert np.isfinite(model.adjustment_["group"])


def test_coefficients_are_those_of_a_ridge_regression_of_cox(model):
    """The gradient of the partial likelihood on the support is along the coefficients."""
    S = model.get_support(indices=True)
    scale = X[:, S].std(axis=0)
    slope = -(X[:, S] / scale).T @ Cox().gradient(X @ model.coef_, Y)
    ratio = slope / (model.coef_[S] * scale)
    assert ratio.min() > 0
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)


def test_noise_is_called_noise():
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSNSurvival().fit(X, Y[np.random.default_rng(1).permutation(120)])
    assert not model.signal_
    assert not model.predict(X).any()
    assert model.score(X, Y) == 0.5


def test_survival_functions_fall_from_one(model):
    values = model.predict_survival_function(X, return_array=True)
    assert values.shape == (120, len(model.unique_times_))
    assert (np.diff(values, axis=1) <= 0).all()
    assert ((values >= 0) & (values <= 1)).all()
    function = model.predict_survival_function(X[:1])[0]
    np.testing.assert_allclose(function(model.unique_times_), values[0])
    hazard = model.predict_cumulative_hazard_function(X, return_array=True)
    np.testing.assert_allclose(values, np.exp(-hazard))
    with pytest.raises(ValueError, match="times must lie between 0 and"):
        function(1e9)


def test_large_offsets_do_not_overflow(model):
    moved = AutoIRKSNSurvival().fit(X + 1e4, Y)
    np.testing.assert_allclose(
        moved.predict_survival_function(X + 1e4, return_array=True),
        model.predict_survival_function(X, return_array=True),
        atol=1e-4,
    )


def test_breslow_s_estimate_is_that_of_scikit_survival(model):
    coxph = pytest.importorskip("sksurv.linear_model.coxph")
    theirs = coxph.BreslowEstimator().fit(model.predict(X), STRUCTURED["event"], Y[:, 0])
    np.testing.assert_allclose(theirs.unique_times_, model.unique_times_)
    np.testing.assert_allclose(theirs.cum_baseline_hazard_.y, model.cum_baseline_hazard_.y)
    np.testing.assert_allclose(theirs.baseline_survival_.y, model.baseline_survival_.y)
    times = np.quantile(Y[:, 0], [0.1, 0.5, 0.9])
    np.testing.assert_allclose(theirs.baseline_survival_(times), model.baseline_survival_(times))


@pytest.mark.parametrize("seed", range(5))
def test_concordance_is_that_of_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    rng = np.random.default_rng(seed)
    time, event = rng.integers(1, 12, 60) * 1.0, rng.random(60) < 0.6
    risk = rng.integers(0, 9, 60) * 1.0
    theirs = metrics.concordance_index_censored(event, time, risk)[0]
    assert concordance(np.column_stack([time, event]), risk) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.filterwarnings("ignore:.trapz. is deprecated:DeprecationWarning")  # its oldest
def test_it_works_with_scikit_survival_s_tools():
    metrics = pytest.importorskip("sksurv.metrics")
    times = np.quantile(Y[:, 0], [0.2, 0.5, 0.7])
    area = metrics.as_cumulative_dynamic_auc_scorer(AutoIRKSNSurvival(), times=times)
    assert area.fit(X, STRUCTURED).score(X, STRUCTURED) > 0.8
    brier = metrics.as_integrated_brier_score_scorer(AutoIRKSNSurvival(), times=times)
    assert brier.fit(X, STRUCTURED).score(X, STRUCTURED) > -0.2
    folds = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(AutoIRKSNSurvival(), X, STRUCTURED, cv=folds).mean() > 0.75


def test_columns_to_adjust_for_are_in_the_model_and_not_chosen():
    model = AutoIRKSNSurvival(unpenalized=[7]).fit(X, Y)
    assert model.support_[3]
    assert not model.support_[7]
    assert model.coef_[7] < -0.5
    model = AutoIRKSNSurvival(unpenalized=[7], predict_by="support").fit(X, Y)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_)


def test_ties_may_be_breslow_s():
    rough = Y.copy()
    rough[:, 0] = np.ceil(4 * rough[:, 0])
    efron, breslow = (AutoIRKSNSurvival(ties=t).fit(X, rough) for t in ("efron", "breslow"))
    assert not np.allclose(efron.coef_, breslow.coef_)
    with pytest.raises(ValueError, match="ties"):
        AutoIRKSNSurvival(ties="exact").fit(X, Y)


def test_repeated_rows_are_weights():
    weights = RNG.integers(1, 3, 120)
    times = np.repeat(np.arange(120), weights)
    once = AutoIRKSNSurvival(
        predict_by="support", ties="breslow", cv=[(np.arange(80), np.arange(80, 120))]
    )
    model = once.fit(X, Y, sample_weight=weights)
    again = concordance(Y, X @ model.coef_)
    assert again == model.score(X, Y)
    breslow = model.cum_baseline_hazard_.y[-1]
    risk = np.exp(model.predict(X))
    at = [risk[times][Y[times, 0] >= t].sum() for t in np.unique(Y[:, 0])]
    events = [Y[times, 1][Y[times, 0] == t].sum() for t in np.unique(Y[:, 0])]
    np.testing.assert_allclose(breslow, np.sum(np.array(events) / at))


def test_bad_responses_are_named():
    negative, censored = Y.copy(), Y.copy()
    negative[5, 0] = -1.0
    censored[:, 1] = 0
    fit = AutoIRKSNSurvival().fit
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        fit(X, negative)
    with pytest.raises(ValueError, match="all 120 survival times to fit are censored"):
        fit(X, censored)
    with pytest.raises(ValueError, match="must be 0 \\(censored\\) or 1"):
        fit(X, Y[:, ::-1])
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        fit(X, None)
    with pytest.raises(ValueError, match="columns time and event"):
        fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="two columns, time and event, got 3"):
        fit(X, np.column_stack([Y, np.arange(120) % 2]))
    with pytest.raises(ValueError, match="NaN"):
        fit(X, np.where(Y[0, 0] == Y, np.nan, Y))
    with pytest.raises(ValueError, match="no comparable pair"):
        concordance(censored, ETA)
