"""The files that a command writes: refused before the work, or written whole after it."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from ..._common.errors import InputError
from ..._common.files import check_writable, replacing
from .errors import CommandError


def check_outputs(inputs: Mapping[str, Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs that are an input or one another, or that cannot be written.

    Both go by what the user calls them: ``DATA``, ``--output``.
    """
    written = {name: path for name, path in outputs.items() if path is not None}
    for first, second in combinations([*inputs.items(), *written.items()], 2):
        if second[0] in written and _same(first[1], second[1]):
            raise InputError(
                f"{second[0]} {second[1]} is the same file as {first[0]} {first[1]}, and would "
                "replace it; give it another name"
            )
    for path in written.values():
        try:
            check_writable(path)
        except OSError as error:
            raise _unwritable(path, error) from error


def _same(a: Path, b: Path) -> bool:
    """Whether two names lead to one file, through links too; a device may be named twice."""
    try:
        return os.path.samefile(a, b) and a.is_file()
    except OSError:  # one of them is not there yet
        real = [os.path.normcase(os.path.realpath(each)) for each in (a, b)]
        return real[0] == real[1]


def as_json(value: Any) -> str:
    """Plain JSON, characters outside ASCII as escapes."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def as_csv(rows: Iterable[Sequence[Any]]) -> str:
    """Rows of a table as CSV."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def write_text(path: Path, text: str) -> None:
    """Write a file; what goes wrong is told in words."""
    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> CommandError:
    return CommandError(f"{path} cannot be written: {error.strerror or error}")
