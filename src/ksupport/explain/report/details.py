"""The sections of the report that show how the model was computed."""

from __future__ import annotations

from html import escape

from ..._common.names import listed, shown
from ...theory.report import NEAR_COPY
from ..findings import Findings
from .text import Contents, label, paragraphs, table

FREQUENCIES_SHOWN = 25  # features shown of those that half-samples choose
ALTERNATIVES_SHOWN = 20


def details(contents: Contents) -> dict[str, str]:
    """The pieces, by their names in the template."""
    return {
        "decision": escape(_decision(contents.findings)),
        "explorer": escape(_explorer_words(contents)),
        "correlation": _correlation(contents),
        "alternatives": _alternatives(contents),
        "stability": _stability(contents),
        "certificate": _certificate(contents),
        "reproduce": _reproduce(contents),
    }


def _decision(findings: Findings) -> str:
    words = findings.chosen.words
    if findings.validation is None or findings.chosen.judgement is None:
        return words
    return (
        f"{words} This share was measured during the fit, on rows that also set the weights of the "
        "average over models. The score at the top of this page is from cross-validation of the "
        "whole procedure, and does not have this bias."
    )


def _explorer_words(contents: Contents) -> str:
    words = (
        "Every line is the coefficient of a feature along the regularisation path. Move the slider "
        "to see features enter, grow and be replaced by others; the bars below count the features "
        "that enter (up) and leave (down)."
    )
    if contents.findings.chosen.refit is not None:
        words += (
            " The model itself is a refit of its features by least squares or ridge regression, "
            "so its coefficients are usually larger than those on the path."
        )
    if contents.n_entered > contents.n_drawn:
        words += (
            f" Of the {contents.n_entered} features that enter, the {contents.n_drawn} with the "
            "largest coefficients are drawn."
        )
    return words


def _correlation(contents: Contents) -> str:
    if not contents.near_copies:
        return (
            f"<p>No feature outside the model correlates at {NEAR_COPY} or more with one in it.</p>"
        )
    rows = [(label(contents.findings.names[j]), label(contents.findings.names[i]), f"{r:+.3f}")
            for j, i, r in contents.near_copies[:40]]  # fmt: skip
    return (
        f"<p>These features are not in the model, but correlate at {NEAR_COPY} or more with one "
        "that is: the data can hardly distinguish the two.</p>"
        + table("features alike", ["in the model", "near-duplicate", "correlation"], rows, names=2)
    )


def _alternatives(contents: Contents) -> str:
    swaps, names = contents.findings.chosen.swaps(), contents.findings.names
    if not swaps:
        return ""
    rows = [
        (listed((names[j] for j in swap.into), 4) or "nothing",
         listed((names[j] for j in swap.out), 4) or "nothing", f"{swap.worse:+.3f}")
        for swap in swaps[:ALTERNATIVES_SHOWN]
    ]  # fmt: skip
    head = ["with", "instead of", "worse by"]
    return "<h3>Other models, nearly as good</h3>" + table("other models", head, rows, names=2)


def _stability(contents: Contents) -> str:
    result = contents.stability
    if result is None:
        return ""
    names, chosen = contents.findings.names, set(contents.findings.order)
    frequency = result.frequency.tolist()
    order = sorted(range(len(names)), key=lambda j: -frequency[j])[:FREQUENCIES_SHOWN]
    rows = [
        (label(names[j], 40), frequency[j], f"{frequency[j]:.0%}", "yes" if j in chosen else "")
        for j in order
        if frequency[j] > 0
    ]
    head = ["feature", "share of half-samples", "in the model"]
    return f"<p>{escape(result.words)}</p>{table('stability', head, rows, wide={1: 2})}"


def _certificate(contents: Contents) -> str:
    report = contents.certificate
    if report is None:
        return ""
    tables = "".join(
        f"<h3>{escape(each.title)}</h3>{table(each.title, each.head, each.rows, names=3)}"
        for each in report._tables()
    )
    return (
        paragraphs(report.words)
        + f"<details><summary>The numbers behind it</summary>{tables}</details>"
    )


def _reproduce(contents: Contents) -> str:
    made, rows, html = contents.made, [], ""
    if "command" in made:
        html = f"<pre tabindex=0><code>{escape(shown(made['command'], 2000))}</code></pre>"
    if "seed" in made:
        rows.append(("seed", str(made["seed"])))
    if data := made.get("data"):
        words = f"{label(data['file'])}, {data['rows']} rows, {data['features']} features"
        rows += [("data", words), ("sha256", str(data.get("sha256", "")))]
    rows += [(name, str(number)) for name, number in made.get("versions", {}).items()]
    if not html and not rows:
        return "<p>Not recorded.</p>"
    return html + table("how it was made", ["what", "value"], rows, names=2)
