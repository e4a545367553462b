"""The phase diagram: how often recovery conditions hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..theory import Recommendation
from ._axes import check_kind, pyplot


def plot_recommendation(advice: Recommendation) -> Any:
    """Draw the phase diagram: how often conditions hold, over support size and samples.

    Parameters
    ----------
    advice : Recommendation
        From `ksupport.theory.recommend`.

    Returns
    -------
    ndarray of matplotlib Axes
        One for each condition: that of IRKSN, of the l1 norm, and of OMP.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.plotting import plot_recommendation
    >>> from ksupport.theory import recommend
    >>> X = np.random.default_rng(0).standard_normal((40, 60))
    >>> axes = plot_recommendation(recommend(X, 2, n_draws=10, random_state=0))
    >>> [ax.get_title() for ax in axes]
    ['IRKSN', 'Lasso, IRCR', 'OMP, SRDI']
    """
    check_kind("advice", advice, Recommendation, "what ksupport.theory.recommend returned")
    panels = {"IRKSN": "IRKSN", "Lasso": "Lasso, IRCR", "OMP": "OMP, SRDI"}
    figure, axes = pyplot().subplots(
        1, len(panels), figsize=(9, 3.2), sharey=True, layout="constrained"
    )
    for ax, (method, title) in zip(axes, panels.items(), strict=True):
        rates = advice.rates[method]
        image = ax.imshow(rates, origin="lower", aspect="auto", vmin=0, vmax=1, cmap="cividis")
        for (row, column), rate in np.ndenumerate(rates):
            colour = "white" if rate < 0.6 else "black"
            ax.text(column, row, f"{rate:.0%}", ha="center", va="center", color=colour, fontsize=8)
        ax.set_xticks(range(len(advice.ks)), advice.ks)
        ax.set(title=title, xlabel="features in the support")
    axes[0].set_yticks(range(len(advice.sample_sizes)), advice.sample_sizes)
    axes[0].set_ylabel("samples")
    figure.colorbar(image, ax=axes, label="share of draws whose condition holds")
    return axes
