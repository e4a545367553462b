"""Tables of results: grouped, written to disk, and read from the published ones."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .._common.files import replacing
from .experiment import Row


def grouped(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of each combination of values of `keys`, in order of first appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def where(rows: Iterable[Row], **values: Any) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def distinct(rows: Iterable[Row], key: str) -> list[Any]:
    """The values of a column, in order of first appearance."""
    return list(dict.fromkeys(row[key] for row in rows))


def spread(name: str, rows: Iterable[Row]) -> Row:
    """Mean and standard deviation of a column."""
    values = [row[name] for row in rows]
    return {f"{name}_mean": float(np.mean(values)), f"{name}_std": float(np.std(values))}


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows; the columns are all their keys, in order of first appearance."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_published(name: str, printed: str | None = None) -> list[Row]:
    """The rows of ``reference/<name>.csv``; what looks like a number is one.

    Where a column is of ``printed``, rounded numbers, rows get a ``tolerance``: half a unit of the
    last digit given.
    """
    text = (files(__package__) / "reference" / f"{name}.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    rows = list(csv.DictReader(lines))
    found: list[Row] = [{name: _number(text) for name, text in row.items()} for row in rows]
    if printed is not None:
        for row, given in zip(found, rows, strict=True):
            row["tolerance"] = 0.5 * 10.0 ** -len(given[printed].partition(".")[2])
    return found


def _number(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
