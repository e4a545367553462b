"""The pages of the commands, from the commands themselves: what `--help` says, with anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer
from typer.main import get_command

from ksupport.cli import EXIT_CODES, program
from ksupport.commands.terminal.options import sections


def reference() -> str:
    """Every command with its arguments and options, as reStructuredText."""
    root = get_command(program())
    context = typer.Context(root, info_name="ksupport")
    return "\n".join([*commands(root, context), EXIT_CODES, ""])


def commands(group: Any, context: Any) -> Iterator[str]:
    for name, command in group.commands.items():
        inner = typer.Context(command, info_name=name, parent=context)
        if hasattr(command, "commands"):
            yield from commands(command, inner)
        else:
            yield described(command, inner)


def described(command: Any, context: Any) -> str:
    title = context.command_path
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [
        f".. _{title.replace(' ', '-')}:",
        f"{title}\n{'~' * len(title)}",
        "\n\n".join(map(told, command.help.split("\n\n"))),
        f".. code-block:: console\n\n   $ {' '.join(usage.split())}",
    ]
    parts += [listed(*each) for each in sections(command, context).items()]
    return "\n\n".join([*parts, ""])


def listed(heading: str, records: list[tuple[str, str]]) -> str:
    """A heading of the help, and what stands under it but ``--help``."""
    rows = "".join(row(each) for each in records if each[0] != "--help")
    if not rows:
        return ""
    return f"*{heading}*\n\n.. list-table::\n   :widths: 30 70\n   :class: options\n\n{rows}"


def row(record: tuple[str, str]) -> str:
    return f"   * - ``{record[0]}``\n     - {escaped(record[1])}\n"


def told(paragraph: str) -> str:
    """A paragraph of the help; an example becomes what one would type."""
    words = " ".join(paragraph.split())
    before, example, after = words.partition("For example: ")
    if not example:
        return escaped(words)
    typed = " \\\n       ".join(wrap(after, 76, break_on_hyphens=False))
    return f".. code-block:: console\n\n   $ {typed}"


def escaped(text: str) -> str:
    """Without marks that reStructuredText would read; options as they are typed."""
    plain = "".join(f"\\{c}" if c in "\\*`|_" else c for c in " ".join(text.split()))
    return re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"``\g<0>``", plain)


def setup(app: Any) -> dict[str, Any]:
    Path(app.srcdir, "command_line.inc").write_text(reference(), encoding="utf-8")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
