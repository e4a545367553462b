"""Options that commands share, whatever they do."""

from __future__ import annotations

from typing import Annotated

import typer

Seed = Annotated[
    int, typer.Option(help="Seed of all that is drawn at random.", min=0, max=2**32 - 1)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
Standardize = Annotated[
    bool, typer.Option(help="Scale the columns to unit variance while fitting.")
]
