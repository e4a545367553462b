"""The list of features that the terminal and the report show."""

from __future__ import annotations

from collections.abc import Sequence

from .._common.names import shown
from ..choosing.stability import StabilitySelection
from .features import FeatureRow
from .findings import Findings
from .models import Model, one_coefficient, speaks_for
from .wording import probability_text


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
