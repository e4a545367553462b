"""One fit with all that is told about it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._common.names import shown
from ...choosing.stability import StabilitySelection, stability_selection
from ...estimators.base import SelectingModel
from ...estimators.cv import iterate_at
from ...explain.models import chosen_by_criterion, description_of, method_behind, problem_of
from ...theory.report import RecoveryReport
from ..reading import Data, dense
from ..terminal.errors import CommandError
from .wish import Wish, estimator_for

Say = Callable[[str], None]


@dataclass(frozen=True)
class Fitted:
    """A model, and what supports it."""

    data: Data
    wish: Wish
    model: Any
    decision: str
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    seconds: float
    remarks: list[str] = field(default_factory=list)

    @property
    def order(self) -> list[int]:
        """The chosen features, that of the largest effect first."""
        effect = np.abs(self.effects)
        chosen = np.flatnonzero(self.model.support_)
        return [int(j) for j in chosen[np.argsort(-effect[chosen], kind="stable")]]

    @property
    def effects(self) -> Any:
        """Coefficients times the standard deviations of their columns."""
        effects = np.zeros(self.data.shape[1])
        chosen = np.flatnonzero(self.model.support_)
        if chosen.size:
            block = dense(self.data.X[:, chosen])
            effects[chosen] = self.model.coef_[chosen] * block.std(axis=0)
        return effects


class ChosenPath(SelectingModel):
    """One path to one step, nothing chosen: what half-samples are asked to repeat."""

    max_iter = 1
    every = None

    def __init__(self, method: Any = None, step: int = 1, standardize: bool = True) -> None:
        self.method = method
        self.step = step
        self.standardize = standardize
        self.fit_intercept = True

    def fit(self, X: Any, y: Any) -> ChosenPath:
        """Walk to the step."""
        problem = self._problem(X, y, None)
        design, target = problem.design, problem.targets[0]
        self._keep(problem, iterate_at(self.method, design, target, self.step))
        return self


def fit_data(data: Data, wish: Wish, pairs: int, say: Say) -> Fitted:
    """Fit, repeat on half-samples, certify."""
    assert data.y is not None
    n, d = data.shape
    model = estimator_for(wish, data.groups, n, d)
    say(f"fitting {type(model).__name__} on {n} rows and {d} features")
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if data.groups is None:
                model.fit(data.X, data.y)
            else:
                model.fit(data.X, data.y, groups=data.groups)
        except ValueError as error:
            raise CommandError(f"the fit could not be done: {error}") from error
    seconds = time.perf_counter() - started
    remarks = [*data.remarks, *dict.fromkeys(str(each.message) for each in caught)]
    if np.ptp(data.y) == 0:
        remarks.append("The target is constant: there is nothing to explain.")
    stability = _stability(data, wish, model, pairs, say, remarks)
    say("checking the recovery conditions")
    certificate = _certificate(data, model)
    decision = description_of(model)
    return Fitted(data, wish, model, decision, stability, certificate, seconds, remarks)


def _stability(
    data: Data, wish: Wish, model: Any, pairs: int, say: Say, remarks: list[str]
) -> StabilitySelection | None:
    assert data.y is not None
    if pairs == 0 or not model.support_.any():
        return None
    if data.shape[0] < 8:
        remarks.append("Too few rows for half-samples: no stability frequencies.")
        return None
    if data.groups is not None:
        remarks.append("Half-samples would tear the groups apart: no stability frequencies.")
        return None
    say(f"repeating the choice on {2 * pairs} half-samples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of halves that are too small to converge
        return stability_selection(
            repeater(model, data),
            data.X, data.y, n_pairs=pairs, random_state=wish.seed, verbose=True,
        )  # fmt: skip


def repeater(model: Any, data: Data) -> Any:
    """What half-samples repeat: the criterion, or the path to the step that folds have chosen."""
    if chosen_by_criterion(model):
        return clone(model._criterion()).set_params(verbose=False)
    method = method_behind(model, problem_of(model, data.X, data.y))
    return ChosenPath(method, max(int(model.n_iter_), 1), model.standardize)


def _certificate(data: Data, model: Any) -> RecoveryReport | None:
    if not model.support_.any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = model.certify(data.X, data.y)
    names = {j: shown(data.names[j]) for j in report.feature_names}
    return replace(report, feature_names=names)
