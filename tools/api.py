"""The public names: print them with their signatures, or what their docstrings get wrong.

``python tools/api.py > tests/api.txt`` renews the list that ``tests/test_api.py`` compares with;
``python tools/api.py docstrings`` fails if a docstring and a signature differ.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from importlib import import_module
from textwrap import wrap
from types import FunctionType, ModuleType
from typing import Any

# The modules whose `__all__` users read, and names that are met without being imported from there.
MODULES: dict[str, list[str]] = {
    "ksupport": [],
    "ksupport.datasets": [],
    "ksupport.losses": ["Cox", "Huber", "Logistic", "Multinomial", "Poisson", "Squared", "loss_of"],
    "ksupport.metrics": [],
    "ksupport.plotting": [],
    "ksupport.stopping": [],
    "ksupport.theory": [],
    "ksupport.explain.report": [],
    "ksupport.walking": ["History", "Result"],
    "ksupport.choosing.criteria": ["Criterion"],
    "ksupport.fmri": [],
    "ksupport.neighbours.benchopt": [],
    "ksupport.neighbours.hidimstat": [],
    "ksupport.neighbours.modopt": [],
    "ksupport.neighbours.pyproximal": [],
    "ksupport.neighbours.skglm": [],
}
MEMBERS = FunctionType, property, cached_property, staticmethod, classmethod  # no scikit-learn's
FAULTS = {"GL08", "PR01", "PR02", "PR03"}  # no docstring; parameters missing, unknown, in disorder


def public(module: str) -> Iterator[tuple[str, Any]]:
    """Name and object for each public name of a module."""
    there = import_module(module)
    for name in sorted(MODULES[module] or there.__all__):
        thing = getattr(there, name)
        if not isinstance(thing, ModuleType):
            yield f"{module}.{name}", thing


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class has from this package."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("ksupport.")]
    for name in sorted({name for base in ours for name in vars(base) if name[0] != "_"}):
        member = inspect.getattr_static(kind, name)
        if isinstance(member, MEMBERS):
            yield name, member


def is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Exception)


def signature(thing: Any) -> str:
    """Parameters and defaults; types are left to the type checker."""
    if isinstance(thing, property | cached_property) or is_error(thing):
        return ""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    bare = inspect.Parameter.empty
    given = inspect.signature(thing)
    plain = [each.replace(annotation=bare) for each in given.parameters.values()]
    return str(given.replace(parameters=plain, return_annotation=given.empty))


def listing(module: str) -> Iterator[str]:
    """A line for each public name of a module, and for each member of its classes."""
    for name, thing in public(module):
        yield from wrapped(name + (signature(thing) if callable(thing) else ""))
        if inspect.isclass(thing):
            for member, what in members(thing):
                yield from wrapped(f"    .{member}{signature(what)}")


def wrapped(line: str) -> list[str]:
    return wrap(line, 100, subsequent_indent=" " * 8, break_on_hyphens=False)


def documented(module: str) -> Iterator[tuple[str, Any, type | None]]:
    """Name and object of everything that has a docstring, and the class if it is a method."""
    for name, thing in public(module):
        if callable(thing) and not is_error(thing):
            yield name, thing, None
        if inspect.isclass(thing):
            for each, what in members(thing):
                if callable(what):
                    yield f"{name}.{each}", getattr(thing, each), thing


def faults(module: str) -> list[str]:
    """Where a docstring and a signature differ."""
    from numpydoc.docscrape import get_doc_object
    from numpydoc.validate import Validator, validate

    found = []
    for name, thing, owner in documented(module):
        doc = get_doc_object(thing)  # not the name: numpydoc would try to import each of its parts
        errors = [each for each in validate(doc)["errors"] if each[0] in FAULTS]
        if any(code == "PR01" for code, _ in errors) and explained(Validator(doc), owner):
            errors = [each for each in errors if each[0] != "PR01"]
        found += [f"{name}: {code} {words}" for code, words in errors]
    return found


def explained(doc: Any, owner: type | None) -> bool:
    """Whether parameters are told elsewhere: fields as attributes, a method's in its one line."""
    missing = set(doc.signature_parameters) - set(doc.doc_all_parameters)
    if inspect.isclass(doc.obj):
        told = ", ".join(each.name for each in doc.doc["Attributes"])
        return missing <= set(told.split(", "))
    return owner is not None and not doc.doc_parameters


def main(what: str = "names") -> int:
    found: Callable[[str], Iterable[str]] = faults if what == "docstrings" else listing
    lines = [line for module in MODULES for line in found(module)]
    for line in lines:
        print(line)
    return int(found is faults and len(lines) > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
