"""Plain words for each kind of response, with the standard term beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .._common.names import shown
from .cross_validation import Kind

NAMES_READ = 500  # names from which the kind of feature is guessed
MOSTLY = 0.6  # share of them that must look alike
PATTERNS = {  # names of columns, by what they usually name
    "SNPs": r"rs\d+|(chr)?\d{1,2}[:_]\d+([:_][ACGT]+){0,2}|\d{1,2}:\d+",
    "genes": r"ENS[A-Z]*G\d+(\.\d+)?|[\w.-]+_at|[A-Z][A-Z0-9-]*\d[A-Z0-9-]*|"
    r"[A-Za-z0-9]+_at|gene[ _.-]?\w+",
    "voxels": r"vox(el)?[ _.-]?\d+",
    "channels": r"(Fp|AF|F|FC|FT|C|CP|T|TP|P|PO|O|I)(z|\d{1,2})|(eeg|ch(annel)?)[ _.-]?\d+",
    "proteins": r"[OPQ]\d[A-Z0-9]{3}\d|protein[ _.-]?\w+",
    "metabolites": r"HMDB\d+|metabolite[ _.-]?\w+",
}
NUMBERED = r"[A-Za-z]{1,2}\d+"  # x1, V12: names that say nothing, unless they are rs numbers
ONE_STEP = (
    "when the {feature} grows by one standard deviation (the typical distance of a value from the "
    "mean of its column) and all others stay as they are"
)


@dataclass(frozen=True)
class Nouns:
    """What rows and features are called, in the plural."""

    rows: str = "rows"
    features: str = "features"

    @property
    def row(self) -> str:
        """One of the rows."""
        return singular(self.rows)

    @property
    def feature(self) -> str:
        """One of the features."""
        return singular(self.features)

    def count(self, number: float) -> str:
        """A number of features, perhaps a mean over folds."""
        about = "" if float(number).is_integer() else "about "
        return f"{about}{number:.0f} {self.feature if round(number) == 1 else self.features}"


def singular(plural: str) -> str:
    """One of several.

    >>> singular("genes"), singular("assays"), singular("studies"), singular("mice")
    ('gene', 'assay', 'study', 'mice')
    """
    if plural.endswith("ies") and len(plural) > 4:
        return plural[:-3] + "y"
    return plural[:-1] if plural.endswith("s") and not plural.endswith("ss") else plural


def guessed_nouns(
    names: Sequence[str], rows: str | None = None, features: str | None = None
) -> Nouns:
    """What rows and features are called: as given, or guessed from the names of columns.

    >>> guessed_nouns(["rs123", "rs9", "rs77"]).features
    'SNPs'
    >>> guessed_nouns(["TP53", "BRCA1", "M27891_at"])
    Nouns(rows='samples', features='genes')
    """
    found = features
    looked_at = [str(name) for name in names[:NAMES_READ]]
    enough = MOSTLY * len(looked_at)
    numbered = sum(re.fullmatch(NUMBERED, name) is not None for name in looked_at) >= enough
    for noun, pattern in PATTERNS.items() if looked_at and features is None else ():
        alike = sum(re.fullmatch(pattern, name) is not None for name in looked_at)
        if alike >= enough and (noun == "SNPs" or not numbered):
            found = noun
            break
    electrodes = sum(re.fullmatch(PATTERNS["channels"], name) is not None for name in looked_at)
    if found is None and electrodes >= max(3, enough):
        found = "channels"
    biological = found in ("SNPs", "genes", "proteins", "metabolites")
    return Nouns(rows or ("samples" if biological else "rows"), found or "features")


def percent(share: float) -> str:
    """A share in per cent, without decimals.

    >>> percent(0.624), percent(0.0), percent(-0.001)
    ('62%', '0%', '0%')
    """
    return f"{round(100 * round(share, 2)):d}%"  # as a score with two decimals


def two_decimals(score: float) -> str:
    """A score with two decimals, and no sign before zero."""
    return f"{round(score, 2) + 0.0:.2f}"


def probability_text(probability: float) -> str:
    """A probability in per cent that never claims certainty.

    >>> probability_text(0.873), probability_text(0.9996), probability_text(0.0004)
    ('87%', '>99%', '<1%')
    """
    if probability > 0.99:
        return ">99%"
    return "<1%" if probability < 0.01 else f"{probability:.0%}"


@dataclass(frozen=True, kw_only=True)
class Wording:
    """Words for one response."""

    score: str  # the standard term of the score
    symbol: str  # its abbreviation
    chance: str  # what the score of a useless model means
    does: tuple[str, str]  # what a model does: before and after the share in per cent
    briefly: tuple[str, str]  # the short form, after the long one was used
    pairs: str = ""  # what is compared, where a score is a share of pairs
    unexplained: str  # the prediction without features
    scale: str  # what effects are changes of
    affected: str  # what effects change, for people who know no logarithms
    asked: str  # what is to be explained
    direction: str  # what a positive effect means
    effect: str  # what an effect is


def with_share(words: tuple[str, str], share: float, score: str) -> str:
    """What a model with this score does."""
    before, after = words
    return f"{before} {percent(share)} {after}".rstrip() + f" ({score})"


def _numbers(target: str, classes: Sequence[str], nouns: Nouns) -> Wording:
    return Wording(
        score="share of variance explained (R²)",
        symbol="R²",
        chance=f"0% is predicting the mean of {target}",
        does=("explains", f"of the variance of {target}"),
        briefly=("explains", ""),
        unexplained=f"{target} is predicted by its mean",
        scale=target,
        affected=target,
        asked=target,
        direction=f"the higher the {nouns.feature}, the higher {target}",
        effect=f"By how much the prediction of {target} changes "
        f"{ONE_STEP.format(feature=nouns.feature)}.",
    )


def _several_classes(target: str, classes: Sequence[str], nouns: Nouns) -> Wording:
    apart = "the class that it makes most likely and the one that it makes least likely"
    return Wording(
        score="accuracy",
        symbol="accuracy",
        chance="the baseline is always predicting the largest class",
        does=(f"predicts the class of {target} correctly for", f"of {nouns.rows}"),
        briefly=("is correct for", ""),
        unexplained=f"{target} is predicted by the shares of its classes",
        scale=f"the log odds of {apart}",
        affected=f"the classes of {target}",
        asked=f"{target}, {len(classes)} classes",
        direction=f"the longer the bar, the better the {nouns.feature} separates {apart}",
        effect=f"By how much the log odds of {apart} change "
        f"{ONE_STEP.format(feature=nouns.feature)}: 0.7 is about twice the odds.",
    )


def _two_classes(target: str, classes: Sequence[str], nouns: Nouns) -> Wording:
    first, second = (shown(str(each)) for each in (classes[0], classes[-1]))
    return Wording(
        score="area under the ROC curve (AUC)",
        symbol="AUC",
        chance="50% is tossing a coin",
        does=("ranks", f"of pairs of one {second} and one {first} {nouns.row} correctly"),
        briefly=("ranks", "of pairs correctly"),
        pairs=f"Every {second} {nouns.row} is compared with every {first} {nouns.row}: it should "
        f"have the higher predicted probability of {second}. Tossing a coin is right for half of "
        "the pairs. This share is the area under the ROC curve (AUC).",
        unexplained=f"{second} is predicted by its share of the {nouns.rows}",
        scale=f"the log odds of {second}",
        affected=second,
        asked=f"{target}, {first} or {second}",
        direction=f"the higher the {nouns.feature}, the more likely {second}",
        effect=f"By how much the log odds of {second} change "
        f"{ONE_STEP.format(feature=nouns.feature)}: +0.7 is about twice the odds, -0.7 about half.",
    )


def _survival(target: str, classes: Sequence[str], nouns: Nouns) -> Wording:
    return Wording(
        score="concordance (Harrell's C)",
        symbol="C",
        chance="50% is tossing a coin",
        does=("ranks", f"of pairs of {nouns.rows} correctly by who has the event first"),
        briefly=("ranks", "of pairs correctly"),
        pairs=f"Of two {nouns.rows}, the one that has the event first should have the higher "
        "predicted risk. Tossing a coin is right for half of the pairs. This share is Harrell's "
        "concordance (C-index).",
        unexplained=f"the risk is the same for all {nouns.rows}",
        scale="the log hazard",
        affected="the risk",
        asked=f"{target} until an event",
        direction=f"the higher the {nouns.feature}, the sooner the event",
        effect=f"By how much the logarithm of the risk (log hazard) changes "
        f"{ONE_STEP.format(feature=nouns.feature)}: +0.7 is about twice the risk, -0.7 about half.",
    )


def wording(
    kind: Kind, target: str, classes: Sequence[str] = (), nouns: Nouns = Nouns()
) -> Wording:
    """The words for a response of this kind."""
    of_classes = _two_classes if len(classes) <= 2 else _several_classes
    make = {"numbers": _numbers, "classes": of_classes, "survival": _survival}[kind]
    return make(shown(target), classes, nouns)
