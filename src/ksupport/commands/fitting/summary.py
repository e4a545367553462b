"""What a file holds and what a fit found, as text on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console

from ..._common.names import listed, shown
from ...design import Genotypes
from ...explain.features import FeatureRow
from ...explain.findings import Findings, feature_list
from ...explain.wording import probability_text
from ...reading import Columns, Data
from ..terminal.outputs import heading, paragraph, table
from .fitted import Fitted, time_estimate
from .results import alternatives, selected_at_fdr

# -- before the fit ----------------------------------------------------------------------


def data_summary(data: Data, columns: Columns, to_fit: str) -> dict[str, Any]:
    """What was understood, as plain data."""
    n, features = data.shape[0], data.n_features
    return {
        "file": data.path.name,
        "rows": n,
        "features": features,
        "feature_names": list(data.feature_names[: min(features, 10)]),
        "response": data.kind,
        "target": columns.target or columns.time or "y",
        "classes": list(data.classes),
        "adjusted_for": [coding.to_dict() for coding in data.codings],
        "ids": None if data.ids is None else data.ids[:10].tolist(),
        "groups": None if data.groups is None else len(np.unique(data.groups)),
        "remarks": data.remarks,
        "to_fit": to_fit,
        "pace": time_estimate(data),
    }


def print_data_summary(out: Console, data: Data, columns: Columns, to_fit: str) -> None:
    """What was understood, in words."""
    n, features = data.shape[0], data.n_features
    heading(out, f"{shown(data.path.name)}: {n} rows, {features} features. Nothing was fitted.")
    rows = [
        ["response", _response(data, columns)],
        ["features", listed(data.feature_names[:features], 6)],
        ["adjusted for", "; ".join(map(_coding, data.codings)) or "nothing"],
        ["names of rows", "none" if data.ids is None else listed(data.ids.tolist(), 4)],
        ["groups", "none" if data.groups is None else f"{len(np.unique(data.groups))} labels"],
        ["kept", "on disk, read by blocks" if isinstance(data.X, Genotypes) else "in memory"],
        ["estimator", to_fit],
    ]
    table(out, ["what", "note"], rows)
    words = time_estimate(data)
    for remark in [*data.remarks, *([] if words is None else [f"{words.capitalize()}."])]:
        out.print()
        paragraph(out, remark)
    out.print()
    paragraph(
        out,
        "If this is right, leave out --dry-run; ksupport fit --help lists the options that "
        "change it.",
    )


def _response(data: Data, columns: Columns) -> str:
    if data.kind == "survival":
        seen, total = int(data.y["event"].sum()), len(data.y)
        return f"{shown(str(columns.time))} until an event, observed in {seen} of {total} rows"
    name = shown(columns.target or "y")
    if data.kind == "classes":
        return f"{name}: classes {listed(data.classes)}"
    return f"{name}: numbers from {data.y.min():.4g} to {data.y.max():.4g}"


def _coding(coding: Any) -> str:
    if not coding.levels:
        return shown(coding.name)
    first, *others = coding.levels
    return f"{shown(coding.name)} ({listed(others, 4)}, compared to {shown(first)})"


# -- after the fit -----------------------------------------------------------------------


MOST_LINES = 40  # features listed on a terminal
BENEATH = 3  # of them that stand in for the same one
ALTERNATIVES_LISTED = 5


def print_summary(out: Console, fitted: Fitted, target: str) -> None:
    """The results, most important first; the certificate, which matters least, is last."""
    findings = fitted.findings(target)
    n, d = fitted.data.shape[0], fitted.data.n_features
    heading(out, f"{findings.title} ({n} {findings.nouns.rows}, {d} {findings.nouns.features})")
    tested = [] if fitted.test is None else [fitted.test.words]
    _print_section(out, "Is there anything here?", [findings.verdict, *tested, *findings.warnings])
    if findings.order:
        heading(out, f"\nWhich {findings.nouns.features}?")
        rows, left = _told_rows(findings.found)
        table(out, *feature_list(findings, fitted.model, rows, fitted.stability))
        if left:
            out.print(f"and {left} more: --coefficients or --report")
        paragraph(out, " ".join(_column_words(fitted, findings)))
    if fitted.options.fdr is not None:
        _print_at_fdr(out, fitted, fitted.options.fdr)
    if findings.adjusted is not None:
        told = [f"{shown(name)} {value:.4g}" for name, value in fitted.adjustment.items()]
        what = "Its coefficient" if len(told) == 1 else "Their coefficients"
        paragraph(out, f"{findings.adjusted} {what}: {', '.join(told)}.")
    if findings.baseline_comparison:
        _print_section(out, "Would a Lasso or a ridge do better?", [findings.baseline_comparison])
    _print_section(out, "What next?", [f"- {each}" for each in findings.next_steps])
    if details := list(_details(fitted)):
        _print_section(out, "Details", details)


def _print_section(out: Console, question: str, texts: list[str]) -> None:
    heading(out, f"\n{question}")
    for text in texts:
        paragraph(out, text)


def _print_at_fdr(out: Console, fitted: Fitted, fdr: float) -> None:
    """The features and sets that are selected at a false discovery rate."""
    found = selected_at_fdr(fitted, fdr)
    heading(out, f"\nWhich, at a false discovery rate of {fdr:.0%}?")
    paragraph(out, f"Features: {', '.join(map(shown, found['features'])) or 'none'}.")
    sets = [
        [" or ".join(map(shown, each["features"])), probability_text(each["probability"])]
        for each in found["sets"]
    ]
    if sets:
        table(out, ["feature or set", "probability"], sets)
    words = (
        "Sets: one or more of these features matter; features that can be distinguished are alone."
    )
    paragraph(out, words if sets else "No set of features is certain enough.")


def _column_words(fitted: Fitted, findings: Findings) -> Iterator[str]:
    """What the columns of the table mean."""
    yield (
        f"Effect: change of {findings.wording.scale} per standard deviation of the feature, all "
        "others unchanged."
    )
    if fitted.chosen.positive:
        yield "Only positive effects were allowed (--positive)."
    judged = findings.chosen.judgement
    if judged is not None and judged.beta != 1.0:
        what = "Recall" if judged.beta > 1.0 else "Precision"
        yield f"{what} has the larger weight in the selection (--beta {judged.beta:g})."
    if findings.kind != "survival" and len(fitted.intercept) == 1:
        yield f"Intercept {fitted.intercept[0]:.6g}."
    elif findings.kind != "survival":
        pairs = zip(findings.classes, fitted.intercept, strict=True)
        each = ", ".join(f"{shown(name)} {value:.4g}" for name, value in pairs)
        yield f"Intercepts {each}."
    if any(each.stands_in_for is not None for each in findings.found):
        also = ", or act with it" if any(each.together for each in findings.found) else ""
        yield f"Indented: features that could replace the one above{also}."


def _told_rows(found: list[FeatureRow]) -> tuple[list[FeatureRow], int]:
    """The rows that fit a terminal, and how many are left out: of stand-ins some for each."""
    beneath: Counter[int | None] = Counter()
    rows = []
    for each in found:
        beneath[each.stands_in_for] += not each.chosen
        if each.chosen or beneath[each.stands_in_for] <= BENEATH:
            rows.append(each)
    return rows[:MOST_LINES], len(found) - len(rows[:MOST_LINES])


def _details(fitted: Fitted) -> Iterator[str]:
    yield from fitted.remarks
    if fitted.chosen.size and fitted.chosen.judgement is None:
        yield fitted.chosen.words
    if fitted.stability is not None:
        yield f"Stability: {fitted.stability.words}"
    if fitted.chosen.judgement is None:
        yield from _alternatives(fitted)
    if fitted.certificate is not None:
        yield f"Certificate: {fitted.certificate.words[0]} {fitted.certificate.words[-1]}"


def _alternatives(fitted: Fitted) -> Iterator[str]:
    swaps = alternatives(fitted)
    if swaps:
        listed = "; ".join(
            f"{_join_names(each['in'])} instead of {_join_names(each['out'])} "
            f"({each['worse']:+.2f} in the criterion)"
            for each in swaps[:ALTERNATIVES_LISTED]
        )
        more = len(swaps) - ALTERNATIVES_LISTED
        yield f"Alternatives, nearly as good: {listed}{f'; and {more} more' if more > 0 else ''}."
    elif fitted.certificate is not None and fitted.certificate.duplicates:
        pairs = fitted.certificate.duplicates[:ALTERNATIVES_LISTED]
        names = fitted.data.feature_names
        listed = "; ".join(
            f"{shown(names[i])} for {shown(names[j])} ({c:.2f})" for j, i, c in pairs
        )
        yield f"Alternatives, near-duplicates left outside (with their cosine): {listed}."


def _join_names(names: list[str]) -> str:
    return " and ".join(map(shown, names)) or "nothing"
