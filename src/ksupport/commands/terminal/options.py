"""Options that commands share, whatever they do."""

from __future__ import annotations

from typing import Annotated

from .help import of_result, of_way

Seed = Annotated[
    int,
    of_way(metavar="NUMBER", help="Seed of all that is drawn at random.", min=0, max=2**32 - 1),
]
Json = Annotated[bool, of_result("--json", help="Print JSON instead of words.")]
Standardize = Annotated[bool, of_way(help="Scale the columns to unit variance while fitting.")]
