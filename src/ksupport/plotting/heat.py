"""The chosen features of all rows, in the order of the response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..explain.features import by_certainty
from ..explain.figures import HEAT_RANGE, Heat, heat_of
from ..explain.models import effects_of
from ._axes import BAD, GOOD, Display, check_inputs, documented, name_of

ROW_HEIGHT = 0.26  # inches for a feature


@dataclass(eq=False, repr=False)
class HeatmapDisplay(Display):
    """The chosen features of every row, rows in the order of the response.

    Blue is more than usual of a feature, orange less.  Features that raise the response are on
    top, the most certain first; rows go from the least response to the largest, by class, or by
    time.

    Parameters
    ----------
    heat : Heat
        Standardised features.
    names : sequence of str, optional
        Names of all features.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The map.

    Examples
    --------
    >>> from ksupport import IRKSNIC
    >>> from ksupport.datasets import make_correlated_data
    >>> from ksupport.plotting import HeatmapDisplay
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 47
    >>> X, y, w = make_correlated_data(60, 50, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> display = HeatmapDisplay.from_estimator(IRKSNIC().fit(X, y), X, y)
    >>> display.heat.values.shape
    (3, 60)
    """

    heat: Heat
    _: KW_ONLY
    names: Sequence[str] | None = None

    @classmethod
    @documented()
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the chosen features of the rows of a fit.

        Weights change neither features nor rows: only the shape of ``sample_weight`` is checked.
        """
        chosen, names = check_inputs(estimator, X, y, sample_weight, names=names, one_target=True)
        eta = np.ravel(estimator._eta(X))
        numbers, observed = estimator._validated(X, y, multi_output=False, reset=False)
        effects = effects_of(estimator, numbers)
        order = by_certainty(effects, chosen)
        heat = heat_of(estimator._loss, numbers, observed, eta, effects, order)
        return cls(heat, names=names).plot(ax)

    def __post_init__(self) -> None:
        self._size = 7.2, 1.2 + ROW_HEIGHT * max(len(self.heat.features), 3)

    def _draw(self, ax: Any) -> None:
        heat = self.heat
        shown = heat.values if heat.features.size else np.zeros((1, len(heat.rows)))
        from matplotlib.colors import LinearSegmentedColormap

        self.image_ = ax.imshow(
            shown, LinearSegmentedColormap.from_list("orange to blue", [BAD, "white", GOOD]),
            aspect="auto", interpolation="nearest", vmin=-HEAT_RANGE, vmax=HEAT_RANGE,
        )  # fmt: skip
        labels = [name_of(self.names, j) for j in heat.features]
        ax.set_yticks(range(len(labels)), labels)
        words = {"numbers": "from the least response to the largest", "classes": "by class",
                 "survival": "from the shortest time to the longest"}[heat.kind]  # fmt: skip
        ax.set(xticks=[], xlabel=f"{len(heat.rows)} rows, {words}")
        if heat.kind == "classes":
            ax.axvline(np.count_nonzero(heat.response == 0) - 0.5, color="black", linewidth=1.5)
        bar = ax.figure.colorbar(self.image_, ax=ax)
        bar.set_label("standard deviations", fontsize="small")
