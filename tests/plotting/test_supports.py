"""Features are counted and named."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from ksupport import IHT
from ksupport.plotting import PathDisplay, StoppingDisplay, SupportDisplay


@pytest.mark.parametrize("d", [20, 200])
def test_support_counts_hits_and_misses(d):
    coef, truth = np.zeros(d), np.zeros(d)
    coef[: d // 2], truth[d // 4 : d] = 1.0, 2.0
    legend = SupportDisplay.from_coef(coef, truth=truth).ax_.get_legend()
    labels = [text.get_text() for text in legend.get_texts()]
    truths, hits, misses = len(truth[truth != 0]), d // 2 - d // 4, d // 4
    assert labels == [f"truth ({truths})", f"chosen, true ({hits})", f"chosen, false ({misses})"]
    (label,) = SupportDisplay.from_coef(coef).ax_.get_legend().get_texts()
    assert label.get_text() == f"chosen ({d // 2})"
    assert SupportDisplay.from_coef(np.zeros(d)).ax_.get_legend() is None
    with pytest.raises(ValueError, match="one target at a time"):
        SupportDisplay.from_coef(np.ones((2, d)))


def test_the_support_of_any_linear_model_is_drawn(data):
    X, y, _ = data
    lasso = Lasso(alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(SupportDisplay.from_estimator(lasso, X, y).coef, lasso.coef_)
    with pytest.raises(TypeError, match="estimator must be a fitted estimator of ksupport, got"):
        StoppingDisplay.from_estimator(lasso, X, y)


def test_names_of_a_frame_are_drawn(data):
    pd = pytest.importorskip("pandas")
    X, y, w = data
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    model = IHT(k=3, max_iter=50).fit(frame, y)
    ax = SupportDisplay.from_estimator(model, frame, y).ax_
    ticks = [each.get_text() for each in ax.get_xticklabels()]
    assert ticks == [f"gene {j}" for j in np.flatnonzero(model.support_)]
    legend = PathDisplay.from_estimator(model, frame, y).ax_.get_legend().get_texts()
    assert {each.get_text() for each in legend} >= set(ticks)
    display = SupportDisplay.from_estimator(model, frame, y, truth=w)
    assert len(display.lines_) == 2 + bool((model.support_ & (w == 0)).any())
