"""Pictures of paths, stopping, supports, certificates and advice, as matplotlib axes.

Matplotlib is imported when the first picture is drawn; the extra ``plot`` installs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .design import Floats, Ints
from .path import Result
from .theory import Recommendation, RecoveryReport

GOOD, BAD, MUTED = "#0072B2", "#D55E00", "#999999"  # told apart by colour-blind readers too
NAMED = 15  # lines beyond which a legend would be longer than the picture
MANY = 40  # features beyond which names are left out
FAINT = 200  # lines drawn faintly behind those that stand out
FAR = 2.0  # a condition violated by this factor or more reaches the edge of the picture


class PathDisplay:
    """Coefficients along a path, one line per feature.

    Build it with `from_result`; `plot` draws it again, on other axes perhaps.

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
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        One per feature, in the order of ``features``.

    Examples
    --------
    >>> from ksupport import path
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import PathDisplay
    >>> X, y, w = make_example1()
    >>> result = path("irksn", X, y, k=3, alpha=0.05, max_iter=2000)
    >>> display = PathDisplay.from_result(result)
    >>> len(display.lines_)
    5
    """

    def __init__(
        self,
        *,
        t: Ints,
        coefs: Floats,
        features: Ints,
        n_highlighted: int,
        kept: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.t = t
        self.coefs = coefs
        self.features = features
        self.n_highlighted = n_highlighted
        self.kept = kept
        self.names = names

    @classmethod
    def from_result(
        cls,
        result: Result,
        *,
        truth: ArrayLike | None = None,
        n_highlighted: int = 10,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> PathDisplay:
        """Draw the path of a `Result` whose iterates were kept.

        Parameters
        ----------
        result : Result
            From ``ksupport.path``.
        truth : array of shape (d,), optional
            The true model: its features stand out, the others are faint.
        n_highlighted : int
            Without `truth`, how many features stand out: the largest at the kept step.
        names : sequence of str, optional
            Names of the features.
        ax : matplotlib Axes, optional
            Where to draw; new axes if None.

        Returns
        -------
        PathDisplay
        """
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
            chosen = np.flatnonzero(_vector("truth", truth, result.coef.size))
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

    def plot(self, ax: Any = None) -> PathDisplay:
        """Draw, on new axes if none are given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        PathDisplay
        """
        ax = _axes(ax)
        ax.axhline(0.0, color="black", linewidth=0.6)
        lines = []
        for i, feature in enumerate(self.features):
            style = {"linewidth": 1.6, "color": f"C{i % 10}", "zorder": 3}
            if self.n_highlighted <= NAMED:
                style["label"] = _name(self.names, feature)
            if i >= self.n_highlighted:
                style = {"linewidth": 0.6, "color": MUTED, "alpha": 0.6, "zorder": 1}
            lines += ax.plot(self.t, self.coefs[:, i], **style)
        if self.kept is not None:
            ax.axvline(self.kept, color="black", linestyle=":", label="kept")
        size = np.abs(self.coefs).max(axis=1, initial=0.0)
        start = max(self.t[np.argmax(size >= 0.01 * size.max())], 1)
        if self.t[-1] > 100 * start:  # from where the first coefficient can be seen
            ax.set(xscale="log", xlim=(start, self.t[-1]))
        ax.set(xlabel="step", ylabel="coefficient")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, lines
        return self


def plot_path(result: Result, **options: Any) -> Any:
    """Draw coefficients along a path, one line per feature.

    Parameters
    ----------
    result : Result
        From ``ksupport.path``.
    **options
        As in `PathDisplay.from_result`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from ksupport import path
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import plot_path
    >>> X, y, w = make_example1()
    >>> ax = plot_path(path("irksn", X, y, k=3, alpha=0.05, max_iter=2000), truth=w)
    >>> ax.get_xlabel()
    'step'
    """
    return PathDisplay.from_result(result, **options).ax_


def plot_stopping(history: Mapping[str, NDArray[Any]], *, ax: Any = None) -> Any:
    """Draw what a stopping rule saw: residual, validation error and number of features.

    Parameters
    ----------
    history : History
        ``model.history_`` or ``result.history``.
    ax : matplotlib Axes, optional
        Where to draw; new axes if None.

    Returns
    -------
    matplotlib Axes
        Those of the errors; the number of features has an axis of its own, on the right.

    Examples
    --------
    >>> from ksupport import IRKSN
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import plot_stopping
    >>> X, y, w = make_example1()
    >>> ax = plot_stopping(IRKSN(k=3).fit(X, y).history_)
    >>> ax.get_yscale()
    'log'
    """
    ax = _axes(ax)
    t = history["t"]
    right = ax.twinx()
    right.step(t, history["n_nonzero"], where="post", color=MUTED, linewidth=1)
    right.set_ylabel("features", color=MUTED)
    right.tick_params(axis="y", colors=MUTED)
    right.set_ylim(bottom=0)
    ax.set_zorder(right.get_zorder() + 1)  # errors in front of the counts
    ax.patch.set_visible(False)
    for name, colour in (("residual", GOOD), ("validation", BAD)):
        if name not in history:
            continue
        values = np.asarray(history[name], np.float64)
        start = values[0] if values[0] > 0 else 1.0
        ax.plot(t, values / start, color=colour, label=f"{name}, relative to the start")
        if name == "validation":
            best = int(np.argmin(values))
            ax.plot(
                t[best], values[best] / start, "o", color=colour, label=f"least: step {t[best]}"
            )
    ax.set(xlabel="step", ylabel="error", yscale="log")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return ax


def plot_support(
    coef: ArrayLike,
    truth: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the chosen features and, if known, the true ones.

    Parameters
    ----------
    coef : array of shape (d,)
        A model's coefficients.
    truth : array of shape (d,), optional
        The true model.
    names : sequence of str, optional
        Names of the features; shown if at most 40 are drawn.
    ax : matplotlib Axes, optional
        Where to draw; new axes if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from ksupport.plotting import plot_support
    >>> ax = plot_support([2.0, 0.0, -1.0, 0.5], truth=[2.0, 0.0, -1.0, 0.0])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['truth (2)', 'chosen, true (2)', 'chosen, false (1)']
    """
    w = np.asarray(coef, np.float64)
    if w.ndim != 1:
        raise ValueError(f"coef must be a vector, got shape {w.shape}; draw one target at a time")
    true = None if truth is None else _vector("truth", truth, w.size)
    shown = np.flatnonzero(w if true is None else (w != 0) | (true != 0))
    few = len(shown) <= MANY
    place = np.arange(len(shown)) if few else shown
    ax = _axes(ax)
    ax.axhline(0.0, color="black", linewidth=0.6)
    found = w[shown] != 0
    right = found if true is None else found & (true[shown] != 0)
    if true is not None:
        at = true[shown] != 0
        ax.plot(
            place[at], true[shown][at], "o", markerfacecolor="none", color="black",
            markersize=9 if few else 5, label=f"truth ({at.sum()})", linestyle="none",
        )  # fmt: skip
    labels = ("chosen", "") if true is None else ("chosen, true", "chosen, false")
    for mask, colour, label in ((right, GOOD, labels[0]), (found & ~right, BAD, labels[1])):
        if mask.any():
            ax.vlines(place[mask], 0, w[shown][mask], color=colour, linewidth=2 if few else 1)
            ax.plot(
                place[mask], w[shown][mask], "o", color=colour, markersize=5 if few else 3,
                linestyle="none", label=f"{label} ({mask.sum()})",
            )  # fmt: skip
    if few:
        ax.set_xticks(place, [_name(names, j) for j in shown], rotation=90 if len(shown) > 8 else 0)
    ax.set(xlabel="feature", ylabel="coefficient")
    if len(shown):
        ax.legend(frameon=False, fontsize="small")
    return ax


