"""The words and tables of the report; everything is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ..._common.names import shown
from ...choosing.stability import StabilitySelection
from ...theory.report import RecoveryReport
from ..features import FeatureRow
from ..findings import Findings, probability_text
from ..paper import methods
from ..standard_methods import estimator_names
from ..wording import percent


@dataclass
class Contents:
    """What the report tells."""

    findings: Findings
    coef: Any
    intercept: list[float]  # one, or of each class
    speaks_for: list[str | None]  # of each column, where there are several classes
    explained: float
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    twins: list[tuple[int, int, float]]
    made: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    n_drawn: int = 0
    n_entered: int = 0
    confusion: list[list[int]] = field(default_factory=list)  # of several classes, rows of each


# -- pieces of HTML ----------------------------------------------------------------------


LONGEST = 80  # characters of a name


def label(name: str, longest: int = LONGEST) -> str:
    """A name as it is shown, on one line."""
    return shown(name, longest) or "(no name)"


def bullets(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def table(called: str, head: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """A table, called so; the first ``names`` columns are text, the others numbers."""
    top = "".join(
        f'<th scope="col"{"" if i < names else " class=n"}>{escape(cell)}</th>'
        for i, cell in enumerate(head)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{'' if i < names else ' class=n'}>{escape(cell)}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(called)}">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


# -- sections ----------------------------------------------------------------------------


FIRST = 25  # features shown at once
MOST = 500  # features in the table
GLOSSARY = {
    "features": "The columns of the data: what was measured on every sample.",
    "rows": "The rows of the data: one for each sample, patient or measurement.",
    "rows held out": "Rows that were put aside while a model was fitted, and predicted by it "
    "afterwards: they show how it would do on new ones.",
    "noise": "Chance: what would be different if the samples were collected again.",
    "knowing nothing": "Predicting the same number, the mean, for every sample.",
    "probability": "How sure one can be, given these data, that a feature belongs to the model: of "
    "features with 80%, four in five should be right.",
    "stand in": "Features so alike in these samples that a model with one of them is as good as a "
    "model with the other.",
    "give or take": "The standard error: with other rows of the same kind the figure would often "
    "differ by so much, and rarely by more than twice as much.",
    "model": "A formula that predicts what is to be explained, by adding up the features, each "
    "times a number of its own.",
}


PREDICTED = {
    "numbers": "Predicted and observed",
    "classes": "How well the classes are told apart",
    "survival": "Survival by predicted risk",
}


def glossary_of(findings: Findings) -> dict[str, str]:
    """The words that are explained, for a response of this kind."""
    lasso, ridge = estimator_names(findings.kind)
    words = findings.wording
    own = {
        "knowing nothing": f"Doing without any feature: {words.unexplained}.",
        "effect": words.effect,
        "Lasso": f"The best-known method to fit a model with few features (here {lasso}).",
        "ridge": f"A model of all features, each with a small weight (here {ridge}): it predicts, "
        "and names no features.",
    }
    return GLOSSARY | own | ({"all pairs": words.pairs} if words.pairs else {})


def sections(contents: Contents) -> dict[str, str]:
    """The pieces of the page, by their names in the template."""
    findings, terms = contents.findings, Terms(glossary_of(contents.findings))
    return {
        "title": escape(findings.title),
        "sign": findings.sign,
        "lead": escape(_lead(findings)),
        "verdict": terms.explained(findings.verdict),
        "remarks": paragraphs(contents.remarks),
        "found": terms.explained(_found_words(findings)),
        "beside": _beside(findings, terms),
        "predicted_title": PREDICTED[findings.kind],
        "predicted": _predicted(contents, terms),
        "heat": terms.explained(_heat_words(findings)),
        "next": bullets(findings.next_steps),
        "features": _features(contents),
        "methods": _methods(contents),
    }


class Terms:
    """Words that not every reader knows: each is explained where it first stands."""

    def __init__(self, glossary: Mapping[str, str]) -> None:
        self.glossary, self.told = glossary, set[str]()
        longest_first = sorted(glossary, key=len, reverse=True)
        self.words = re.compile(rf"(\(?)\b({'|'.join(longest_first)})\b")

    def explained(self, text: str) -> str:
        """The text as HTML, its new words as buttons that show what they mean."""
        return self.words.sub(self._button, escape(text))

    def _button(self, match: re.Match[str]) -> str:
        before, word = match.groups()  # a bracket stays with its word
        if word in self.told:
            return match[0]
        self.told.add(word)
        place = f"tip-{len(self.told)}"
        return (
            f'<span class="term">{before}'
            f'<button type="button" aria-describedby="{place}">{word}</button>'
            f'<span role="tooltip" id="{place}">{escape(self.glossary[word])}</span></span>'
        )


def figure(value: float) -> str:
    """A number with four digits, the last ones also where they are zeros.

    >>> figure(0.029), figure(-2500.0)
    ('0.02900', '-2500')
    """
    return f"{value:#.4g}".rstrip(".")


def _lead(findings: Findings) -> str:
    adjusted = "" if findings.adjusted is None else f" {findings.adjusted}"
    return (
        f"{findings.n} rows, {findings.candidates} features; what is to be explained: "
        f"{findings.wording.asked}.{adjusted}"
    )


def _found_words(findings: Findings) -> str:
    certain = findings.chosen.probability is not None
    words = "The most certain come first. " if certain else "The largest effects come first. "
    if certain:
        words += "Left: the probability that a feature belongs to the model. Right: its effect"
    else:
        words += "The effect of each"
    words += f": to the right, {findings.wording.direction}; to the left, the reverse."
    if any(each.stands_in_for is not None for each in findings.found):
        words += " Indented beneath a feature: others that could stand in for it"
        words += ", or matter with it." if any(each.together for each in findings.found) else "."
    return words


def _beside(findings: Findings, terms: Terms) -> str:
    validation = findings.validation
    if validation is None:
        return "<p>Not measured.</p>"
    if not validation.others:
        return "<p>They were not tried: for survival times scikit-survival has to be installed.</p>"
    every = [validation.ours, *validation.others]
    rows = "".join(
        f"<tr><td>{escape(each.name)}</td>"
        f'<td><meter min="0" max="1" value="{min(max(each.score, 0.0), 1.0):.3f}" '
        f'aria-label="{escape(each.name)}"></meter></td>'
        f'<td class="n">{percent(each.score)}</td>'
        f'<td class="n">± {100 * each.standard_error:.0f}</td>'
        f'<td class="n">{each.features:.0f}</td></tr>'
        for each in every
    )
    nothing = (
        f"<tr><td>{escape(validation.baseline.name)}</td><td></td>"
        f'<td class="n">{percent(validation.baseline.score)}</td><td></td><td></td></tr>'
    )
    head = "".join(
        f'<th scope="col"{extra}>{name}</th>'
        for name, extra in (
            ("method", ""), (findings.wording.column, ' colspan="3"'), ("features", ' class="n"')
        )
    )  # fmt: skip
    return (
        f"<p>{terms.explained(findings.beside)}</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="comparison"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}{nothing}</tbody></table></div>"
    )


def _predicted(contents: Contents, terms: Terms) -> str:
    """The pictures of predictions, each with what it shows; of several classes a table."""
    if len(contents.findings.classes) > 2:
        return _told_classes(contents, terms)
    words = {"numbers": _points_words, "classes": _alarms_words, "survival": _curves_words}
    return "".join(
        f'<div><p id="{name}-words">{terms.explained(text)}</p><div class="picture">'
        f'<svg id="{name}" role="img" aria-labelledby="{name}-words"></svg></div></div>'
        for name, text in words[contents.findings.kind](contents)
    )


def _told_classes(contents: Contents, terms: Terms) -> str:
    """How many rows of each class are taken for which."""
    names = [label(each, 28) for each in contents.findings.classes]
    rows = [[name, *map(str, row)] for name, row in zip(names, contents.confusion, strict=True)]
    words = f"How many rows of a class (lines) are taken for which (columns). {_whose(contents)}"
    return f"<p>{terms.explained(words)}</p>{table('classes told', ['', *names], rows)}"


def _whose(contents: Contents) -> str:
    """Which rows are drawn."""
    validation = contents.findings.validation
    if validation is not None:
        return (
            f"These are rows held out: {validation.folds} times a part of them was put aside, and "
            "predicted by a model of the others."
        )
    return "These are the rows of the fit: new ones would be predicted less well."


def _points_words(contents: Contents) -> Iterator[tuple[str, str]]:
    words = "Every point is a row. On the line, prediction and observation are the same."
    if contents.findings.validation is None:
        words += f" The model explains {contents.explained:.0%} of them."
    yield "observed", f"{words} {_whose(contents)}"


def _alarms_words(contents: Contents) -> Iterator[tuple[str, str]]:
    second = label(contents.findings.classes[-1], 28)
    yield (
        "roc",
        f"Wherever one draws the line above which a row is called {second}: how many of {second} "
        f"are found (up), at the price of how many false alarms (across). A coin would go along "
        f"the diagonal. {_whose(contents)}",
    )
    yield (
        "calibration",
        f"Of rows that were given a probability of {second} (across), how many are {second} (up)? "
        "On the line, probabilities keep their word; bars are what chance would allow.",
    )


def _curves_words(contents: Contents) -> Iterator[tuple[str, str]]:
    yield (
        "curves",
        "The rows in three parts, by the risk that was predicted of them: what share is still "
        f"without the event (up) after a time (across). {_whose(contents)} The further the lines "
        "are apart, the better the prediction.",
    )


def _heat_words(findings: Findings) -> str:
    order = {
        "numbers": f"from the smallest {label(findings.target)} (left) to the largest",
        "classes": "by class, and within a class by what is predicted",
        "survival": "from the shortest time (left) to the longest",
    }[findings.kind]
    return (
        f"Every column is one of the rows of the data, {order}; every line is a feature. Blue is "
        "more than usual of it, orange less, the deeper the colour the further from the mean."
    )


def _features(contents: Contents) -> str:
    findings, shares = contents.findings, contents.stability
    found = findings.found
    if not found:
        return "<p>None.</p>"
    certain = findings.chosen.probability is not None
    head = ["feature", *["probability"] * certain, "effect", "coefficient"]
    head += ["speaks for"] * (len(findings.classes) > 2)
    head += ["on halves"] if shares else []
    effects = findings.effect_texts
    rows = [_feature(contents, each, certain, effects) for each in found[:MOST]]
    html = table("features", head, rows[:FIRST])
    if len(rows) > FIRST:
        more = table("more features", head, rows[FIRST:])
        html += f"<details><summary>{len(rows) - FIRST} more</summary>{more}</details>"
    rest = len(found) - MOST
    tail = f"; {rest} more are in the model file" if rest > 0 else ""
    to = "" if findings.kind == "survival" else f" to the intercept, {_numbers(contents.intercept)}"
    return html + (
        "<p>The model multiplies each feature by its coefficient, and adds all that up"
        f"{to}{tail}.</p>"
    )


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{each:.6g}" for each in values)


def _feature(
    contents: Contents, each: FeatureRow, certain: bool, effects: Mapping[int, str]
) -> list[str]:
    findings, j = contents.findings, each.feature
    name = label(findings.names[j])
    row = ["\u2003" * bool(each.prefix) + each.prefix + name]
    row += [probability_text(each.probability or 0.0)] if certain else []
    row += [effects[j], figure(contents.coef[j])] if each.chosen else ["", ""]
    row += [label(contents.speaks_for[j] or "", 60)] * (len(findings.classes) > 2)
    if contents.stability is not None:
        row.append(f"{contents.stability.frequency[j]:.0%}")
    return row


def _methods(contents: Contents) -> str:
    text, references = methods(contents.findings, contents.made.get("versions"))
    cited = "".join(f"<li>{escape(each)}</li>" for each in references)
    return f'<div id="paper"><p>{escape(text)}</p><ol>{cited}</ol></div>'
