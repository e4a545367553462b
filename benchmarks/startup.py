"""Starting up: the import, and the first fit of a process against the second."""

from __future__ import annotations

from . import fresh
from .measure import Row, at_most, summary

REPEATS = 5


def imports() -> list[Row]:
    """Both imports in turn, each in a fresh process."""
    modules = ("ksupport.estimators.auto", "sklearn.linear_model")  # ksupport itself is lazy
    rounds = [
        [fresh.seconds(fresh.run("importing", module)[0]) for module in modules]
        for _ in range(REPEATS)
    ]
    ours, sklearn = zip(*rounds, strict=True)
    more = summary([a - b for a, b in rounds])
    return [
        Row("import AutoIRKSN, against sklearn.linear_model", summary(ours), summary(sklearn)),
        Row("  what it takes more", more, target=at_most(0.25)),
    ]


def first(n: int, d: int) -> Row:
    times = [fresh.seconds(fresh.run("first_fit", str(n), str(d))[0]) for _ in range(REPEATS)]
    return Row(f"first fit of a process, {n}x{d}", summary(times), target=at_most(0.5))


def against_second(kind: str) -> Row:
    """What the first fit of a kind takes more than the second, each time in a fresh process."""
    found = [fresh.run("first_and_second", kind)[0] for _ in range(REPEATS)]
    more = summary([each["first"] - each["second"] for each in found])
    return Row(f"first fit of {kind}, beyond the second", more, target=at_most(0.3))


def main() -> list[Row]:
    """All rows."""
    kinds = ("AutoIRKSN", "AutoIRKSNClassifier", "AutoIRKSNSurvival")
    return [*imports(), first(30, 50), first(100, 1000), *map(against_second, kinds)]
