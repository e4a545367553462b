"""Names from users' data, made safe for terminals and spreadsheets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

LONGEST = 48  # characters of a name that are shown
FORMULA = re.compile(r"[\t\r\n]|[\s\x00\ufeff]*[=+\-@＝＋－＠]")  # cells that spreadsheets run


def shown(name: str, longest: int = LONGEST) -> str:
    """A name on one line: control characters as escapes, the middle of a long one left out.

    >>> shown("two\\nlines")
    'two\\\\nlines'
    >>> len(shown("x" * 10_000))
    48
    """
    if len(name) > longest:
        tail = longest // 3
        name = f"{name[: longest - tail - 1]}…{name[-tail:]}"
    text = "".join(_visible(character) for character in name)
    return text if len(text) <= 4 * longest else text[: 4 * longest] + "…"


def feature_name(names: Any, feature: int) -> str:
    """The printable name of a feature; x and its number if it has none.

    >>> feature_name(["a", "b"], 1), feature_name(None, 1)
    ('b', 'x1')
    """
    return f"x{feature}" if names is None else shown(str(names[feature]))


def names_seen(estimator: Any) -> Sequence[str] | None:
    """The names of the columns that a model was fitted on; None if they had none."""
    return getattr(estimator, "feature_names_in_", None)


def _visible(character: str) -> str:
    # C: control, format (may reverse the writing direction), surrogate; Z: separators.
    if character == " " or unicodedata.category(character)[0] not in "CZ":
        return character
    return character.encode("unicode_escape").decode("ascii")


def title(path: Path) -> str:
    """The printable name of a file; the whole path of a pipe such as /dev/fd/63."""
    return shown(str(path) if path.is_relative_to("/dev") else path.name)


def listed(names: Iterable[str], most: int = 8) -> str:
    """The first few names, and the number of the others."""
    names = list(names)
    text = ", ".join(repr(shown(name)) if name == "" else shown(name) for name in names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def spreadsheet_safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe precedes any that could be.

    >>> spreadsheet_safe("=cmd()")
    "'=cmd()"
    """
    return f"'{cell}" if FORMULA.match(cell) else cell
