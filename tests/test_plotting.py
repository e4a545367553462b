"""Pictures say what the data say: lines, bars and labels are compared with the numbers."""

import subprocess
import sys

import numpy as np
import pytest

from ksupport import IRKSN, path
from ksupport.datasets import make_block_data, make_example1, make_fmri_process
from ksupport.plotting import (
    PathDisplay,
    plot_certificate,
    plot_path,
    plot_recommendation,
    plot_stopping,
    plot_support,
)
from ksupport.theory import recommend, recovery_report

matplotlib = pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    from matplotlib import pyplot

    yield
    for number in pyplot.get_fignums():  # what cannot be drawn fails here
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


@pytest.fixture(scope="module")
def result():
    X, y, _ = make_example1()
    return path("irksn", X, y, k=3, alpha=0.05, max_iter=500)


def test_a_path_has_a_line_for_every_feature_that_was_ever_chosen(result):
    display = PathDisplay.from_result(result)
    ever = np.flatnonzero(abs(result.iterates).sum(axis=0))
    assert sorted(display.features) == list(ever)
    for feature, line in zip(display.features, display.lines_, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), result.history["t"])
        np.testing.assert_array_equal(line.get_ydata(), result.iterates.toarray()[:, feature])
    assert display.ax_.figure is display.figure_
    other = display.figure_.add_subplot()
    assert display.plot(ax=other).ax_ is other


def test_the_truth_stands_out_and_names_are_shown(result):
    names = ["$a", "b", "c", "d", "e"]
    ax = plot_path(result, truth=[1, 1, -4, 0, 0], names=names)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"\$a", "b", "c"]


def test_a_path_without_iterates_is_explained(result):
    from dataclasses import replace

    with pytest.raises(ValueError, match=r"walk it with ksupport\.path"):
        plot_path(replace(result, iterates=None))
    with pytest.raises(ValueError, match=r"truth must have one entry per feature, 5, got \(3,\)"):
        plot_path(result, truth=np.ones(3))


def test_stopping_marks_the_least_validation_error():
    X, y, _ = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    model = IRKSN(k=10, stopping="held_out", random_state=0).fit(X, y)
    ax = plot_stopping(model.history_)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"least: step {model.n_iter_}" in labels
    assert len(plot_stopping(IRKSN(k=10, max_iter=50).fit(X, y).history_).lines) == 1


@pytest.mark.parametrize("d", [20, 200])
def test_support_counts_hits_and_misses(d):
    coef, truth = np.zeros(d), np.zeros(d)
    coef[: d // 2], truth[d // 4 : d] = 1.0, 2.0
    labels = [text.get_text() for text in plot_support(coef, truth).get_legend().get_texts()]
    truths, hits, misses = len(truth[truth != 0]), d // 2 - d // 4, d // 4
    assert labels == [f"truth ({truths})", f"chosen, true ({hits})", f"chosen, false ({misses})"]
    (label,) = plot_support(coef).get_legend().get_texts()
    assert label.get_text() == f"chosen ({d // 2})"
    assert plot_support(np.zeros(d)).get_legend() is None
    with pytest.raises(ValueError, match="one target at a time"):
        plot_support(np.ones((2, d)))


def test_a_certificate_draws_every_condition():
    X, y, w = make_example1()
    ax = plot_certificate(recovery_report(X, w, y))
    widths = [bar.get_width() for bar in ax.patches][::-1]
    np.testing.assert_allclose(widths, [11 / 15, 11 / 15, 13 / 11, 13 / 11, 17 / 11])
    assert [text.get_text()[:5] for text in ax.texts][::-1] == ["holds"] * 2 + ["fails"] * 3


def test_a_certificate_on_dependent_columns():
    """No dual certificate exists for the signs: the bar is as long as the picture."""
    X, y, w = make_fmri_process(60, 100, random_state=0)
    texts = [text.get_text() for text in plot_certificate(recovery_report(X, w, y)).texts][::-1]
    assert "no certificate" in texts[3]
    assert texts[0].startswith("holds")


def test_a_phase_diagram_holds_the_rates(rng):
    advice = recommend(rng.standard_normal((20, 30)), 2, n_draws=5, random_state=0)
    axes = plot_recommendation(advice)
    assert [ax.get_title() for ax in axes] == ["IRKSN", "Lasso, IRCR", "OMP, SRDI"]
    np.testing.assert_array_equal(axes[1].images[0].get_array(), advice.rates["Lasso"])


def test_without_matplotlib_the_extra_is_named():
    """Importing the package does not need matplotlib; drawing says what to install."""
    code = (
        "import sys; sys.modules['matplotlib'] = None; import ksupport\n"
        "try: ksupport.plotting.plot_support([1.0])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "pictures need matplotlib: pip install 'ksupport[plot]'"
