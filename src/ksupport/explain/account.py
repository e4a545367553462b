"""What is told of a fitted model to the people who asked: one home for the plain words.

The questions come in this order: is there anything here, which features, would a Lasso or a ridge
do better, what next.  The command line and the report print the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._common.names import listed, shown
from ..algorithms import METHODS
from ..choosing.chosen import Chosen
from ..design import Floats
from .found import Found, found_in, in_groups, shared_sets
from .trials import CLEAR, Trial, Trials

SETS = 4  # of features that stand in for each other, told in words
EVEN = 0.5  # probability below which a feature is more likely wrong than right

REFERENCES = {
    "irksn": "de Vazelhes W, Mukhoty B, Yuan X-T, Gu B. Iterative Regularization with k-support "
    "Norm: An Important Complement to Sparse Recovery. Proceedings of the AAAI Conference on "
    "Artificial Intelligence 38, 2024. doi:10.1609/aaai.v38i10.29057",
    "bootstrap": "Rubin DB. The Bayesian Bootstrap. The Annals of Statistics 9, 1981.",
    "lasso": "Tibshirani R. Regression Shrinkage and Selection via the Lasso. Journal of the "
    "Royal Statistical Society B 58, 1996.",
    "ridge": "Hoerl AE, Kennard RW. Ridge Regression: Biased Estimation for Nonorthogonal "
    "Problems. Technometrics 12, 1970.",
    "sklearn": "Pedregosa F et al. Scikit-learn: Machine Learning in Python. Journal of Machine "
    "Learning Research 12, 2011.",
}

Sign = Literal["yes", "perhaps", "no"]


@dataclass(frozen=True, eq=False)
class Unseen:
    """How much of the variation of rows not seen is explained, and how sure that is."""

    score: float
    standard_error: float

    def __str__(self) -> str:
        return f"{percent(self.score)} ± {100 * self.standard_error:.0f}"


def percent(share: float) -> str:
    """A share in words that need no decimal point.

    >>> percent(0.624), percent(-0.03), percent(-7.0)
    ('62%', '-3%', 'less than -100%')
    """
    return f"{100 * share + 0.0:.0f}%".replace("-0%", "0%") if share > -1 else "less than -100%"


def _explained(trial: Trial) -> str:
    share = f"{percent(trial.score)} ± {100 * trial.standard_error:.0f}"
    return share if trial.score > 0 else f"nothing: {share}"


def counted(features: float) -> str:
    """A number of features, on average over folds perhaps."""
    return f"{features:.0f} feature{'' if round(features) == 1 else 's'}"


def certainty(probability: float) -> str:
    """A probability in per cent that never says more than is known.

    >>> certainty(0.873), certainty(0.9996), certainty(0.0004)
    ('87%', '>99%', '<1%')
    """
    if probability > 0.99:
        return ">99%"
    return "<1%" if probability < 0.01 else f"{probability:.0%}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Account:
    """A fitted model of one target, what its folds said, and how it is called."""

    estimator: str  # name of the class
    chosen: Chosen
    effects: Floats  # coefficients times the standard deviations of their columns
    names: Sequence[str]
    target: str
    n: int
    candidates: int  # features that can be chosen
    adjusted: str | None = None  # what the model is adjusted for, in words
    trials: Trials | None = None  # None: nothing was held out

    @property
    def found(self) -> list[Found]:
        """The features, most certain first, stand-ins beneath."""
        return found_in(self.chosen, self.effects)

    @property
    def order(self) -> list[int]:
        """The features of the model, most certain first."""
        return [each.feature for each in self.found if each.chosen]

    @property
    def unseen(self) -> Unseen | None:
        """Of the whole way to fit, on rows held out; else what the choice itself has measured.

        Of an empty model always the latter, which is of the best that was tried.
        """
        judged = self.chosen.judgement
        own = None if judged is None else judged.performance
        if self.trials is not None and (self.chosen.size or own is None):
            return Unseen(self.trials.ours.score, self.trials.ours.standard_error)
        return None if own is None else Unseen(own.score, own.standard_error)

    @property
    def sign(self) -> Sign:
        """Whether there is anything here."""
        judged, unseen = self.chosen.judgement, self.unseen
        if not self.chosen.size or (judged is not None and not judged.signal):
            return "no"
        if unseen is None:
            return "yes" if judged is not None else "perhaps"
        if unseen.score > CLEAR * unseen.standard_error:
            return "yes"
        return "perhaps" if judged is not None or unseen.score > 0 else "no"

    # -- the sentences -----------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What was found, in a line."""
        target = shown(self.target)
        if self.chosen.size == 0:
            judged = self.chosen.judgement
            silent = judged is not None and not judged.signal
            what = "nothing here explains" if silent else "no feature was chosen to explain"
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
        if self.chosen.size == 0:
            return (
                f"No: nothing in these {self.n} rows can be told from noise, so no feature was "
                f"chosen, and {target} is predicted by its mean."
            )
        return {
            "yes": f"Yes: {of} tell something about {target}.",
            "perhaps": f"Perhaps: {of} were chosen to explain {target}, but these {self.n} rows "
            "leave doubt whether they would on new ones.",
            "no": f"No sign of it: {of} were chosen, but they do not predict {target} on rows "
            "held out.",
        }[self.sign]

    @property
    def _unseen_words(self) -> str:
        unseen = self.unseen
        if unseen is None:
            return "How well new rows would be predicted was not measured."
        what = "the model" if self.chosen.size else "the best that was tried"
        give = f"give or take {100 * unseen.standard_error:.0f}"
        if unseen.score <= 0:
            return (
                f"On rows held out {what} does no better than knowing nothing "
                f"({percent(unseen.score)} of how {shown(self.target)} varies, {give})."
            )
        return (
            f"On rows held out {what} explains {percent(unseen.score)} of how "
            f"{shown(self.target)} varies ({give}); knowing nothing explains 0%."
        )

    @property
    def beside(self) -> str:
        """How that compares with what others would do."""
        trials = self.trials
        if trials is None:
            return ""
        scores = " and ".join(
            f"a {each.name} explains {_explained(each)} (with {counted(each.features)})"
            for each in trials.others
        )
        ours = f"{_explained(trials.ours)} (with {counted(trials.ours.features)})"
        return f"On the same rows {scores}; this model {ours}. {self._comparison(trials)}"

    def _comparison(self, trials: Trials) -> str:
        if trials.clearly_better:
            names = " and the ".join(each.name for each in trials.clearly_better)
            verb = "predict" if len(trials.clearly_better) > 1 else "predicts"
            return f"The {names} {verb} clearly better than this model."
        if trials.better:
            best = trials.better[0]
            gap, spread = best.ahead_of(trials.ours)
            return (
                f"The {best.name} predicts a little better (by {100 * gap:.0f} ± "
                f"{100 * spread:.0f}), which these rows cannot tell from chance."
            )
        return "Neither predicts better than this model."

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
            if self.trials is not None and self.trials.better:
                best = self.trials.better[0]
                if best.score > CLEAR * best.standard_error:
                    yield (
                        f"A {best.name} does predict something ({percent(best.score)}): many weak "
                        "effects may be spread over many features, none of which can be named."
                    )
            return
        if self.trials is not None and self.trials.clearly_better:
            best = self.trials.clearly_better[0]
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
        sure = [each for each in shared_sets(self.chosen) if each.probability >= EVEN]
        if sure:
            some = "some" if in_groups(self.chosen) else "one"
            told = "; ".join(
                f"{some} of {listed((self.names[j] for j in each.features), 3)} "
                f"({certainty(each.probability)})"
                for each in sure[:SETS]
            )
            more = f"; and {len(sure) - SETS} more such sets" if len(sure) > SETS else ""
            if in_groups(self.chosen):
                yield (
                    f"Groups of features that go together seem to matter as a whole: {told}{more}. "
                    "Report such a group as one finding."
                )
            else:
                yield (
                    "These data cannot tell which matters of features that go together: "
                    f"{told}{more}. Report such a set as one finding, or measure all of it again."
                )

    @staticmethod
    def _weak(each: Found) -> bool:
        p = each.probability
        return each.stands_in_for is None and p is not None and p < EVEN

    # -- for a paper -------------------------------------------------------------------------

    def methods(self, versions: Any) -> tuple[str, list[str]]:
        """A paragraph for the methods section, and the references that it cites by number."""
        cited: list[str] = []

        def cite(*keys: str) -> str:
            numbers = []
            for key in keys:
                if key not in cited:
                    cited.append(key)
                numbers.append(str(cited.index(key) + 1))
            return f"[{', '.join(numbers)}]"

        text = " ".join(self._methods(dict(versions or {}), cite))
        return text, [REFERENCES[key] for key in cited]

    def _methods(self, versions: dict[str, str], cite: Any) -> Iterator[str]:
        number = f" {versions['ksupport']}" if "ksupport" in versions else ""
        title = METHODS[self.chosen.method].title
        n, d = self.n, self.candidates
        yield (
            f"Features that explain {shown(self.target)} were chosen among {d} in {n} samples with "
            f"{self.estimator} of ksupport{number}, on paths of {title} {cite('irksn')}."
            if self.chosen.method == "irksn"
            else f"Features that explain {shown(self.target)} were chosen among {d} in {n} samples "
            f"with {self.estimator} ({title}) of ksupport{number} {cite('irksn')}."
        )
        if self.chosen.judgement is not None:
            yield (
                "Each feature was given a probability of belonging to the model, from the marginal "
                "likelihood of linear models with a ridge prior and from errors on held-out rows "
                f"under the Bayesian bootstrap {cite('bootstrap')}; the features of the largest "
                "expected F1 score were kept, and fitted by ridge regression "
                f"{cite('ridge')}."
            )
        if self.adjusted is not None:
            yield self.adjusted
        yield self._methods_result()
        if self.trials is not None:
            scores = ", ".join(f"{each.score:.2f} for a {each.name}" for each in self.trials.others)
            yield (
                f"In {self.trials.folds}-fold cross-validation of the whole procedure the share of "
                f"variance explained on held-out rows was {self.trials.ours.score:.2f} (standard "
                f"error {self.trials.ours.standard_error:.2f}); {scores}, each tuned within the "
                f"training rows {cite('lasso', 'ridge', 'sklearn')}."
            )

    def _methods_result(self) -> str:
        size = self.chosen.size
        if size == 0:
            return "No feature could be told from noise, and none was kept."
        sets = shared_sets(self.chosen)
        text = "One feature was kept" if size == 1 else f"{size} features were kept"
        if self.chosen.probability is not None:
            p = self.chosen.probability[self.chosen.support]
            low, high = certainty(float(p.min())), certainty(float(p.max()))
            text += f", with probabilities from {low} to {high}" if size > 1 else f" ({high})"
        several = [each for each in sets if self.chosen.support[list(each.features)].any()]
        if several:
            text += f"; {len(several)} of them can be replaced by others that correlate with them"
        return text + "."
