"""Coefficients along a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.checks import check_count
from .._common.names import names_seen
from ..design import Floats, Ints
from ..explain.models import walk_again
from ..walking import Result
from . import _axes
from ._axes import MUTED, Display, documented, name_of

LEGEND_LINES = 15  # lines beyond which a legend would be longer than the picture
FAINT = 200  # lines drawn faintly behind those that stand out


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Coefficients along a path, one line per feature.

    Build it with `from_estimator` or `from_result`; `plot` draws it again, on other axes perhaps.

    Parameters
    ----------
    t : array of shape (n_records,)
        The steps.
    coefs : array of shape (n_records, n_lines)
        Coefficients of the features drawn.
    features : array of shape (n_lines,)
        Which features these are, those that stand out first.
    n_highlighted : int
        How many stand out.
    kept : int, optional
        The step that was kept.
    names : sequence of str, optional
        Names of all features.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One per feature, in the order of ``features``.

    Examples
    --------
    >>> from ksupport import IRKSN
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import PathDisplay
    >>> X, y, w = make_example1()
    >>> model = IRKSN(k=3, alpha=0.05, fit_intercept=False).fit(X, y)
    >>> display = PathDisplay.from_estimator(model, X, y, truth=w)
    >>> len(display.lines_)  # one feature never enters
    4
    """

    _: KW_ONLY
    t: Ints
    coefs: Floats
    features: Ints
    n_highlighted: int
    kept: int | None = None
    names: Sequence[str] | None = None

    @classmethod
    @documented(
        max_iter="""int, optional
        How far to walk, to see what comes after the kept step.  None: as far as the fit, or half
        as far again as the chosen step where many paths were walked.""",
        options="\n`truth`, `n_highlighted` and `ax`, as in `from_result`.",
    )
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        max_iter: int | None = None,
        target: int = 0,
        names: Sequence[str] | None = None,
        **options: Any,
    ) -> Self:
        """Draw the path behind a fitted model.

        A model keeps its last iterate only, so the path is walked again.  The lines are in the
        units of X: at the kept step they are ``coef_``, unless the model refits its support.
        """
        _axes.check_is_supported(estimator)
        result = walk_again(estimator, X, y, sample_weight, max_iter, target)
        names = names_seen(estimator) if names is None else names
        return cls.from_result(result, names=names, **options)

    @classmethod
    @documented(
        result="Result\nFrom ``ksupport.path``.",
        truth="""array of shape (d,), optional
        The true model: its features stand out, the others are faint.""",
        n_highlighted="""int
        Without `truth`, how many features stand out: the largest at the kept step.""",
    )
    def from_result(
        cls,
        result: Result,
        *,
        truth: ArrayLike | None = None,
        n_highlighted: int = 10,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the path of a `Result` whose iterates were kept."""
        _axes.check_kind("result", result, Result, "what ksupport.path returned")
        check_count("n_highlighted", n_highlighted, low=0)
        _axes.check_names(names, result.coef.size)
        if result.iterates is None:
            raise ValueError(
                "result.iterates is None: the path was walked without keeping its iterates; "
                "walk it with ksupport.path(method, X, y, ...)"
            )
        iterates = result.iterates.tocsc()
        peak = np.asarray(abs(iterates).max(axis=0).todense()).ravel()
        if truth is None:
            order = np.lexsort((-peak, -np.abs(result.coef)))
            chosen = order[: min(n_highlighted, np.count_nonzero(peak))]
        else:
            chosen = np.flatnonzero(_axes.vector("truth", truth, result.coef.size))
        rest = np.setdiff1d(np.argsort(-peak)[: len(chosen) + FAINT], chosen)
        features = np.concatenate([chosen, rest[peak[rest] > 0]]).astype(np.intp)
        t = np.asarray(result.history["t"])
        display = cls(
            t=t,
            coefs=iterates[:, features].toarray(),
            features=features,
            n_highlighted=len(chosen),
            kept=result.n_iter if result.n_iter < t[-1] else None,
            names=names,
        )
        return display.plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.axhline(0.0, color="black", linewidth=0.6)
        lines, named = [], self.n_highlighted <= LEGEND_LINES
        thin = 1.2 if len(self.features) <= LEGEND_LINES else 0.6
        for i, feature in enumerate(self.features):
            style = {"linewidth": thin, "color": MUTED, "alpha": 0.6, "zorder": 1}
            if i < self.n_highlighted:
                style = {"linewidth": 1.6, "color": f"C{i % 10}", "zorder": 3}
                style |= {"label": name_of(self.names, feature)} if named else {}
            lines += ax.plot(self.t, self.coefs[:, i], **style)
        if self.kept is not None:
            ax.axvline(self.kept, color="black", linestyle=":", label=f"kept: step {self.kept}")
        size = np.abs(self.coefs).max(axis=1, initial=0.0)
        start = max(self.t[np.argmax(size >= 0.01 * size.max())], 1)
        if self.t[-1] > 100 * start:  # from where the first coefficient can be seen
            ax.set(xscale="log", xlim=(start, self.t[-1]))
        ax.set(xlabel="step", ylabel="coefficient")
        if ax.get_legend_handles_labels()[0]:
            beside = {"bbox_to_anchor": (1, 1)} if named else {}
            ax.legend(fontsize="small", frameon=False, loc="upper left", **beside)
        self.lines_ = lines
