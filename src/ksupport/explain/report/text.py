"""The words and tables of the report; everything is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._common.names import shown
from ...choosing.stability import StabilitySelection
from ...theory.report import RecoveryReport
from ..findings import Findings, feature_list, figure
from ..models import Model
from ..paper import methods
from ..standard_methods import estimator_names
from ..wording import two_decimals


@dataclass
class Contents:
    """What the report contains."""

    findings: Findings
    model: Model
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    near_copies: list[tuple[int, int, float]]
    made: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    predicted: dict[str, Any] = field(default_factory=dict)  # what is drawn of predictions
    n_drawn: int = 0
    n_entered: int = 0
    confusion: list[list[int]] = field(default_factory=list)  # of several classes, rows of each


# -- pieces of HTML ----------------------------------------------------------------------


LONGEST_NAME = 80  # characters of a name


def label(name: str, longest: int = LONGEST_NAME) -> str:
    """A name as it is shown, on one line."""
    return shown(name, longest) or "(no name)"


def paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def table(
    called: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str | float]],
    names: int = 1,
    wide: Mapping[int, int] = MappingProxyType({}),
) -> str:
    """A table, called so; a number from 0 to 1 among the cells is drawn as a bar.

    The first ``names`` columns are text, the others numbers; some heads stand over several.
    """
    top, at = "", 0
    for i, words in enumerate(head):
        span = wide.get(i, 1)
        kind = "" if at < names else " class=n"
        top += f'<th scope="col"{f" colspan={span}" if span > 1 else kind}>{escape(words)}</th>'
        at += span
    body = "".join(
        f"<tr>{''.join(_cell(cell, i < names, row[0]) for i, cell in enumerate(row))}</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(called)}">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: str | float, is_text: bool, name: Any) -> str:
    if isinstance(cell, str):
        return f"<td{'' if is_text else ' class=n'}>{escape(cell)}</td>"
    value, words = f"{min(max(cell, 0.0), 1.0):.3f}", escape(str(name))
    return f'<td><meter min="0" max="1" value="{value}" aria-label="{words}"></meter></td>'


# -- sections ----------------------------------------------------------------------------


FIRST_ROWS = 25  # features shown at once
MOST_ROWS = 500  # features in the table
GLOSSARY = {
    "held out": "Put aside while a model was fitted, and predicted by it afterwards: this shows "
    "how it would do on new data.",
    "cross-validation": "The data are divided into parts; each part is predicted by a model that "
    "was fitted on the others.",
    "probability": "The posterior probability, given these data, that a feature matters: of "
    "features with 80%, four in five should matter.",
    "standard error": "With other data of the same kind the figure would often differ by this "
    "much, and rarely by more than twice as much.",
    "model": "A formula that predicts the target: a sum of measurements, each times a number of "
    "its own (its coefficient).",
}


PREDICTED_TITLES = {
    "numbers": "Predicted and observed",
    "classes": "How well the classes are predicted",
    "survival": "Survival by predicted risk",
}


def glossary_of(findings: Findings) -> dict[str, str]:
    """The words that are explained, for a response of this kind."""
    lasso, ridge = estimator_names(findings.kind)
    words = findings.wording
    own = {
        "effect": words.effect,
        "baseline": f"The prediction without {findings.nouns.features}: {words.unexplained}.",
        "Lasso": f"A standard method that fits a model with few {findings.nouns.features} (here "
        f"{lasso}).",
        "ridge": f"A standard method that uses all {findings.nouns.features}, each with a small "
        f"coefficient (here {ridge}): it predicts, and selects none.",
    }
    return GLOSSARY | own | ({"pairs": words.pairs} if words.pairs else {})


def sections(contents: Contents) -> dict[str, str]:
    """The pieces of the page, by their names in the template."""
    findings, terms = contents.findings, Terms(glossary_of(contents.findings))
    nouns, adjusted = findings.nouns, "" if findings.adjusted is None else f" {findings.adjusted}"
    lead = (
        f"{findings.n} {nouns.rows}, {findings.candidates} {nouns.features}. To explain: "
        f"{findings.wording.asked}.{adjusted}"
    )
    text, references = methods(findings, contents.made.get("versions"))
    cited = "".join(f"<li>{escape(each)}</li>" for each in references)
    return {
        "title": escape(findings.title),
        "sign": findings.sign,
        "lead": escape(lead),
        "verdict": terms.explained(findings.verdict),
        "features_noun": escape(nouns.features),
        "row_noun": escape(nouns.row),
        "features_hidden": "" if findings.found or findings.covariates else "hidden",
        "remarks": paragraphs(contents.remarks),
        "found": terms.explained(_found_words(findings)),
        "beside": _comparison_table(findings, terms),
        "predicted_title": PREDICTED_TITLES[findings.kind],
        "predicted": _prediction_pictures(contents, terms),
        "heat": terms.explained(_heat_words(findings)),
        "next": "".join(f"<li>{escape(each)}</li>" for each in findings.next_steps),
        "features": _features(contents),
        "methods": f"<p>{escape(text)}</p><ol>{cited}</ol>",
    }


class Terms:
    """Words that not every reader knows: each is explained where it first stands."""

    def __init__(self, glossary: Mapping[str, str]) -> None:
        self.glossary, self.known = glossary, set[str]()
        longest_first = sorted(glossary, key=len, reverse=True)
        self.words = re.compile(rf"(\(?)\b({'|'.join(longest_first)})\b")

    def explained(self, text: str) -> str:
        """The text as HTML, its new words as buttons that show what they mean."""
        return self.words.sub(self._button, escape(text))

    def _button(self, match: re.Match[str]) -> str:
        before, word = match.groups()  # a bracket stays with its word
        if word in self.known:
            return match[0]
        self.known.add(word)
        place = f"tip-{len(self.known)}"
        return (
            f'<span class="term">{before}'
            f'<button type="button" aria-describedby="{place}">{word}</button>'
            f'<span role="tooltip" id="{place}">{escape(self.glossary[word])}</span></span>'
        )


def _found_words(findings: Findings) -> str:
    nouns = findings.nouns
    if findings.chosen.probability is not None:
        words = (
            f"The most probable come first. Left: the probability that the {nouns.feature} matters "
            "(pale: candidates, below 50%). Right: its effect"
        )
    else:
        words = f"The largest effects come first. Bars show the effect of each {nouns.feature}"
    words += f": {findings.wording.direction}."
    if len(findings.classes) > 2:
        words += " The colour is the class that it makes most likely."
    else:
        words += " Bars to the left are the reverse."
    if any(each.stands_in_for is not None for each in findings.found):
        words += f" Indented: correlated {nouns.features} that could replace the one above"
        words += ", or act with it." if any(each.together for each in findings.found) else "."
    return words


def _comparison_table(findings: Findings, terms: Terms) -> str:
    validation = findings.validation
    if validation is None:
        return "<p>Not measured.</p>"
    if not validation.others:
        return "<p>Not compared: for survival times this needs scikit-survival.</p>"
    rows: list[list[str | float]] = [
        [each.name, each.score, two_decimals(max(each.score, -1.0)), f"± {each.standard_error:.2f}",
         f"{each.features:.0f}"]
        for each in (validation.ours, *validation.others)
    ]  # fmt: skip
    base = validation.baseline
    rows.append([base.name, "", two_decimals(base.score), "", ""])
    head = ["method", findings.wording.score, findings.nouns.features]
    compared = table("comparison", head, rows, wide={1: 3})
    return f"<p>{terms.explained(findings.baseline_comparison)}</p>{compared}"


def _prediction_pictures(contents: Contents, terms: Terms) -> str:
    """Return the pictures of predictions with their captions; for several classes a table."""
    if len(contents.findings.classes) > 2:
        return _confusion(contents, terms)
    return "".join(
        f'<div><p id="{name}-words">{terms.explained(text)}</p><div class="picture">'
        f'<svg id="{name}" role="img" aria-labelledby="{name}-words"></svg></div></div>'
        for name, text in _picture_words(contents).items()
    )


def _confusion(contents: Contents, terms: Terms) -> str:
    """Return the confusion matrix, with a caption."""
    findings = contents.findings
    names = [label(each, 28) for each in findings.classes]
    rows = [[name, *map(str, row)] for name, row in zip(names, contents.confusion, strict=True)]
    right = sum(row[at] for at, row in enumerate(contents.confusion))
    total = sum(map(sum, contents.confusion))
    words = (
        f"Confusion matrix: {findings.nouns.rows} by observed class (down) and predicted class "
        f"(across). {right} of {total} are predicted correctly (accuracy {right / total:.2f}). "
        f"{_rows_note(contents)}"
    )
    return f"<p>{terms.explained(words)}</p>{table('confusion matrix', ['class', *names], rows)}"


def _rows_note(contents: Contents) -> str:
    """Say whether the rows drawn were held out."""
    validation, rows = contents.findings.validation, contents.findings.nouns.rows
    if validation is not None:
        return f"All {rows} were held out once ({validation.folds}-fold cross-validation)."
    return f"These are the {rows} of the fit; predictions of new ones would be worse."


def _picture_words(contents: Contents) -> dict[str, str]:
    """What each picture of predictions shows."""
    findings, drawn = contents.findings, contents.predicted
    rows, whose = findings.nouns.rows, _rows_note(contents)
    if findings.kind == "numbers":
        words = f"Every point is a {findings.nouns.row}. On the diagonal, prediction and"
        return {"observed": f"{words} observation agree. {whose}"}
    if findings.kind == "survival":
        p = "p < 0.001" if drawn["p"] < 0.001 else f"p = {drawn['p']:.2g}"
        return {
            "curves": f"Kaplan-Meier curves of the {rows} in three equal parts by predicted risk: "
            "the share still without the event (up) after a time (across), with 95% intervals; "
            f"numbers at risk below. Log-rank test of no difference: {p}. {whose}"
        }
    first, second = (label(findings.classes[at], 28) for at in (0, -1))
    return {
        "roc": f"ROC curve: for every threshold, the true positive rate (share of {second} "
        f"predicted as {second}) against the false positive rate (share of {first} predicted as "
        f"{second}). Area under the curve (AUC) {drawn['auc']:.2f}; the diagonal is tossing a "
        f"coin. At a threshold of 50% the class is right for {drawn['accuracy']:.0%} of {rows} "
        f"(accuracy {drawn['accuracy']:.2f}). {whose}",
        "calibration": f"Calibration: of {rows} with similar predicted probabilities of {second} "
        f"(across), the share that is {second} (up). On the diagonal, both agree. Vertical lines "
        "show where about 95% of the points would lie if the probabilities were right (two "
        "standard errors).",
    }


def _heat_words(findings: Findings) -> str:
    order = {
        "numbers": f"from the smallest {label(findings.target)} (left) to the largest",
        "classes": "by class, and within a class by prediction",
        "survival": "from the shortest time (left) to the longest",
    }[findings.kind]
    return (
        f"Every column is a {findings.nouns.row}, {order}; every line is a "
        f"{findings.nouns.feature}. Blue is above the mean, orange below; full colour is 2.5 "
        "standard deviations or more."
    )


def _features(contents: Contents) -> str:
    findings, found = contents.findings, contents.findings.found
    if not found:
        return "<p>None.</p>" + _formula(contents)
    head, rows = feature_list(
        findings, contents.model, found[:MOST_ROWS], contents.stability, indent="\u2003",
        longest=LONGEST_NAME,
    )  # fmt: skip
    html = table("features", head, rows[:FIRST_ROWS])
    if len(rows) > FIRST_ROWS:
        more = table("more features", head, rows[FIRST_ROWS:])
        html += f"<details><summary>{len(rows) - FIRST_ROWS} more</summary>{more}</details>"
    rest = len(found) - MOST_ROWS
    if rest > 0:
        html += f"<p>{rest} more are in the model file.</p>"
    return html + _formula(contents)


def _formula(contents: Contents) -> str:
    """Covariates, intercept, and how to compute a prediction."""
    findings, html = contents.findings, ""
    several = len(findings.classes) > 2
    if findings.covariates:
        names = [label(each, 28) for each in findings.classes] if several else ["coefficient"]
        rows = [[label(each.name), *map(figure, each.coefficients)] for each in findings.covariates]
        html = "<h3>Adjusted for</h3>" + table("adjusted for", ["column", *names], rows)
    what = {
        "numbers": f"the predicted {label(findings.target)}",
        "classes": "the log odds" if not several else "a score of each class",
        "survival": "the log of the relative risk",
    }[findings.kind]
    intercepts = ", ".join(f"{each:.6g}" for each in np.ravel(contents.model.intercept_))
    start = "" if findings.kind == "survival" else f", and the intercept ({intercepts})"
    average, nouns, alone = findings.chosen.average, findings.nouns, ""
    if average is not None and (count := int(average.features.size)):
        html += (
            "<p>Predictions on this page and those of <code>ksupport predict</code> average over "
            f"sampled models and a ridge regression on {count} "
            f"{escape(nouns.features if count > 1 else nouns.feature)}; their coefficients are in "
            "the model file.</p>"
        )
        alone = " with the selected coefficients alone"
    return html + (
        f"<p>To predict{alone}: multiply each {escape(findings.nouns.feature)}"
        f"{' and each column adjusted for' if findings.covariates else ''} by its coefficient and "
        f"add up the products{escape(start)}: the sum is {escape(what)}.</p>"
    )
