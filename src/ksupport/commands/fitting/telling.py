"""What a fit found, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from ..._common.names import shown, spreadsheet_safe
from ..._common.render import plain
from ...explain.models import adjusted_for
from ..terminal.outputs import as_csv
from ..terminal.printing import heading, paragraph, table
from .fitted import Fitted

MOST = 40  # features listed on a terminal
MOST_ALTERNATIVES = 5


def tell(out: Console, fitted: Fitted, target: str) -> None:
    """Features, decision, stability and alternatives; the certificate last, as it tells least."""
    chosen = fitted.order
    n, d = fitted.data.shape[0], fitted.data.n_features
    heading(out, f"{len(chosen)} of {d} features explain {shown(target)} ({n} rows)")
    _tell_features(out, fitted)
    paragraph(out, fitted.decision)
    for text in _more_words(fitted):
        out.print()
        paragraph(out, text)


def _tell_features(out: Console, fitted: Fitted) -> None:
    header, effects = ["feature", "coefficient", "effect"], fitted.effects
    if fitted.stability is not None:
        header.append("chosen on halves")
    rows = []
    for j in fitted.order[:MOST]:
        row = [
            shown(fitted.data.feature_names[j]),
            f"{fitted.model.coef_[j]:.4g}",
            f"{effects[j]:.3g}",
        ]
        if fitted.stability is not None:
            row.append(f"{fitted.stability.frequency[j]:.0%}")
        rows.append(row)
    table(out, header, rows)
    more = len(fitted.order) - len(rows)
    if more > 0:
        out.print(f"and {more} more with smaller effects: --output, --coefficients or --report")
    out.print(f"intercept {fitted.model.intercept_:.6g}; effect: per standard deviation\n")
    adjusted = adjusted_for(fitted.model, fitted.data.feature_names)
    if adjusted is not None:
        paragraph(out, adjusted)
        out.print()


def _more_words(fitted: Fitted) -> Iterator[str]:
    yield from fitted.remarks
    if fitted.stability is not None:
        yield f"Stability: {fitted.stability.words}"
    yield from _alternatives(fitted)
    certificate = fitted.certificate
    if certificate is not None:
        yield f"Certificate: {certificate.words[0]} {certificate.words[-1]}"


def _alternatives(fitted: Fitted) -> Iterator[str]:
    swaps = alternatives(fitted)
    if swaps:
        listed = "; ".join(
            f"{_joined(each['in'])} instead of {_joined(each['out'])} "
            f"({each['worse']:+.2f} in the criterion)"
            for each in swaps[:MOST_ALTERNATIVES]
        )
        more = len(swaps) - MOST_ALTERNATIVES
        yield f"Alternatives, nearly as good: {listed}{f'; and {more} more' if more > 0 else ''}."
    elif fitted.certificate is not None and fitted.certificate.duplicates:
        pairs = fitted.certificate.duplicates[:MOST_ALTERNATIVES]
        names = fitted.data.feature_names
        listed = "; ".join(
            f"{shown(names[i])} for {shown(names[j])} ({c:.2f})" for j, i, c in pairs
        )
        yield f"Alternatives, near-duplicates left outside (with their cosine): {listed}."


def _joined(names: list[str]) -> str:
    return " and ".join(map(shown, names)) or "nothing"


def alternatives(fitted: Fitted) -> list[dict[str, Any]]:
    """Supports nearly as good, as what goes out and what comes in."""
    names = fitted.data.feature_names
    return [
        {
            "in": [names[j] for j in swap.into],
            "out": [names[j] for j in swap.out],
            "worse": swap.worse,
        }
        for swap in fitted.chosen.swaps()
    ]


def features(fitted: Fitted) -> list[dict[str, Any]]:
    """The chosen features as plain data."""
    effects, stability = fitted.effects, fitted.stability
    return [
        {
            "name": fitted.data.feature_names[j],
            "coefficient": float(fitted.model.coef_[j]),
            "effect": float(effects[j]),
            "frequency": None if stability is None else float(stability.frequency[j]),
        }
        for j in fitted.order
    ]


def as_data(fitted: Fitted, target: str, made: dict[str, Any]) -> dict[str, Any]:
    """All that `tell` says, for programs."""
    stability, certificate = fitted.stability, fitted.certificate
    value = {
        "target": target,
        "intercept": float(fitted.model.intercept_),
        "features": features(fitted),
        "adjusted_for": fitted.adjustment,
        "decision": fitted.decision,
        "remarks": fitted.remarks,
        "stability": None
        if stability is None
        else {
            "words": stability.words,
            "n_pairs": stability.n_pairs,
            "threshold": stability.threshold,
            "error_bound": stability.error_bound,
        },
        "certificate": None if certificate is None else certificate.to_dict(),
        "alternatives": alternatives(fitted),
        "seconds": round(fitted.seconds, 3),
        "made": made,
    }
    return dict(plain(value))


def features_csv(fitted: Fitted) -> str:
    """The chosen features as a table for spreadsheets; no name can act as a formula."""
    rows: list[list[Any]] = [["feature", "coefficient", "effect", "frequency"]]
    for each in features(fitted):
        share = "" if each["frequency"] is None else each["frequency"]
        name = spreadsheet_safe(each["name"])
        rows.append([name, repr(each["coefficient"]), repr(each["effect"]), share])
    return as_csv(rows)
