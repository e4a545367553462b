"""What a fitted model found, in plain sentences: the command line and the report print these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .._common.names import listed, shown
from .._common.render import alike
from ..choosing.selection import Selection
from ..design import Floats
from ..posterior.credible_sets import FeatureSet
from .cross_validation import BASELINE, CLEAR, CrossValidation, Kind, MethodScore, clearly_ahead
from .features import FeatureRow, act_together, feature_rows, shared_sets
from .wording import Wording, percent, wording

SETS = 4  # of features that stand in for each other, told in words
EVEN = 0.5  # probability below which a feature is more likely wrong than right

Sign = Literal["yes", "perhaps", "no"]


@dataclass(frozen=True, eq=False)
class Prediction:
    """How well rows not seen are predicted, and how sure that is."""

    score: float
    standard_error: float
    ahead: bool  # of knowing nothing
    clearly: bool  # so that these rows leave little doubt
    does: str  # what the model does, in words


def feature_count(features: float) -> str:
    """A number of features, on average over folds perhaps."""
    about = "" if float(features).is_integer() else "about "
    return f"{about}{features:.0f} feature{'' if round(features) == 1 else 's'}"


def probability_text(probability: float) -> str:
    """A probability in per cent that never says more than is known.

    >>> probability_text(0.873), probability_text(0.9996), probability_text(0.0004)
    ('87%', '>99%', '<1%')
    """
    if probability > 0.99:
        return ">99%"
    return "<1%" if probability < 0.01 else f"{probability:.0%}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """A fitted model of one target, what its folds said, and how it is called."""

    estimator: str  # name of the class
    chosen: Selection
    effects: Floats  # coefficients times the standard deviations of their columns
    names: Sequence[str]
    target: str
    n: int
    candidates: int  # features that can be chosen
    adjusted: str | None = None  # what the model is adjusted for, in words
    imputed: bool = False  # whether missing values were filled in
    kind: Kind = "numbers"
    classes: Sequence[str] = ()
    validation: CrossValidation | None = None  # None: nothing was held out

    @property
    def wording(self) -> Wording:
        """How to speak of the target."""
        return wording(self.kind, self.target, self.classes)

    @property
    def found(self) -> list[FeatureRow]:
        """The features, most certain first, stand-ins beneath."""
        return feature_rows(self.chosen, self.effects)

    @property
    def effect_texts(self) -> dict[int, str]:
        """The effects of the chosen features, all with as many decimals."""
        told = alike(self.effects)
        return {j: told(self.effects[j]) for j in self.order}

    @property
    def order(self) -> list[int]:
        """The features of the model, most certain first."""
        return [each.feature for each in self.found if each.chosen]

    @property
    def unseen(self) -> Prediction | None:
        """Of the whole way to fit, on rows held out; else what the choice itself has measured.

        Of an empty model always the latter, which is of the same procedure on each fold.
        """
        judged = self.chosen.judgement
        own = None if judged is None else judged.performance
        if self.validation is not None and (self.chosen.size or own is None):
            ours, baseline = self.validation.ours, self.validation.baseline
            return Prediction(
                ours.score, ours.standard_error, ours.score > baseline.score,
                clearly_ahead(ours, baseline), self.wording.does(ours.score),
            )  # fmt: skip
        if own is None:
            return None
        clearly = own.score > CLEAR * own.standard_error
        words = self.wording.explains(own.score)
        return Prediction(own.score, own.standard_error, own.score > 0, clearly, words)

    @property
    def sign(self) -> Sign:
        """Whether there is anything here."""
        judged, unseen = self.chosen.judgement, self.unseen
        if not self.chosen.size or (judged is not None and not judged.signal):
            return "no"
        if unseen is None:
            return "yes" if judged is not None else "perhaps"
        if unseen.clearly:
            return "yes"
        return "perhaps" if judged is not None or unseen.ahead else "no"

    # -- the sentences -----------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What was found, in a line."""
        target = shown(self.target)
        if self.chosen.size == 0:
            judged = self.chosen.judgement
            silent = judged is not None and not judged.signal
            effect = "no positive effect" if self.chosen.positive else "nothing"
            what = f"{effect} here explains" if silent else "no feature was chosen to explain"
            return f"{'No signal: ' if silent else 'No model: '}{what} {target}"
        one = self.chosen.size == 1
        count = "1 feature explains" if one else f"{self.chosen.size} features explain"
        return f"{count} {target}"

    @property
    def verdict(self) -> str:
        """Is there anything here?"""
        return f"{self._sign_words} {self._unseen_words}".strip()

    @property
    def _sign_words(self) -> str:
        target, of = shown(self.target), f"{self.chosen.size} of {self.candidates} features"
        one = self.chosen.size == 1
        was, it = ("was", "it") if one else ("were", "they")
        if self.chosen.size == 0:
            effect = "no positive effect" if self.chosen.positive else "nothing"
            return (
                f"No: {effect} in these {self.n} rows can be told from noise, so no feature was "
                f"chosen, and {self._without_features}."
            )
        doubt = f", but these {self.n} rows leave doubt whether {it} would on new ones"
        doubt = "" if self.unseen is None else doubt  # what was not measured leaves no more
        return {
            "yes": f"Yes: {of} {'tells' if one else 'tell'} something about {target}.",
            "perhaps": f"Perhaps: {of} {was} chosen to explain {target}{doubt}.",
            "no": f"No sign of it: {of} {was} chosen, but {it} {'does' if one else 'do'} not "
            f"predict {target} on rows held out.",
        }[self.sign]

    @property
    def _unseen_words(self) -> str:
        unseen = self.unseen
        if unseen is None:
            return "How well new rows would be predicted was not measured."
        what = "the model" if self.chosen.size else "the same procedure"
        give = f"give or take {100 * unseen.standard_error:.0f}"
        trial = (
            None if self.validation is None or not self.chosen.size else self.validation.baseline
        )
        if not unseen.ahead:
            than = BASELINE if trial is None else trial.name
            return f"On rows held out {what} does no better than {than}: it {unseen.does} ({give})."
        words = f"On rows held out {what} {unseen.does} ({give})"
        if trial is None:
            return f"{words}."
        return f"{words}; {trial.name} {self.wording.briefly(trial.score)}."

    @property
    def _without_features(self) -> str:
        if self.adjusted is None:
            return self.wording.unexplained
        return "what is left is what the model is adjusted for"

    @property
    def beside(self) -> str:
        """How that compares with what others would do."""
        validation = self.validation
        if validation is None or not validation.others:
            return ""
        scores = " and ".join(f"a {each.name} {self._scored(each)}" for each in validation.others)
        ours = self._scored(validation.ours)
        return f"On the same rows {scores}; this model {ours}. {self._comparison(validation)}"

    def _scored(self, trial: MethodScore) -> str:
        give, used = f" ± {100 * trial.standard_error:.0f}", f"with {feature_count(trial.features)}"
        if trial.score > trial.chance:
            return f"{self.wording.briefly(trial.score, give)} ({used})"
        return f"{self.wording.useless} ({percent(trial.score)}{give}, {used})"

    def _comparison(self, validation: CrossValidation) -> str:
        if validation.clearly_better:
            names = " and the ".join(each.name for each in validation.clearly_better)
            verb = "predict" if len(validation.clearly_better) > 1 else "predicts"
            return f"The {names} {verb} clearly better than this model."
        if validation.better:
            best = validation.better[0]
            gap, spread = best.ahead_of(validation.ours)
            return (
                f"The {best.name} predicts a little better (by {100 * gap:.0f} ± "
                f"{100 * spread:.0f}), which these rows cannot tell from chance."
            )
        ahead = any(each.score > validation.ours.score for each in validation.others)
        return f"Neither predicts better than this model{' by a per cent or more' * ahead}."

    @property
    def next_steps(self) -> list[str]:
        """What to do now."""
        return list(self._next_steps())

    def _next_steps(self) -> Iterator[str]:
        if self.chosen.size == 0:
            yield (
                "More rows, or measurements closer to the question, are what would help; another "
                "method will hardly find what is not there."
            )
            if self.validation is not None and self.validation.better:
                best = self.validation.better[0]
                if clearly_ahead(best, self.validation.baseline):
                    yield (
                        f"A {best.name} does predict something ({percent(best.score)}): many weak "
                        "effects may be spread over many features, none of which can be named."
                    )
            return
        if self.validation is not None and self.validation.clearly_better:
            best = self.validation.clearly_better[0]
            yield f"If prediction is all that counts, use the {best.name}; to name features, this."
        yield from self._one_of()
        weak = [self.names[each.feature] for each in self.found if self._weak(each)]
        if weak:
            verb, take = ("is", "it as a lead") if len(weak) == 1 else ("are", "them as leads")
            yield f"{listed(weak, 4)} {verb} more likely wrong than right: take {take} to follow."
        yield (
            "Confirm what was found on rows from elsewhere, which had no part in choosing it "
            "(ksupport predict)."
        )

    def _one_of(self) -> Iterator[str]:
        """Sets that are sure while their features are not."""
        sets = shared_sets(self.chosen)
        if groups := [each for each in sets if act_together(each)]:
            yield (
                "Groups of correlated features seem to act together: "
                f"{self._listed('some', groups)}. Report such a group as one finding."
            )
        if others := [each for each in sets if not act_together(each)]:
            yield (
                "These data cannot tell which matters of features that go together: "
                f"{self._listed('one', others)}. Report such a set as one finding, or measure all "
                "of it again."
            )

    def _listed(self, how_many: str, sets: Sequence[FeatureSet]) -> str:
        told = "; ".join(
            f"{how_many} of {listed((self.names[j] for j in each.features), 3)} "
            f"({probability_text(each.probability)})"
            for each in sets[:SETS]
        )
        return told + (f"; and {len(sets) - SETS} more such sets" if len(sets) > SETS else "")

    def _weak(self, each: FeatureRow) -> bool:
        p, judged = each.probability, self.chosen.judgement
        if each.stands_in_for is not None or p is None:
            return False
        return (p if judged is None else judged.posterior.expected_hits([each.feature])) < EVEN
