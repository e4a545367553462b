"""How well held-out rows are predicted: scores, ROC curve, calibration, survival by risk."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone
from sklearn.metrics import RocCurveDisplay, auc
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._common.checks import check_choice
from ..choosing.folds import folds_of_rows
from ..design import Floats, is_dask, unwrapped
from ..explain.cross_validation import CrossValidation, Kind, Make, cross_validated, metric_for
from ..explain.figures import Predictions, calibration, kaplan_meier, mean_roc, risk_groups
from ..explain.standard_methods import lasso_and_ridge
from . import _axes
from ._axes import BAD, GOOD, MUTED, REFIT, SQUARE, Display, documented, note

INNER_CV = 5  # folds on which a Lasso is tuned
SCORES = {
    "numbers": "explained variance of held-out rows",
    "classes": "area under the ROC curve, held-out rows",
    "survival": "concordance, held-out rows",
}
RISKS = (("lowest risk", GOOD, "-"), ("middle", MUTED, "--"), ("highest risk", BAD, ":"))


def held_out_predictions(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    cv: Any,
    random_state: Any,
    required_kind: Kind | None = None,
    with_baselines: bool = False,
) -> CrossValidation:
    """Cross-validate an estimator, with a Lasso and a ridge if `with_baselines`."""
    _axes.check_inputs(estimator, X, y, sample_weight, one_target=True)
    metric = metric_for(estimator._loss)
    if required_kind not in (None, metric.kind):
        raise ValueError(
            f"this display is for {required_kind}, but {type(estimator).__name__} predicts "
            f"{metric.kind}"
        )
    X = unwrapped(X)
    if isinstance(X, LinearOperator) or is_dask(X):
        raise TypeError(
            f"X must be an array, a data frame or a sparse matrix, got {type(X).__name__}: folds "
            "select its rows"
        )
    X, observed = estimator._validated(X, y, multi_output=False, reset=False)
    weights = None
    if sample_weight is not None:
        weights = np.broadcast_to(np.asarray(sample_weight, float), (len(observed),))
    name = type(estimator).__name__
    factories: dict[str, Make] = {name: lambda rows: clone(estimator)}
    if with_baselines and (weights is None or metric.kind != "survival"):  # those take no weights
        factories |= lasso_and_ridge(X, lambda rows: INNER_CV, metric.kind)
    n, strata = len(observed), estimator._loss.sorts(observed)
    if isinstance(cv, int):
        splits = folds_of_rows(n, cv, check_random_state(random_state), sorts=strata)
    else:
        stratify = strata if np.ptp(strata) else observed
        splits = list(check_cv(cv).split(np.zeros((n, 1)), stratify))
    return cross_validated(name, factories, X, observed, splits, weights, metric=metric)


@dataclass(eq=False, repr=False)
class PerformanceDisplay(Display):
    """Performance of a model on held-out rows, compared with a Lasso and a ridge.

    Parameters
    ----------
    validation : CrossValidation
        Errors on the same folds.

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
    @documented(**REFIT, kind='{"scores", "rows"}\nWhat `plot` draws.')
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
        """Refit on folds, and draw how well the held-out rows are predicted."""
        validation = held_out_predictions(
            estimator, X, y, sample_weight, cv, random_state, with_baselines=True
        )
        return cls(validation).plot(ax=ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: Literal["scores", "rows"] = "scores") -> Self:
        """Draw, on new axes if none are given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        kind : {"scores", "rows"}
            "scores": the score of each method with its standard error, R² or, for classes and
            survival, the area under the ROC curve or the concordance.  "rows": observed against
            predicted values.

        Returns
        -------
        PerformanceDisplay
        """
        check_choice("kind", kind, ("scores", "rows"))
        if kind == "scores":
            return self._draw_on(self._scores, ax, (6.4, 2.4))
        if self.validation.metric.kind != "numbers":
            raise ValueError(
                f"kind='rows' requires a numeric response, got {self.validation.metric.kind}: "
                "RocDisplay and SurvivalDisplay draw rows"
            )
        return self._draw_on(self._rows, ax, SQUARE)

    def _scores(self, ax: Any) -> None:
        every = [self.validation.ours, *self.validation.others]
        for place, each in enumerate(every):
            colour = MUTED if place else GOOD
            error = each.standard_error
            ax.errorbar(each.score, place, xerr=error, fmt="o", color=colour, capsize=3)
            words = f"{each.score:.2f} ± {error:.2f}, {each.features:.0f} features"
            note(ax, place, words, colour)
        nothing = self.validation.baseline
        ax.axvline(nothing.score, color=BAD, linestyle=":", label=nothing.name)
        ax.set_yticks(range(len(every)), [each.name for each in every])
        ax.set_ylim(len(every) - 0.5, -0.5)
        low = min(nothing.score, *(each.score - each.standard_error for each in every))
        ax.set(xlim=(max(low, -1.0) - 0.03, 1.0), xlabel=SCORES[self.validation.metric.kind])
        _axes.legend_above(ax)

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
class RocDisplay(Display):
    """ROC curve and calibration of two classes, on held-out rows.

    Parameters
    ----------
    predictions : Predictions
        Predicted probabilities and observed classes.
    name : str
        Name of the model, for the legend.
    classes : sequence of two, optional
        Names of the classes.

    Attributes
    ----------
    fpr, tpr : arrays
        False and true positive rates: the mean curve of the folds.
    roc_auc : float
        Area under the mean curve.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import IRKSNClassifier
    >>> from ksupport.plotting import RocDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> y = np.where(X[:, 3] - X[:, 5] + 0.5 * rng.standard_normal(100) > 0, "tumour", "normal")
    >>> display = RocDisplay.from_estimator(IRKSNClassifier(k=2).fit(X, y), X, y)
    >>> display.roc_auc > 0.9
    True
    """

    predictions: Predictions
    _: KW_ONLY
    name: str = "model"
    classes: Any = (0, 1)

    def __post_init__(self) -> None:
        self.fpr, self.tpr = mean_roc(self.predictions)
        self.roc_auc = float(auc(self.fpr, self.tpr))

    @classmethod
    @documented(**REFIT, kind='{"roc", "calibration"}\nWhat `plot` draws.')
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        cv: Any = 5,
        random_state: Any = 0,
        kind: Literal["roc", "calibration"] = "roc",
        ax: Any = None,
    ) -> Self:
        """Refit on folds, and draw the ROC curve or the calibration of the held-out rows."""
        validation = held_out_predictions(
            estimator, X, y, sample_weight, cv, random_state, "classes"
        )
        made = cls(
            Predictions.of(validation), name=type(estimator).__name__, classes=estimator.classes_
        )
        return made.plot(ax=ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: Literal["roc", "calibration"] = "roc") -> Self:
        """Draw, on new axes if none are given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        kind : {"roc", "calibration"}
            The ROC curve, or the observed share of the second class against its predicted
            probability.

        Returns
        -------
        RocDisplay
        """
        check_choice("kind", kind, ("roc", "calibration"))
        return self._draw_on(self._roc if kind == "roc" else self._calibration, ax, SQUARE)

    def _roc(self, ax: Any) -> None:
        curve = RocCurveDisplay(fpr=self.fpr, tpr=self.tpr, roc_auc=self.roc_auc)
        curve.plot(ax=ax, name=self.name, plot_chance_level=True, curve_kwargs={"color": GOOD})
        ax.set(
            xlabel=f"false positive rate, among {self.classes[0]}",
            ylabel=f"true positive rate, among {self.classes[1]}",
        )

    def _calibration(self, ax: Any) -> None:
        _axes.draw_calibration(ax, *calibration(self.predictions))
        second = self.classes[1]
        ax.set(xlabel=f"probability of {second}", ylabel=f"share that is {second}")


