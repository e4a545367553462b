"""Chosen features, and the true ones if they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.checks import check_count
from .._common.names import names_seen
from ..design import Floats
from . import _axes
from ._axes import BAD, GOOD, Display, documented, name_of

MANY = 40  # features beyond which names are left out


@dataclass(eq=False, repr=False)
class SupportDisplay(Display):
    """The chosen features and, if known, the true ones.

    Parameters
    ----------
    coef : array of shape (d,)
        A model's coefficients.
    truth : array of shape (d,), optional
        The true model.
    names : sequence of str, optional
        Names of the features; shown if at most 40 are drawn.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The points: the truth, the true ones among the chosen, the false ones, where there are any.

    Examples
    --------
    >>> from ksupport import IRKSN
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import SupportDisplay
    >>> X, y, w = make_example1()
    >>> model = IRKSN(k=3, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
    >>> display = SupportDisplay.from_estimator(model, X, y, truth=w)
    >>> [line.get_label() for line in display.lines_]
    ['truth (3)', 'chosen, true (3)']
    """

    coef: Floats
    _: KW_ONLY
    truth: Floats | None = None
    names: Sequence[str] | None = None

    @classmethod
    @documented(estimator="estimator\nAnything with ``coef_``.")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        target: int = 0,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the features of a fitted linear model.

        Only the shapes of X and y are used; every display takes them.
        """
        _axes.check_data(estimator, X, y, sample_weight)
        coefs = np.atleast_2d(estimator.coef_)
        check_count("target", target, low=0, high=len(coefs) - 1)
        names = names_seen(estimator) if names is None else names
        coef = coefs[target].copy()
        coef[getattr(estimator, "unpenalized_", [])] = 0.0  # in the model, but not chosen
        return cls.from_coef(coef, truth=truth, names=names, ax=ax)

    @classmethod
    @documented(coef="array of shape (d,)\nA model's coefficients.")
    def from_coef(
        cls,
        coef: ArrayLike,
        *,
        truth: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw coefficients."""
        w = _axes.real("coef", coef)
        if w.ndim != 1:
            raise ValueError(
                f"coef must be a vector, got shape {w.shape}; draw one target at a time"
            )
        _axes.check_names(names, w.size)
        true = None if truth is None else _axes.vector("truth", truth, w.size)
        return cls(w, truth=true, names=names).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        w, true = self.coef, self.truth
        shown = np.flatnonzero(w if true is None else (w != 0) | (true != 0))
        few, place = len(shown) <= MANY, np.arange(len(shown))
        ax.axhline(0.0, color="black", linewidth=0.6)
        found, lines = w[shown] != 0, []
        right = found if true is None else found & (true[shown] != 0)
        if true is not None:
            at = true[shown] != 0
            lines += ax.plot(
                place[at], true[shown][at], "o", markerfacecolor="none", color="black",
                markersize=9 if few else 5, label=f"truth ({at.sum()})", linestyle="none",
            )  # fmt: skip
        labels = ("chosen", "") if true is None else ("chosen, true", "chosen, false")
        for mask, colour, label in ((right, GOOD, labels[0]), (found & ~right, BAD, labels[1])):
            if mask.any():
                ax.vlines(place[mask], 0, w[shown][mask], color=colour, linewidth=2 if few else 1)
                lines += ax.plot(
                    place[mask], w[shown][mask], "o", color=colour, markersize=5 if few else 3,
                    linestyle="none", label=f"{label} ({mask.sum()})",
                )  # fmt: skip
        ticks = [name_of(self.names, j) for j in shown] if few else []
        crowded = {"rotation": 90, "fontsize": "x-small"} if len(shown) > 8 else {}
        ax.set_xticks(place[: len(ticks)], ticks, **crowded)
        ax.set(xlabel="feature" if few else "features, in order", ylabel="coefficient")
        if len(shown):
            ax.legend(frameon=False, fontsize="small")
        self.lines_ = lines
