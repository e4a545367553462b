"""What is wrong with a file, told in one answer with the options that mend it.

Users spell an option ``--missing impute`` in a shell and ``missing='impute'`` in Python.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from .._common.errors import InputError

Setting = tuple[str, str | None]  # an option and its value; None if it takes none
Spelling = Callable[[str, str | None], str]  # what an option with this value is called
SWITCHES = {  # options without a value
    "regression": "response='numbers'",
    "classification": "response='classes'",
    "transpose": "transpose=True",
}
LISTS = ("ignore", "adjust-for", "keep", "na")


def in_shell(name: str, value: str | None = None) -> str:
    return f"--{name}" if value is None else f"--{name} {value}"


def in_python(name: str, value: str | None = None) -> str:
    """A parameter of `ksupport.read`."""
    if name in SWITCHES:
        return SWITCHES[name]
    parameter = name.replace("-", "_")
    if value is None:
        return parameter
    return f"{parameter}=[{value!r}]" if name in LISTS else f"{parameter}={value!r}"


_spelling: ContextVar[Spelling] = ContextVar("spelling", default=in_shell)


@contextmanager
def spelling(spell: Spelling) -> Iterator[None]:
    """Messages name options as this function does."""
    token = _spelling.set(spell)
    try:
        yield
    finally:
        _spelling.reset(token)


def option(name: str, value: str | None = None) -> str:
    """An option, perhaps with its value, as a user would write it.

    >>> option("adjust-for", "age")
    '--adjust-for age'
    >>> with spelling(in_python):
    ...     option("adjust-for", "age"), option("missing", "impute"), option("transpose")
    ("adjust_for=['age']", "missing='impute'", 'transpose=True')
    """
    return _spelling.get()(name, value)


def spelled(settings: Iterable[Setting]) -> str:
    """Several options with their values, to be copied; an empty value stands for none.

    >>> spelled([("ignore", "my age"), ("na", "n.d."), ("na", "<1"), ("thousands", "")])
    "--ignore 'my age' --na n.d. --na '<1' without --thousands"
    >>> with spelling(in_python):
    ...     spelled([("ignore", "age"), ("na", "n.d."), ("na", "<1")])
    "ignore=['age'] na=['n.d.', '<1']"
    """
    settings = list(settings)
    if _spelling.get() is in_python:
        return _as_parameters(settings)
    return " ".join(
        f"without {option(name)}"
        if value == ""
        else option(name, None if value is None else shlex.quote(value))
        for name, value in settings
    )


def _as_parameters(settings: list[Setting]) -> str:
    """Parameters, each once: values of a list together."""
    lists: dict[str, list[str]] = {}
    for name, value in settings:
        if name in LISTS and value is not None:
            lists.setdefault(name, []).append(value)
    words = {
        name: f"{option(name)}={lists[name]!r}" if name in lists
        else f"without {option(name)}" if value == "" else option(name, value)
        for name, value in settings
    }  # fmt: skip
    return " ".join(words.values())


class Problem(InputError):
    """One thing that is wrong with a file, where it is, and how options mend it.

    Each remedy is one way, some options with their values; the first is recommended.  Columns are
    named as in the file, and the row is the first one that it is about, from 0.
    """

    def __init__(
        self,
        words: str,
        *remedies: Sequence[Setting],
        columns: Sequence[str] = (),
        row: int | None = None,
    ) -> None:
        super().__init__(words)
        self.remedies = remedies
        self.columns = tuple(columns)
        self.row = row


class SeveralProblems(InputError):
    """Several of them, numbered, and below them the options that mend them."""

    def __init__(self, name: str, problems: Sequence[InputError]) -> None:
        self.problems = tuple(problems)
        lines = [f"{at}. {each}" for at, each in enumerate(self.problems, 1)]
        first_remedies = [
            each.remedies[0] for each in problems if isinstance(each, Problem) and each.remedies
        ]
        if first_remedies:
            settings = dict.fromkeys(setting for remedy in first_remedies for setting in remedy)
            lines.append(f"To mend what options can mend: {spelled(settings)}")
        super().__init__("\n".join([f"{name} has {len(self.problems)} problems:", *lines]))


class Problems:
    """Collects problems while a file is read as far as possible."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: dict[str, InputError] = {}

    def add(self, problem: InputError) -> None:
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
