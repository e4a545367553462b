"""How what is said of rows held out is judged, for each kind of response.

Numbers are judged by the share of their variation that is explained.  Classes and survival times
are judged by order: of two rows, is the one with the event, or with the earlier one, said to be so?
The share of pairs in the right order is the area under the ROC curve of classes, and Harrell's c of
survival times.  Rows are compared within a fold only, as each fold has a model of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..design import Floats, Ints
from ..losses import Cox, Logistic, Loss
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

    @abstractmethod
    def errors(self, y: Floats, said: Floats, fold: Ints, weights: Floats) -> Floats:
        """What each row contributes to what is wrong."""


class Variation(Measure):
    """Squared errors."""

    kind: ClassVar[Kind] = "numbers"
    constant = 0.0

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


def measure_for(loss: Loss) -> Measure:
    """How predictions of models with this loss are judged."""
    if isinstance(loss, Cox):
        return Order()
    return OrderOfClasses() if isinstance(loss, Logistic) else Variation()
