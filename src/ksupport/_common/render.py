"""Paragraphs and tables as plain text and as HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

import numpy as np

LARGE = 1e5  # numbers of this size, or below its inverse, are printed with exponents
WIDTH = 92


@dataclass(frozen=True)
class Table:
    """A titled table of strings."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Aligned columns, the last one unpadded."""
        cells = [list(self.head), *[list(row) for row in self.rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.head))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([self.title, *("  " + line for line in lines)])

    def html(self) -> str:
        """An HTML table; every cell is escaped."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return (
            f"<table><caption>{escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def as_text(title: str, words: Sequence[str], tables: Sequence[Table]) -> str:
    """Title, paragraphs, tables."""
    parts = [f"{title}\n{'=' * len(title)}"]
    parts += [fill(paragraph, WIDTH) for paragraph in words]
    parts += [table.text() for table in tables]
    return "\n\n".join(parts)


def as_html(title: str, words: Sequence[str], tables: Sequence[Table]) -> str:
    """Title, paragraphs and tables as HTML, for notebooks."""
    paragraphs = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in words)
    inner = "".join(table.html() for table in tables)
    return f"<div class='ksupport-report'><h3>{escape(title)}</h3>{paragraphs}{inner}</div>"


def plain(value: Any) -> Any:
    """A value made of dicts, lists, strings and finite numbers, for JSON."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value


def number(value: float | None) -> str:
    """Four significant digits, or a dash."""
    return "-" if value is None or np.isnan(value) else f"{value:.4g}"


def column_format(values: Any) -> Callable[[float], str]:
    """A format for the numbers of a column: signed, all with as many decimals.

    The largest number gets three digits, the smallest at least one.

    >>> formatted = column_format([-1.5213, 0.4704, 0.0231])
    >>> formatted(-1.5213), formatted(0.4704), formatted(0.0231)
    ('-1.52', '+0.47', '+0.02')
    >>> column_format([250.0, 0.3])(250.0), column_format([3e-9])(3e-9)
    ('+250.0', '+3e-09')
    """
    sizes = np.abs(np.asarray(values, np.float64))
    sizes = sizes[sizes > 0]
    if not sizes.size or sizes.max() >= LARGE or sizes.max() < 1 / LARGE:
        return lambda value: f"{value:+.3g}"
    least, most = np.floor(np.log10([sizes.min(), sizes.max()]))
    decimals = int(np.clip(max(2 - most, -least), 0, max(2 - most, 0) + 3))
    return lambda value: f"{value:+.{decimals}f}"