def plot_certificate(report: RecoveryReport, *, ax: Any = None) -> Any:
    """Draw how far each recovery condition is from its limit.

    Parameters
    ----------
    report : RecoveryReport
        From ``certify`` or `ksupport.theory.recovery_report`.
    ax : matplotlib Axes, optional
        Where to draw; new axes if None.

    Returns
    -------
    matplotlib Axes
        A bar for each condition, its left side in units of its right side: it holds where the
        bar ends before 1.

    Examples
    --------
    >>> from ksupport.datasets import make_example1
    >>> from ksupport.plotting import plot_certificate
    >>> from ksupport.theory import recovery_report
    >>> X, y, w = make_example1()
    >>> ax = plot_certificate(recovery_report(X, w, y))
    >>> [text.get_text() for text in ax.texts][-1]
    'holds (0.733)'
    """
    ax = _axes(ax, figsize=(7.5, 3.0))
    for place, (_, condition) in enumerate(report.conditions[::-1]):
        ratio = condition.lhs / condition.rhs if condition.rhs > 0 else np.inf
        decided = getattr(condition, "decided", True)
        colour = GOOD if condition.holds else BAD if decided else MUTED
        ax.barh(place, min(ratio, FAR), color=colour, height=0.6)
        verdict = "holds" if condition.holds else "fails" if decided else "undecided"
        number = f"{ratio:.3g}" if np.isfinite(ratio) else "no certificate"
        if condition.holds is False and ratio < 1:
            number += ", dependent columns"
        ax.annotate(
            f"{verdict} ({number})", (1, place), xycoords=("axes fraction", "data"),
            xytext=(5, 0), textcoords="offset points", va="center", fontsize="small", color=colour,
        )  # fmt: skip
    ax.axvline(1.0, color="black", linewidth=1)
    ax.set_yticks(range(len(report.conditions)), [name for name, _ in report.conditions[::-1]])
    ax.set(xlim=(0, FAR), xlabel="left side / right side: below 1, the condition holds")
    ax.set_title(f"{len(report.support)} of {report.n_features} features", fontsize="medium")
    return ax


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
    panels = {"IRKSN": "IRKSN", "Lasso": "Lasso, IRCR", "OMP": "OMP, SRDI"}
    figure, axes = _pyplot().subplots(
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


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'ksupport[plot]'") from error
    return pyplot


def _axes(ax: Any, figsize: tuple[float, float] = (6.4, 4.0)) -> Any:
    return _pyplot().subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def _vector(name: str, value: ArrayLike, size: int) -> Floats:
    vector = np.asarray(value, np.float64)
    if vector.shape != (size,):
        raise ValueError(f"{name} must have one entry per feature, {size}, got {vector.shape}")
    return vector


def _name(names: Sequence[str] | None, feature: Any) -> str:
    # A dollar sign would start a formula.
    return f"x{feature}" if names is None else str(names[feature]).replace("$", r"\$")
