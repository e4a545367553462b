"""Files that are there whole or not at all."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from .experiment import Row


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, in the same folder, that becomes ``path`` once written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    # The suffix stays last, as it tells matplotlib the format.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_leftovers(path: Path) -> None:
    """Files that were to become ``path`` when the process that wrote them was killed."""
    pattern = re.compile(rf"\.{re.escape(path.stem)}\.(\d+){re.escape(path.suffix)}")
    for other in path.parent.iterdir():
        match = pattern.fullmatch(other.name)
        if match and not _running(int(match[1])):
            with suppress(OSError):  # on Windows, a file that someone still writes to
                other.unlink()


def _running(pid: int) -> bool:
    """Whether there is such a process here; on Windows, where asking would end it, unknown: no."""
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as error:
        return isinstance(error, PermissionError)  # it is someone else's
    return True


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows under the columns of all of them, in order of first appearance."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_published(name: str) -> list[Row]:
    """The rows of ``reference/<name>.csv``; what looks like a number is one."""
    text = (files(__package__) / "reference" / f"{name}.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [{k: _number(v) for k, v in row.items()} for row in csv.DictReader(lines)]


def _number(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
