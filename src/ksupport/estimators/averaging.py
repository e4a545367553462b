"""The average that predictions go by, in the units of X: linear predictors, side by side."""

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
    """Models, and differences of models, as linear predictors."""

    linear: LinearPredictors  # outputs of the first model, of the second if any, differences
    n_models: int
    outputs: int  # of each model
    share: float  # what the second model counts

    @classmethod
    def of(cls, problem: Problem, average: Average) -> Self:
        """In the units of X: intercepts and unpenalised columns have their best coefficients."""
        adjusting = problem.adjusting
        index = np.zeros(0, np.intp) if adjusting is None else adjusting.columns.index
        used = np.union1d(average.features, index)
        coefs, frees, added = [], [], []
        loss = problem.losses[0]
        for each in average.models(loss):
            whole = problem.unscaled(average.whole(each, problem.view.d))
            coef, free, intercept = problem.finished(whole)
            coefs.append(np.atleast_2d(coef)[:, used])
            frees.append(np.atleast_2d(free))
            added.append(np.atleast_1d(intercept))
        spread = average.uncertainty if loss.averages_eta else average.spread
        spread, free, shift = problem.differences(average.features, spread)
        beside = np.zeros((len(spread), used.size))
        beside[:, np.searchsorted(used, average.features)] = spread
        beside[:, np.searchsorted(used, index)] = free[:, : index.size]
        linear = LinearPredictors(
            used,
            np.vstack([*coefs, beside]).astype(problem.dtype),
            np.concatenate([*added, shift]),
            np.vstack([*frees, free])[:, index.size :].T,
        )
        return cls(linear, len(coefs), len(coefs[0]), average.share)

    def of_columns(self, columns: list[int]) -> Averaging:
        """The same of an X that has these columns alone, all that are used among them."""
        used, coef = self.linear.features, self.linear.coef
        own = np.zeros((len(coef), len(columns)), coef.dtype)
        place = {column: at for at, column in enumerate(columns)}
        own[:, [place[j] for j in used.tolist()]] = coef
        linear = replace(self.linear, features=np.arange(len(columns)), coef=own)
        return replace(self, linear=linear)

    def differences(self, values: Any) -> Any:
        """Of the values of all linear predictors (rows x K), those of differences: rows x r."""
        return values[:, self.n_models * self.outputs :]

    def eta(self, loss: Loss, values: Any) -> Any:
        """What is predicted, given the values of all: rows x outputs."""
        ends = range(0, self.n_models * self.outputs, self.outputs)
        models = [values[:, at : at + self.outputs] for at in ends]
        return averaged(loss, models, self.differences(values)[:, None], self.share)
