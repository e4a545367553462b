"""When to stop: rules that are pure functions of the history.

A rule is called with the history so far and answers with a `Verdict`: which record to keep, and
at which record the walk ends, if it does.  It never walks, prints or remembers anything, so it
behaves the same whatever block sizes, verbosity or callbacks are in use.  What a rule must know
of the data (the noise, the supports) is a column of the history, which it asks for in
`Rule.metrics` and which the loop measures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.checks import check_count, check_interval
from ..choosing.noise import noise_norm
from ..design import Design, Floats
from ..theory.bounds import stopping_time
from ..walking import Block, History, Metric, Rule, StoppingRule, Verdict

GROWTH = 0.01  # iterates that grew by less over half of the walk have ceased to grow
SKETCH = 1024  # numbers that stand for an iterate where there are more features


@dataclass(frozen=True)
class HeldOut(Rule):
    """Stop when the error on held-out rows has not improved for a while; keep the best.

    Parameters
    ----------
    fraction : float
        Share of the rows held out.
    patience : int
        Stop after so many records without a new best.  Records before the first change of the
        error do not count: some methods stay at zero for a while.

    Examples
    --------
    >>> from ksupport.walking import History
    >>> from ksupport.stopping import HeldOut
    >>> HeldOut(patience=2)(History({"t": [0, 1, 2, 3], "validation": [4.0, 1.0, 2.0, 3.0]}))
    Verdict(keep=1, stop=3)
    """

    fraction: float = 0.2
    patience: int = 20

    def __post_init__(self) -> None:
        check_interval("fraction", self.fraction, low=0, high=1, open_low=True, open_high=True)
        check_count("patience", self.patience)

    @property
    def holds_out(self) -> float:
        return self.fraction

    def __call__(self, history: History) -> Verdict:
        errors = history["validation"]
        best, records = np.minimum.accumulate(errors), np.arange(len(errors))
        # The record of the best error seen up to each record: where the minimum last dropped.
        latest = np.zeros(len(errors), np.intp)
        latest[1:] = np.where(best[1:] < best[:-1], records[1:], 0)
        latest = np.maximum.accumulate(latest)
        begun = np.flatnonzero(errors != errors[0])
        since = np.maximum(latest, begun[0] - 1 if begun.size else len(errors))
        late = np.flatnonzero(records - since >= self.patience)
        if late.size:
            return Verdict(keep=int(latest[late[0]]), stop=int(late[0]))
        return Verdict(keep=int(latest[-1]))


@dataclass(frozen=True)
class Discrepancy(Rule):
    """Stop as soon as the residual is as small as the noise: ‖Xw - y‖ <= tau delta (Morozov).

    Fitting closer than that would fit the noise.

    Parameters
    ----------
    delta : float, optional
        The norm of the noise, ‖y - Xw*‖; None takes the column ``noise`` of the history, which
        holds the estimate of `ksupport.stopping.noise_level`.
    tau : float
        Safety factor, at least 1.

    Examples
    --------
    >>> from ksupport.walking import History
    >>> from ksupport.stopping import Discrepancy
    >>> Discrepancy(1.5)(History({"t": [0, 1, 2], "residual": [3.0, 1.4, 1.0]}))
    Verdict(keep=1, stop=1)
    """

    squares_only: ClassVar[bool] = True

    delta: float | None = None
    tau: float = 1.0

    def __post_init__(self) -> None:
        _check_delta(self.delta)
        check_interval("tau", self.tau, low=1, high=math.inf)

    def metrics(self, design: Design, y: Floats) -> Mapping[str, Metric]:
        """The noise level, if it was not given."""
        return {"noise": _constant(noise_norm(design, y))} if self.delta is None else {}

    def __call__(self, history: History) -> Verdict:
        delta = history["noise"] if self.delta is None else self.delta
        return _first(history["residual"] <= self.tau * delta)

    def unmet(self, history: History) -> str:
        """A noise level that was given and is not reached means that the walk was too short."""
        if not self.delta:  # an estimate may be wrong, and no step reaches zero
            return ""
        return (
            f"the residual did not reach the noise level {self.tau * self.delta:.3g}: after "
            f"{int(history['t'][-1])} steps it is {float(history['residual'][-1]):.3g}; increase "
            "max_iter or k, or check delta"
        )


@dataclass(frozen=True)
class APriori(Rule):
    """Stop at the step that the theorem names before looking: t = ceil(c delta^(-1/2)).

    Theorem 1 of the paper: the error is then of the order of √delta.  The walk ends at the first
    record of that step or later (records are made every ``every`` steps).

    Parameters
    ----------
    delta : float
        The norm of the noise, ‖y - Xw*‖, positive.
    c : float
        Any positive constant; the best one is ``sqrt(b / a)`` of
        `ksupport.theory.error_bound`.

    Examples
    --------
    >>> from ksupport.walking import History
    >>> from ksupport.stopping import APriori
    >>> APriori(0.01, c=0.2)(History({"t": [0, 1, 2, 3]}))
    Verdict(keep=2, stop=2)
    """

    squares_only: ClassVar[bool] = True

    delta: float
    c: float = 1.0

    def __post_init__(self) -> None:
        stopping_time(self.delta, self.c)  # refuses what is not positive

    def __call__(self, history: History) -> Verdict:
        return _first(history["t"] >= stopping_time(self.delta, self.c))


@dataclass(frozen=True)
class Balancing(Rule):
    """Keep the first iterate that no later one contradicts (Lepskii's balancing principle).

    The error of step t is at most ``e(t) + (something that falls with t)``, where
    ``e(t) = 2 t delta / ‖X‖`` is what noise can have done (Theorem 1, with the constant that its
    proof needs).  From the step on at which the unknown part is the smaller one, iterates are
    within ``2 e(s) + 2 e(t)`` of each other.  So the first iterate for which that holds against all
    later ones comes no later than the best balance of the two parts, and its error is at most
    three times the bound there, without knowing the falling part.  The walk ends once e(t)
    exceeds the largest iterate, which has ceased to grow: later ones can hardly contradict.

    All that holds for the worst noise of norm delta, and with ``factor=1``; e(t) is then so large
    that even the zero model is seldom contradicted.  For noise without a direction the default
    is closer to the truth, but not proved; see the user guide for what it does.

    The history needs the columns ``noise_error``, which is e(t), and ``sketch``, vectors whose
    distances are those of the iterates (exactly up to 1024 features, to a few per cent beyond).

    Parameters
    ----------
    delta : float, optional
        The norm of the noise; None estimates it, as `Discrepancy` does.
    factor : float
        Multiplies e(t); 1 is the theorem's worst case.

    References
    ----------
    .. [1] O. V. Lepskii, "On a problem of adaptive estimation in Gaussian white noise", Theory of
       Probability and its Applications 35, 1991.
    .. [2] P. Mathé, S. V. Pereverzev, "Geometry of linear ill-posed problems in variable Hilbert
       scales", Inverse Problems 19, 2003.

    Examples
    --------
    >>> from ksupport.walking import History
    >>> from ksupport.stopping import Balancing
    >>> iterates = [[0.0], [2.0], [3.0], [3.5], [6.0]]
    >>> history = History({"noise_error": [0.0, 0.2, 0.4, 0.6, 0.8], "sketch": iterates})
    >>> Balancing(1.0, factor=1.0)(history).keep
    3
    """

    squares_only: ClassVar[bool] = True

    delta: float | None = None
    factor: float = 0.01
    looks_back: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_delta(self.delta)
        check_interval("factor", self.factor, low=0, high=math.inf, open_low=True, open_high=True)

    def metrics(self, design: Design, y: Floats) -> Mapping[str, Metric]:
        """What the noise can have added to each iterate, and the iterates' distances."""
        delta = noise_norm(design, y) if self.delta is None else self.delta

        def noise_error(block: Block) -> Any:
            if block.gain is not None:
                return np.asarray(2 * delta * block.gain)
            norm = design.norm("spectral")
            return np.asarray(block.t * (2 * delta / norm if norm > 0 else 0.0))

        return {"noise_error": noise_error, "sketch": sketch(design.d)}

    def __call__(self, history: History) -> Verdict:
        error, points = self.factor * history["noise_error"], history["sketch"]
        largest = np.maximum.accumulate(np.linalg.norm(points, axis=1))
        # Iterates start at zero and grow: compare with them only when they no longer do.
        grown = largest <= (1 + GROWTH) * largest[np.arange(len(largest)) // 2]
        over = np.flatnonzero((error >= largest) & grown & (largest > 0))
        stop = int(over[0]) if over.size else None
        end = len(error) if stop is None else stop + 1
        for record in range(end - 1):
            apart = np.linalg.norm(points[record + 1 : end] - points[record], axis=1)
            if (apart <= 2 * (error[record] + error[record + 1 : end])).all():
                return Verdict(keep=record, stop=stop)
        return Verdict(keep=end - 1, stop=stop)


@dataclass(frozen=True)
class ResidualRatio(Rule):
    """Stop when the residual has all but ceased to fall.

    Parameters
    ----------
    tol : float
        Stop when the least residual so far fell by less than this share ...
    patience : int
        ... over so many records.

    Examples
    --------
    >>> from ksupport.walking import History
    >>> from ksupport.stopping import ResidualRatio
    >>> history = History({"residual": [8.0, 4.0, 2.0, 1.999, 1.998]})
    >>> ResidualRatio(tol=0.01, patience=2)(history)
    Verdict(keep=4, stop=4)
    """

    tol: float = 1e-2
    patience: int = 10

    def __post_init__(self) -> None:
        check_interval("tol", self.tol, low=0, high=1, open_low=True, open_high=True)
        check_count("patience", self.patience)

    def __call__(self, history: History) -> Verdict:
        least = np.minimum.accumulate(history["residual"])
        stalls = np.zeros(len(least), bool)
        before, now = least[: -self.patience], least[self.patience :]
        # Some methods stay at zero for a while: not yet begun is not stalled.
        stalls[self.patience :] = (now > (1 - self.tol) * before) & (now < least[0])
        return _first(stalls | (least == 0))


@dataclass(frozen=True)
class NoChange(Rule):
    """Stop when neither the support nor the residual has changed for a while.

    The history needs a column ``support``, a fingerprint of the support; see `fingerprint`.

    Parameters
    ----------
    patience : int
        Over how many records nothing may change.
    tol : float
        Relative change of the residual that counts as none.

    Examples
    --------
    >>> from ksupport.walking import History
    >>> from ksupport.stopping import NoChange
    >>> history = History({"support": [0, 7, 7, 7], "residual": [3.0, 1.0, 1.0, 1.0]})
    >>> NoChange(patience=2)(history)
    Verdict(keep=3, stop=3)
    """

    patience: int = 20
    tol: float = 1e-3

    def __post_init__(self) -> None:
        check_count("patience", self.patience)
        check_interval("tol", self.tol, low=0, high=math.inf)

    def metrics(self, design: Design, y: Floats) -> Mapping[str, Metric]:
        """A number for each support."""
        return {"support": self.fingerprint(design.d)}

    def __call__(self, history: History) -> Verdict:
        support, residual = history["support"], history["residual"]
        last = len(support) - 1
        changed = np.flatnonzero(support[1:] != support[:-1]) + 1  # records with a new support
        same_since = np.zeros(len(support), np.intp)
        same_since[changed] = changed
        same_since = np.maximum.accumulate(same_since)
        late = np.arange(last + 1)[self.patience :]
        before = residual[: len(late)]
        still = np.abs(residual[late] - before) <= self.tol * before
        quiet = late[(late - same_since[late] >= self.patience) & still & (support[late] != 0)]
        if quiet.size:
            return Verdict(keep=int(quiet[0]), stop=int(quiet[0]))
        return Verdict(keep=last)

    @staticmethod
    def fingerprint(d: int) -> Metric:
        """A metric that gives equal supports equal numbers, and others (almost surely) not.

        The empty support gives 0.
        """
        marks = np.random.default_rng(0).integers(1, 2**40, size=d)

        def support(block: Block) -> NDArray[Any]:
            mine = marks if block.features is None else marks[block.features]
            return np.asarray(block.by_response.any(axis=1) @ mine)

        return support


NAMED: dict[str, type[Rule]] = {
    "held_out": HeldOut,
    "discrepancy": Discrepancy,
    "no_change": NoChange,
    "residual_ratio": ResidualRatio,
}


def rule_of(stopping: StoppingRule | str | None) -> Rule | None:
    """The rule that a parameter ``stopping`` stands for; None walks all the way.

    Parameters
    ----------
    stopping : str, rule, callable or None
        The name of a rule, or what says at a history where to stop.

    Returns
    -------
    Rule or None

    Examples
    --------
    >>> from ksupport.stopping import rule_of
    >>> rule_of("no_change")
    NoChange(patience=20, tol=0.001)
    """
    if stopping is None:
        return None
    if isinstance(stopping, str) and stopping in NAMED:
        return NAMED[stopping]()
    if not callable(stopping) or isinstance(stopping, type):
        raise ValueError(
            f"stopping must be None, {', '.join(map(repr, NAMED))} or a rule of "
            f"ksupport.stopping, got {stopping!r}"
        )
    return Rule.of(stopping)


def sketch(d: int) -> Metric:
    """A metric of short vectors whose distances are those of the iterates.

    Up to `SKETCH` features these are the iterates; beyond, every feature is added with a random
    sign to a random one of so many sums, which keeps squared distances in the mean and, with
    1024 sums, to within a few per cent (Charikar, Chen and Farach-Colton 2002).
    """
    if d <= SKETCH:
        return lambda block: block.dense(d) + 0.0
    rng = np.random.default_rng(0)
    place, sign = rng.integers(SKETCH, size=d), rng.choice([-1.0, 1.0], size=d)
    project = sp.csr_array((sign, place, np.arange(d + 1)), shape=(d, SKETCH))

    def sums(block: Block) -> NDArray[Any]:
        mine = project if block.features is None else project[block.features]
        each = [(mine.T @ rows.T).T for rows in block.by_response.swapaxes(0, 1)]
        return np.hstack(each)

    return sums


def _first(met: NDArray[np.bool_]) -> Verdict:
    """Stop at, and keep, the first record at which a condition is met."""
    records = np.flatnonzero(met)
    if records.size:
        return Verdict(keep=int(records[0]), stop=int(records[0]))
    return Verdict(keep=len(met) - 1)


def _constant(value: float) -> Metric:
    return lambda block: np.full(len(block.t), value)


def _check_delta(delta: float | None) -> None:
    if delta is not None:
        check_interval("delta", delta, low=0, high=math.inf)
