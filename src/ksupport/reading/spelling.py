"""How users spell an option: ``--missing impute`` in a shell, ``missing='impute'`` in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_in_python: ContextVar[bool] = ContextVar("in_python", default=False)
SWITCHES = {  # options without a value
    "regression": "response='numbers'",
    "classification": "response='classes'",
    "transpose": "transpose=True",
}
LISTS = ("ignore", "adjust-for", "keep", "na")


@contextmanager
def as_in_python() -> Iterator[None]:
    """Messages name parameters of `ksupport.read` instead of options."""
    token = _in_python.set(True)
    try:
        yield
    finally:
        _in_python.reset(token)


def option(name: str, value: str | None = None) -> str:
    """An option, perhaps with its value, as a user would write it.

    >>> option("adjust-for", "age")
    '--adjust-for age'
    >>> with as_in_python():
    ...     option("adjust-for", "age"), option("missing", "impute"), option("transpose")
    ("adjust_for=['age']", "missing='impute'", 'transpose=True')
    """
    if not _in_python.get():
        return f"--{name}" if value is None else f"--{name} {value}"
    if name in SWITCHES:
        return SWITCHES[name]
    spelled = name.replace("-", "_")
    if value is None:
        return spelled
    return f"{spelled}=[{value!r}]" if name in LISTS else f"{spelled}={value!r}"
