"""Rows that were not walked on, as losses other than squares measure them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import get_scorer

from ..losses import Logistic, Response
from .rows import Answers, Predicting, Unseen, predicted
from .stores import Floats, Ints
from .view import Design


@dataclass(frozen=True, kw_only=True)
class UnseenByLoss(Unseen):
    """Unseen rows, measured by the deviance of a loss.

    ``truth`` is the response as it is.  What is not penalised is fitted on the rows walked on, so
    that models are asked for their fitted values there, too.
    """

    walked: Design  # the rows walked on, and
    response: Response  # the loss on them
    unpenalized: Floats  # columns, as rows, of the unseen rows
    scoring: Any = None  # a scorer of scikit-learn, or its name, instead of the deviance

    def __call__(self, models: Predicting) -> Floats:
        return self._errors(models.predict(self.walked), models.predict(self.design))

    def errors(self, predictions: Floats) -> Floats:
        raise TypeError("a loss measures models, by `errors_of`, and not predictions")

    def errors_of(self, models: Any) -> Floats:
        return self._errors(*self._fitted(models))

    def average_errors(
        self, models: Floats, features: Ints, spread: Floats, shares: Floats
    ) -> Floats:
        loss = self.response.loss
        first, second = self.response.new_eta(*self._fitted(models), self.unpenalized)
        variance = np.sum((spread @ self.design.columns(features)) ** 2, axis=0)
        each = [loss.averaged(first, second, variance, share) for share in shares.tolist()]
        return np.array([loss.deviance(eta, self.truth) for eta in each])

    def each_of(self, models: Any) -> Floats:
        """Return the deviance of each held-out row for each row of coefficients."""
        return self._deviances(*self._fitted(models))

    def row_errors(self, models: Any) -> tuple[Floats, Floats]:
        """Return the deviance of each model on each held-out row, and the rows' weights."""
        weights = np.ones(self.design.n) if self.weights is None else self.weights
        return self.each_of(models), weights

    def _fitted(self, models: Any) -> tuple[Floats, Floats]:
        """Return X̃w on training rows and on held-out rows, for each row of coefficients."""
        return predicted(models, self.walked), predicted(models, self.design)

    def _errors(self, fitted: Floats, new: Floats) -> Floats:
        """Return the mean deviance of each model, or minus its score."""
        if self.scoring is None:
            return np.asarray(np.average(self._deviances(fitted, new), -1, self.weights))
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        eta = new + self.response.unpenalized_coef(fitted) @ self.unpenalized
        rows, loss = np.zeros((len(self.truth), 1)), self.response.loss
        classes = isinstance(loss, Logistic)
        answers = [_Classes(each) if classes else Answers(loss.mean(each)) for each in eta]
        return np.array([-float(scorer(each, rows, self.truth)) for each in answers])

    def _deviances(self, fitted: Floats, new: Floats) -> Floats:
        return self.response.deviance_of_new(fitted, new, self.truth, self.unpenalized)


class _Classes(ClassifierMixin, Answers):
    """Classifier that returns classes 0 and 1 and their probabilities from given log-odds."""

    classes_ = np.array([0.0, 1.0])

    def predict(self, X: Any) -> Any:
        return (self.given > 0) * 1.0

    def decision_function(self, X: Any) -> Any:
        return self.given

    def predict_proba(self, X: Any) -> Any:
        return Logistic().mean(np.column_stack([-self.given, self.given]))
