"""What the shell offers at a press of the tab key."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Complete = Callable[[str], list[str]]


def among(names: Callable[[], Iterable[str]]) -> Complete:
    """Completes one of the names, which are looked up when they are wanted.

    >>> among(lambda: ["lasso", "omp"])("l")
    ['lasso']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def some_of(names: Callable[[], Iterable[str]]) -> Complete:
    """Completes the last of several names with commas between; each is offered once.

    >>> some_of(lambda: ["lasso", "omp"])("lasso,")
    ['lasso,omp']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        return [
            f"{before}{comma}{name}"
            for name in names()
            if name.startswith(last) and name not in given
        ]

    return complete
