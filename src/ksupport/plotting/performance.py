"""Predictive performance on held-out rows, and calibration of inclusion probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.calibration import calibration_curve

from .._common.checks import check_count
from ..design import Floats
from ..explain.cross_validation import CrossValidation
from ._axes import BAD, GOOD, MUTED, SQUARE, Display, real, shared_parameters, vector
from ._folds import held_out
from .probabilities import chosen_with_probability

SCORES = {
    "numbers": "explained variance of held-out rows",
    "classes": "area under the ROC curve, held-out rows",
    "survival": "concordance, held-out rows",
}


@dataclass(eq=False, repr=False)
class PerformanceDisplay(Display):
    """Performance of a model on held-out rows, compared with a Lasso and a ridge.

    Parameters
    ----------
    validation : CrossValidation
        Errors on the same folds.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from ksupport import IRKSNIC
    >>> from ksupport.datasets import make_correlated_data
    >>> from ksupport.plotting import PerformanceDisplay
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 47
    >>> X, y, w = make_correlated_data(60, 50, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> display = PerformanceDisplay.from_estimator(IRKSNIC().fit(X, y), X, y)
    >>> display.validation.ours.score > 0.9
    True
    """

    validation: CrossValidation

    @classmethod
    @shared_parameters
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        cv: Any = 5,
        random_state: Any = 0,
        kind: Literal["scores", "rows"] = "scores",
        ax: Any = None,
    ) -> Self:
        """Refit on folds, and draw how well the held-out rows are predicted.

        Parameters
        ----------
        {refit}
        {sample_weight}
        {folds}
        kind : {"scores", "rows"}
            What `plot` draws.
        {ax}

        Returns
        -------
        PerformanceDisplay
        """
        validation = held_out(estimator, X, y, sample_weight, cv, random_state, beside=True)
        return cls(validation).plot(ax=ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: Literal["scores", "rows"] = "scores") -> Self:
        """Draw, on new axes if none are given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        kind : {"scores", "rows"}
            The score of each way to fit, with its standard error: the share of the variation
            that it explains, or, of classes and survival, of pairs of rows in the right order
            (area under the ROC curve, concordance); or every row, observed against predicted.

        Returns
        -------
        PerformanceDisplay
        """
        drawn = {"scores": self._scores, "rows": self._rows}
        if kind not in drawn:
            raise ValueError(f"kind must be 'scores' or 'rows', got {kind!r}")
        if kind == "rows" and self.validation.metric.kind != "numbers":
            raise ValueError(
                f"kind='rows' requires a numeric response, got {self.validation.metric.kind}: "
                "RocDisplay and SurvivalDisplay draw rows"
            )
        return self._drawn(drawn[kind], ax, (6.4, 2.4) if kind == "scores" else SQUARE)

    def _scores(self, ax: Any) -> None:
        every = [self.validation.ours, *self.validation.others]
        for place, each in enumerate(every):
            colour = MUTED if place else GOOD
            ax.errorbar(
                each.score, place, xerr=each.standard_error, fmt="o", color=colour, capsize=3
            )
            ax.annotate(
                f"{each.score:.2f} ± {each.standard_error:.2f}, {each.features:.0f} features",
                (1, place), xycoords=("axes fraction", "data"), xytext=(5, 0),
                textcoords="offset points", va="center", fontsize="small", color=colour,
            )  # fmt: skip
        nothing = self.validation.baseline
        ax.axvline(nothing.score, color=BAD, linestyle=":", label=nothing.name)
        ax.set_yticks(range(len(every)), [each.name for each in every])
        ax.set_ylim(len(every) - 0.5, -0.5)
        low = min(nothing.score, *(each.score - each.standard_error for each in every))
        ax.set(xlim=(max(low, -1.0) - 0.03, 1.0), xlabel=SCORES[self.validation.metric.kind])
        ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1))

    def _rows(self, ax: Any) -> None:
        ours, observed = self.validation.ours, self.validation.observed
        both = np.r_[observed, self.validation.predicted]
        ends = [both.min(), both.max()]
        ax.plot(ends, ends, color=MUTED, linewidth=1)
        ax.plot(self.validation.predicted, observed, "o", color=GOOD, alpha=0.65, markersize=4)
        ax.set(xlabel="prediction of held-out rows", ylabel="observed")
        ax.set_title(
            f"explained variance: {ours.score:.2f} ± {ours.standard_error:.2f}", fontsize="medium"
        )


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """Calibration of inclusion probabilities: of features with 80 %, are four in five true?

    Parameters
    ----------
    probability : array of shape (n,)
        Probability of each feature.
    truth : array of shape (n,)
        Whether it is true: nonzero.
    n_bins : int
        Bins of equal width.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    prob_pred_, prob_true_, counts_ : arrays
        For each bin with features in it: the mean probability, the share of true ones, and how
        many there are.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.plotting import CalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=5000)
    >>> display = CalibrationDisplay.from_probabilities(p, rng.uniform(size=5000) < p)
    >>> bool(np.abs(display.prob_pred_ - display.prob_true_).max() < 0.1)
    True
    """

    probability: Floats
    truth: Any
    _: KW_ONLY
    n_bins: int = 10

    @classmethod
    @shared_parameters
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        truth: ArrayLike,
        n_bins: int = 10,
        ax: Any = None,
    ) -> Self:
        """Draw how the probabilities of a fitted model compare with the truth.

        Only the shapes of X and y are used; every display takes them.  One model
        has few probable features: pool those of many models in `from_probabilities`.

        Parameters
        ----------
        {fit}
        {sample_weight}
        truth : array of shape (d,)
            The true model; its nonzero entries are the true features.
        n_bins : int
            Bins of equal width.
        {ax}

        Returns
        -------
        CalibrationDisplay
        """
        probability = chosen_with_probability(estimator, X, y, sample_weight).probability
        assert probability is not None  # checked above
        return cls.from_probabilities(probability, truth, n_bins=n_bins, ax=ax)

    @classmethod
    @shared_parameters
    def from_probabilities(
        cls, probability: ArrayLike, truth: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> Self:
        """Draw how probabilities, of one model or of many, compare with the truth.

        Parameters
        ----------
        probability : array of shape (n,)
            Probability of each feature.
        truth : array of shape (n,)
            Whether it is true: nonzero.
        n_bins : int
            Bins of equal width.
        {ax}

        Returns
        -------
        CalibrationDisplay
        """
        p = real("probability", probability)
        if p.ndim != 1 or p.size == 0 or p.min() < 0 or p.max() > 1:
            raise ValueError("probability must be a vector of numbers from 0 to 1")
        check_count("n_bins", n_bins)
        true = vector("truth", np.asarray(truth, float), p.size) != 0
        return cls(p, true, n_bins=n_bins).plot(ax=ax)

    @property
    def _size(self) -> tuple[float, float]:
        return SQUARE

    def _draw(self, ax: Any) -> None:
        true, predicted = calibration_curve(
            self.truth, self.probability, n_bins=self.n_bins, pos_label=True
        )
        edges = np.linspace(0, 1, self.n_bins + 1)[1:-1]
        every = np.bincount(np.searchsorted(edges, self.probability), minlength=self.n_bins)
        counts = every[every > 0]
        spread = np.sqrt(np.maximum(predicted * (1 - predicted), 0) / counts)  # if calibrated
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, label="calibrated")
        ax.errorbar(predicted, true, yerr=spread, fmt="o", color=GOOD, capsize=3, label="observed")
        for x, height, count in zip(predicted, true, counts, strict=True):
            ax.annotate(
                str(count), (x, height), xytext=(6, -10), textcoords="offset points",
                fontsize="x-small", color=MUTED,
            )  # fmt: skip
        ax.set(
            xlabel="predicted probability", ylabel="share of true features",
            xlim=(-0.03, 1.03), ylim=(-0.03, 1.03),
        )  # fmt: skip
        ax.legend(frameon=False, fontsize="small", loc="upper left")
        self.prob_pred_, self.prob_true_, self.counts_ = predicted, true, counts
