"""How what is said of rows held out is judged, for each kind of response.

Numbers are judged by the share of their variation that is explained.  Classes and survival times
are judged by order: of two rows, is the one with the event, or with the earlier one, said to be so?
The share of pairs in the right order is the area under the ROC curve of classes, and Harrell's c of
survival times.  Rows are compared within a fold only, as each fold has a model of its own.
Of more than two classes it counts whether the class of a row was told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..design import Floats, Ints
from ..losses import Cox, Logistic, Loss, Multinomial
from ..metrics import wrong_pairs

Kind = Literal["numbers", "classes", "survival"]


@dataclass(frozen=True)
class Measure(ABC):
    """What predictions of a kind of response are worth, row by row."""

    kind: ClassVar[Kind]
    constant: ClassVar[float]  # the score of whoever says the same of all rows

    def said(self, model: Any, X: Any) -> Floats:
        """What a fitted model says of rows."""
        return np.asarray(model.predict(X))

    def nothing(self, y: Floats, weights: Floats) -> Any:
        """What is said of any row by whoever knows these rows, and no feature."""
        return 0.0

    def baseline(self, nothing: Floats, weights: Floats) -> Floats:
        """The errors by which a score is measured, given those of knowing nothing."""
        return nothing

    @abstractmethod
    def errors(self, y: Floats, said: Floats, fold: Ints, weights: Floats) -> Floats:
        """What each row contributes to what is wrong."""


class Variation(Measure):
    """Squared errors."""

    kind: ClassVar[Kind] = "numbers"
    constant = 0.0

    def nothing(self, y: Floats, weights: Floats) -> Any:
        """The mean."""
        return np.average(y, weights=weights)

    def errors(self, y: Floats, said: Floats, fold: Ints, weights: Floats) -> Floats:
        """Of each row its squared error, times its weight."""
        return weights * (y - said) ** 2


class Order(Measure):
    """Pairs of rows of a fold that are in the wrong order."""

    kind: ClassVar[Kind] = "survival"
    constant = 0.5

    def times(self, y: Floats) -> Floats:
        """Columns time and event."""
        return y

    def errors(self, y: Floats, said: Floats, fold: Ints, weights: Floats) -> Floats:
        """Of each row the pairs that it is part of, and that are wrong."""
        out, Y = np.zeros(len(fold)), self.times(y)
        for each in np.unique(fold):
            rows = np.flatnonzero(fold == each)
            out[rows] = wrong_pairs(Y[rows], said[rows], weights[rows])[0]
        return out


class OrderOfClasses(Order):
    """The same for two classes, 0 and 1: the second is an event, at once, that the first lacks."""

    kind: ClassVar[Kind] = "classes"

    def times(self, y: Floats) -> Floats:
        """Columns time and event."""
        return np.column_stack([1.0 - y, y])

    def said(self, model: Any, X: Any) -> Floats:
        """The probability of the second class."""
        return np.asarray(model.predict_proba(X))[:, 1]


@dataclass(frozen=True)
class RightClass(Measure):
    """Rows of several classes, 0 to n_classes - 1, whose class is not the most probable one."""

    kind: ClassVar[Kind] = "classes"
    constant = 0.0
    n_classes: int

    def said(self, model: Any, X: Any) -> Floats:
        """The probabilities of all classes."""
        return np.asarray(model.predict_proba(X))

    def nothing(self, y: Floats, weights: Floats) -> Any:
        """The shares of the classes."""
        return np.bincount(y.astype(np.intp), weights, self.n_classes) / weights.sum()

    def baseline(self, nothing: Floats, weights: Floats) -> Floats:
        """All rows: then a score is the share of rows that are told right."""
        return weights

    def errors(self, y: Floats, said: Floats, fold: Ints, weights: Floats) -> Floats:
        """Of each row its weight, if another class is more probable."""
        return weights * (said.argmax(axis=1) != y)


def measure_for(loss: Loss) -> Measure:
    """How predictions of models with this loss are judged."""
    if isinstance(loss, Cox):
        return Order()
    if isinstance(loss, Multinomial):
        return RightClass(loss.n_dual)
    return OrderOfClasses() if isinstance(loss, Logistic) else Variation()
