"""This version against another one: the same calls, in turns, in a process of each.

``KSUPPORT_OTHER=/path/to/python python -m benchmarks versions``, where that Python imports the
other version, for example one of an environment beside another checkout (``git worktree add``).
KSUPPORT_ROWS, a regular expression, chooses some rows.  Times are those of the CPU, of one thread,
after two calls that are not counted, in which numba compiles; the ratio is the median of those of
the pairs.  Rows whose two versions find something else say so.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .measure import Row, at_most, once, summary

PAIRS = 7
SLOWER = at_most(1.05)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Paired(Row):
    """Times taken in turns."""

    paired: float = 1.0

    @property
    def ratio(self) -> float:
        """The median of those of the pairs, which is judged."""
        return self.paired


class Version:
    """A process that answers with what rows take, see `versions_child`."""

    def __init__(self, python: str, folder: str) -> None:
        env = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            [python, str(Path(__file__).with_name("versions_child.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=folder,
        )  # fmt: skip

    def __call__(self, row: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{row}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a version ended at {row!r}; what it said is above")
        return dict(json.loads(answer))

    def names(self) -> dict[str, list[str]]:
        return self("rows")

    def end(self) -> None:
        self.process.communicate()


def timed(this: Version, other: Version, name: str) -> Row:
    ours, theirs = this(name)["found"], other(name)["found"]
    same = np.allclose(ours, theirs, rtol=1e-3)
    pairs = []
    for turn in range(PAIRS):
        first, second = (this, other) if turn % 2 else (other, this)
        times = {each: each(name)["seconds"] for each in (first, second)}
        pairs.append((times[this], times[other]))
    label = name if same else f"{name} (other results: {ours}, {theirs})"
    paired = statistics.median(a / b for a, b in pairs)
    a, b = zip(*pairs, strict=True)
    return Paired(label, summary(a), summary(b), SLOWER, paired=paired)


def counted(this: Version, other: Version, name: str) -> Row:
    ours, theirs = this(name)["count"], other(name)["count"]
    return Row(name, once(ours), once(theirs), SLOWER, unit="")


def rows(this: Version, other: Version) -> Iterator[Row]:
    chosen = re.compile(os.environ.get("KSUPPORT_ROWS", ""))
    for kind, names in this.names().items():
        for name in filter(chosen.search, names):
            row = (timed if kind == "timed" else counted)(this, other, name)
            print("  ".join(row.cells()), flush=True)
            yield row


def main() -> list[Row]:
    """All rows."""
    python = os.environ.get("KSUPPORT_OTHER")
    if not python:
        print("skipped: KSUPPORT_OTHER names no Python that imports another version")
        return []
    with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as folder:
        this, other = Version(sys.executable, folder), Version(os.path.abspath(python), folder)
        try:
            return list(rows(this, other))
        finally:
            this.end()
            other.end()
