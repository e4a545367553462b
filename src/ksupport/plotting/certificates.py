"""How far each recovery condition is from its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..theory import RecoveryReport
from ._axes import BAD, GOOD, MUTED, Display, check_kind, check_ours, shared_parameters

FAR = 2.0  # a condition violated by this factor or more reaches the edge of the picture


@dataclass(eq=False, repr=False)
class CertificateDisplay(Display):
    """A bar for each recovery condition: it holds where the bar ends before 1.

    Parameters
    ----------
    report : RecoveryReport
        From ``certify`` or `ksupport.theory.recovery_report`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
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

    @classmethod
    @shared_parameters
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Certify a fitted model, and draw what came of it.

        Parameters
        ----------
        {fit}
        {sample_weight}
        {ax}

        Returns
        -------
        CertificateDisplay
        """
        check_ours(estimator)
        return cls.from_report(estimator.certify(X, y, sample_weight), ax=ax)

    @classmethod
    @shared_parameters
    def from_report(cls, report: RecoveryReport, *, ax: Any = None) -> Self:
        """Draw a report.

        Parameters
        ----------
        report : RecoveryReport
            From ``certify`` or `ksupport.theory.recovery_report`.
        {ax}

        Returns
        -------
        CertificateDisplay
        """
        check_kind("report", report, RecoveryReport, "what certify or recovery_report returned")
        return cls(report).plot(ax=ax)

    @property
    def _size(self) -> tuple[float, float]:
        return 7.5, 3.0

    def _draw(self, ax: Any) -> None:
        report = self.report
        bars = []
        for place, (_, condition) in enumerate(report.conditions):
            ratio = condition.lhs / condition.rhs if condition.rhs > 0 else np.inf
            colour = GOOD if condition.holds else BAD if condition.decided else MUTED
            bars += ax.barh(place, min(ratio, FAR), color=colour, height=0.6)
            verdict = "holds" if condition.holds else "fails" if condition.decided else "undecided"
            number = f"{ratio:.3g}" if np.isfinite(ratio) else "no certificate"
            if condition.holds is False and ratio < 1:
                number += ", dependent columns"
            ax.annotate(
                f"{verdict} ({number})", (1, place), xycoords=("axes fraction", "data"),
                xytext=(5, 0), textcoords="offset points", va="center", fontsize="small",
                color=colour,
            )  # fmt: skip
        ax.axvline(1.0, color="black", linewidth=1)
        ax.set_yticks(range(len(report.conditions)), [name for name, _ in report.conditions])
        ax.invert_yaxis()  # the first condition on top
        ax.set(xlim=(0, FAR), xlabel="left side / right side: below 1, the condition holds")
        ax.set_title(f"{len(report.support)} of {report.n_features} features", fontsize="medium")
        self.bars_ = bars


def plot_certificate(source: Any, *data: Any, **options: Any) -> Any:
    """Draw how far each recovery condition is from its limit.

    Parameters
    ----------
    source : RecoveryReport or estimator
        From ``certify`` or `ksupport.theory.recovery_report`, or a fitted model.
    *data
        For a model, the X and y of its fit.
    **options
        As in `CertificateDisplay.from_report` and `CertificateDisplay.from_estimator`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import plot_certificate
    >>> from ksupport.theory import recovery_report
    >>> X, y, w = make_example1()
    >>> ax = plot_certificate(recovery_report(X, w, y))
    >>> [text.get_text() for text in ax.texts][0]
    'holds (0.733)'
    """
    known = isinstance(source, RecoveryReport)
    draw = CertificateDisplay.from_report if known else CertificateDisplay.from_estimator
    return draw(source, *data, **options).ax_
