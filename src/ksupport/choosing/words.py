"""What was decided, in words."""

from __future__ import annotations

from dataclasses import dataclass

from .judging import Judgement

KINDS = "few features", "groups of features that go together"
OPEN = 0.8  # probability below which the other answer is told of as well


class NoSignalWarning(UserWarning):
    """Nothing in the data can be told from noise: the model is empty."""


@dataclass(frozen=True)
class Told:
    """What a model is, besides what is believed of it."""

    size: int  # features
    by_squares: bool = True
    groups: int = 0  # of features that come in known groups, those that are in the model
    known: int | None = None  # and how many there are; None: features come one by one
    responses: int = 1  # that share a support
    positive: bool = False  # whether effects cannot be negative

    @property
    def features(self) -> str:
        of = " of positive effect" if self.positive else ""
        return f"1 feature{of}" if self.size == 1 else f"{self.size} features{of}"


def words_of(judgement: Judgement, told: Told) -> str:
    """What is believed, how sure that is, and how well new rows are predicted."""
    unseen = _unseen(judgement, told)
    if not judgement.signal:
        what = "no positive effect" if told.positive else "nothing"
        return (
            f"No signal: {what} in these data can be told from noise, so no feature is chosen."
            + unseen.replace("it explains", "the best that was tried explains")
        )
    kind, other = KINDS if judgement.few >= 0.5 else KINDS[::-1]
    sure = max(judgement.few, 1 - judgement.few)
    or_else = f", or else {other}" if sure < OPEN else ""
    for_all = f" for all {told.responses} responses" if told.responses > 1 else ""
    right = f"expected to be right by an F1 of {judgement.expected_f1:.2f}"
    if told.known is not None:
        found = f"{told.groups} of {told.known} groups ({told.features}){for_all}"
        return f"{found}, {right}.{unseen}"
    matter = f"{kind} (probability {sure:.2f}) matter{or_else}"
    return f"{told.features}{for_all}, {right}: {matter}.{unseen}"


def _unseen(judgement: Judgement, told: Told) -> str:
    """How well rows were predicted that were held out."""
    found = judgement.performance
    if found is None:
        return ""
    measured, nothing = ("variation", "the mean") if told.by_squares else ("deviance", "a constant")
    nothing = "the means" if told.responses > 1 else nothing
    return (
        f" On rows held out it explains {found.score:.2f} of the {measured} "
        f"(± {found.standard_error:.2f}; {nothing} alone: {found.baseline:.2f})."
    )
