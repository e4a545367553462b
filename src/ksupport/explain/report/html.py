"""Pieces of HTML; all text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ..._common.names import shown

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
