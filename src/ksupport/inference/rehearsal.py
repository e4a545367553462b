"""A rehearsal: the whole procedure on simulated responses, on the user's own X.

Coefficients are drawn from the fitted posterior, or are variations of such draws; responses are
simulated from them and X, and the features found in each are compared with the true ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from .._common.checks import check_count
from .._common.extra import extra
from .._common.phases import phase
from .._common.progress import show_progress
from ..design import Floats, Ints
from .permutation import fitted_again, judging_copy

AS_FITTED, HALF, TWICE, NOTHING = "as fitted", "halved effects", "twice the features", "no effects"
SCENARIOS = (AS_FITTED, HALF, TWICE, NOTHING)
LARGEST_RATE = 30.0  # largest log mean of a simulated count


@dataclass(frozen=True)
class Outcome:
    """The results of one scenario, summed over its simulated responses.

    Attributes
    ----------
    scenario : str
        Name of the scenario.
    draws : int
        Number of simulated responses.
    signals : int
        Responses in which a signal was found.
    sets, sets_that_hold : int
        Credible sets of 95 %, and those of them that contain a true feature.
    selected, false : int
        Selected features, and those of them that are not true.
    true, found : int
        True features, and those of them that were selected.
    effect, effect_found : float
        The sum of squares of all true effects, and of those of selected features; an effect is that
        of one standard deviation of its feature.

    Examples
    --------
    >>> from ksupport import Outcome
    >>> outcome = Outcome("as fitted", 10, 10, 21, 20, 30, 3, 40, 27, 52.0, 49.4)
    >>> outcome.power, outcome.weighted_power
    (0.675, 0.95)
    """

    scenario: str
    draws: int
    signals: int
    sets: int
    sets_that_hold: int
    selected: int
    false: int
    true: int
    found: int
    effect: float
    effect_found: float

    @property
    def coverage(self) -> float:
        """The share of credible sets that contain a true feature; NaN if there was none."""
        return _share(self.sets_that_hold, self.sets)

    @property
    def false_share(self) -> float:
        """The share of selected features that are not true; zero if none was selected."""
        return self.false / max(self.selected, 1)

    @property
    def power(self) -> float:
        """The share of true features that were selected; NaN if there were none."""
        return _share(self.found, self.true)

    @property
    def weighted_power(self) -> float:
        """Power with features counted by the squares of their effects.

        It hardly depends on the number of small effects, about which the data say little.
        """
        return _share(self.effect_found, self.effect)

    @property
    def words(self) -> str:
        """The outcome in a sentence."""
        if self.scenario == NOTHING:
            return (
                f"If no feature mattered, a signal would be found in {self.signals} of "
                f"{self.draws} responses."
            )
        if not self.true:
            return "The fit found no signal, so there are no effects to simulate responses from."
        sets = "no credible set would be found"
        if self.sets:
            sets = f"{self.sets_that_hold} of {self.sets} credible sets would contain a true one"
        return (
            f"If the truth were {_TOLD[self.scenario]}: {self.power:.0%} of the features that "
            f"matter would be selected ({self.weighted_power:.0%} by squared effects), "
            f"{self.false_share:.0%} of those selected would be false, and {sets}."
        )


_TOLD = {
    AS_FITTED: "as fitted", HALF: "as fitted, with half the effects",
    TWICE: "as fitted, with twice as many features",
}  # fmt: skip


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


@dataclass(frozen=True)
class Rehearsal:
    """The results of `rehearse`, by scenario.

    Attributes
    ----------
    outcomes : tuple of Outcome
        One for each scenario.

    Examples
    --------
    >>> from ksupport import Outcome, Rehearsal
    >>> print(Rehearsal((Outcome("no effects", 10, 1, 0, 0, 0, 0, 0, 0, 0, 0),)))
    If no feature mattered, a signal would be found in 1 of 10 responses.
    """

    outcomes: tuple[Outcome, ...]

    @property
    def words(self) -> str:
        """A sentence for each scenario."""
        return " ".join(each.words for each in self.outcomes)

    def __str__(self) -> str:
        return "\n".join(each.words for each in self.outcomes)

    def to_frame(self) -> Any:
        """A table, a row for each scenario.

        Returns
        -------
        pandas.DataFrame
            The fields of `Outcome`, and ``coverage``, ``false_share``, ``power`` and
            ``weighted_power``.
        """
        with extra("data", "a data frame needs"):
            import pandas as pd
        return pd.DataFrame([self.row(each) for each in self.outcomes])

    @staticmethod
    def row(outcome: Outcome) -> dict[str, Any]:
        """One outcome with its shares."""
        shares = ("coverage", "false_share", "power", "weighted_power")
        return vars(outcome) | {name: getattr(outcome, name) for name in shares}


def rehearse(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    scenarios: Sequence[str] = SCENARIOS,
    n_draws: int = 10,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> Rehearsal:
    """Run the whole procedure on simulated responses with known true features, on your X.

    The estimator is fitted.  Coefficients are drawn from its posterior, a response is simulated
    from them and X, and the estimator is fitted to it as if the true features were not known.

    Parameters
    ----------
    estimator : AutoIRKSN, AutoIRKSNClassifier or AutoIRKSNSurvival
        For one response, or two classes.
    X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
        The measurements.
    y : array
        The response, as in ``fit``.
    scenarios : sequence of str
        Some of "as fitted", "halved effects" (all coefficients are halved), "twice the features"
        (as many other features have effects of the same sizes) and "no effects" (pure noise).
    n_draws : int, default=10
        Number of simulated responses for each scenario.
    groups : array of shape (n,), optional
        Which rows belong together, as in ``fit``; simulated noise is independent.
    random_state : int, default=0
        Seed of the simulation.
    verbose : bool, default=False
        Whether to show the time left, once two seconds have passed.

    Returns
    -------
    Rehearsal

    Notes
    -----
    The results hold if the model is right, as features, effects and noise are drawn from its
    posterior: from its 200 models of most weight, which have fewer features of small effect than
    the others.  Power by squared effects depends less on these than power does.  If the fit found
    no signal, only "no effects" is informative.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import AutoIRKSN, rehearse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(60)
    >>> print(rehearse(AutoIRKSN(), X, y, scenarios=["as fitted"], n_draws=2))
    If the truth were as fitted: ...% of the features that matter would be selected (...%...
    """
    check_count("n_draws", n_draws)
    check_count("random_state", random_state, low=0)
    unknown = [each for each in scenarios if each not in SCENARIOS]
    if unknown or isinstance(scenarios, str) or not len(scenarios):
        raise ValueError(f"scenarios must be some of {SCENARIOS}, got {scenarios!r}")
    judging_copy(estimator)
    outcomes = []
    with show_progress(wanted=verbose), phase("rehearsing", 1 + len(scenarios) * n_draws) as update:
        model = fitted_again(estimator, X, y, groups)
        update(1)
        stage = _Stage(model, X, y)
        for at, scenario in enumerate(scenarios):
            rng = np.random.default_rng([random_state, SCENARIOS.index(scenario)])
            trials = []
            for draw, truth in enumerate(stage.truths(scenario, n_draws, rng)):
                again = fitted_again(estimator, X, stage.response(truth, rng), groups)
                trials.append((again, stage.effects(truth)))
                update(1 + at * n_draws + draw + 1)
            outcomes.append(outcome_of(scenario, trials))
    return Rehearsal(tuple(outcomes))


def outcome_of(scenario: str, trials: Sequence[tuple[Any, Floats]]) -> Outcome:
    """What fits say, each beside the true effects of one standard deviation of each feature."""
    counts = [_count_found(model, effects != 0) for model, effects in trials]
    squares = [(np.sum(b**2), np.sum(b[model.support_] ** 2)) for model, b in trials]
    return Outcome(
        scenario, len(trials), *np.sum(counts, axis=0).tolist(), *np.sum(squares, axis=0).tolist()
    )


def _count_found(model: Any, true: NDArray[np.bool_]) -> tuple[int, ...]:
    """A fit compared with the true features: the counts of an `Outcome`."""
    selected = model.support_
    hold = sum(bool(true[list(each.features)].any()) for each in model.sets_)
    return (
        int(model.signal_), len(model.sets_), hold, int(selected.sum()),
        int((selected & ~true).sum()), int(true.sum()), int((selected & true).sum()),
    )  # fmt: skip


class _Stage:
    """A fitted model, from which coefficients and responses are simulated."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        if np.atleast_2d(model.coef_).shape[0] > 1:
            raise ValueError(
                "rehearse needs one response, or two classes, got "
                f"{np.atleast_2d(model.coef_).shape[0]}: rehearse them one at a time"
            )
        self.model, self.X, self.y = model, X, y
        self.fitted = self._linear(self.model.coef_)
        features = np.ones(model.n_features_in_, bool)
        features[model.unpenalized_] = False
        self.features: Ints = np.flatnonzero(features)
        self._none = self._linear(np.zeros_like(model.coef_, np.float64))
        self._known: dict[int, float] = {}

    def _linear(self, coef: Floats) -> Floats:
        """The linear predictor of the fitted model, with other coefficients."""
        twin = copy(self.model)
        twin.coef_ = coef
        return np.asarray(twin._linear(self.X), np.float64).ravel()

    def eta(self, truth: Floats) -> Floats:
        """The linear predictor of these coefficients, with the mean of the fitted one."""
        coef = np.array(self.model.coef_, np.float64)
        coef[..., self.features] = truth[self.features]
        found = self._linear(coef)
        return np.asarray(found + self.fitted.mean() - found.mean())

    # -- truths ------------------------------------------------------------------------------

    def truths(self, scenario: str, n: int, rng: np.random.Generator) -> Floats:
        """Draws of all coefficients, n x features."""
        drawn = self.model.posterior_.sample_coef(n, rng)
        if scenario == NOTHING:
            return np.zeros_like(drawn)
        if scenario == HALF:
            return np.asarray(drawn / 2)
        return np.array([self._more(b, rng) for b in drawn]) if scenario == TWICE else drawn

    def _more(self, truth: Floats, rng: np.random.Generator) -> Floats:
        """Add as many other features, with effects of the same sizes and random signs."""
        own = np.flatnonzero(truth)
        rest = np.setdiff1d(self.features, own)
        others = rng.choice(rest, min(own.size, rest.size), replace=False)
        more = truth.copy()
        for at, j in zip(own.tolist(), others.tolist(), strict=False):
            spread = self._deviation(j)
            if spread > 0:
                more[j] = truth[at] * self._deviation(at) / spread * rng.choice([-1.0, 1.0])
        return more if not self.model.positive else np.abs(more)

    def effects(self, truth: Floats) -> Floats:
        """Those of one standard deviation of each feature."""
        out = np.zeros_like(truth)
        for j in np.flatnonzero(truth).tolist():
            out[j] = truth[j] * self._deviation(j)
        return out

    def _deviation(self, feature: int) -> float:
        """The standard deviation of a column, which is read once."""
        if feature not in self._known:
            one = np.zeros_like(self.model.coef_, np.float64)
            one[..., feature] = 1.0
            self._known[feature] = float(np.std(self._linear(one) - self._none))
        return self._known[feature]

    # -- responses ---------------------------------------------------------------------------

    def response(self, truth: Floats, rng: np.random.Generator) -> Any:
        """A response simulated from the distribution that belongs to the loss."""
        draw: dict[str, Callable[[Floats, np.random.Generator], Any]] = {
            "squared": self._numbers, "logistic": self._classes, "poisson": self._counts,
            "cox": self._times,
        }  # fmt: skip
        name = self.model._loss.name
        if name not in draw:
            raise ValueError(
                f"rehearse simulates responses for loss {', '.join(map(repr, draw))}, got "
                f"{name!r}: use an estimator with one of these"
            )
        return draw[name](self.eta(truth), rng)

    def _numbers(self, eta: Floats, rng: np.random.Generator) -> Floats:
        known = self.model.posterior_.coefficients
        noise = sum(each.weight * float(each.noise[0]) for each in known.models)
        return np.asarray(eta + np.sqrt(noise) * rng.standard_normal(eta.size))

    def _classes(self, eta: Floats, rng: np.random.Generator) -> Any:
        return self.model.classes_[(rng.random(eta.size) < expit(eta)).astype(np.intp)]

    def _counts(self, eta: Floats, rng: np.random.Generator) -> Floats:
        return np.asarray(rng.poisson(np.exp(np.minimum(eta, LARGEST_RATE))), np.float64)

    def _times(self, eta: Floats, rng: np.random.Generator) -> Floats:
        """Times by the baseline hazard, censored at the times at which rows were censored.

        Rows with an event are censored at the last time of all.
        """
        known = self.model._validated(self.X, self.y, reset=False)[1]
        hazard = self.model.cum_baseline_hazard_
        last = float(hazard.x[-1])
        ends = np.where(known[:, 1] > 0, last, known[:, 0])
        reached = rng.exponential(size=eta.size) / np.exp(np.minimum(eta, LARGEST_RATE))
        at = np.searchsorted(hazard.y, reached)
        times = np.append(hazard.x, np.inf)[at]
        return np.column_stack([np.minimum(times, ends), (times <= ends).astype(np.float64)])
