"""The parts of the report that are words and tables; everything is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ..._common.names import listed, shown
from ...choosing.stability import StabilitySelection
from ...theory.report import NEAR_COPY, RecoveryReport
from ..account import Account, certainty, percent
from ..found import Found, in_groups

LONGEST = 80  # characters of a name
FIRST = 25  # features shown at once
MOST = 500  # features in the table
MOST_ALTERNATIVES = 20
GLOSSARY = {
    "features": "The columns of the data: what was measured on every sample.",
    "rows held out": "Samples that were put aside while a model was fitted, and predicted by it "
    "afterwards: they show how it would do on new ones.",
    "noise": "Chance: what would be different if the samples were collected again.",
    "knowing nothing": "Predicting the same number, the mean, for every sample.",
    "probability": "How sure one can be, given these data, that a feature belongs to the model: of "
    "features with 80%, four in five should be right.",
    "effect": "By how much the prediction changes when the feature grows by one standard "
    "deviation and all others stay as they are.",
    "standard deviation": "The usual distance of a value from the mean of its column.",
    "stand in": "Features so alike in these samples that a model with one of them is as good as a "
    "model with the other.",
    "Lasso": "The best-known method to fit a linear model with few features (here scikit-learn's "
    "LassoCV).",
    "ridge": "A linear model of all features, each with a small weight (here scikit-learn's "
    "RidgeCV): it predicts, and names no features.",
}
WORDS = re.compile(rf"\b({'|'.join(GLOSSARY)})\b")


@dataclass
class Contents:
    """What the report tells."""

    account: Account
    coef: Any
    intercept: float
    explained: float
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    twins: list[tuple[int, int, float]]
    made: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    n_drawn: int = 0
    n_entered: int = 0


def label(name: str, longest: int = LONGEST) -> str:
    """A name as it is shown, on one line."""
    return shown(name, longest) or "(no name)"


def sections(contents: Contents) -> dict[str, str]:
    """The pieces of the page, by their names in the template."""
    account, terms = contents.account, Terms()
    return {
        "title": escape(account.title),
        "sign": account.sign,
        "lead": escape(_lead(account)),
        "verdict": terms.explained(account.verdict),
        "remarks": _paragraphs(contents.remarks),
        "found": terms.explained(_found_words(account)),
        "beside": _beside(account, terms),
        "predicted": terms.explained(_predicted_words(contents)),
        "next": _list(account.next_steps),
        "features": _features(contents),
        "methods": _methods(contents),
        "decision": escape(_decision(account)),
        "explorer": escape(_explorer_words(contents)),
        "correlation": _correlation(contents),
        "alternatives": _alternatives(contents),
        "stability": _stability(contents),
        "certificate": _certificate(contents),
        "reproduce": _reproduce(contents),
    }


class Terms:
    """Words that not every reader knows: each is explained where it first stands."""

    def __init__(self) -> None:
        self.told: set[str] = set()

    def explained(self, text: str) -> str:
        """The text as HTML, its new words as buttons that show what they mean."""
        return WORDS.sub(self._button, escape(text))

    def _button(self, match: re.Match[str]) -> str:
        word = match[0]
        if word in self.told:
            return word
        self.told.add(word)
        place = f"tip-{len(self.told)}"
        return (
            f'<span class="term"><button type="button" aria-describedby="{place}">{word}</button>'
            f'<span role="tooltip" id="{place}">{escape(GLOSSARY[word])}</span></span>'
        )


def _list(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _table(called: str, head: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
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


def figure(value: float, digits: int) -> str:
    """A number with its sign and so many digits, the last ones also where they are zeros.

    >>> figure(0.029, 3), figure(-250.0, 3)
    ('+0.0290', '-250')
    """
    return f"{value:+#.{digits}g}".rstrip(".")


def _lead(account: Account) -> str:
    adjusted = "" if account.adjusted is None else f" {account.adjusted}"
    return (
        f"{account.n} rows, {account.candidates} features; what is to be explained: "
        f"{label(account.target)}.{adjusted}"
    )


def _decision(account: Account) -> str:
    words = account.chosen.words
    if account.trials is None or account.chosen.judgement is None:
        return words
    return (
        f"{words} That was measured while choosing, of what predicts best; the figure on top of "
        "this page is of the whole procedure, repeated without the rows that it predicts."
    )


def _found_words(account: Account) -> str:
    certain = account.chosen.probability is not None
    words = "The most certain come first. " if certain else "The largest effects come first. "
    if certain:
        words += "Left: the probability that a feature belongs to the model. Right: its effect"
    else:
        words += "To the right or left: the effect"
    words += f", the change of {label(account.target)} for one standard deviation more of it."
    if any(each.stands_in_for is not None for each in account.found):
        words += " Set in beneath a feature: others that could stand in for it"
        words += ", or matter with it." if in_groups(account.chosen) else "."
    return words


def _beside(account: Account, terms: Terms) -> str:
    trials = account.trials
    if trials is None:
        return "<p>Not measured.</p>"
    every = [trials.ours, *trials.others]
    rows = "".join(
        f"<tr><td>{escape(each.name)}</td>"
        f'<td><meter min="0" max="1" value="{min(max(each.score, 0.0), 1.0):.3f}" '
        f'aria-label="{escape(each.name)}"></meter></td>'
        f'<td class="n">{percent(each.score)}</td>'
        f'<td class="n">± {100 * each.standard_error:.0f}</td>'
        f'<td class="n">{each.features:.0f}</td></tr>'
        for each in every
    )
    nothing = '<tr><td>knowing nothing</td><td></td><td class="n">0%</td><td></td><td></td></tr>'
    head = "".join(
        f'<th scope="col"{extra}>{name}</th>'
        for name, extra in (
            ("way to fit", ""), ("explained", ' colspan="3"'), ("features", ' class="n"')
        )
    )  # fmt: skip
    return (
        f"<p>{terms.explained(account.beside)}</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="comparison"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}{nothing}</tbody></table></div>"
    )


def _predicted_words(contents: Contents) -> str:
    trials = contents.account.trials
    if trials is not None:
        return (
            "Every point is a row that the model had not seen when it predicted it "
            f"({trials.folds} times a part of the rows was held out). On the line, prediction and "
            "observation are the same."
        )
    return (
        "Every point is a row of the fit: new rows would lie further from the line, on which "
        f"prediction and observation are the same. These explain {contents.explained:.0%}."
    )


def _features(contents: Contents) -> str:
    account, shares = contents.account, contents.stability
    found = account.found
    if not found:
        return "<p>None.</p>"
    certain = account.chosen.probability is not None
    head = ["feature", *["probability"] * certain, "effect", "coefficient"]
    head += ["on halves"] if shares else []
    rows = [_feature(contents, each, certain) for each in found[:MOST]]
    html = _table("features", head, rows[:FIRST])
    if len(rows) > FIRST:
        more = _table("more features", head, rows[FIRST:])
        html += f"<details><summary>{len(rows) - FIRST} more</summary>{more}</details>"
    rest = len(found) - MOST
    tail = f"; {rest} more are in the model file" if rest > 0 else ""
    return html + f"<p>Intercept {contents.intercept:.6g}{tail}.</p>"


def _feature(contents: Contents, each: Found, certain: bool) -> list[str]:
    account, j = contents.account, each.feature
    name = label(account.names[j])
    row = ["\u2003" * bool(each.prefix) + each.prefix + name]
    row += [certainty(each.probability or 0.0)] if certain else []
    numbers = [figure(account.effects[j], 3), figure(contents.coef[j], 5).lstrip("+")]
    row += numbers if each.chosen else ["", ""]
    if contents.stability is not None:
        row.append(f"{contents.stability.frequency[j]:.0%}")
    return row


def _methods(contents: Contents) -> str:
    text, references = contents.account.methods(contents.made.get("versions"))
    cited = "".join(f"<li>{escape(each)}</li>" for each in references)
    return f'<div id="paper"><p>{escape(text)}</p><ol>{cited}</ol></div>'


def _explorer_words(contents: Contents) -> str:
    words = (
        "Every line is a feature: its coefficient as the path is walked. Move the step and watch "
        "features enter, grow and give way to others; the bars below count those that enter (up) "
        "and leave (down)."
    )
    if contents.account.chosen.refit is not None:
        words += (
            " The model itself is a refit of its features by least squares or ridge regression, "
            "so its coefficients are larger than those of the path."
        )
    if contents.n_entered > contents.n_drawn:
        words += (
            f" Of {contents.n_entered} features that ever entered, the {contents.n_drawn} with "
            "the largest coefficients are drawn."
        )
    return words


def _correlation(contents: Contents) -> str:
    if not contents.twins:
        return (
            f"<p>No feature outside the model correlates at {NEAR_COPY} or more with one in it.</p>"
        )
    rows = [(label(contents.account.names[j]), label(contents.account.names[i]), f"{r:+.3f}")
            for j, i, r in contents.twins[:40]]  # fmt: skip
    return (
        "<p>These features outside the model are nearly the same as one in it; little noise is "
        "enough to exchange them.</p>"
        + _table("features alike", ["chosen", "near-duplicate", "correlation"], rows, names=2)
    )


def _alternatives(contents: Contents) -> str:
    swaps, names = contents.account.chosen.swaps(), contents.account.names
    if not swaps:
        return ""
    rows = [
        (listed((names[j] for j in swap.into), 4) or "nothing",
         listed((names[j] for j in swap.out), 4) or "nothing", f"{swap.worse:+.3f}")
        for swap in swaps[:MOST_ALTERNATIVES]
    ]  # fmt: skip
    head = ["with", "instead of", "worse by"]
    return "<h3>Other models, nearly as good</h3>" + _table("other models", head, rows, names=2)


def _stability(contents: Contents) -> str:
    result = contents.stability
    if result is None:
        return "<p>Not measured.</p>"
    chosen = set(contents.account.order)
    order = sorted(range(len(contents.account.names)), key=lambda j: -result.frequency[j])[:FIRST]
    order = [j for j in order if result.frequency[j] > 0]
    bars = "".join(
        f"<tr><td>{escape(label(contents.account.names[j], 40))}</td>"
        f'<td><meter min="0" max="1" value="{result.frequency[j]:.3f}"></meter></td>'
        f'<td class="n">{result.frequency[j]:.0%}</td>'
        f"<td>{'chosen' if j in chosen else ''}</td></tr>"
        for j in order
    )
    return (
        f"<p>{escape(result.words)}</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="stability"><table><thead><tr>'
        '<th scope="col">feature</th><th scope="col" colspan="2">share of half-samples</th>'
        f'<th scope="col">in the model</th></tr></thead><tbody>{bars}</tbody></table></div>'
    )


def _certificate(contents: Contents) -> str:
    report = contents.certificate
    if report is None:
        return "<p>Not checked.</p>"
    tables = "".join(
        f"<h3>{escape(table.title)}</h3>{_table(table.title, table.head, table.rows, names=3)}"
        for table in report._tables()
    )
    return (
        _paragraphs(report.words)
        + f"<details><summary>The numbers behind it</summary>{tables}</details>"
    )


def _reproduce(contents: Contents) -> str:
    made = contents.made
    rows = []
    if "seed" in made:
        rows.append(("seed", str(made["seed"])))
    data = made.get("data", {})
    if data:
        file = label(data["file"])
        rows += [("data", f"{file}, {data['rows']} rows, {data['features']} features"),
                 ("sha256", str(data.get("sha256", "")))]  # fmt: skip
    rows += [(name, str(number)) for name, number in made.get("versions", {}).items()]
    command = (
        f"<pre tabindex=0><code>{escape(shown(made['command'], 2000))}</code></pre>"
        if ("command" in made)
        else ""
    )
    if not command and not rows:
        return "<p>Not recorded.</p>"
    return command + _table("how it was made", ["what", "value"], rows, names=2)
