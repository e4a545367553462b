"""What the page calls options of ``ksupport fit``, in messages and on buttons."""

from __future__ import annotations

from collections.abc import Sequence

from .._common.names import shown
from .choices import PARTS, READ_BY

VALUE_WORDS = {
    ("missing", "impute"): "fill in means",
    ("missing", "drop-rows"): "leave out their rows",
    ("missing", "drop-columns"): "leave out their columns",
    ("missing", "refuse"): "ask",
    ("duplicates", "mean"): "take their mean",
    ("duplicates", "max-variance"): "take the one that varies most",
    ("duplicates", "suffix"): "number them",
    ("duplicates", "refuse"): "ask",
}
OPTION_WORDS = {
    "regression": "‘Response: numbers’",
    "classification": "‘Response: classes’",
    "phenotypes": "‘Table of samples’",
    "phenotypes-sheet": "‘Table of samples’",
    "na": "‘Means missing’",
    "max-memory": "the memory allowed",
    "keep": "‘Feature’",
}


def on_page(name: str, value: str | None = None) -> str:
    """An option as messages on the page name it: by the word that can be clicked.

    >>> on_page("id", "patient"), on_page("missing", "impute"), on_page("decimal", "','")
    ('‘Row names’ for patient', '‘Missing values: fill in means’', "‘Decimal mark’ ','")
    """
    if name in PARTS:
        word = f"‘{PARTS[name]}’"
        return word if value is None else f"{word} for {value}"
    if (name, value or "") in VALUE_WORDS:
        return f"‘{READ_BY[name]}: {VALUE_WORDS[name, value or '']}’"
    word = OPTION_WORDS.get(name) or f"‘{READ_BY.get(name, name)}’"
    if value is None or name in ("regression", "classification"):
        return word
    return f"{word} for {value}" if name in ("keep", "na") else f"{word} {value}"


def label_of(settings: Sequence[tuple[str, str | None]]) -> str:
    """What is on the button that mends a problem so."""
    by_name: dict[str, list[str]] = {}
    for name, value in settings:
        by_name.setdefault(name, []).append("" if value is None else value)
    return "; ".join(_label(name, values) for name, values in by_name.items())


def _label(name: str, values: list[str]) -> str:
    several = ", ".join(shown(value, 24) for value in values[:3])
    if len(values) > 3:
        several += f" and {len(values) - 3} more"
    if name == "ignore":
        return f"Leave out {several}"
    if name == "keep":
        return f"Keep {several} as a feature"
    if name == "adjust-for":
        return f"Adjust for {several}"
    if name == "event":
        return f"The event is {shown(values[0].rpartition('=')[2], 24)}"
    if name in PARTS:
        return f"{PARTS[name]}: {several}"
    if name == "na":
        return f"Take {several} as missing"
    if (name, values[0]) in VALUE_WORDS:
        return VALUE_WORDS[name, values[0]].capitalize()
    if name == "phenotypes":
        return f"Table of samples: sheet {shown(values[0].rpartition(':')[2], 24)}"
    return f"{READ_BY.get(name, name)}: {several or 'none'}"
