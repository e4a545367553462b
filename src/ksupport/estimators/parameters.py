"""Constructors of estimators, made of the parameters that they and their bases declare."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(eq_default=False)
def with_parameters(kind: type[Kind]) -> type[Kind]:
    """Give a class a constructor that takes its annotated attributes and keeps them as they are.

    As scikit-learn asks of constructors.  It is that of a `dataclass`, but that keywords stand in
    the order of the classes that declare them, the most derived first.
    """
    kind = dataclass(eq=False, repr=False, match_args=False)(kind)
    declared = [vars(base).get("__annotations__", {}) for base in kind.__mro__]
    ours = ["__dataclass_fields__" in vars(base) for base in kind.__mro__]
    place = {name: at for at, names in enumerate(declared) if ours[at] for name in names}
    constructor: Any = vars(kind)["__init__"]
    given = inspect.signature(constructor)
    order = sorted(
        given.parameters.values(),
        key=lambda each: (each.kind, place[each.name] if each.kind == each.KEYWORD_ONLY else 0),
    )
    constructor.__signature__ = given.replace(parameters=order)
    return kind
