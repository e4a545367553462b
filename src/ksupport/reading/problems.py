"""All that is wrong with a file, told in one answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .._common.errors import InputError


class Problem(InputError):
    """One thing that is wrong, with the options that mend it (none if no option can)."""

    def __init__(self, words: str, mend: str = "") -> None:
        super().__init__(words)
        self.mend = mend


class SeveralProblems(InputError):
    """Several of them, numbered, and below them the options that mend them."""

    def __init__(self, name: str, problems: Sequence[InputError]) -> None:
        self.problems = tuple(problems)
        lines = [f"{at}. {each}" for at, each in enumerate(self.problems, 1)]
        mends = dict.fromkeys(mend for each in problems if (mend := getattr(each, "mend", "")))
        if mends:
            lines.append(f"To mend what options can mend: {' '.join(mends)}")
        super().__init__("\n".join([f"{name} has {len(self.problems)} problems:", *lines]))


class Problems:
    """What is found to be wrong while a file is read as far as it can be."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: dict[str, InputError] = {}

    def add(self, problem: InputError) -> None:
        """Remember a problem, or each of several."""
        for each in problem.problems if isinstance(problem, SeveralProblems) else (problem,):
            self._found.setdefault(str(each), each)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Remember what is raised within, and go on."""
        try:
            yield
        except InputError as problem:
            self.add(problem)

    def check(self) -> None:
        """Raise what was found: one problem as it is, several in one answer."""
        found = list(self._found.values())
        if len(found) == 1:
            raise found[0]
        if found:
            raise SeveralProblems(self._name, found)
