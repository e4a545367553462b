"""Pictures of probabilities, sets, performance and calibration."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from ksupport import IRKSN, IRKSNIC, AutoIRKSN, NoSignalWarning
from ksupport.plotting import (
    CalibrationDisplay,
    PerformanceDisplay,
    ProbabilityDisplay,
    SetsDisplay,
)

RNG = np.random.default_rng(1)
X = RNG.standard_normal((80, 30))
X[:, 7] = X[:, 3] + 0.05 * RNG.standard_normal(80)
Y = 2 * X[:, 3] - X[:, 5] + 0.5 * RNG.standard_normal(80)
TRUTH = np.where(np.isin(np.arange(30), [3, 5]), 1.0, 0.0)


@pytest.fixture(scope="module")
def model():
    return AutoIRKSN().fit(X, Y)


def texts(ax):
    return [each.get_text() for each in ax.get_yticklabels()]


def test_bars_are_as_long_as_probabilities_and_stand_ins_are_beneath(model):
    display = ProbabilityDisplay.from_estimator(model, X, Y)
    for bar, each in zip(display.bars_, display.found, strict=True):
        assert bar.get_width() == pytest.approx(model.probability_[each.feature])
    labels = texts(display.ax_)
    assert any(label in ("or x7", "or x3") for label in labels)
    assert len(labels) == len(display.found)
    again = ProbabilityDisplay.from_estimator(
        model, X, Y, most=1, names=[f"g{j}" for j in range(30)]
    )
    assert (len(again.bars_), again.n_left) == (1, model.support_.sum() - 1)
    assert texts(again.ax_)[0].startswith("g")


def test_sets_are_drawn_with_their_members(model):
    display = SetsDisplay.from_estimator(model, X, Y)
    assert [bar.get_width() for bar in display.bars_] == [each.probability for each in model.sets_]
    assert any(label in ("x3 or x7", "x7 or x3") for label in texts(display.ax_))
    points = [line.get_xdata() for line in display.ax_.lines]
    for drawn, each in zip(points, model.sets_, strict=True):
        np.testing.assert_array_equal(drawn, model.probability_[list(each.features)])


def test_an_empty_model_is_drawn_in_words():
    with pytest.warns(NoSignalWarning):
        empty = AutoIRKSN().fit(X, np.random.default_rng(3).standard_normal(80))
    for display, words in ((ProbabilityDisplay, "no feature was"), (SetsDisplay, "no feature is")):
        drawn = display.from_estimator(empty, X, Y)
        assert any(words in text.get_text() for text in drawn.ax_.texts)


def test_performance_is_that_of_rows_held_out():
    model = IRKSNIC().fit(X, Y)
    display = PerformanceDisplay.from_estimator(model, X, Y)
    assert 0.8 < display.validation.ours.score < 1
    assert texts(display.ax_) == ["IRKSNIC", "Lasso", "ridge"]
    rows = display.plot(kind="rows").ax_
    drawn = rows.lines[1]
    np.testing.assert_array_equal(drawn.get_ydata(), Y[display.validation.rows])
    weighted = PerformanceDisplay.from_estimator(model, X, Y, sample_weight=np.ones(80), cv=3)
    assert weighted.validation.folds == 3
    with pytest.raises(ValueError, match=r"kind must be one of \('scores', 'rows'\), got 'x'"):
        display.plot(kind="x")


def test_calibration_is_scikit_learns_with_counts():
    p = RNG.uniform(size=2000) ** 2
    truth = RNG.uniform(size=2000) < p
    display = CalibrationDisplay.from_probabilities(p, truth, n_bins=7)
    true, said = calibration_curve(truth, p, n_bins=7)
    np.testing.assert_allclose(display.prob_true_, true)
    np.testing.assert_allclose(display.prob_pred_, said)
    assert display.counts_.sum() == 2000
    assert np.abs(display.prob_pred_ - display.prob_true_).max() < 0.1


def test_calibration_of_a_model(model):
    display = CalibrationDisplay.from_estimator(model, X, Y, truth=TRUTH)
    assert display.counts_.sum() == 30
    assert display.prob_true_[0] == 0


@pytest.mark.parametrize("display", [ProbabilityDisplay, SetsDisplay])
def test_models_without_probabilities_are_refused_in_words(display):
    with pytest.raises(ValueError, match="IRKSN gives no probability_; AutoIRKSN"):
        display.from_estimator(IRKSN(k=2).fit(X, Y), X, Y)
    with pytest.raises(TypeError, match="estimator must be a fitted estimator of ksupport"):
        display.from_estimator("model", X, Y)


def test_bad_input_is_refused_in_words(model):
    with pytest.raises(ValueError, match="IRKSNIC gives no probability_"):
        SetsDisplay.from_estimator(IRKSNIC().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="probability must be a vector of numbers from 0 to 1"):
        CalibrationDisplay.from_probabilities([0.5, 1.5], [0, 1])
    with pytest.raises(ValueError, match="truth must have one entry per feature, 2"):
        CalibrationDisplay.from_probabilities([0.5, 0.5], [0, 1, 1])
    with pytest.raises(ValueError, match="X has 29 features"):
        ProbabilityDisplay.from_estimator(model, X[:, 1:], Y)
    with pytest.raises(ValueError, match="one target"):
        PerformanceDisplay.from_estimator(IRKSN(k=2).fit(X, np.c_[Y, Y]), X, np.c_[Y, Y])


def test_features_of_several_responses_have_no_one_effect():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    Y = X[:, [3, 20]] @ rng.standard_normal((2, 3)) + 0.3 * rng.standard_normal((60, 3))
    model = AutoIRKSN(shared_support=True).fit(X, Y)
    drawn = ProbabilityDisplay.from_estimator(model, X, Y, names=[f"gene {j}" for j in range(30)])
    assert {each.feature for each in drawn.found if each.chosen} == {3, 20}
    (legend,) = [text.get_text() for text in drawn.ax_.get_legend().get_texts()][:1]
    assert legend == "in the model"
    assert SetsDisplay.from_estimator(model, X, Y).ax_ is not None
