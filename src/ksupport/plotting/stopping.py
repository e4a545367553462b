"""The stopping criterion along a path, or a criterion over sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..choosing.selection import Selection
from ..design import Floats, Ints
from ..explain.models import step_of
from ._axes import BAD, GOOD, MUTED, Display, check_inputs, check_kind, documented, legend_above


@dataclass(eq=False, repr=False)
class StoppingDisplay(Display):
    """What decided where to stop: errors along a path, or a criterion over sizes.

    For a model of one path: the residual and, if rows were held out, their error.  For one chosen
    by cross-validation: the mean loss of the chosen path, with its standard error.  For one chosen
    by an information criterion: the least value for each number of features.  Along a path, the
    number of features has an axis of its own, on the right.

    Parameters
    ----------
    x : array of shape (n,)
        Steps, or numbers of features.
    curves : mapping of str to array of shape (n,)
        What was measured.
    spread : array of shape (n,), optional
        Standard error of the last curve.
    sizes : array of shape (n,), optional
        Number of features at each step.
    kept : int, optional
        Which x was kept.
    xlabel, ylabel, yscale : str
        Of the axes.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One per curve.

    Examples
    --------
    >>> from ksupport import IRKSNCV
    >>> from ksupport.datasets import make_block_data
    >>> from ksupport.plotting import StoppingDisplay
    >>> X, y, w = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    >>> model = IRKSNCV(k=[5, 10], random_state=0).fit(X, y)
    >>> display = StoppingDisplay.from_estimator(model, X, y)
    >>> display.kept == model.n_iter_
    True
    """

    _: KW_ONLY
    x: Ints
    curves: Mapping[str, Floats]
    spread: Floats | None = None
    sizes: Floats | None = None
    kept: int | None = None
    xlabel: str = "step"
    ylabel: str = "error"
    yscale: str = "log"

    @classmethod
    @documented()
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        target: int = 0,
        ax: Any = None,
    ) -> Self:
        """Draw what decided where a fitted model stops.

        The fit has kept the curves.  Only the shapes of X and y are used; every display takes them.
        """
        chosen, _ = check_inputs(estimator, X, y, sample_weight)
        kept = step_of(chosen, target)
        if chosen.how == "path":
            return cls.from_history(chosen.histories[target], kept=kept, ax=ax)
        display = cls._of_folds(chosen) if chosen.how == "folds" else cls._of_criterion(chosen)
        return display.plot(ax=ax)

    @classmethod
    @documented(
        history="History\n``model.history_`` or ``result.history``.",
        kept="int, optional\nThe step that was kept.",
    )
    def from_history(
        cls, history: Mapping[str, NDArray[Any]], *, kept: int | None = None, ax: Any = None
    ) -> Self:
        """Draw what a stopping rule saw: residual, validation error and number of features."""
        check_kind("history", history, Mapping, "model.history_ or result.history")
        if missing := {"t", "n_nonzero", "residual"} - set(history):
            raise ValueError(f"history must have the column {min(missing)!r}, got {history!r}")
        curves = {}
        for name in ("residual", "validation"):
            if name in history:
                values = np.asarray(history[name], np.float64)
                curves[name] = values / (values[0] if values[0] > 0 else 1.0)
        display = cls(
            x=history["t"], curves=curves, sizes=history["n_nonzero"], kept=kept,
            ylabel="error, relative to the start",
            yscale="log" if np.any(history["residual"]) else "linear",
        )  # fmt: skip
        return display.plot(ax=ax)

    @classmethod
    def _of_folds(cls, chosen: Selection) -> Self:
        """The loss along the path that folds have chosen."""
        columns = ("t", "loss", "loss_se", "size")
        t, loss, spread, sizes = (chosen.of_paths(name)[chosen.path] for name in columns)
        changes = np.flatnonzero(np.diff(loss))
        walked = slice(changes[-1] + 2 if changes.size else 1)  # beyond, the last loss is repeated
        return cls(
            x=t[walked], curves={"folds": loss[walked]}, spread=spread[walked],
            sizes=sizes[walked], kept=chosen.steps[0], ylabel="loss on held-out folds",
            yscale="linear",
        )  # fmt: skip

    @classmethod
    def _of_criterion(cls, chosen: Selection) -> Self:
        """The criterion over the number of features."""
        name = "evidence" if chosen.by == "evidence" else str(chosen.by).upper()
        sizes, worse = chosen.least_scores()
        return cls(
            x=sizes, curves={name: worse}, kept=chosen.size,
            xlabel="features", ylabel=f"{name} above its least", yscale="linear",
        )  # fmt: skip

    def _counted(self, at: Any) -> str:
        """A place on the axis in words: a step, or so many features."""
        if self.xlabel != "features":
            return f"{self.xlabel} {at}"
        return f"{at} feature{'' if at == 1 else 's'}"

    def _draw(self, ax: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        if self.sizes is not None:
            self._count(ax, self.sizes)
        lines = []
        for (name, values), colour in zip(self.curves.items(), (GOOD, BAD), strict=False):
            lines += ax.plot(self.x, values, color=colour, label=name)
        if self.spread is not None:
            low, high = values - self.spread, values + self.spread
            ax.fill_between(self.x, low, high, color=colour, alpha=0.2, linewidth=0)
        if name != "residual":
            best = int(np.argmin(values))
            label = f"least: {self._counted(self.x[best])}"
            ax.plot(self.x[best], values[best], "o", color=colour, label=label)
        if self.kept is not None:
            label = f"kept: {self._counted(self.kept)}"
            ax.axvline(self.kept, color="black", linestyle=":", label=label)
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, yscale=self.yscale)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        legend_above(ax, ncols=4)
        self.lines_ = lines

    def _count(self, ax: Any, sizes: Floats) -> None:
        right = ax.twinx()
        right.step(self.x, sizes, where="post", color=MUTED, linewidth=1)
        right.set_ylabel("features", color=MUTED)
        right.tick_params(axis="y", colors=MUTED)
        right.set_ylim(bottom=0)
        ax.set_zorder(right.get_zorder() + 1)  # errors in front of the counts
        ax.patch.set_visible(False)
