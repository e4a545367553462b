"""Inclusion probabilities of features, their calibration, and credible sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.calibration import calibration_curve

from .._common.checks import check_count
from .._common.render import column_format
from ..choosing.selection import Selection
from ..design import Floats
from ..explain.features import FeatureRow, feature_rows
from ..explain.wording import probability_text
from ..posterior.credible_sets import FeatureSet
from . import _axes
from ._axes import BAD, GOOD, MUTED, SQUARE, Display, documented, name_of, note

BAR_HEIGHT = 0.28  # inches for a feature


def with_probability(
    estimator: Any, *data: Any, names: Sequence[str] | None = None
) -> tuple[Selection, Sequence[str] | None]:
    """The selection of an estimator that gives inclusion probabilities, and names of features."""
    chosen, names = _axes.check_inputs(estimator, *data, names=names)
    if chosen.probability is None:
        raise ValueError(
            f"{type(estimator).__name__} gives no probability_; AutoIRKSN, AutoIRKSNClassifier and "
            "AutoIRKSNSurvival do"
        )
    return chosen, names


@dataclass(eq=False, repr=False)
class ProbabilityDisplay(Display):
    """The features of a model by probability and effect, most certain first.

    Beneath a feature, paler, are those that could stand in for it.

    Parameters
    ----------
    found : list of FeatureRow
        The rows, from the top.
    effects : array of shape (d,)
        Coefficients in standard deviations of their columns where the model standardises; no
        numbers (NaN) where there are several targets.
    names : sequence of str, optional
        Names of all features.
    n_left : int
        Features of the model that are not drawn.

    Attributes
    ----------
    bars_ : list of matplotlib Rectangle
        One for each row.

    Examples
    --------
    >>> from ksupport import AutoIRKSN
    >>> from ksupport.datasets import make_correlated_data
    >>> from ksupport.plotting import ProbabilityDisplay
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 97
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> display = ProbabilityDisplay.from_estimator(AutoIRKSN().fit(X, y), X, y)
    >>> len(display.bars_) >= 3
    True
    """

    found: list[FeatureRow]
    effects: Floats
    _: KW_ONLY
    names: Sequence[str] | None = None
    n_left: int = 0

    @classmethod
    @documented(most="int\nRows drawn at most.")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        most: int = 20,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the features of a fitted model that gives probabilities.

        Only the shapes of X and y are used; every display takes them.
        """
        chosen, names = with_probability(estimator, X, y, sample_weight, names=names)
        check_count("most", most)
        found = feature_rows(chosen)
        left = sum(each.chosen for each in found[most:])
        effects = chosen.coef if chosen.flat else np.full(chosen.coef.shape[-1], np.nan)
        return cls(found[:most], effects, names=names, n_left=left).plot(ax=ax)

    def __post_init__(self) -> None:
        self._size = 6.4, 1.2 + BAR_HEIGHT * max(len(self.found), 3)

    def _draw(self, ax: Any) -> None:
        self.bars_ = [self._bar(ax, place, each) for place, each in enumerate(self.found)]
        labels = [each.prefix + name_of(self.names, each.feature) for each in self.found]
        _axes.draw_rows(ax, labels, "no feature was chosen")
        ax.set(xlim=(0, 1), xlabel="probability of belonging to the model")
        if self.found:
            self._legend(ax)

    def _bar(self, ax: Any, place: int, each: FeatureRow) -> Any:
        p, effect = each.probability or 0.0, self.effects[each.feature]
        inside, several = each.chosen, np.isnan(effect)
        colour = (GOOD if several or effect > 0 else BAD) if inside else MUTED
        (bar,) = ax.barh(place, p, color=colour, height=0.65, alpha=1.0 if inside else 0.5)
        text = probability_text(p)
        if inside and not several:
            text += f"  ({column_format(self.effects)(effect)})"
        note(ax, place, text)
        return bar

    def _legend(self, ax: Any) -> None:
        """The meaning of the colours in use."""
        kinds: dict[str, Any] = {}
        for bar, each in zip(self.bars_, self.found, strict=True):
            if not each.chosen:
                kinds.setdefault("can stand in", bar)
            else:
                effect = self.effects[each.feature]
                raises = "raises y" if effect > 0 else "lowers y"
                kinds.setdefault("in the model" if np.isnan(effect) else raises, bar)
        more = f"and {self.n_left} more" if self.n_left else None
        _axes.legend_above(ax, kinds.values(), kinds.keys(), ncols=3, title=more)


