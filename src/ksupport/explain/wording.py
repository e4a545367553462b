"""What is said of each kind of response, in words that ask for no statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .._common.names import shown
from .cross_validation import Kind

MORE = (
    "when the feature grows by one standard deviation (the usual distance of a value from the mean "
    "of its column) and all others stay as they are"
)


def percent(share: float) -> str:
    """A share in words that need no decimal point.

    >>> percent(0.624), percent(-0.03), percent(-7.0)
    ('62%', '-3%', 'less than -100%')
    """
    return f"{100 * share + 0.0:.0f}%".replace("-0%", "0%") if share > -1 else "less than -100%"


def braced(name: str) -> str:
    """A name as part of a text in which {} has a meaning."""
    return name.replace("{", "{{").replace("}", "}}")


@dataclass(frozen=True, kw_only=True)
class Wording:
    """Words for one response."""

    score: str  # what a score is, for those who know statistics
    column: str  # over scores in a table
    does_what: str  # what a model does, with {} for the share
    in_short: str  # the same, once it was said what is meant
    useless: str  # what a model does that is worth nothing
    pairs: str = ""  # what is asked of two rows, where a score is of pairs
    removes: tuple[str, str]  # around the share of the deviance that a model explains
    unexplained: str  # what is said of new rows where nothing is known
    scale: str  # what effects are changes of
    affected: str  # the same for those who know no logarithms
    asked: str  # what is to be explained
    direction: str  # what a positive effect means
    effect: str  # what an effect is

    def does(self, share: float) -> str:
        """What a model with this score does."""
        return self.does_what.format(percent(share))

    def briefly(self, share: float, give: str = "") -> str:
        """The same, once it was said what is meant, give or take something."""
        return self.in_short.format(f"{percent(share)}{give}")

    def explains(self, share: float) -> str:
        """What a model does that explains this share of the deviance."""
        return percent(share).join(self.removes)


def _numbers(target: str, classes: Sequence[str]) -> Wording:
    return Wording(
        score="share of variance explained",
        column="explained",
        does_what=f"explains {{}} of how {braced(target)} varies",
        in_short="explains {}",
        useless="explains nothing",
        removes=("explains ", f" of how {target} varies"),
        unexplained=f"{target} is predicted by its mean",
        scale=target,
        affected=target,
        asked=target,
        direction=f"the more of such a feature, the larger {target}",
        effect=f"By how much the prediction of {target} changes {MORE}.",
    )


def _classes(target: str, classes: Sequence[str]) -> Wording:
    return (_two_classes if len(classes) <= 2 else _several_classes)(target, classes)


def _several_classes(target: str, classes: Sequence[str]) -> Wording:
    apart = "the class that it speaks for most and the one that it speaks for least"
    return Wording(
        score="accuracy",
        column="told right",
        does_what=f"tells for {{}} of all rows which of the {len(classes)} classes of "
        f"{braced(target)} they have",
        in_short="is right for {} of rows",
        useless="tells nothing",
        removes=("takes ", f" off the uncertainty about {target}"),
        unexplained=f"{target} is predicted by the shares of its classes",
        scale=f"the log odds of {apart}",
        affected=f"the classes of {target}",
        asked=f"{target}, of {len(classes)} classes",
        direction=f"the larger the effect, the further apart it puts {apart}",
        effect=f"By how much the logarithm of the odds of {apart} changes {MORE}: 0.7 is about "
        "twice the odds.",
    )


def _two_classes(target: str, classes: Sequence[str]) -> Wording:
    first, second = (shown(str(each)) for each in (classes[0], classes[-1]))
    return Wording(
        score="area under the ROC curve",
        column="told apart",
        does_what=f"tells which of two rows is {braced(second)} and which is {braced(first)} for "
        "{} of all pairs",
        in_short="is right for {} of pairs",
        useless="does no better than a coin",
        pairs=f"Every row that is {second} is compared with every row that is {first}, and ought "
        f"to have the higher probability of {second}. Tossing a coin would be right for half of "
        "the pairs. (This share is the area under the ROC curve.)",
        removes=("takes ", f" off the uncertainty about {target}"),
        unexplained=f"{second} is as likely in one row as in another",
        scale=f"the log odds of {second}",
        affected=second,
        asked=f"{target}, {first} or {second}",
        direction=f"the more of such a feature, the more likely {second}",
        effect=f"By how much the logarithm of the odds of {second} changes {MORE}: +0.7 is about "
        "twice the odds, -0.7 about half.",
    )


def _survival(target: str, classes: Sequence[str]) -> Wording:
    return Wording(
        score="concordance (Harrell's c)",
        column="told apart",
        does_what="tells which of two rows has the event first for {} of all pairs",
        in_short="is right for {} of pairs",
        useless="does no better than a coin",
        pairs="The row that has the event first ought to have the higher risk. Tossing a coin "
        "would be right for half of the pairs. (This share is Harrell's concordance.)",
        removes=("takes ", f" off the uncertainty about {target}"),
        unexplained="the risk is the same for all",
        scale="the log of the risk",
        affected="the risk",
        asked=f"{target} until an event",
        direction="the more of such a feature, the sooner the event",
        effect=f"By how much the logarithm of the risk changes {MORE}: +0.7 is about twice the "
        "risk, -0.7 about half.",
    )


_WORDINGS: dict[Kind, Callable[[str, Sequence[str]], Wording]] = {
    "numbers": _numbers,
    "classes": _classes,
    "survival": _survival,
}


def wording(kind: Kind, target: str, classes: Sequence[str] = ()) -> Wording:
    """The words for a response of this kind."""
    return _WORDINGS[kind](shown(target), classes)
