"""One fit: the model, its cross-validation, its stability and its certificate."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._common.names import listed, shown
from ..._common.progress import duration
from ...algorithms import Method
from ...choosing.selecting import select_by_criterion, select_on_path, walk_to
from ...choosing.selection import Selection
from ...choosing.stability import StabilitySelection, stability_selection
from ...design import Design, Floats, Genotypes, Ints, Problem
from ...estimators.base import LinearRegressor
from ...estimators.checks import with_parameters
from ...estimators.selecting import SelectingModel
from ...explain.cross_validation import BASELINE, CrossValidation, Make, cross_validated, metric_for
from ...explain.findings import Findings, findings_of
from ...explain.models import chosen_by, effects_of, method_behind, one_coefficient
from ...explain.standard_methods import CovariatesOnly, lasso_and_ridge
from ...explain.wording import Nouns, guessed_nouns
from ...inference.permutation import PermutationTest, permutation_test
from ...posterior.judgement import NoSignalWarning
from ...reading import Data
from ...theory.report import RecoveryReport
from ..terminal.exit import CommandError
from .options import FitOptions, check_sampled, estimator_for, inner_folds, outer_folds

# -- time to expect ----------------------------------------------------------------------


LARGE = 10**8  # entries of X from which on a fit may take minutes
TIMED_SHARE = 0.02  # of the columns that are looked at
PASSES = (6, 20)  # of 2000 x 200 000 genotypes AutoIRKSN took 13


def time_estimate(data: Data) -> str | None:
    """A sentence on the expected time; None where it is short."""
    n, d = data.shape
    if n * d < LARGE:
        return None
    count = max(1, int(TIMED_SHARE * data.n_features))
    some = data.X.select(np.arange(count)) if isinstance(data.X, Genotypes) else data.X[:, :count]
    seconds = _seconds_of(some) / TIMED_SHARE
    low, high = (duration(count * seconds) for count in PASSES)
    return (
        f"a pass over these data takes about {duration(seconds)}, and a fit mostly {PASSES[0]} to "
        f"{PASSES[1]} of them: expect {low} to {high}"
    )


def _seconds_of(X: Any) -> float:
    """Seconds of one product with all rows, after a first that opens files."""
    design, ones = Design.of(X), np.ones(X.shape[0])
    design.rmatvec(ones)
    started = time.perf_counter()
    design.rmatvec(ones)
    return time.perf_counter() - started


# -- cross-validation --------------------------------------------------------------------


Say = Callable[[str], None]
OURS = "this model"
UNMEASURED = "prediction of held-out rows was not measured"


def cross_validate(
    data: Data, options: FitOptions, model: Any, say: Say, remarks: list[str]
) -> CrossValidation | None:
    """Repeat the fit on folds; if that is impossible, a remark says why."""
    if data.kind == "numbers" and np.ptp(data.y) == 0:
        return None
    metric, loss = metric_for(model._loss), model._loss
    _, y = model._validated(data.X, data.y, multi_output=False, reset=False)
    strata = loss.sorts(y)
    needed = [int(np.count_nonzero(strata == each)) for each in loss.needed_sorts(strata)]
    least = min(needed, default=len(y))
    if (obstacle := _obstacle(data, options, metric.kind, least)) is not None:
        remarks.append(f"{obstacle}: {UNMEASURED}.")
        return None
    say("predicting held-out rows, compared with a Lasso and a ridge")
    X = np.asarray(data.X) if isinstance(data.X, Genotypes) else data.X
    inner = partial(inner_folds, options.cv, data.groups, options.seed, strata)
    alone = _baseline_name(data)

    def with_inner_folds(train: Ints) -> Any:
        again, folds = clone(model), inner(train)
        return again if isinstance(folds, int) else again.set_params(cv=folds)

    ours: dict[str, Make] = {OURS: with_inner_folds}
    if data.covariates:
        ours[alone] = lambda rows: CovariatesOnly(loss, data.unpenalized)
    others = lasso_and_ridge(X, inner, metric.kind)
    if not others:
        remarks.append(
            "To compare with a Lasso and a ridge on survival times, install scikit-survival: pip "
            "install 'ksupport[survival]'."
        )
    splits = outer_folds(options.cv, data.groups, y, options.seed, strata)

    def tried(ways: dict[str, Make], words: str) -> CrossValidation | None:
        try:
            return cross_validated(
                OURS, ways, X, y, splits, metric=metric, baseline=alone,
                adjusting=data.unpenalized,
            )  # fmt: skip
        except (ValueError, ArithmeticError) as error:  # of folds that lack a class, or events
            remarks.append(f"{words}: {shown(str(error), 200)}")
            return None

    beside = tried(ours | others, "A Lasso and a ridge were not compared") if others else None
    return beside or tried(ours, "No rows could be held out")


def _obstacle(data: Data, options: FitOptions, kind: str, least: int) -> str | None:
    """Why rows cannot be held out; ``least`` is the size of the smallest stratum needed."""
    groups, (n, d) = data.groups, data.shape
    if n < 2 * options.cv or (groups is not None and len(np.unique(groups)) < 3):
        return "Too few rows to hold some out"
    if isinstance(data.X, Genotypes) and n * d >= LARGE:
        return "Holding out rows would read the file many times"
    if kind != "numbers" and least < 2 * options.cv:
        rare = "rows of one class" if kind == "classes" else "rows with an event"
        return f"Too few {rare} to hold some out ({least})"
    return None


def _baseline_name(data: Data) -> str:
    if not data.codings:
        return BASELINE
    *first, last = [shown(coding.name) for coding in data.codings]
    return f"a model of {f'{listed(first, 4)} and ' if first else ''}{last} alone"


# -- the fit -----------------------------------------------------------------------------


PAIRS = 10  # of half-samples, where nothing else says how sure a feature is


@dataclass(frozen=True)
class Fitted:
    """A model, and what supports it."""

    data: Data
    options: FitOptions
    model: SelectingModel
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    seconds: float
    validation: CrossValidation | None = None
    remarks: list[str] = field(default_factory=list)
    test: PermutationTest | None = None  # of as many permutations as were asked for

    @property
    def chosen(self) -> Selection:
        return chosen_by(self.model)

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

    def findings(self, target: str) -> Findings:
        names = self.data.feature_names
        return findings_of(
            self.model, self.data.X, self.data.y, names, target=target,
            validation=self.validation, nouns=self.nouns,
        )  # fmt: skip

    @property
    def nouns(self) -> Nouns:
        """What rows and features are called."""
        given, names = self.options, self.data.feature_names[: self.data.n_features]
        if given.features is None and isinstance(self.data.X, Genotypes):
            return guessed_nouns(names, given.rows, "SNPs")
        return guessed_nouns(names, given.rows, given.features)


@with_parameters
class Repeated(LinearRegressor, SelectingModel):
    """A procedure of selection, to be repeated on half-samples."""

    choose: Callable[[Problem], Selection] | None = None

    def fit(self, X: Any, y: Any) -> Repeated:
        assert self.choose is not None
        problem = self._problem(X, y, None)
        self._keep(problem, self.choose(problem))
        return self


def fit_data(data: Data, options: FitOptions, say: Say = lambda text: None) -> Fitted:
    """Fit, predict rows held out, repeat on half-samples, certify."""
    assert data.y is not None
    n, d = data.shape[0], data.n_features
    model = estimator_for(options, data)
    check_sampled(options, model)
    say(f"fitting {type(model).__name__} on {n} rows and {d} features")
    if (words := time_estimate(data)) is not None:
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
            raise CommandError(f"the fit failed: {error}") from error
    seconds = time.perf_counter() - started
    messages = [each for each in caught if not issubclass(each.category, NoSignalWarning)]
    remarks = [*data.remarks, *dict.fromkeys(str(each.message) for each in messages)]
    if data.kind == "numbers" and np.ptp(data.y) == 0:
        remarks.append("The target is constant, so there is nothing to explain.")
    test = None
    if options.permutations is not None:
        say(f"testing by {options.permutations} permutations")
        test = permutation_test(
            model, data.X, data.y, n_permutations=options.permutations, groups=data.groups
        )
    validation = cross_validate(data, options, model, say, remarks) if options.compare else None
    stability = _stability(data, options, model, say, remarks)
    say("checking the recovery conditions")
    certificate = _certificate(data, model)
    return Fitted(data, options, model, stability, certificate, seconds, validation, remarks, test)


def _stability(
    data: Data, options: FitOptions, model: Any, say: Say, remarks: list[str]
) -> StabilitySelection | None:
    assert data.y is not None
    pairs = options.stability
    if pairs is None:
        pairs = 0 if chosen_by(model).judgement is not None else PAIRS
    if pairs == 0 or not model.support_.any():
        return None
    if data.shape[0] < 8:
        remarks.append("No stability frequencies: too few rows for half-samples.")
        return None
    if data.groups is not None:
        remarks.append("No stability frequencies: half-samples would split groups.")
        return None
    if isinstance(data.X, Genotypes) and data.shape[0] * data.shape[1] >= LARGE:
        remarks.append("No stability frequencies: half-samples would read the file many times.")
        return None
    say(f"repeating the selection on {2 * pairs} half-samples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of halves that are too small to converge
        again = repeater(model, data)
        return stability_selection(again, data.X, data.y, n_pairs=pairs, random_state=options.seed)


def repeater(model: SelectingModel, data: Data) -> SelectingModel:
    """What half-samples repeat: the criterion, or the path to the step that folds have chosen.

    Where every feature has a probability, all of it.
    """
    if chosen_by(model).judgement is not None:
        again: SelectingModel = clone(model)
        return again
    like = {"standardize": model.standardize, "unpenalized": model.unpenalized}
    if chosen_by(model).how == "criterion":
        return Repeated(partial(_by_criterion, model), **like)
    assert data.y is not None
    method = method_behind(chosen_by(model), model._problem_again(data.X, data.y, None))
    return Repeated(partial(_by_step, method, chosen_by(model).steps[0]), **like)


def _by_criterion(model: SelectingModel, problem: Problem) -> Selection:
    n, d = round(problem.design.n_samples), problem.design.d
    return select_by_criterion(problem, model._search(n, d))


def _by_step(method: Method, step: int, problem: Problem) -> Selection:
    end = walk_to(method, problem.design, problem.targets[0], max(step, 1))
    return select_on_path(method, [end], by=None)


def _certificate(data: Data, model: Any) -> RecoveryReport | None:
    if not model.support_.any() or model._loss.name != "squared":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = model.certify(data.X, data.y)
    names = {j: shown(data.feature_names[j]) for j in report.feature_names}
    return replace(report, feature_names=names)
