"""One fit with all that is told about it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..._common.names import shown
from ...algorithms import Method
from ...choosing.chosen import Chosen
from ...choosing.stability import StabilitySelection, stability_selection
from ...choosing.ways import chosen_by_criterion, chosen_on_path, walk_to
from ...design import Floats, Genotypes, Problem
from ...estimators.base import SelectingModel
from ...explain.models import by_effect, chosen_by, effects_of, method_behind
from ...reading import Data
from ...theory.report import RecoveryReport
from ..terminal.errors import CommandError
from .pace import LARGE, pace
from .wish import Wish, estimator_for

Say = Callable[[str], None]


@dataclass(frozen=True)
class Fitted:
    """A model, and what supports it."""

    data: Data
    wish: Wish
    model: SelectingModel
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    seconds: float
    remarks: list[str] = field(default_factory=list)

    @property
    def chosen(self) -> Chosen:
        """What the model has chosen, and how."""
        return chosen_by(self.model)

    @property
    def decision(self) -> str:
        """How the model was chosen, in words."""
        return self.chosen.words

    @property
    def order(self) -> list[int]:
        """The chosen features, that of the largest effect first."""
        return by_effect(self.effects, self.chosen)

    @property
    def adjustment(self) -> dict[str, float]:
        """Coefficients of the columns that the model is adjusted for, by name."""
        places = self.model.unpenalized_.tolist()
        return {self.data.feature_names[j]: float(self.model.coef_[j]) for j in places}

    @property
    def effects(self) -> Floats:
        """Coefficients times the standard deviations of their columns."""
        return effects_of(self.model, self.data.X)


class Repeated(SelectingModel):
    """One way to choose, given a problem: what half-samples are asked to repeat."""

    max_iter = 1
    every = None

    def __init__(
        self,
        choose: Callable[[Problem], Chosen] | None = None,
        standardize: bool = True,
        unpenalized: Any = None,
    ) -> None:
        self.choose = choose
        self.standardize = standardize
        self.unpenalized = unpenalized
        self.fit_intercept = True

    def fit(self, X: Any, y: Any) -> Repeated:
        """Choose on these rows."""
        assert self.choose is not None
        problem = self._problem(X, y, None)
        self._keep(problem, self.choose(problem))
        return self


def fit_data(data: Data, wish: Wish, pairs: int, say: Say) -> Fitted:
    """Fit, repeat on half-samples, certify."""
    assert data.y is not None
    n, d = data.shape[0], data.n_features
    model = estimator_for(wish, data)
    say(f"fitting {type(model).__name__} on {n} rows and {d} features")
    if (words := pace(data)) is not None:
        say(words)
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
    if data.kind == "numbers" and np.ptp(data.y) == 0:
        remarks.append("The target is constant: there is nothing to explain.")
    stability = _stability(data, wish, model, pairs, say, remarks)
    say("checking the recovery conditions")
    certificate = _certificate(data, model)
    return Fitted(data, wish, model, stability, certificate, seconds, remarks)


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
    if isinstance(data.X, Genotypes) and data.shape[0] * data.shape[1] >= LARGE:
        remarks.append("Half-samples would read the file many times: no stability frequencies.")
        return None
    say(f"repeating the choice on {2 * pairs} half-samples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of halves that are too small to converge
        return stability_selection(
            repeater(model, data),
            data.X, data.y, n_pairs=pairs, random_state=wish.seed,
        )  # fmt: skip


def repeater(model: SelectingModel, data: Data) -> Repeated:
    """What half-samples repeat: the criterion, or the path to the step that folds have chosen."""
    like = model.standardize, model.unpenalized
    if chosen_by(model).how == "criterion":
        return Repeated(partial(_by_criterion, model), *like)
    assert data.y is not None
    method = method_behind(chosen_by(model), model._problem_again(data.X, data.y, None))
    return Repeated(partial(_by_step, method, chosen_by(model).steps[0]), *like)


def _by_criterion(model: SelectingModel, problem: Problem) -> Chosen:
    n, d = round(problem.design.n_samples), problem.design.d
    return chosen_by_criterion(problem, model._search(n, d))


def _by_step(method: Method, step: int, problem: Problem) -> Chosen:
    end = walk_to(method, problem.design, problem.targets[0], max(step, 1))
    return chosen_on_path(method, [end], by=None)


def _certificate(data: Data, model: Any) -> RecoveryReport | None:
    if not model.support_.any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = model.certify(data.X, data.y)
    names = {j: shown(data.feature_names[j]) for j in report.feature_names}
    return replace(report, feature_names=names)
