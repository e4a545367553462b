"""What ``--help`` says of a command: options under headings, and what to write after each."""

from __future__ import annotations

from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand

COLUMNS, FILE = "What the columns are", "How the file is read"
WAY, RESULT = "How features are found", "What comes out"

of_columns = partial(typer.Option, rich_help_panel=COLUMNS)
of_file = partial(typer.Option, rich_help_panel=FILE)
of_way = partial(typer.Option, rich_help_panel=WAY)
of_result = partial(typer.Option, rich_help_panel=RESULT)


class Sectioned(TyperCommand):
    """A command whose help has its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the options heading by heading."""
        for heading, records in sections(self, ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands after the command's name, with no braces about what is needed."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def sections(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """What to write and what it means, by heading; options that have none come last."""
    found: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    rest: list[tuple[str, str]] = []
    for each in command.get_params(ctx):
        record = each.get_help_record(ctx)
        if record is None:
            continue
        if each.param_type_name == "argument":
            found["Arguments"].append((record[0].partition(" ")[0], record[1]))
        elif panel := getattr(each, "rich_help_panel", None):
            found.setdefault(panel, []).append(record)
        else:
            rest.append(record)
    found["Others" if len(found) > 1 else "Options"] = rest
    return {heading: records for heading, records in found.items() if records}
