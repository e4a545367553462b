"""A path has the lines that the iterates have, and leads to the model."""

import numpy as np
import pytest

from ksupport import IRKSN, IRKSNIC, AutoIRKSN, PathIC, path
from ksupport.datasets import make_block_data, make_example1
from ksupport.plotting import PathDisplay

from .models import CHOSEN, ONE_PATH, name


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
    ax = PathDisplay.from_result(result, truth=[1, 1, -4, 0, 0], names=names).ax_
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"\$a", "b", "c"]


def test_a_path_without_iterates_is_explained(result):
    from dataclasses import replace

    with pytest.raises(ValueError, match=r"walk it with ksupport\.path"):
        PathDisplay.from_result(replace(result, iterates=None))
    with pytest.raises(ValueError, match=r"truth must have one entry per feature, 5, got \(3,\)"):
        PathDisplay.from_result(result, truth=np.ones(3))


@pytest.mark.parametrize("model", ONE_PATH + CHOSEN, ids=name)
def test_the_path_behind_a_model_leads_to_the_model(data, model):
    """At the kept step the lines are coef_; of a refit, its support.

    `AutoIRKSN` takes the probable features, which need not be those of any iterate.
    """
    X, y, _ = data
    weights = np.linspace(1, 2, len(y)) if model in ONE_PATH else None
    model.fit(X, y, weights)
    display = PathDisplay.from_estimator(model, X, y, sample_weight=weights)
    assert display.plot(ax=display.figure_.add_subplot()).ax_.figure is display.figure_
    coef = np.zeros(40)
    (record,) = np.flatnonzero(display.t == model.n_iter_)
    coef[display.features] = [line.get_ydata()[record] for line in display.lines_]
    if not isinstance(model, AutoIRKSN):
        np.testing.assert_array_equal(np.abs(coef) > 1e-12, model.support_)
    if not isinstance(model, PathIC | IRKSNIC | AutoIRKSN):
        np.testing.assert_allclose(coef, model.coef_, rtol=1e-9, atol=1e-12)
    assert display.ax_.get_xlabel() == "step"


def test_a_path_is_walked_as_far_as_asked(data):
    X, y, w = data
    model = IRKSN(k=10, stopping="held_out", random_state=0).fit(X, y)
    display = PathDisplay.from_estimator(model, X, y, max_iter=500, truth=w)
    assert display.t[-1] == 500
    assert display.kept == model.n_iter_
    assert display.n_highlighted == 10
    with pytest.raises(ValueError, match="X has 30 rows, but the fit held out row"):
        PathDisplay.from_estimator(model, X[:30], y[:30])


def test_a_support_reached_by_exchange_is_on_no_path():
    X, y, _ = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    model = IRKSNIC(max_iter=100).fit(X, y)
    assert model.path_["t"][0] < 0
    assert PathDisplay.from_estimator(model, X, y).kept is None


def test_off_the_paths_that_of_the_model_s_size_is_drawn():
    X, y, _ = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    model = PathIC("iht").fit(X, y)
    assert model.params_ == {}
    last = PathDisplay.from_estimator(model, X, y).coefs[-1]
    assert np.count_nonzero(last) == model.support_.sum()


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
        PathDisplay.from_result(result, **options)
