"""What is concluded from a posterior: an answer, how sure it is, and how well it predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..design import Floats
from .credible_sets import FeatureSet
from .effective_rows import EffectiveRows
from .global_test import LEVEL
from .performance import Performance
from .result import Posterior

DISAGREE = 0.1  # difference of chains from which the answer says so


class NoSignalWarning(UserWarning):
    """Nothing in the data can be told from noise: the model is empty."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """The posterior, and what is read off it.

    Parameters
    ----------
    posterior : Posterior
        Empty where there is no signal.
    p_value : float
        Of the permutation test; NaN where none was needed.
    signal : bool
        Whether anything goes with the response: more probable than not, and not by chance
        (`p_value`).
    rows : EffectiveRows
        How many rows count.
    performance : Performance, optional
        None: too few rows to hold some out.
    beta : float
        Of the F-beta whose expectation is largest.
    """

    posterior: Posterior
    p_value: float
    signal: bool
    rows: EffectiveRows
    performance: Performance | None
    support: NDArray[np.bool_]
    expected_f1: float
    sets: tuple[FeatureSet, ...]
    beta: float = 1.0

    @property
    def probability(self) -> Floats:
        """For each feature, that it matters."""
        return self.posterior.inclusion


def judged(
    posterior: Posterior, p_value: float, rows: EffectiveRows, performance: Performance | None,
    beta: float,
) -> Judgement:  # fmt: skip
    """What follows from a posterior and a test that does not rest on its model."""
    signal = posterior.noise < 0.5 and p_value <= LEVEL
    posterior = posterior if signal else posterior.without_signal()
    support, expected = posterior.select_f(beta)
    sets = tuple(posterior.sets()) if signal else ()
    return Judgement(posterior, p_value, signal, rows, performance, support, expected, sets, beta)


@dataclass(frozen=True)
class Kind:
    """What a model is, besides what is concluded of it."""

    size: int  # features
    by_squares: bool = True
    groups: int = 0  # of features that come in known groups, those that are in the model
    known: int | None = None  # and how many there are; None: features come one by one
    responses: int = 1  # that share a support
    positive: bool = False  # whether effects cannot be negative
    copied_rows: int = 0  # exact copies of other rows, merged with these

    @property
    def features(self) -> str:
        of = " of positive effect" if self.positive else ""
        return f"1 feature{of}" if self.size == 1 else f"{self.size} features{of}"


def words_of(judgement: Judgement, kind: Kind) -> str:
    """The answer, how sure it is, and how well new rows are predicted."""
    parts = [_answer(judgement, kind), _copies(kind), judgement.rows.words, _agreement(judgement)]
    return " ".join(f"{part}." for part in parts if part) + _prediction(judgement, kind)


def _answer(judgement: Judgement, kind: Kind) -> str:
    if not judgement.signal:
        what = "no positive effect" if kind.positive else "nothing"
        return (
            f"No signal: {what} in these data can be told from noise, so no feature is chosen "
            f"({_why_none(judgement)})"
        )
    named = np.flatnonzero(judgement.support)
    if not named.size:
        return (
            "No feature is chosen: the response goes with what most features have in common "
            f"(probability {judgement.posterior.background:.2f}), and no feature explains it "
            "better than the others"
        )
    right = judgement.posterior.expected_hits(named)
    for_all = f" for all {kind.responses} responses" if kind.responses > 1 else ""
    found = f"{kind.features}{for_all}"
    if kind.known is not None:
        found = f"{kind.groups} of {kind.known} groups ({kind.features}){for_all}"
    sets = len(judgement.sets)
    also = f"; {sets} set{'s' * (sets > 1)} of features with 95 % probability each" if sets else ""
    copied = sum(j in judgement.posterior.copies for j in named.tolist())
    if copied:
        whose = "is named in place of its" if copied == 1 else "are named in place of their"
        also += f"; {copied} {whose} exact copies, too, as no data can tell them apart"
    return f"{found}, of which about {right:.0f} are expected to be right{also}"


def _why_none(judgement: Judgement) -> str:
    if np.isnan(judgement.p_value):
        return "the model without features is more probable than all others together"
    return f"permutation p-value {judgement.p_value:.2f}"


def _copies(kind: Kind) -> str:
    if not kind.copied_rows:
        return ""
    rows = "1 row is an exact copy of another" if kind.copied_rows == 1 else (
        f"{kind.copied_rows} rows are exact copies of others"
    )  # fmt: skip
    return f"{rows}: copies are merged into one row with the sum of their weights"


def _agreement(judgement: Judgement) -> str:
    found = judgement.posterior.agreement
    if not judgement.signal or found <= DISAGREE:
        return ""
    return (
        f"The sampler has not converged: its chains differ by up to {found:.2f} in the probability "
        "of a feature"
    )


def _prediction(judgement: Judgement, kind: Kind) -> str:
    found = judgement.performance
    if found is None:
        return ""
    measured, nothing = ("variation", "the mean") if kind.by_squares else ("deviance", "a constant")
    nothing = "the means" if kind.responses > 1 else nothing
    return (
        f" On rows held out it explains {found.score:.2f} of the {measured} "
        f"(± {found.standard_error:.2f}; {nothing} alone: {found.baseline:.2f})."
    )
