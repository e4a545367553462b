"""How well classes and survival times of rows held out are predicted."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import RocCurveDisplay, auc

from ..design import Floats
from ..explain.figures import Predictions, calibration, kaplan_meier, mean_roc, risk_groups
from ._axes import BAD, GOOD, MUTED, SQUARE, Display, check_kind
from ._folds import held_out

RISKS = (("lowest risk", GOOD, "-"), ("middle", MUTED, "--"), ("highest risk", BAD, ":"))


class RocDisplay(Display):
    """How well two classes of rows held out are told apart, and whether probabilities are kept.

    Parameters
    ----------
    said : Predictions
        What was said of rows, and what they are.
    name : str
        Who said it.
    classes : sequence of two, optional
        Names of the classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    fpr, tpr : arrays
        Shares of false and of true alarms: the mean curve of the folds.
    roc_auc : float
        The area below it: the share of pairs of rows of a fold, one of each class, in the right
        order.

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

    def __init__(self, said: Predictions, *, name: str = "model", classes: Any = (0, 1)) -> None:
        self.said = said
        self.name = name
        self.classes = classes
        self.fpr, self.tpr = mean_roc(said)
        self.roc_auc = float(auc(self.fpr, self.tpr))

    @classmethod
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
        """Fit again on folds, and draw how well the rows held out are told apart.

        Parameters
        ----------
        estimator : classifier of ksupport
            A fitted model; copies of it are fitted.
        X : array, data frame or sparse matrix, shape (n, d)
            The measurements of the fit.
        y : array of shape (n,)
            The response of the fit.
        sample_weight : array of shape (n,), optional
            The weights of the fit.
        cv : int, splitter or iterable
            The folds; a number is of shuffled ones.
        random_state : int, RandomState or None
            Shuffles them.
        kind : {"roc", "calibration"}
            What `plot` draws.
        ax : matplotlib Axes, optional
            Where to draw; new axes if None.

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
            How many of the second class are found, at the price of how many false alarms; or, of
            rows with a probability of the second class, how many are of it.

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
        ax.set(xlabel=f"false alarms among {self.classes[0]}", ylabel=f"{self.classes[1]} found")

    def _calibration(self, ax: Any) -> None:
        promised, kept, counts = calibration(self.said)
        spread = np.sqrt(promised * (1 - promised) / counts)  # if the word is kept
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, label="as said")
        ax.errorbar(promised, kept, yerr=spread, fmt="o", color=GOOD, capsize=3, label="found")
        ax.set(
            xlabel=f"probability of {self.classes[1]}", ylabel=f"share that is {self.classes[1]}",
            xlim=(-0.03, 1.03), ylim=(-0.03, 1.03),
        )  # fmt: skip
        ax.legend(frameon=False, fontsize="small", loc="upper left")


class SurvivalDisplay(Display):
    """Survival of rows held out, in three parts by the risk that was predicted of them.

    Parameters
    ----------
    said : Predictions
        What was said of rows, and what became of them.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    curves_ : list of (times, surviving)
        The estimates of Kaplan and Meier, the part of the lowest risk first.

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

    def __init__(self, said: Predictions) -> None:
        check_kind("said", said, Predictions, "what was said of rows")
        self.said = said
        self.curves_: list[tuple[Floats, Floats]] = []

    @classmethod
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
        """Fit again on folds, and draw how long the rows held out survive.

        Parameters
        ----------
        estimator : AutoIRKSNSurvival
            A fitted model; copies of it are fitted.
        X : array, data frame or sparse matrix, shape (n, d)
            The measurements of the fit.
        y : structured array of event and time, or array of shape (n, 2)
            The response of the fit.
        sample_weight : array of shape (n,), optional
            The weights of the fit.
        cv : int, splitter or iterable
            The folds; a number is of shuffled ones.
        random_state : int, RandomState or None
            Shuffles them.
        ax : matplotlib Axes, optional
            Where to draw; new axes if None.

        Returns
        -------
        SurvivalDisplay
        """
        validation = held_out(estimator, X, y, sample_weight, cv, random_state, "survival")
        return cls(Predictions.of(validation)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        groups, self.curves_ = risk_groups(self.said), []
        for part, (name, colour, line) in enumerate(RISKS):
            y, weights = self.said.observed[groups == part], self.said.weights[groups == part]
            times, surviving = kaplan_meier(y, weights)
            label = f"{name}: {y[:, 1].sum():.0f} of {len(y)} events"
            ax.step(times, surviving, where="post", color=colour, linestyle=line, label=label)
            self.curves_.append((times, surviving))
        ax.set(xlabel="time", ylabel="still without the event", ylim=(0, 1.02))
        ax.legend(frameon=False, fontsize="small", title="predicted, of rows held out")
