"""One fit with all that is told about it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._common.names import shown
from ...algorithms import Method
from ...choosing.chosen import Chosen
from ...choosing.stability import StabilitySelection, stability_selection
from ...choosing.ways import chosen_by_criterion, chosen_on_path, walk_to
from ...design import Floats, Genotypes, Incomplete, Problem
from ...estimators.base import LinearRegressor, SelectingModel
from ...explain.account import Account
from ...explain.models import (
    adjusted_for,
    chosen_by,
    effects_of,
    method_behind,
    one_coefficient,
    speaks_for,
)
from ...explain.trials import Trials
from ...inference.permutation import PermutationTest, permutation_test
from ...posterior.judgement import NoSignalWarning
from ...reading import Data
from ...theory.report import RecoveryReport
from ..terminal.errors import CommandError
from .holding_out import Say, held_out
from .pace import LARGE, pace
from .wish import Wish, check_sampled, estimator_for

PAIRS = 10  # of half-samples, where nothing else says how sure a feature is


@dataclass(frozen=True)
class Fitted:
    """A model, and what supports it."""

    data: Data
    wish: Wish
    model: SelectingModel
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    seconds: float
    trials: Trials | None = None
    remarks: list[str] = field(default_factory=list)
    test: PermutationTest | None = None  # of as many permutations as were asked for

    @property
    def chosen(self) -> Chosen:
        """What the model has chosen, and how."""
        return chosen_by(self.model)

    @property
    def decision(self) -> str:
        """How the model was chosen, in words."""
        return self.chosen.words

    @property
    def adjustment(self) -> dict[str, float]:
        """Coefficients of the columns that the model is adjusted for, by name."""
        places = self.model.unpenalized_.tolist()
        return {self.data.feature_names[j]: float(self.coef[j]) for j in places}

    @property
    def coef(self) -> Floats:
        """Coefficients of all columns; of several classes, how far they put them apart."""
        return one_coefficient(self.model.coef_)

    @property
    def intercept(self) -> list[float]:
        """Of the one output, or of each class."""
        return [float(each) for each in np.ravel(self.model.intercept_)]

    def speaks_for(self, feature: int) -> str | None:
        """Of several classes, the one that a feature speaks for most, and least."""
        return speaks_for(self.model, feature)

    @cached_property
    def effects(self) -> Floats:
        """Coefficients times the standard deviations of their columns."""
        return effects_of(self.model, self.data.X)

    @cached_property
    def intervals(self) -> tuple[Floats, Floats] | None:
        """Ends of the 95 % intervals of coefficients, over models; None if none were sampled."""
        posterior = getattr(self.model, "posterior_", None)
        if posterior is None or posterior.coefficients is None:
            return None
        effects = posterior.effects()
        return effects.lower, effects.upper

    def account(self, target: str) -> Account:
        """What is told of it."""
        names = self.data.feature_names
        return Account(
            estimator=type(self.model).__name__, chosen=self.chosen, effects=self.effects,
            names=names, target=target, n=self.data.shape[0], candidates=self.data.n_features,
            adjusted=adjusted_for(self.model, names), trials=self.trials,
            kind=self.data.kind or "numbers", classes=self.data.classes,
            imputed=isinstance(self.data.X, Genotypes | Incomplete),
        )  # fmt: skip


class Repeated(LinearRegressor, SelectingModel):
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


def fit_data(data: Data, wish: Wish, pairs: int | None, compare: bool, say: Say) -> Fitted:
    """Fit, predict rows held out, repeat on half-samples, certify.

    ``pairs`` of half-samples; None is for `PAIRS`, or none where the model has probabilities.
    """
    assert data.y is not None
    n, d = data.shape[0], data.n_features
    model = estimator_for(wish, data)
    check_sampled(wish, model)
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
    told = [each for each in caught if not issubclass(each.category, NoSignalWarning)]
    remarks = [*data.remarks, *dict.fromkeys(str(each.message) for each in told)]
    if data.kind == "numbers" and np.ptp(data.y) == 0:
        remarks.append("The target is constant: there is nothing to explain.")
    test = None
    if wish.permutations is not None:
        say(f"testing by {wish.permutations} permutations")
        test = permutation_test(
            model, data.X, data.y, n_permutations=wish.permutations, groups=data.groups
        )
    trials = held_out(data, wish, model, say, remarks) if compare else None
    if pairs is None:
        pairs = 0 if chosen_by(model).judgement is not None else PAIRS
    stability = _stability(data, wish, model, pairs, say, remarks)
    say("checking the recovery conditions")
    certificate = _certificate(data, model)
    return Fitted(data, wish, model, stability, certificate, seconds, trials, remarks, test)


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


def repeater(model: SelectingModel, data: Data) -> SelectingModel:
    """What half-samples repeat: the criterion, or the path to the step that folds have chosen.

    Where every feature has a probability, all of it.
    """
    if chosen_by(model).judgement is not None:
        again: SelectingModel = clone(model)
        return again
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
    if not model.support_.any() or model._loss.name != "squared":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = model.certify(data.X, data.y)
    names = {j: shown(data.feature_names[j]) for j in report.feature_names}
    return replace(report, feature_names=names)
