"""What a fitted model found, in plain sentences: the command line and the report print these.

The headline rests on the posterior alone, so that it is the same whatever else is computed; how
well held-out rows are predicted is said after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._common.names import listed, shown
from .._common.render import column_format
from ..choosing.selection import Selection
from ..choosing.stability import StabilitySelection
from ..design import Floats, Genotypes, Incomplete
from ..posterior.credible_sets import FeatureSet
from .cross_validation import (
    BASELINE,
    CLEAR,
    CrossValidation,
    Kind,
    MethodScore,
    clearly_ahead,
    metric_for,
)
from .features import FeatureRow, act_together, feature_rows, shared_sets
from .models import (
    Covariate,
    Model,
    adjusted_for,
    chosen_by,
    covariates_of,
    effects_of,
    one_coefficient,
    speaks_for,
)
from .univariate import NoSignal, no_signal
from .wording import (
    Nouns,
    Wording,
    guessed_nouns,
    percent,
    probability_text,
    two_decimals,
    with_share,
    wording,
)

SETS = 4  # of features that can replace each other, listed in words
EVEN = 0.5  # probability from which a feature is a finding, and below which it is a candidate
# Log odds or log hazard of one standard deviation from which a covariate is flagged; not tuned.
SEPARATING_EFFECT = 10.0

Sign = Literal["yes", "perhaps", "no"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """A fitted model of one target with its cross-validation, and the words for both."""

    estimator: str  # name of the class
    chosen: Selection
    effects: Floats  # coefficients times the standard deviations of their columns
    names: Sequence[str]
    target: str
    n: int
    candidates: int  # features that can be chosen
    adjusted: str | None = None  # what the model is adjusted for, in words
    covariates: Sequence[Covariate] = ()
    imputed: bool = False  # whether missing values were filled in
    kind: Kind = "numbers"
    classes: Sequence[str] = ()
    validation: CrossValidation | None = None  # None: no rows were held out
    nouns: Nouns = field(default_factory=Nouns)
    no_signal: NoSignal | None = None  # univariate facts, if no feature is selected

    @property
    def wording(self) -> Wording:
        return wording(self.kind, self.target, self.classes, self.nouns)

    @property
    def found(self) -> list[FeatureRow]:
        """The features, most probable first, those that can replace them beneath."""
        return feature_rows(self.chosen, self.effects)

    @property
    def effect_texts(self) -> dict[int, str]:
        """The effects of the selected features, all with the same number of decimals."""
        text = column_format(self.effects)
        return {j: text(self.effects[j]) for j in self.order}

    @property
    def order(self) -> list[int]:
        """The selected features, most probable first."""
        return [each.feature for each in self.found if each.chosen]

    @property
    def signal(self) -> bool:
        """Whether features were selected, by a model that was not judged to be noise."""
        judged = self.chosen.judgement
        return self.chosen.size > 0 and (judged is None or judged.signal)

    @property
    def sign(self) -> Sign:
        """Whether anything was found; "perhaps" if it is not known how many features are right."""
        if not self.signal:
            return "no"
        return "perhaps" if self.chosen.judgement is None else "yes"

    @property
    def expected_right(self) -> float | None:
        """How many selected features are expected to be right; None if that is not known."""
        judged = self.chosen.judgement
        return None if judged is None else judged.posterior.expected_hits(self.order)

    def is_candidate(self, row: FeatureRow) -> bool:
        """Whether a selected feature is more likely wrong than right."""
        p, judged = row.probability, self.chosen.judgement
        if not row.chosen or p is None:
            return False
        return (p if judged is None else judged.posterior.expected_hits([row.feature])) < EVEN

    # -- the sentences -----------------------------------------------------------------------

    @property
    def title(self) -> str:
        target, size, right = shown(self.target), self.chosen.size, self.expected_right
        if not self.signal:
            judged = self.chosen.judgement
            if judged is not None and judged.signal:
                return (
                    f"No single {self.nouns.feature} explains {target}: it is associated with a "
                    f"component that most {self.nouns.features} share"
                )
            if judged is None:
                return f"No model: no {self.nouns.feature} was selected to explain {target}"
            effect = "positive effect" if self.chosen.positive else self.nouns.feature
            return f"No signal: no {effect} can be distinguished from chance for {target}"
        if right is None:
            return (
                f"{self.nouns.count(size)} selected to explain {target}; how many are right is "
                "not known"
            )
        if size == 1:
            return (
                f"1 {self.nouns.feature} selected to explain {target}: right with probability "
                f"{probability_text(right)}"
            )
        return (
            f"{_about(right, size)} {self.nouns.features} selected to explain {target} "
            f"{'is' if right < 1.5 else 'are'} expected to be right"
        )

    @property
    def verdict(self) -> str:
        """What was selected, and how well held-out rows are predicted."""
        first = self._selected if self.signal else self._none_selected
        return f"{first} {self._prediction}".strip()

    @property
    def _selected(self) -> str:
        of = f"{self.chosen.size} of {self.candidates} {self.nouns.features}"
        one = self.chosen.size == 1
        if self.chosen.judgement is None:
            return f"{of} {'was' if one else 'were'} selected by {self.estimator}."
        weak = sum(map(self.is_candidate, self.found))
        findings, even = self.chosen.size - weak, percent(EVEN)
        parts = [f"{findings} finding{'s' * (findings != 1)} (probability at least {even})"]
        parts += [f"{weak} candidate{'s' * (weak != 1)} (below {even})"] if weak else []
        return f"{of} {'is' if one else 'are'} selected: {' and '.join(parts)}."

    @property
    def _none_selected(self) -> str:
        facts, nouns = self.no_signal, self.nouns
        without = "the model contains only the columns that it is adjusted for"
        without = self.wording.unexplained if self.adjusted is None else without
        words = f"None of {self.candidates} {nouns.features} is selected, and {without}."
        if facts is None:
            return words
        if facts.best is not None:
            test = "univariate test" + ", without the covariates" * bool(self.adjusted)
            words += (
                f" The best single {nouns.feature} is {shown(str(self.names[facts.best]))}: p = "
                f"{facts.p_value:.2g}, and {facts.adjusted:.2g} after correction for multiple "
                f"testing of {self.candidates} {nouns.features} ({test}, Benjamini-Hochberg)."
            )
        if facts.detectable is not None:
            words += (
                f" With {self.n} {nouns.rows}, tests of single {nouns.features} have a power of "
                f"80% for an effect of {facts.detectable:.2f} ({facts.measure}; two-sided at 5%, "
                "Bonferroni-corrected). Weaker effects may exist."
            )
        return words

    def score_text(self, score: MethodScore) -> str:
        """A score and its standard error: "AUC 0.97 ± 0.02"."""
        return f"{self.wording.symbol} {two_decimals(score.score)} ± {score.standard_error:.2f}"

    @property
    def _prediction(self) -> str:
        validation, words = self.validation, self.wording
        if validation is None:
            return self._own_performance
        ours, base = validation.ours, validation.baseline
        where = (
            f"On held-out {self.nouns.rows} ({validation.folds}-fold cross-validation of the whole "
            "procedure)"
        )
        if ours.score <= max(base.score, base.chance):
            known = "the baseline" if base.name == BASELINE else f"those of {base.name}"
            return (
                f"{where} the predictions are no better than {known} "
                f"({self.score_text(ours)} standard error, against {two_decimals(base.score)})."
            )
        text = with_share(words.does, ours.score, f"{self.score_text(ours)} standard error")
        doubt = "" if clearly_ahead(ours, base) else ", which may be due to chance"
        alone = (
            f"; {base.name}: {two_decimals(base.score)}" if self.adjusted else f"; {words.chance}"
        )
        return f"{where} the model {text}{doubt}{alone}."

    @property
    def _own_performance(self) -> str:
        judged = self.chosen.judgement
        own = None if judged is None else judged.performance
        if own is None:
            return f"How well new {self.nouns.rows} are predicted was not measured."
        what = "variance (R²)" if self.kind == "numbers" else "deviance"
        where = f"On held-out {self.nouns.rows}"
        if own.score <= 0:
            return f"{where} the predictions are no better than without {self.nouns.features}."
        doubt = "" if own.score > CLEAR * own.standard_error else ", which may be due to chance"
        return (
            f"{where} the model explains {percent(own.score)} of the {what} (± "
            f"{percent(own.standard_error)} standard error){doubt}."
        )

    @property
    def baseline_comparison(self) -> str:
        """Compare the performance with that of a Lasso and a ridge, in a sentence."""
        validation = self.validation
        if validation is None or not validation.others:
            return ""
        scores = " and ".join(
            f"a {each.name} {self._describe_score(each)}" for each in validation.others
        )
        ours = self._describe_score(validation.ours)
        return (
            f"On the same {self.nouns.rows} {scores}; this model {ours}. "
            f"{self._comparison(validation)}"
        )

    def _describe_score(self, score: MethodScore) -> str:
        used = f"with {self.nouns.count(score.features)}"
        if score.score > score.chance:
            words = with_share(self.wording.briefly, score.score, self.score_text(score))
            return f"{words} {used}"
        return f"is no better than chance ({self.score_text(score)}) {used}"

    def _comparison(self, validation: CrossValidation) -> str:
        if validation.clearly_better:
            names = " and the ".join(each.name for each in validation.clearly_better)
            verb = "predict" if len(validation.clearly_better) > 1 else "predicts"
            return f"The {names} {verb} clearly better than this model."
        if validation.better:
            best = validation.better[0]
            gap, spread = best.ahead_of(validation.ours)
            return (
                f"The {best.name} predicts a little better (by {gap:.2f} ± {spread:.2f}), which "
                "may be due to chance."
            )
        ahead = any(each.score > validation.ours.score for each in validation.others)
        return f"Neither predicts better than this model{' by 0.01 or more' * ahead}."

    @property
    def warnings(self) -> list[str]:
        """Warnings of covariates that separate the classes or events almost perfectly."""
        if self.kind == "numbers":
            return []
        return [
            f"{shown(each.name)} separates the {'classes' if self.kind == 'classes' else 'events'} "
            f"almost perfectly (coefficient {max(each.coefficients, key=abs):.4g}): its "
            "maximum likelihood estimate is infinite, and it dominates predictions. Check that it "
            "is not a consequence of the target, or leave it out."
            for each in self.covariates
            if abs(each.effect) > SEPARATING_EFFECT
        ]

    @property
    def next_steps(self) -> list[str]:
        return list(self._next_steps())

    def _next_steps(self) -> Iterator[str]:
        nouns, validation = self.nouns, self.validation
        if not self.signal:
            related = f"more closely related to {shown(self.target)}"
            yield f"More {nouns.rows}, or measurements {related}, may show what these do not."
            if validation is not None and validation.better:
                best = validation.better[0]
                if clearly_ahead(best, validation.baseline):
                    yield (
                        f"A {best.name} does predict ({self.score_text(best)}): many weak effects "
                        f"may be spread over many {nouns.features}, none of which can be "
                        "identified."
                    )
            return
        if validation is not None and validation.clearly_better:
            best = validation.clearly_better[0]
            yield (
                f"If only prediction matters, use the {best.name}; to select {nouns.features}, use "
                "this model."
            )
        yield from self._one_of()
        weak = [self.names[each.feature] for each in self.found if self.is_candidate(each)]
        if weak:
            yield (
                f"{'Candidate' if len(weak) == 1 else 'Candidates'}, more likely wrong than right: "
                f"{listed(weak, 4)}. Follow up before reporting."
            )
        yield (
            f"Confirm the findings on independent {nouns.rows} that were not used for the "
            "selection (ksupport predict)."
        )

    def _one_of(self) -> Iterator[str]:
        """Advice on sets that are more certain than their single features."""
        sets, nouns = shared_sets(self.chosen), self.nouns
        if groups := [each for each in sets if act_together(each)]:
            yield (
                f"Groups of correlated {nouns.features} seem to act together: "
                f"{self._list_sets('some', groups)}. Report such a group as one finding."
            )
        if others := [each for each in sets if not act_together(each)]:
            yield (
                f"These data cannot show which of several correlated {nouns.features} matters: "
                f"{self._list_sets('one', others)}. Report such a set as one finding, or measure "
                f"all of its {nouns.features} again."
            )

    def _list_sets(self, how_many: str, sets: Sequence[FeatureSet]) -> str:
        texts = "; ".join(
            f"{how_many} of {listed((self.names[j] for j in each.features), 3)} "
            f"({probability_text(each.probability)})"
            for each in sets[:SETS]
        )
        return texts + (f"; and {len(sets) - SETS} more such sets" if len(sets) > SETS else "")


def findings_of(
    model: Model,
    X: Any,
    y: ArrayLike,
    names: Sequence[str],
    *,
    target: str,
    validation: CrossValidation | None = None,
    nouns: Nouns | None = None,
) -> Findings:
    chosen, kind = chosen_by(model), metric_for(model._loss).kind
    candidates = np.setdiff1d(np.arange(X.shape[1]), model.unpenalized_)
    silent = chosen.judgement is not None and not chosen.judgement.signal
    return Findings(
        estimator=type(model).__name__,
        chosen=chosen,
        effects=effects_of(model, X),
        names=names,
        target=str(target),
        n=X.shape[0],
        candidates=candidates.size,
        adjusted=adjusted_for(model, names),
        covariates=covariates_of(model, X, names),
        imputed=isinstance(X, Genotypes | Incomplete),
        kind=kind,
        classes=[str(each) for each in getattr(model, "classes_", ())],
        validation=validation,
        nouns=guessed_nouns(names) if nouns is None else nouns,
        no_signal=no_signal(X, y, kind, candidates) if silent else None,
    )


def _about(right: float, size: int) -> str:
    """How many of so many, as the beginning of a sentence.

    >>> _about(5.8, 9), _about(0.3, 4)
    ('About 6 of the 9', 'Fewer than 1 of the 4')

    All of them only if that is what one decimal says, as those of .99 and .6 are not:

    >>> _about(8.98, 9), _about(2.0, 2), _about(1.6, 2)
    ('All 9', 'Both', '1 or 2 of the 2')
    """
    if right < EVEN:
        return f"Fewer than 1 of the {size}"
    if round(right, 1) == size:
        return "Both" if size == 2 else f"All {size}"
    return (
        f"{size - 1} or {size} of the {size}"
        if round(right) == size
        else f"About {round(right)} of the {size}"
    )


def figure(value: float) -> str:
    """A number with four digits, the last ones also where they are zeros.

    >>> figure(0.029), figure(-2500.0)
    ('0.02900', '-2500')
    """
    return f"{value:#.4g}".rstrip(".")


def feature_list(
    findings: Findings,
    model: Model,
    rows: Sequence[FeatureRow],
    stability: StabilitySelection | None,
    *,
    indent: str = "  ",
    longest: int = 48,
) -> tuple[list[str], list[list[str]]]:
    """Names of columns, and the cells of each row; names have at most ``longest`` characters."""
    certain, several = findings.chosen.probability is not None, len(findings.classes) > 2
    coef, effects = one_coefficient(model.coef_), findings.effect_texts

    def cells(each: FeatureRow) -> list[str]:
        j = each.feature
        name = shown(str(findings.names[j]), longest) or "(no name)"
        return [
            indent * bool(each.prefix) + each.prefix + name,
            *[probability_text(each.probability or 0.0)] * certain,
            *([effects[j], figure(coef[j])] if each.chosen else ["", ""]),
            *[shown(speaks_for(model, j) or "", 60)] * several,
            *([] if stability is None else [f"{stability.frequency[j]:.0%}"]),
        ]

    head = [
        findings.nouns.feature, *["probability"] * certain, "effect", "coefficient",
        *["makes likely"] * several, *["selected on halves"] * (stability is not None),
    ]  # fmt: skip
    return head, [cells(each) for each in rows]
