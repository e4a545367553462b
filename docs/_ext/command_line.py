"""The pages of the commands, from the commands themselves: what `--help` says, with anchors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from ksupport.cli import EXIT_CODES, program


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
    rows = "".join(map(row, filter(None, records(command, context))))
    parts = [
        f".. _{title.replace(' ', '-')}:",
        f"{title}\n{'~' * len(title)}",
        escaped(command.help),
        f".. code-block:: console\n\n   $ {' '.join(usage.split())}",
    ]
    if rows:
        parts.append(f".. list-table::\n   :widths: 30 70\n   :class: options\n\n{rows}")
    return "\n\n".join([*parts, ""])


def records(command: Any, context: Any) -> Iterator[tuple[str, str] | None]:
    """What to write and what it means, for each argument and option but ``--help``."""
    for each in command.get_params(context):
        if each.name != "help":
            yield each.get_help_record(context)


def row(record: tuple[str, str]) -> str:
    return f"   * - ``{record[0]}``\n     - {escaped(record[1])}\n"


def escaped(text: str) -> str:
    """Without marks that reStructuredText would read."""
    return "".join(f"\\{c}" if c in "\\*`|_" else c for c in " ".join(text.split()))


def setup(app: Any) -> dict[str, Any]:
    Path(app.srcdir, "command_line.inc").write_text(reference(), encoding="utf-8")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
