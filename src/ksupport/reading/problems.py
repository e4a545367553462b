"""All that is wrong with a file, told in one answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .._common.errors import InputError
from .spelling import Setting, spelled


class Problem(InputError):
    """One thing that is wrong with a file, where it is, and how options mend it.

    Parameters
    ----------
    words : str
        What is wrong, and what can be done.
    *ways : sequences of (option, value)
        Each is one way to mend it; the first is recommended.  None if no option can.
    columns : sequence of str
        The columns that it is about, by the names in the file.
    row : int, optional
        The first row that it is about, from 0.
    """

    def __init__(
        self,
        words: str,
        *ways: Sequence[Setting],
        columns: Sequence[str] = (),
        row: int | None = None,
    ) -> None:
        super().__init__(words)
        self.ways = ways
        self.columns = tuple(columns)
        self.row = row


class SeveralProblems(InputError):
    """Several of them, numbered, and below them the options that mend them."""

    def __init__(self, name: str, problems: Sequence[InputError]) -> None:
        self.problems = tuple(problems)
        lines = [f"{at}. {each}" for at, each in enumerate(self.problems, 1)]
        first_ways = [each.ways[0] for each in problems if isinstance(each, Problem) and each.ways]
        if first_ways:
            settings = dict.fromkeys(setting for way in first_ways for setting in way)
            lines.append(f"To mend what options can mend: {spelled(settings)}")
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
