"""The average of models that predictions are made with, in the units of X."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..choosing.average import Average, averaged
from ..design import Floats, Ints, Problem
from ..losses import Loss


@dataclass(frozen=True, eq=False)
class LinearPredictors:
    """Linear functions of some columns of X, and of the levels of categories."""

    features: Ints  # which columns: s
    coef: Floats  # K x s, or s of one function
    intercept: Any  # K, or a number
    of_levels: Floats  # q x K, or q: coefficients of the columns that stand for categories


@dataclass(frozen=True, eq=False)
class Averaging:
    """An average of models, as linear predictors of the models and of their differences."""

    linear: LinearPredictors  # outputs of the first model, of the second if any, differences
    n_models: int
    outputs: int  # of each model
    share: float  # what the second model counts

    @classmethod
    def from_average(cls, problem: Problem, average: Average) -> Self:
        """Linear predictors in the units of X; the loss is least for what is not penalised."""
        adjusting = problem.adjusting
        unpenalized = np.zeros(0, np.intp) if adjusting is None else adjusting.columns.index
        used = np.union1d(average.features, unpenalized)
        coefs, free_coefs, intercepts = [], [], []
        loss = problem.losses[0]
        for model_coef in average.models(loss):
            full_coef = problem.unscaled(average.whole(model_coef, problem.view.d))
            coef, free, intercept = problem.to_original_units(full_coef)
            coefs.append(np.atleast_2d(coef)[:, used])
            free_coefs.append(np.atleast_2d(free))
            intercepts.append(np.atleast_1d(intercept))
        spread = average.uncertainty if loss.averages_eta else average.spread
        spread, free, shift = problem.differences(average.features, spread)
        spread_coefs = np.zeros((len(spread), used.size))
        spread_coefs[:, np.searchsorted(used, average.features)] = spread
        spread_coefs[:, np.searchsorted(used, unpenalized)] = free[:, : unpenalized.size]
        linear = LinearPredictors(
            used,
            np.vstack([*coefs, spread_coefs]).astype(problem.dtype),
            np.concatenate([*intercepts, shift]),
            np.vstack([*free_coefs, free])[:, unpenalized.size :].T,
        )
        return cls(linear, len(coefs), len(coefs[0]), average.share)

    def of_columns(self, columns: list[int]) -> Averaging:
        """The same predictors for an X of only these columns, which include all used ones."""
        used, coef = self.linear.features, self.linear.coef
        new_coef = np.zeros((len(coef), len(columns)), coef.dtype)
        positions = {column: position for position, column in enumerate(columns)}
        new_coef[:, [positions[j] for j in used.tolist()]] = coef
        linear = replace(self.linear, features=np.arange(len(columns)), coef=new_coef)
        return replace(self, linear=linear)

    def differences(self, values: Any) -> Any:
        """Select the differences (rows x r) among the values of all predictors (rows x K)."""
        return values[:, self.n_models * self.outputs :]

    def eta(self, loss: Loss, values: Any) -> Any:
        """Average linear predictors of rows (rows x outputs), given the values of all."""
        ends = range(0, self.n_models * self.outputs, self.outputs)
        models = [values[:, at : at + self.outputs] for at in ends]
        return averaged(loss, models, self.differences(values)[:, None], self.share)
