"""Docstrings of estimators: what a base class says of a parameter or attribute is said once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

HEADING = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)

Entries = dict[str, str]  # by name; of several names, one entry stands at each


class Docstring(NamedTuple):
    """A docstring of numpydoc as the class gives it."""

    text: str  # before the first section
    parameters: Entries
    attributes: Entries
    others: str  # the sections after those two

    @classmethod
    @cache  # as it was given, once it has been completed
    def of(cls, kind: type) -> Docstring:
        """That of a class itself, without those of its bases."""
        text, *parts = HEADING.split(inspect.cleandoc(vars(kind).get("__doc__") or ""))
        sections = dict(zip(parts[::2], parts[1::2], strict=True))
        parameters, attributes = (
            _entries(sections.pop(name, "")) for name in ("Parameters", "Attributes")
        )
        others = [_section(name, [content]) for name, content in sections.items()]
        return cls(text.rstrip(), parameters, attributes, "\n".join(others))


def _entries(section: str) -> Entries:
    entries = [entry.rstrip() for entry in ENTRY.split(section) if entry.strip()]
    return {
        name: entry
        for entry in entries
        for name in entry.partition("\n")[0].partition(" : ")[0].rstrip(",").split(", ")
    }


def _section(name: str, entries: Iterable[str]) -> str:
    lines = [name, "-" * len(name), *dict.fromkeys(entry.rstrip() for entry in entries)]
    return "\n".join(lines) + "\n"


def _with_default(entry: str, default: Any) -> str:
    """The entry of a parameter, with its default if that is not said."""
    head, *description = entry.split("\n")
    if " : " in head and not re.search("default|optional", head):
        head += f", default={default!r}"
    return "\n".join([head, *description])


def complete(docs: list[Docstring], parameters: Mapping[str, Any]) -> str:
    """The docstring of a class, given its own and those of its bases, the nearest first.

    Parameters, which have these defaults, and attributes are described as in the nearest class
    that describes them.
    """
    known: Entries = {}
    attributes: Entries = {}
    for doc in reversed(docs):
        known |= doc.parameters
        attributes |= doc.attributes
    sections = {
        "Parameters": [_with_default(known[x], parameters[x]) for x in parameters if x in known],
        "Attributes": list(attributes.values()),
    }
    told = [_section(name, entries) for name, entries in sections.items() if entries]
    return "\n".join([docs[0].text, "", *told, docs[0].others])