@dataclass(eq=False, repr=False)
class SurvivalDisplay(Display):
    """Survival of held-out rows in three groups of predicted risk.

    Parameters
    ----------
    predictions : Predictions
        Predicted risks, observed times and events.

    Attributes
    ----------
    curves_ : list of (times, surviving)
        Kaplan-Meier estimates, the group of lowest risk first.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import AutoIRKSNSurvival
    >>> from ksupport.plotting import SurvivalDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((90, 20))
    >>> y = np.column_stack([rng.exponential(np.exp(2 * X[:, 3])), np.ones(90)])  # time, event
    >>> display = SurvivalDisplay.from_estimator(AutoIRKSNSurvival().fit(X, y), X, y, cv=3)
    >>> len(display.curves_)
    3
    """

    predictions: Predictions

    def __post_init__(self) -> None:
        _axes.check_kind(
            "predictions", self.predictions, Predictions, "Predictions of held-out rows"
        )
        self.curves_: list[tuple[Floats, Floats]] = []

    @classmethod
    @documented(**REFIT)
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        cv: Any = 5,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Refit on folds, and draw how long the held-out rows survive."""
        validation = held_out_predictions(
            estimator, X, y, sample_weight, cv, random_state, "survival"
        )
        return cls(Predictions.of(validation)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        groups, self.curves_ = risk_groups(self.predictions), []
        for part, (name, colour, line) in enumerate(RISKS):
            inside = groups == part
            y = self.predictions.observed[inside]
            times, surviving = kaplan_meier(y, self.predictions.weights[inside])
            label = f"{name}: {y[:, 1].sum():.0f} of {len(y)} events"
            ax.step(times, surviving, where="post", color=colour, linestyle=line, label=label)
            self.curves_.append((times, surviving))
        ax.set(xlabel="time", ylabel="still without the event", ylim=(0, 1.02))
        ax.legend(frameon=False, fontsize="small", title="predicted risk of held-out rows")
