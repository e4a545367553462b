"""Predictions of classes and survival times on held-out rows."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import RocCurveDisplay, auc

from ..design import Floats
from ..explain.figures import Predictions, calibration, kaplan_meier, mean_roc, risk_groups
from ._axes import BAD, GOOD, MUTED, SQUARE, Display, check_kind, shared_parameters
from ._folds import held_out

RISKS = (("lowest risk", GOOD, "-"), ("middle", MUTED, "--"), ("highest risk", BAD, ":"))


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
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
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

    def __init__(
        self, predictions: Predictions, *, name: str = "model", classes: Any = (0, 1)
    ) -> None:
        self.predictions = predictions
        self.name = name
        self.classes = classes
        self.fpr, self.tpr = mean_roc(predictions)
        self.roc_auc = float(auc(self.fpr, self.tpr))

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
        kind: Literal["roc", "calibration"] = "roc",
        ax: Any = None,
    ) -> Self:
        """Refit on folds, and draw the ROC curve or the calibration of the held-out rows.

        Parameters
        ----------
        {refit}
        {sample_weight}
        {folds}
        kind : {"roc", "calibration"}
            What `plot` draws.
        {ax}

        Returns
        -------
        RocDisplay
        """
        validation = held_out(estimator, X, y, sample_weight, cv, random_state, "classes")
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
        drawn = {"roc": self._roc, "calibration": self._calibration}
        if kind not in drawn:
            raise ValueError(f"kind must be 'roc' or 'calibration', got {kind!r}")
        return self._drawn(drawn[kind], ax, SQUARE)

    def _roc(self, ax: Any) -> None:
        curve = RocCurveDisplay(fpr=self.fpr, tpr=self.tpr, roc_auc=self.roc_auc)
        curve.plot(ax=ax, name=self.name, plot_chance_level=True, curve_kwargs={"color": GOOD})
        ax.set(
            xlabel=f"false positive rate, among {self.classes[0]}",
            ylabel=f"true positive rate, among {self.classes[1]}",
        )

    def _calibration(self, ax: Any) -> None:
        predicted, observed, counts = calibration(self.predictions)
        spread = np.sqrt(predicted * (1 - predicted) / counts)  # if calibrated
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, label="calibrated")
        ax.errorbar(
            predicted, observed, yerr=spread, fmt="o", color=GOOD, capsize=3, label="observed"
        )
        ax.set(
            xlabel=f"probability of {self.classes[1]}", ylabel=f"share that is {self.classes[1]}",
            xlim=(-0.03, 1.03), ylim=(-0.03, 1.03),
        )  # fmt: skip
        ax.legend(frameon=False, fontsize="small", loc="upper left")


class SurvivalDisplay(Display):
    """Survival of held-out rows in three groups of predicted risk.

    Parameters
    ----------
    predictions : Predictions
        Predicted risks, observed times and events.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
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

    def __init__(self, predictions: Predictions) -> None:
        check_kind("predictions", predictions, Predictions, "Predictions of held-out rows")
        self.predictions = predictions
        self.curves_: list[tuple[Floats, Floats]] = []

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
        ax: Any = None,
    ) -> Self:
        """Refit on folds, and draw how long the held-out rows survive.

        Parameters
        ----------
        {refit}
        {sample_weight}
        {folds}
        {ax}

        Returns
        -------
        SurvivalDisplay
        """
        validation = held_out(estimator, X, y, sample_weight, cv, random_state, "survival")
        return cls(Predictions.of(validation)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        groups, self.curves_ = risk_groups(self.predictions), []
        for part, (name, colour, line) in enumerate(RISKS):
            y, weights = (
                self.predictions.observed[groups == part],
                self.predictions.weights[groups == part],
            )
            times, surviving = kaplan_meier(y, weights)
            label = f"{name}: {y[:, 1].sum():.0f} of {len(y)} events"
            ax.step(times, surviving, where="post", color=colour, linestyle=line, label=label)
            self.curves_.append((times, surviving))
        ax.set(xlabel="time", ylabel="still without the event", ylim=(0, 1.02))
        ax.legend(frameon=False, fontsize="small", title="predicted risk of held-out rows")
