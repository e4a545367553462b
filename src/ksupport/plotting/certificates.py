"""Recovery conditions: how far each is from its limit, and how often they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..theory import Recommendation, RecoveryReport
from ._axes import (
    BAD,
    GOOD,
    MUTED,
    Display,
    check_is_supported,
    check_kind,
    documented,
    note,
    pyplot,
)

WIDEST_RATIO = 2.0  # a condition violated by this factor or more reaches the edge of the picture


@dataclass(eq=False, repr=False)
class CertificateDisplay(Display):
    """A bar for each recovery condition: it holds where the bar ends before 1.

    Parameters
    ----------
    report : RecoveryReport
        From ``certify`` or `ksupport.theory.recovery_report`.

    Attributes
    ----------
    bars_ : list of matplotlib Rectangle
        The left side of each condition in units of its right side, in the order of
        ``report.conditions``.

    Examples
    --------
    >>> from ksupport import IRKSN
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import CertificateDisplay
    >>> X, y, w = make_example1()
    >>> model = IRKSN(k=3, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
    >>> display = CertificateDisplay.from_estimator(model, X, y)
    >>> print(f"{display.bars_[0].get_width():.3f}")
    0.733
    """

    report: RecoveryReport
    _size = 7.5, 3.0

    @classmethod
    @documented()
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Certify a fitted model, and draw what came of it."""
        check_is_supported(estimator)
        return cls.from_report(estimator.certify(X, y, sample_weight), ax=ax)

    @classmethod
    @documented(report="RecoveryReport\nFrom ``certify`` or `ksupport.theory.recovery_report`.")
    def from_report(cls, report: RecoveryReport, *, ax: Any = None) -> Self:
        """Draw a report."""
        check_kind("report", report, RecoveryReport, "what certify or recovery_report returned")
        return cls(report).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        report = self.report
        bars = []
        for place, (_, condition) in enumerate(report.conditions):
            ratio = condition.lhs / condition.rhs if condition.rhs > 0 else np.inf
            colour = GOOD if condition.holds else BAD if condition.decided else MUTED
            bars += ax.barh(place, min(ratio, WIDEST_RATIO), color=colour, height=0.6)
            verdict = "holds" if condition.holds else "fails" if condition.decided else "undecided"
            number = f"{ratio:.3g}" if np.isfinite(ratio) else "no certificate"
            if condition.holds is False and ratio < 1:
                number += ", dependent columns"
            note(ax, place, f"{verdict} ({number})", colour)
        ax.axvline(1.0, color="black", linewidth=1)
        ax.set_yticks(range(len(report.conditions)), [name for name, _ in report.conditions])
        ax.invert_yaxis()  # the first condition on top
        ax.set(
            xlim=(0, WIDEST_RATIO), xlabel="left side / right side: below 1, the condition holds"
        )
        ax.set_title(f"{len(report.support)} of {report.n_features} features", fontsize="medium")
        self.bars_ = bars


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