@dataclass(eq=False, repr=False)
class SetsDisplay(Display):
    """Credible sets: the probability that one feature of a set matters, and that of each.

    Parameters
    ----------
    sets : list of FeatureSet
        The rows, from the top.
    probability : array of shape (d,)
        Of each feature.
    names : sequence of str, optional
        Names of all features.

    Attributes
    ----------
    bars_ : list of matplotlib Rectangle
        One for each set: the probability that one of its features belongs to the model.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import AutoIRKSN
    >>> from ksupport.plotting import SetsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 40))
    >>> X[:, 7] = X[:, 3] + 0.05 * rng.standard_normal(80)
    >>> y = 2 * X[:, 3] - X[:, 5] + 0.5 * rng.standard_normal(80)
    >>> display = SetsDisplay.from_estimator(AutoIRKSN().fit(X, y), X, y)
    >>> len(display.bars_) == len(display.sets)
    True
    """

    sets: list[FeatureSet]
    probability: Floats
    _: KW_ONLY
    names: Sequence[str] | None = None

    @classmethod
    @documented(most="int\nSets drawn at most, the most probable.")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        most: int = 20,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the sets of a fitted model.

        Only the shapes of X and y are used; every display takes them.
        """
        chosen, names = with_probability(estimator, X, y, sample_weight, names=names)
        check_count("most", most)
        believed = chosen.judgement
        assert believed is not None  # checked above
        return cls(list(believed.sets[:most]), believed.probability, names=names).plot(ax=ax)

    def __post_init__(self) -> None:
        self._size = 6.4, 1.2 + 1.2 * BAR_HEIGHT * max(len(self.sets), 3)

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.sets))
        chances = [each.probability for each in self.sets]
        self.bars_ = list(ax.barh(places, chances, color=GOOD, alpha=0.25, height=0.7))
        for place, each in zip(places, self.sets, strict=True):
            p = self.probability[list(each.features)]
            ax.plot(p, np.full(p.size, place), "o", color=GOOD, markersize=5)
        _axes.draw_rows(ax, [self._label(each) for each in self.sets], "no feature is probable")
        ax.set(xlim=(0, 1.02), xlabel="probability")
        if self.sets:
            _axes.legend_above(ax, [self.bars_[0], ax.lines[0]], ["one of them", "each"], ncols=2)

    def _label(self, each: FeatureSet) -> str:
        names = [name_of(self.names, j) for j in each.features]
        more = f" or {len(names) - 3} more" if len(names) > 3 else ""
        return " or ".join(names[:3]) + more


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
    _size = SQUARE

    @classmethod
    @documented(
        truth="array of shape (d,)\nThe true model; its nonzero entries are the true features.",
        n_bins="int\nBins of equal width.",
    )
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
        """
        probability = with_probability(estimator, X, y, sample_weight)[0].probability
        assert probability is not None  # checked above
        return cls.from_probabilities(probability, truth, n_bins=n_bins, ax=ax)

    @classmethod
    @documented(
        probability="array of shape (n,)\nProbability of each feature.",
        truth="array of shape (n,)\nWhether it is true: nonzero.",
        n_bins="int\nBins of equal width.",
    )
    def from_probabilities(
        cls, probability: ArrayLike, truth: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> Self:
        """Draw how probabilities, of one model or of many, compare with the truth."""
        p = _axes.real("probability", probability)
        if p.ndim != 1 or p.size == 0 or p.min() < 0 or p.max() > 1:
            raise ValueError("probability must be a vector of numbers from 0 to 1")
        check_count("n_bins", n_bins)
        true = _axes.vector("truth", np.asarray(truth, float), p.size) != 0
        return cls(p, true, n_bins=n_bins).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        true, predicted = calibration_curve(
            self.truth, self.probability, n_bins=self.n_bins, pos_label=True
        )
        edges = np.linspace(0, 1, self.n_bins + 1)[1:-1]
        every = np.bincount(np.searchsorted(edges, self.probability), minlength=self.n_bins)
        counts = every[every > 0]
        _axes.draw_calibration(ax, predicted, true, counts)
        for x, height, count in zip(predicted, true, counts, strict=True):
            ax.annotate(
                str(count), (x, height), xytext=(6, -10), textcoords="offset points",
                fontsize="x-small", color=MUTED,
            )  # fmt: skip
        ax.set(xlabel="predicted probability", ylabel="share of true features")
        self.prob_pred_, self.prob_true_, self.counts_ = predicted, true, counts
