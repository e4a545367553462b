"""The phase diagram holds the rates."""

import numpy as np

from ksupport.plotting import plot_recommendation
from ksupport.theory import recommend


def test_a_phase_diagram_holds_the_rates(rng):
    advice = recommend(rng.standard_normal((20, 30)), 2, n_draws=5, random_state=0)
    axes = plot_recommendation(advice)
    assert [ax.get_title() for ax in axes] == ["IRKSN", "Lasso, IRCR", "OMP, SRDI"]
    np.testing.assert_array_equal(axes[1].images[0].get_array(), advice.rates["Lasso"])
