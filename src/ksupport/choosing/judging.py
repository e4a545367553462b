"""From evidence and held-out rows to a probability for every feature, and to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..design import Floats
from .clusters import Unions
from .elections import Candidates, Performance
from .policy import POLICY, Policy
from .posterior import Posterior
from .sets import STEADY, FeatureSet, sets_of

LEAST_PROBABLE, LEAST_SHARE, MOST_PROBABLE = 1e-5, 1e-2, 1 - 1e-4  # beyond, log odds say no more
MOST_ERRORS = 3.0  # standard errors beyond which held-out rows say no more against noise


@dataclass(frozen=True, eq=False)
class Judgement:
    """What is believed of the features, and how sure one can be."""

    probability: Floats  # for each feature, that it belongs to the model
    support: NDArray[np.bool_]  # the answer: that of the largest expected F-beta
    expected_f1: float
    few: float  # probability that few features matter, rather than groups
    signal: bool  # whether there is anything to be told from noise
    performance: Performance | None  # None: too few rows to hold some out
    sets: tuple[FeatureSet, ...]
    beta: float = 1.0  # of the F-beta whose expectation is largest


@dataclass(frozen=True, eq=False)
class Belief:
    """Probabilities of features, and how many true ones are among those that nothing names."""

    p: Floats
    missed: float = 0.0  # expected, among features of probability 0

    def answer(self, beta: float = 1.0) -> tuple[NDArray[np.bool_], float]:
        """The features of the largest expected F-beta, and their expected F1.

        The former is about (1 + beta²) Σ_S p / (|S| + beta² Σ p).
        """
        chosen, named = np.zeros(self.p.size, bool), np.flatnonzero(self.p)
        if named.size == 0:
            return chosen, 0.0
        p, total = self.p[named], float(self.p.sum()) + self.missed
        order = np.lexsort((named, -np.round(p, STEADY)))
        hits, sizes = np.cumsum(p[order]), np.arange(1, order.size + 1)
        expected = (1 + beta**2) * hits / (sizes + beta**2 * total)
        size = int(np.argmax(np.round(expected, STEADY))) + 1
        chosen[named[order[:size]]] = True
        return chosen, float(2 * hits[size - 1] / (size + total))


@dataclass(frozen=True, eq=False)
class Said:
    """What rows say that were held out once."""

    ahead: float  # how much better few features predict them: `Candidates.ahead`
    shares: Floats  # of features among what is elected: `group_shares`
    performance: Performance

    @classmethod
    def of(cls, candidates: Candidates, d: int, policy: Policy = POLICY) -> Said:
        """By errors on them."""
        shares = group_shares(candidates, d, policy)
        return cls(candidates.ahead, shares, candidates.performance(policy))


@dataclass(frozen=True, eq=False)
class AllRows:
    """What all rows say.

    Parameters
    ----------
    posterior : Posterior
        Supports of few features.
    unions : Unions, optional
        Unions of clusters; None if few features are clearly ahead of groups.
    elected : float
        The best `Evidence` among the supports of many features that folds elect; infinite if they
        elect none.
    together : float
        Evidence that all features have together for there being a signal, if more than few have.
    """

    posterior: Posterior
    unions: Unions | None
    elected: float = np.inf
    together: float = 0.0

    def lead(self, policy: Policy) -> float:
        """By how much unions have more evidence than few features, in units of -2 log evidence."""
        if self.unions is None:
            return -np.inf
        return self.posterior.best - self.unions.best - policy.misfit * self.posterior.gain


def judge(rows: AllRows, said: Sequence[Said], policy: Policy = POLICY) -> Judgement:
    """Put together what all rows say, and held-out ones each time; these may be too few for it."""
    posterior, performance = rows.posterior, _performance(said)
    signal = _signal(rows, performance, policy)
    belief, few = _believed(rows, said, policy)
    belief = belief if signal else Belief(np.zeros(posterior.d))
    support, expected = belief.answer(policy.beta)
    expected *= policy.discount
    sets = tuple(sets_of(posterior, belief.p, few >= 0.5)) if signal else ()
    return Judgement(belief.p, support, expected, few, signal, performance, sets, policy.beta)


def settled(rows: AllRows, said: Sequence[Said], policy: Policy = POLICY) -> bool:
    """Whether more times would hardly change the answer: it is none, or halves of them agree."""
    if not _signal(rows, _performance(said), policy):
        return True
    return agreement(rows, said, policy) >= policy.agree


def _performance(said: Sequence[Said]) -> Performance | None:
    return Performance.mean([each.performance for each in said]) if said else None


def _signal(rows: AllRows, performance: Performance | None, policy: Policy) -> bool:
    gain = rows.posterior.gain + max(rows.lead(policy), 0.0)
    return tells_signal(max(gain, rows.together), rows.posterior.n, performance, policy)


def agreement(rows: AllRows, said: Sequence[Said], policy: Policy = POLICY) -> float:
    """What the answers by one half of the times and by the other share, of what either has."""
    one, other = (
        _believed(rows, half, policy)[0].answer(policy.beta)[0] for half in (said[::2], said[1::2])
    )
    return float((one & other).sum() / max((one | other).sum(), 1))


def _believed(rows: AllRows, said: Sequence[Said], policy: Policy) -> tuple[Belief, float]:
    """What is believed of features, and the probability that few of them matter."""
    posterior, unions = rows.posterior, rows.unions
    ahead = float(np.mean([each.ahead for each in said])) if said else 0.0
    best, few, p = posterior.best, 1.0, posterior.probability()
    if unions is not None:
        lead = rows.lead(policy)
        few = 1 - of_unions(lead, ahead, policy)
        p = few * p + (1 - few) * unions.probability
        best -= max(lead, 0.0)
    if not said:
        return believed(p, p, 1.0, policy), few
    evident = of_evidence(rows.elected - best, ahead, policy)
    shares = np.mean([each.shares for each in said], axis=0)
    return believed(p, shares, evident, policy), few * evident


def believed(p: Floats, shares: Floats, evident: float, policy: Policy = POLICY) -> Belief:
    """What to believe, given probabilities by evidence and shares among what folds elect.

    ``evident`` is the probability that evidence is to be believed, rather than folds.
    """
    if policy.pool is None:
        return Belief(calibrated(evident * p + (1 - evident) * shares, policy))
    both, folds = pooled(p, shares, policy), calibrated(policy.sure * shares, policy)
    return Belief(evident * both.p + (1 - evident) * folds, evident * both.missed)


def pooled(p: Floats, shares: Floats, policy: Policy) -> Belief:
    """What both say together: a weighted sum of their log odds (a logarithmic pool).

    That is calibrated by its weights (docs/developers/targets.rst), on designs of so many features:
    of more, no more are missed.
    """
    assert policy.pool is not None
    shift, of_few, of_shares = policy.pool
    odds = shift + of_few * log_odds(p, LEAST_PROBABLE) + of_shares * log_odds(shares, LEAST_SHARE)
    both = np.asarray(1 / (1 + np.exp(-odds)))
    unnamed = (p <= LEAST_PROBABLE) & (shares <= LEAST_SHARE)  # all of one probability, the least
    missed = both.min() * min(np.count_nonzero(unnamed), policy.pooled_on) if unnamed.any() else 0.0
    return Belief(np.where(unnamed, 0.0, both), float(missed))


def log_odds(p: Floats, least: float) -> Floats:
    """Of probabilities that are neither below the least one nor next to 1."""
    p = np.clip(p, least, MOST_PROBABLE)
    return np.asarray(np.log(p) - np.log1p(-p))


def of_unions(lead: float, ahead: float, policy: Policy = POLICY) -> float:
    """Probability that unions of clusters matter, rather than few features.

    Given how much more evidence they have, in units of -2 log evidence, and by how much few
    features predict held-out rows better than iterates, which have groups, in n log error.
    """
    shift, of_lead, of_ahead = policy.unions_odds
    return _logistic(shift + of_lead * lead + of_ahead * max(ahead, 0.0))


def of_evidence(gap: float, ahead: float, policy: Policy = POLICY) -> float:
    """Probability that what has most evidence matters, rather than what folds elect.

    Evidence and held-out rows both tell: by how much the former does better than the supports of
    iterates, in units of -2 log evidence, and few features better than iterates, in n log error.
    """
    shift, of_gap, of_ahead = policy.odds
    gap, ahead = np.clip([gap, ahead], -200.0, 80.0)  # beyond, nothing more is said
    return _logistic(shift + of_gap * gap + of_ahead * ahead)


def _logistic(odds: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(odds, -500, 500))))


def group_shares(candidates: Candidates, d: int, policy: Policy = POLICY) -> Floats:
    """Shares of features among the elected, and in the earliest iterate near the best.

    Early iterates have whole groups, later ones thin them out.
    """
    elected = candidates.elected(policy)
    elected = elected / 2
    elected[candidates.earliest(policy)] += 0.5
    return candidates.shares(elected, d)


def tells_signal(
    gain: float, rows: float, performance: Performance | None, policy: Policy = POLICY
) -> bool:
    """Whether evidence and held-out rows together speak against knowing nothing."""
    if performance is None:
        return gain > policy.signal
    errors = performance.score / max(performance.standard_error, np.finfo(float).tiny)
    known = max(1 - policy.few_rows / rows, 0.0)  # few rows know their spread badly
    counted = policy.of_errors * known * np.clip(errors, 0.0, MOST_ERRORS)
    return bool(max(gain, 0.0) + counted > policy.signal)


def calibrated(p: Floats, policy: Policy = POLICY) -> Floats:
    """Probabilities that are as often right as they say (docs/developers/targets.rst)."""
    shift, factor = policy.calibration
    with np.errstate(divide="ignore"):
        odds = shift + factor * (np.log(p) - np.log1p(-np.minimum(p, 1 - 1e-6)))
    return np.asarray(1 / (1 + np.exp(-odds)))
