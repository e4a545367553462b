"""What decided where to stop is marked."""

import numpy as np
import pytest

from ksupport import IRKSN, IRKSNIC, AutoIRKSN
from ksupport.datasets import make_block_data
from ksupport.explain.models import chosen_by
from ksupport.plotting import StoppingDisplay

from .models import CHOSEN, ONE_PATH, name


def test_stopping_marks_the_least_validation_error():
    X, y, _ = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    model = IRKSN(k=10, stopping="held_out", random_state=0).fit(X, y)
    ax = StoppingDisplay.from_history(model.history_).ax_
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"least: step {model.n_iter_}" in labels
    history = IRKSN(k=10, max_iter=50).fit(X, y).history_
    assert len(StoppingDisplay.from_history(history).ax_.lines) == 1


@pytest.mark.parametrize("model", [*ONE_PATH[:2], *CHOSEN], ids=name)
def test_every_estimator_shows_what_decided(data, model):
    X, y, _ = data
    display = StoppingDisplay.from_estimator(model.fit(X, y), X, y)
    how = chosen_by(model).how
    legend = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert any(each.startswith("least" if how == "criterion" else "kept") for each in legend)
    assert len(display.lines_) == len(display.curves)
    if how == "folds":
        (record,) = np.flatnonzero(display.x == model.n_iter_)
        (loss,) = display.curves.values()
        # of all paths it is the chosen one that is drawn
        assert loss[record] == pytest.approx(chosen_by(model).fold_errors.mean())
    elif how == "criterion":
        (worse,) = display.curves.values()
        assert display.x[np.argmin(worse)] == display.kept == model.support_.sum()


def test_numbers_of_features_are_told_as_such(data):
    X, y, _ = data
    model = IRKSNIC().fit(X, y)
    display = StoppingDisplay.from_estimator(model, X, y)
    legend = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert legend[0] == "EBIC"
    count = int(model.support_.sum())
    assert f"kept: {count} feature{'s' * (count > 1)}" in legend
    assert all(float(tick).is_integer() for tick in display.ax_.get_xticks())
    by_evidence = StoppingDisplay.from_estimator(AutoIRKSN().fit(X, y), X, y)
    assert by_evidence.ylabel in ("evidence above its least", "loss on held-out folds")
