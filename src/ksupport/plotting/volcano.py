"""Volcano plot: univariate effect against p-value or inclusion probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.checks import check_count
from ..design import Floats
from ..explain.features import feature_table, kind_of
from ._axes import GOOD, MUTED, Display, check_inputs, documented, legend_above, name_of

Against = Literal["p_value", "probability"]
EFFECTS = {  # what the effect of one feature by itself is called
    "numbers": "correlation with the response",
    "survival": "log hazard ratio of one standard deviation",
}


@dataclass(eq=False, repr=False)
class VolcanoDisplay(Display):
    """Effect of every feature against its p-value or probability; the model stands out.

    Parameters
    ----------
    effect : array of shape (d,)
        Univariate effect of each feature, as in ``to_frame(X, y, all=True)``.
    certainty : array of shape (d,)
        p-values, drawn as -log10, or probabilities.
    chosen : array of bool of shape (d,)
        Which features are in the model.
    against : "p_value" or "probability"
        What ``certainty`` holds.
    effect_name : str
        What the horizontal axis is called.
    names : sequence of str, optional
        Names of all features.
    most : int
        Features of the model whose names are written.

    Attributes
    ----------
    points_ : list of matplotlib PathCollection
        The features outside the model, and those in it.

    Examples
    --------
    >>> from ksupport import AutoIRKSN
    >>> from ksupport.datasets import make_correlated_data
    >>> from ksupport.plotting import VolcanoDisplay
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 97
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> display = VolcanoDisplay.from_estimator(AutoIRKSN().fit(X, y), X, y)
    >>> display.ax_.get_ylabel()
    '-log10 of the p-value'
    """

    effect: Floats
    certainty: Floats
    chosen: NDArray[np.bool_]
    _: KW_ONLY
    against: Against = "p_value"
    effect_name: str = "effect"
    names: Sequence[str] | None = None
    most: int = 10

    @classmethod
    @documented(
        against=""""p_value" or "probability"
        What the vertical axis is: p-values of each feature by itself, or probabilities of
        belonging to the model.""",
        most="int\nFeatures of the model whose names are written, the most certain.",
    )
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        against: Against = "p_value",
        most: int = 10,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw all features of the data that a model was fitted on."""
        chosen, names = check_inputs(estimator, X, y, names=names)
        check_count("most", most, low=0)
        if against not in get_args(Against):
            raise ValueError(f"against must be 'p_value' or 'probability', got {against!r}")
        if against == "probability" and chosen.probability is None:
            raise ValueError(
                f"{type(estimator).__name__} gives no probability_; use against='p_value'"
            )
        table = feature_table(estimator, X, y, names).sort_values("feature")
        return cls(
            table["univariate_effect"].to_numpy(), table[against].to_numpy(float),
            table["chosen"].to_numpy(bool), against=against, effect_name=_effect_name(estimator),
            names=table["name"].tolist(), most=most,
        ).plot(ax=ax)  # fmt: skip

    def _draw(self, ax: Any) -> None:
        height = self._height
        drawn = np.isfinite(self.effect) & np.isfinite(height)
        self.points_ = [
            ax.scatter(
                self.effect[which], height[which], s=size, color=colour, linewidths=0, label=label,
                rasterized=which.sum() > 5000,  # a vector for each would make files of megabytes
            )
            for which, size, colour, label in (
                (drawn & ~self.chosen, 8, MUTED, "not in the model"),
                (drawn & self.chosen, 24, GOOD, "in the model"),
            )
        ]  # fmt: skip
        inside = np.flatnonzero(drawn & self.chosen)
        for j in inside[np.argsort(-height[inside], kind="stable")][: self.most].tolist():
            ax.annotate(
                name_of(self.names, j), (self.effect[j], height[j]), xytext=(4, 3),
                textcoords="offset points", fontsize="small",
            )  # fmt: skip
        labels = {
            "p_value": "-log10 of the p-value",
            "probability": "probability of belonging to the model",
        }
        ax.set(xlabel=self.effect_name, ylabel=labels[self.against])
        legend_above(ax, ncols=2)

    @property
    def _height(self) -> Floats:
        if self.against == "probability":
            return self.certainty
        return np.asarray(-np.log10(np.maximum(self.certainty, np.finfo(np.float64).tiny)))


def _effect_name(estimator: Any) -> str:
    classes = getattr(estimator, "classes_", ())
    if (kind := kind_of(estimator)) in EFFECTS:
        return EFFECTS[kind]
    if len(classes) > 2:
        return "share of the variance explained by the classes"
    first, second = (str(each) for each in classes)
    return f"{second} less {first}, in standard deviations within classes"
