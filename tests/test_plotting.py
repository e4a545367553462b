"""Pictures say what the data say: lines, bars and labels are compared with the numbers."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from ksupport import (
    IHT,
    IRCR,
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    IROSR,
    KSN,
    SRDI,
    AutoIRKSN,
    PathCV,
    PathIC,
    path,
)
from ksupport.datasets import make_block_data, make_example1, make_fmri_process
from ksupport.plotting import (
    CertificateDisplay,
    PathDisplay,
    StoppingDisplay,
    SupportDisplay,
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


@pytest.mark.parametrize("odd", [None, "a", [1.0], Lasso()], ids=repr)
def test_what_cannot_be_drawn_is_refused_by_name(odd, data):
    X, y, _ = data
    for draw, name in (
        (lambda: PathDisplay.from_estimator(odd, X, y), "estimator"),
        (lambda: StoppingDisplay.from_estimator(odd), "estimator"),
        (lambda: CertificateDisplay.from_estimator(odd, X, y), "estimator"),
        (lambda: PathDisplay.from_result(odd), "result"),
        (lambda: CertificateDisplay.from_report(odd), "report"),
        (lambda: StoppingDisplay.from_history(odd), "history"),
        (lambda: plot_recommendation(odd), "advice"),
    ):
        with pytest.raises(TypeError, match=f"{name} must be .*, got {type(odd).__name__}"):
            draw()


@pytest.mark.parametrize("coef", ["a", ["a"], [np.nan], [1j], [None]], ids=repr)
def test_coefficients_are_finite_numbers(coef):
    with pytest.raises(ValueError, match="coef must be"):
        plot_support(coef)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_highlighted": -1}, "n_highlighted must be an integer of at least 0, got -1"),
        ({"n_highlighted": 1.5}, "n_highlighted .* got 1.5"),
        ({"names": ["a"]}, r"names must have one entry per feature, 5, got \['a'\]"),
        ({"truth": ["a"] * 5}, "truth must be an array of numbers"),
        ({"truth": [np.nan] * 5}, "truth must be real and finite"),
        ({"ax": 3}, "ax must be matplotlib Axes or None, got 3"),
    ],
)
def test_odd_options_of_a_path_are_refused_by_name(result, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plot_path(result, **options)


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
            draw(model, target=target)


def test_a_residual_of_zero_is_drawn_on_a_linear_scale(data):
    X, _, _ = data
    assert plot_stopping(IRKSN(k=2, max_iter=20).fit(X, np.ones(len(X)))).get_yscale() == "linear"


def test_a_history_that_lacks_a_column_is_told_so():
    with pytest.raises(ValueError, match="history must have the column 'n_nonzero'"):
        plot_stopping({"t": np.arange(3), "residual": np.ones(3)})


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
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, [11 / 15, 11 / 15, 13 / 11, 13 / 11, 17 / 11])
    assert [text.get_text()[:5] for text in ax.texts] == ["holds"] * 2 + ["fails"] * 3


def test_a_certificate_on_dependent_columns():
    """No dual certificate exists for the signs: the bar is as long as the picture."""
    X, y, w = make_fmri_process(60, 100, random_state=0)
    texts = [text.get_text() for text in plot_certificate(recovery_report(X, w, y)).texts]
    assert "no certificate" in texts[3]
    assert texts[0].startswith("holds")


def test_a_phase_diagram_holds_the_rates(rng):
    advice = recommend(rng.standard_normal((20, 30)), 2, n_draws=5, random_state=0)
    axes = plot_recommendation(advice)
    assert [ax.get_title() for ax in axes] == ["IRKSN", "Lasso, IRCR", "OMP, SRDI"]
    np.testing.assert_array_equal(axes[1].images[0].get_array(), advice.rates["Lasso"])


# -- fitted estimators ---------------------------------------------------------------------

ONE_PATH = [
    IRKSN(k=10, max_iter=103, stopping=None),  # a last step that is on no grid
    IRKSN(k=10, stopping="held_out", standardize=True),  # rows that no seed could draw again
    IRKSN(k=10, alpha="auto", max_iter=100),
    KSN(k=10, max_iter=100),
    IRCR(max_iter=100),
    IROSR(max_iter=100),
    SRDI(max_iter=100),
    IHT(k=10, max_iter=100),
]
CHOSEN = [
    IRKSNCV(k=[5, 10], norm="nuclear", max_iter=200),
    AutoIRKSN(max_iter=200),
    PathCV("omp"),
    PathCV("lasso", one_se=True),
    PathIC("iht", {"k": [4]}, exchange=0, max_iter=100),
]


def name(model):
    return type(model).__name__


@pytest.fixture(scope="module")
def data():
    X, y, w = make_block_data(60, 40, block_size=10, n_active_blocks=1, random_state=0)
    return X * np.linspace(1, 3, 40) + 2.0, y + 5.0, w / np.linspace(1, 3, 40)


@pytest.mark.parametrize("model", ONE_PATH + CHOSEN, ids=name)
def test_the_path_behind_a_model_leads_to_the_model(data, model):
    """At the kept step the lines are coef_; of a refit, its support."""
    X, y, _ = data
    weights = np.linspace(1, 2, len(y)) if model in ONE_PATH else None
    model.fit(X, y, weights)
    display = PathDisplay.from_estimator(model, X, y, sample_weight=weights)
    assert display.plot(ax=display.figure_.add_subplot()).ax_.figure is display.figure_
    coef = np.zeros(40)
    (record,) = np.flatnonzero(display.t == model.n_iter_)
    coef[display.features] = [line.get_ydata()[record] for line in display.lines_]
    np.testing.assert_array_equal(np.abs(coef) > 1e-12, model.support_)
    if not isinstance(model, PathIC | AutoIRKSN):
        np.testing.assert_allclose(coef, model.coef_, rtol=1e-9, atol=1e-12)
    assert plot_path(model, X, y, sample_weight=weights).get_xlabel() == "step"


def test_a_path_is_walked_as_far_as_asked(data):
    X, y, w = data
    model = IRKSN(k=10, stopping="held_out", random_state=0).fit(X, y)
    display = PathDisplay.from_estimator(model, X, y, max_iter=500, truth=w)
    assert display.t[-1] == 500
    assert display.kept == model.n_iter_
    assert display.n_highlighted == 10
    with pytest.raises(ValueError, match="X has 30 rows, but the fit held out row"):
        plot_path(model, X[:30], y[:30])


def test_a_support_reached_by_exchange_is_on_no_path():
    X, y, _ = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    model = IRKSNIC(max_iter=100).fit(X, y)
    assert model.path_["t"][0] < 0
    assert PathDisplay.from_estimator(model, X, y).kept is None


@pytest.mark.parametrize("draw", [PathDisplay.from_estimator, plot_path])
def test_several_targets_are_drawn_one_at_a_time(data, draw):
    X, y, _ = data
    model = IRKSN(k=5, max_iter=50).fit(X, np.c_[y, y[::-1]])
    display = PathDisplay.from_estimator(model, X, np.c_[y, y[::-1]], target=1)
    np.testing.assert_allclose(display.coefs[-1], model.coef_[1][display.features])
    assert StoppingDisplay.from_estimator(model, target=1).kept == model.n_iter_[1]
    np.testing.assert_array_equal(
        SupportDisplay.from_estimator(model, target=1).coef, model.coef_[1]
    )
    with pytest.raises(ValueError, match="target must be an integer between 0 and 1, got 2"):
        draw(model, X, np.c_[y, y[::-1]], target=2)


@pytest.mark.parametrize("model", [*ONE_PATH[:2], *CHOSEN, IRKSNIC(max_iter=100)], ids=name)
def test_every_estimator_shows_what_decided(data, model):
    X, y, _ = data
    display = StoppingDisplay.from_estimator(model.fit(X, y))
    chosen = "least" if "score" in getattr(model, "path_", {}) else "kept"
    assert any(each.get_text().startswith(chosen) for each in display.ax_.get_legend().get_texts())
    assert len(display.lines_) == len(display.curves)
    if "loss" in getattr(model, "path_", {}):
        (record,) = np.flatnonzero(display.x == model.n_iter_)
        (loss,) = display.curves.values()
        if hasattr(model, "score_"):  # of all paths it is the chosen one that is drawn
            assert loss[record] == pytest.approx(-model.score_)
    elif chosen == "least":
        (worse,) = display.curves.values()
        assert display.x[np.argmin(worse)] == display.kept == model.support_.sum()


def test_names_of_a_frame_are_drawn(data):
    pd = pytest.importorskip("pandas")
    X, y, w = data
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    model = IHT(k=3, max_iter=50).fit(frame, y)
    ticks = [each.get_text() for each in plot_support(model).get_xticklabels()]
    assert ticks == [f"gene {j}" for j in np.flatnonzero(model.support_)]
    legend = plot_path(model, frame, y).get_legend().get_texts()
    assert {each.get_text() for each in legend} >= set(ticks)
    display = SupportDisplay.from_estimator(model, truth=w)
    assert len(display.lines_) == 2 + bool((model.support_ & (w == 0)).any())


@pytest.mark.parametrize("model", [ONE_PATH[0], CHOSEN[1]], ids=name)
def test_a_certificate_from_an_estimator(data, model):
    X, y, _ = data
    display = CertificateDisplay.from_estimator(model.fit(X, y), X, y)
    drawn = [text.get_text() for text in plot_certificate(model.certify(X, y)).texts]
    assert [text.get_text() for text in display.ax_.texts] == drawn
    assert len(display.bars_) == len(drawn)


def test_a_model_that_is_not_fitted_is_refused(data):
    X, y, _ = data
    for draw in (
        lambda: plot_path(IRKSN(), X, y),
        lambda: plot_stopping(AutoIRKSN()),
        lambda: plot_support(IRKSNIC()),
        lambda: plot_certificate(IRKSNCV(), X, y),
    ):
        with pytest.raises(Exception, match="not fitted"):
            draw()


def test_without_matplotlib_the_extra_is_named():
    """Importing the package does not need matplotlib; drawing says what to install."""
    code = (
        "import sys; sys.modules['matplotlib'] = None; import ksupport\n"
        "try: ksupport.plotting.plot_support([1.0])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "pictures need matplotlib: pip install 'ksupport[plot]'"
