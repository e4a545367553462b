"""Starting up: the import, the first fit, and the first fit ever."""

from __future__ import annotations

import tempfile

from . import fresh
from .measure import Row, at_most, once, summary

REPEATS = 5
LINE = "ksupport: compiling its numerical core"


def imports() -> list[Row]:
    """Both imports in turn, each in a fresh process."""
    modules = ("ksupport", "sklearn.linear_model")
    rounds = [
        [fresh.seconds(fresh.run("importing", module)[0]) for module in modules]
        for _ in range(REPEATS)
    ]
    ours, sklearn = zip(*rounds, strict=True)
    more = summary([a - b for a, b in rounds])
    return [
        Row("import ksupport, against sklearn.linear_model", summary(ours), summary(sklearn)),
        Row("  what it takes more", more, target=at_most(0.5)),
    ]


def cached(n: int, d: int) -> Row:
    times = [fresh.seconds(fresh.run("first_fit", str(n), str(d))[0]) for _ in range(REPEATS)]
    return Row(f"first fit, {n}x{d}, compiled code cached", summary(times), target=at_most(0.5))


def cold() -> list[Row]:
    """With an empty cache: time, and how many lines tell the user what is going on."""
    with tempfile.TemporaryDirectory(prefix="ksupport-bench-") as folder:
        child, stderr = fresh.run("first_fit", "30", "50", NUMBA_CACHE_DIR=folder)
    lines = [line for line in stderr.splitlines() if line.startswith(LINE)]
    return [
        Row("first fit ever, compiling", once(fresh.seconds(child)), target=at_most(20)),
        Row("  lines about it, beyond one", once(abs(len(lines) - 1)), target=at_most(0), unit=""),
    ]


def main() -> list[Row]:
    """All rows; a first, uncounted fit fills the cache."""
    fresh.run("first_fit", "30", "50")
    return [*imports(), cached(30, 50), cached(100, 1000), *cold()]
