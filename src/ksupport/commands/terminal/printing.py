"""Text and tables on the terminal; names are never taken for markup."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from textwrap import fill

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..._common.progress import clear_progress

LEFT_ALIGNED = ("note", "description", "against")  # columns of words, beside the first


def console() -> Console:
    """Standard output; plain text if NO_COLOR is set, also where rich would leave bold."""
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(
        color_system=None if plain else "auto", highlight=False, markup=False, emoji=False
    )


def heading(out: Console, text: str) -> None:
    out.print(Text(text, style="bold"))


def styled(out: Console, text: str) -> None:
    """Text with markup, such as [bold]."""
    out.print(Text.from_markup(text))


def paragraph(out: Console, text: str) -> None:
    out.print(Text(fill(text, min(out.width, 100), break_on_hyphens=False)))


def table(out: Console, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Aligned columns; no cell is taken for markup."""
    drawn = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(header):
        left = at == 0 or name in LEFT_ALIGNED
        drawn.add_column(name, justify="left" if left else "right", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    out.print(drawn)


def say(text: str) -> None:
    """Print the current stage on standard error; faint on a terminal.

    Work that takes long redraws a line of its own below it, with the time left.
    """
    clear_progress()
    faint = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(f"\x1b[2m{text}\x1b[0m" if faint else text, file=sys.stderr, flush=True)
