"""What was decided, in words."""

from __future__ import annotations

from .judging import Judgement


class NoSignalWarning(UserWarning):
    """Nothing in the data can be told from noise: the model is empty."""


def words_of(
    judgement: Judgement,
    size: int,
    by_squares: bool = True,
    groups: int = 0,
    known: int | None = None,
) -> str:
    """What is believed, how sure that is, and how well new rows are predicted.

    Of features that come in known groups, so many groups of them.
    """
    measured, nothing = ("variation", "the mean") if by_squares else ("deviance", "a constant")
    unseen = ""
    if judgement.performance is not None:
        found = judgement.performance
        unseen = (
            f" On rows held out it explains {found.score:.2f} of the {measured} "
            f"(± {found.standard_error:.2f}; {nothing} alone: {found.baseline:.2f})."
        )
    if not judgement.signal:
        return (
            "No signal: nothing in these data can be told from noise, so no feature is chosen."
            + unseen.replace("it explains", "the best that was tried explains")
        )
    kind = "few features" if judgement.few >= 0.5 else "groups of features that go together"
    sure = max(judgement.few, 1 - judgement.few)
    features = "1 feature" if size == 1 else f"{size} features"
    right = f"expected to be right by an F1 of {judgement.expected_f1:.2f}"
    if known is not None:
        return f"{groups} of {known} groups ({features}), {right}.{unseen}"
    return f"{features}, {right}: {kind} (probability {sure:.2f}) matter.{unseen}"
