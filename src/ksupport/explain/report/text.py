"""The parts of the report that are words and tables; everything is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ..._common.names import listed, shown
from ...choosing.chosen import Swap
from ...choosing.stability import StabilitySelection
from ...theory.report import NEAR_COPY, RecoveryReport

LONGEST = 80  # characters of a name
FIRST = 25  # features shown at once
MOST = 500  # features in the table
MOST_ALTERNATIVES = 20


@dataclass
class Contents:
    """What the report tells."""

    names: Sequence[str]
    target: str
    n: int
    candidates: int  # features that can be chosen
    order: list[int]  # chosen features, that of the largest effect first
    coef: Any
    effects: Any
    intercept: float
    explained: float
    decision: str
    refitted: bool
    stability: StabilitySelection | None
    certificate: RecoveryReport | None
    twins: list[tuple[int, int, float]]
    alternatives: list[Swap]
    made: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    adjusted: str | None = None  # what it is adjusted for, in words
    n_drawn: int = 0
    n_entered: int = 0


def label(name: str, longest: int = LONGEST) -> str:
    """A name as it is shown, on one line."""
    return shown(name, longest) or "(no name)"


def sections(contents: Contents) -> dict[str, str]:
    """The pieces of the page, by their names in the template."""
    target = label(contents.target)
    return {
        "title": escape(f"{len(contents.order)} features explain {target}"),
        "lead": escape(_lead(contents)),
        "summary": _paragraphs(_summary(contents)),
        "features": _features(contents),
        "explorer": escape(_explorer_words(contents)),
        "residuals": escape(_residual_words(contents)),
        "correlation": _correlation(contents),
        "alternatives": _alternatives(contents),
        "stability": _stability(contents),
        "certificate": _certificate(contents),
        "reproduce": _reproduce(contents),
    }


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """A table; the first ``names`` columns are text, the others numbers."""
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
        '<div class="scroll" tabindex="0" role="region" aria-label="table">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def figure(value: float, digits: int) -> str:
    """A number with its sign and so many digits, the last ones also where they are zeros.

    >>> figure(0.029, 3), figure(-250.0, 3)
    ('+0.0290', '-250')
    """
    return f"{value:+#.{digits}g}".rstrip(".")


def _lead(contents: Contents) -> str:
    if not contents.order:
        return "No feature was chosen: the data give no reason to prefer any model to the mean."
    they = "They" if contents.adjusted is None else "With what the model is adjusted for, they"
    return (
        f"{len(contents.order)} of {contents.candidates} features, from {contents.n} rows. {they} "
        f"explain {contents.explained:.0%} of the variance of {label(contents.target)} on these "
        "rows, which is more than on new ones."
    )


def _summary(contents: Contents) -> Iterator[str]:
    if contents.order:
        top = [
            f"{label(contents.names[j], 40)} ({figure(contents.effects[j], 3)})"
            for j in contents.order[:5]
        ]
        yield f"The largest effects: {', '.join(top)}; a standard deviation more changes " + (
            f"{label(contents.target)} by so much, the other features staying as they are."
        )
    yield contents.decision
    if contents.adjusted is not None:
        yield contents.adjusted
    if contents.stability is not None:
        yield contents.stability.words
    yield from contents.remarks
    if contents.certificate is not None:
        yield contents.certificate.words[0]
        yield contents.certificate.words[-1]


def _features(contents: Contents) -> str:
    if not contents.order:
        return "<p>None.</p>"
    shares = contents.stability
    head = ["feature", "coefficient", "effect per sd", *(["on halves"] if shares else [])]
    rows = []
    for j in contents.order[:MOST]:
        row = [
            label(contents.names[j]),
            figure(contents.coef[j], 5).lstrip("+"),
            figure(contents.effects[j], 3),
        ]
        if shares is not None:
            row.append(f"{shares.frequency[j]:.0%}")
        rows.append(row)
    html = _table(head, rows[:FIRST])
    if len(rows) > FIRST:
        html += f"<details><summary>{len(rows) - FIRST} more</summary>{_table(head, rows[FIRST:])}"
        html += "</details>"
    rest = len(contents.order) - MOST
    tail = f"; {rest} more are in the model file" if rest > 0 else ""
    return html + f"<p>Intercept {contents.intercept:.6g}{tail}.</p>"


def _explorer_words(contents: Contents) -> str:
    words = (
        "Every line is a feature: its coefficient as the path is walked. Move the step and watch "
        "features enter, grow and give way to others; the bars below count those that enter (up) "
        "and leave (down)."
    )
    if contents.refitted:
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


def _residual_words(contents: Contents) -> str:
    return (
        f"First: what was observed against what the model says, for the {contents.n} rows of the "
        "fit. Second: residuals against normal quantiles; far from the line are unusual rows."
    )


def _correlation(contents: Contents) -> str:
    if not contents.twins:
        return (
            f"<p>No feature outside the model correlates at {NEAR_COPY} or more with one in it.</p>"
        )
    rows = [(label(contents.names[j]), label(contents.names[i]), f"{r:+.3f}")
            for j, i, r in contents.twins[:40]]  # fmt: skip
    return (
        "<p>These features outside the model are nearly the same as one in it; little noise is "
        "enough to exchange them.</p>"
        + _table(["chosen", "near-duplicate", "correlation"], rows, names=2)
    )


def _alternatives(contents: Contents) -> str:
    if not contents.alternatives:
        return ""
    rows = [
        (listed((contents.names[j] for j in swap.into), 4) or "nothing",
         listed((contents.names[j] for j in swap.out), 4) or "nothing", f"{swap.worse:+.3f}")
        for swap in contents.alternatives[:MOST_ALTERNATIVES]
    ]  # fmt: skip
    head = ["with", "instead of", "worse by"]
    return (
        "<h3>Alternatives</h3><p>Other sets of features with nearly the same criterion.</p>"
        + _table(head, rows, names=2)
    )


def _stability(contents: Contents) -> str:
    result = contents.stability
    if result is None:
        return "<p>Not measured.</p>"
    chosen = set(contents.order)
    order = sorted(range(len(contents.names)), key=lambda j: -result.frequency[j])[:FIRST]
    order = [j for j in order if result.frequency[j] > 0]
    bars = "".join(
        f"<tr><td>{escape(label(contents.names[j], 40))}</td>"
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
        f"<h3>{escape(table.title)}</h3>{_table(table.head, table.rows, names=3)}"
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
    return command + _table(["what", "value"], rows, names=2)
