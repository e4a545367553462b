"""What all displays share: one call makes them, for every estimator."""

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso

from ksupport import IRKSN, IRKSNCV, IRKSNIC, AutoIRKSN
from ksupport.plotting import (
    CertificateDisplay,
    HeatmapDisplay,
    PathDisplay,
    StoppingDisplay,
    SupportDisplay,
    plot_recommendation,
)

from .models import CHOSEN, ONE_PATH, name

DISPLAYS: list[Any] = [
    PathDisplay, StoppingDisplay, SupportDisplay, CertificateDisplay, HeatmapDisplay,
]  # fmt: skip


@pytest.mark.parametrize("model", ONE_PATH[:1] + ONE_PATH[3:] + CHOSEN, ids=name)
def test_one_call_makes_every_display_of_every_estimator(data, model):
    X, y, _ = data
    model = clone(model).fit(X, y)
    for display in DISPLAYS:
        drawn = display.from_estimator(model, X, y, sample_weight=None)
        assert drawn.ax_.figure is drawn.figure_


@pytest.mark.parametrize("display", DISPLAYS)
def test_every_display_is_called_alike(display):
    first = list(inspect.signature(display.from_estimator).parameters.values())[:4]
    assert [each.name for each in first] == ["estimator", "X", "y", "sample_weight"]
    assert [each.kind == each.KEYWORD_ONLY for each in first] == [False, False, False, True]
    assert [each.default is each.empty for each in first] == [True, True, True, False]


@pytest.mark.parametrize("display", DISPLAYS)
def test_data_of_another_fit_are_refused(data, display):
    X, y, _ = data
    model = IRKSN(k=3, max_iter=20).fit(X, y)
    with pytest.raises(ValueError, match="X has 39 features"):
        display.from_estimator(model, X[:, 1:], y)
    with pytest.raises(ValueError, match="sample_weight"):
        display.from_estimator(model, X, y, sample_weight=np.ones(len(y) - 1))


@pytest.mark.parametrize("drawn", [PathDisplay, StoppingDisplay, SupportDisplay])
def test_several_targets_are_drawn_one_at_a_time(data, drawn):
    X, y, _ = data
    Y = np.c_[y, y[::-1]]
    model = IRKSN(k=5, max_iter=50).fit(X, Y)
    display = PathDisplay.from_estimator(model, X, Y, target=1)
    np.testing.assert_allclose(display.coefs[-1], model.coef_[1][display.features])
    assert StoppingDisplay.from_estimator(model, X, Y, target=1).kept == model.n_iter_[1]
    np.testing.assert_array_equal(
        SupportDisplay.from_estimator(model, X, Y, target=1).coef, model.coef_[1]
    )
    with pytest.raises(ValueError, match="target must be an integer between 0 and 1, got 2"):
        drawn.from_estimator(model, X, Y, target=2)


def test_a_model_that_is_not_fitted_is_refused(data):
    X, y, _ = data
    for display, model in (
        (PathDisplay, IRKSN()),
        (StoppingDisplay, AutoIRKSN()),
        (SupportDisplay, IRKSNIC()),
        (CertificateDisplay, IRKSNCV()),
    ):
        with pytest.raises(Exception, match="not fitted"):
            display.from_estimator(model, X, y)


@pytest.mark.parametrize("odd", [None, "a", [1.0], Lasso()], ids=repr)
def test_what_cannot_be_drawn_is_refused_by_name(odd, data):
    X, y, _ = data
    for draw, argument in (
        (lambda: PathDisplay.from_estimator(odd, X, y), "estimator"),
        (lambda: StoppingDisplay.from_estimator(odd, X, y), "estimator"),
        (lambda: CertificateDisplay.from_estimator(odd, X, y), "estimator"),
        (lambda: PathDisplay.from_result(odd), "result"),
        (lambda: CertificateDisplay.from_report(odd), "report"),
        (lambda: StoppingDisplay.from_history(odd), "history"),
        (lambda: plot_recommendation(odd), "advice"),
    ):
        with pytest.raises(TypeError, match=f"{argument} must be .*, got {type(odd).__name__}"):
            draw()


@pytest.mark.parametrize("coef", ["a", ["a"], [np.nan], [1j], [None]], ids=repr)
def test_coefficients_are_finite_numbers(coef):
    with pytest.raises(ValueError, match="coef must be"):
        SupportDisplay.from_coef(coef)


@pytest.mark.parametrize("max_iter", [0, -1, 1.5, np.nan])
def test_a_path_is_walked_again_for_whole_steps(data, max_iter):
    X, y, _ = data
    model = IRKSN(k=5, max_iter=20).fit(X, y)
    with pytest.raises(ValueError, match="max_iter must be an integer of at least 1"):
        PathDisplay.from_estimator(model, X, y, max_iter=max_iter)


@pytest.mark.parametrize("target", [-1, 1, 0.5, "a", None])
def test_one_target_is_target_0(data, target):
    X, y, _ = data
    model = IRKSN(k=5, max_iter=20).fit(X, y)
    for draw in (StoppingDisplay.from_estimator, SupportDisplay.from_estimator):
        with pytest.raises(ValueError, match="target must be an integer between 0 and 0"):
            draw(model, X, y, target=target)


def test_a_residual_of_zero_is_drawn_on_a_linear_scale(data):
    X, y, _ = data
    ones = np.ones(len(y))
    model = IRKSN(k=2, max_iter=20).fit(X, ones)
    drawn = StoppingDisplay.from_estimator(model, X, ones)
    assert drawn.ax_.get_yscale() == "linear"


def test_a_history_that_lacks_a_column_is_told_so():
    with pytest.raises(ValueError, match="history must have the column 'n_nonzero'"):
        StoppingDisplay.from_history({"t": np.arange(3), "residual": np.ones(3)})


def test_without_matplotlib_the_extra_is_named():
    """Importing the package does not need matplotlib; drawing says what to install."""
    code = (
        "import sys; sys.modules['matplotlib'] = None; import ksupport\n"
        "try: ksupport.plotting.SupportDisplay.from_coef([1.0])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "figures need matplotlib: pip install 'ksupport[plot]'"
