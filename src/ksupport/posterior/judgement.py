"""The conclusion from a posterior: what was selected, how sure, how well it predicts."""

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

DISAGREE = 0.1  # largest difference between chains above which the answer warns


class NoSignalWarning(UserWarning):
    """No effect in the data can be distinguished from noise: the model is empty."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """The posterior, and what follows from it.

    Parameters
    ----------
    posterior : Posterior
        Empty where there is no signal.
    p_value : float
        Of the permutation test; NaN where none was needed.
    signal : bool
        Whether any feature is associated with the response: more probable than not, and the
        permutation test rejects that there is none.
    rows : EffectiveRows
        The effective sample size.
    performance : Performance, optional
        On held-out rows; None if there are too few rows to hold some out.
    support : array of bool of shape (n_features,)
        The selected features: those of the largest expected F-beta score.
    expected_f1 : float
        The expected F1 score of the support.
    sets : tuple of FeatureSet
        The credible sets.
    beta : float
        The beta of that F-beta score.
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
        """The posterior inclusion probability of each feature."""
        return self.posterior.inclusion


def judged(
    posterior: Posterior, p_value: float, rows: EffectiveRows, performance: Performance | None,
    beta: float,
) -> Judgement:  # fmt: skip
    """The conclusion from a posterior and from a permutation test, which assumes no model."""
    signal = posterior.noise < 0.5 and p_value <= LEVEL
    posterior = posterior if signal else posterior.without_signal()
    support, expected = posterior.select_f(beta)
    sets = tuple(posterior.sets()) if signal else ()
    return Judgement(posterior, p_value, signal, rows, performance, support, expected, sets, beta)


@dataclass(frozen=True)
class Kind:
    """What kind of model was fitted; the words of the answer depend on it."""

    size: int  # features
    by_squares: bool = True
    groups: int = 0  # known groups of features that are in the model
    known: int | None = None  # number of known groups; None: features are not grouped
    responses: int = 1  # number of responses that share a support
    positive: bool = False  # whether effects cannot be negative
    copied_rows: int = 0  # exact copies of other rows, merged with these

    @property
    def features(self) -> str:
        of = " of positive effect" if self.positive else ""
        return f"1 feature{of}" if self.size == 1 else f"{self.size} features{of}"


def words_of(judgement: Judgement, kind: Kind) -> str:
    """What was selected, how sure that is, and how well held-out rows are predicted."""
    parts = [_answer(judgement, kind), _copies(kind), judgement.rows.words, _convergence(judgement)]
    return " ".join(f"{part}." for part in parts if part) + _prediction(judgement, kind)


def _answer(judgement: Judgement, kind: Kind) -> str:
    if not judgement.signal:
        what = "no positive effect" if kind.positive else "no effect"
        return (
            f"No signal: {what} can be distinguished from noise, so no feature is selected "
            f"({_why_none(judgement)})"
        )
    selected = np.flatnonzero(judgement.support)
    if not selected.size:
        return (
            "No feature is selected: the response is associated with a component that most "
            f"features share (probability {judgement.posterior.background:.2f}), and no feature "
            "explains it better than the others"
        )
    right = judgement.posterior.expected_hits(selected)
    for_all = f" for all {kind.responses} responses" if kind.responses > 1 else ""
    found = f"{kind.features}{for_all}"
    if kind.known is not None:
        found = f"{kind.groups} of {kind.known} groups ({kind.features}){for_all}"
    sets = len(judgement.sets)
    also = f"; {sets} credible set{'s' * (sets > 1)} of features (95 %)" if sets else ""
    copied = sum(j in judgement.posterior.copies for j in selected.tolist())
    if copied:
        one = "has exact copies among the features and stands for all of them"
        more = "have exact copies among the features and stand for all of them"
        also += f"; {copied} {one if copied == 1 else more}"
    if selected.size == 1:
        return f"{found} selected, right with probability {right:.2f}{also}"
    verb = "is" if round(right) == 1 else "are"
    return f"{found} selected, of which about {right:.0f} {verb} expected to be right{also}"


def _why_none(judgement: Judgement) -> str:
    if np.isnan(judgement.p_value):
        return "the model without features has a posterior probability of at least one half"
    return f"permutation p-value {judgement.p_value:.2f}"


def _copies(kind: Kind) -> str:
    if not kind.copied_rows:
        return ""
    rows = "1 row is an exact copy of another" if kind.copied_rows == 1 else (
        f"{kind.copied_rows} rows are exact copies of others"
    )  # fmt: skip
    return f"{rows}: each set of copies counts as one row, with the sum of their weights"


def _convergence(judgement: Judgement) -> str:
    found = judgement.posterior.max_chain_difference
    if not judgement.signal or found <= DISAGREE:
        return ""
    return (
        "The sampler has not converged: inclusion probabilities differ between its chains by up to "
        f"{found:.2f}, and another random_state may select other features"
    )


def _prediction(judgement: Judgement, kind: Kind) -> str:
    found = judgement.performance
    if found is None:
        return ""
    measured = "variance" if kind.by_squares else "deviance"
    return (
        f" On held-out rows it explains {found.score:.2f} of the {measured} (standard error "
        f"{found.standard_error:.2f}; without features: {found.baseline:.2f})."
    )
