"""Parameters and data are refused before they are used, and an estimator changes as a whole."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast, dataclass_transform

import numpy as np

from .._common.checks import check_switch
from ..algorithms import known_method
from .docstrings import Docstring, complete

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """A ``fit`` that changes the estimator only once it is done.

    A twin is fitted, and the estimator takes its attributes in one assignment at the end.  So a fit
    that fails, or is interrupted at any point, leaves the estimator as it was.
    """

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_kinds(self)
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        fit(twin, *args, **kwargs)
        self.__dict__ = dict(vars(twin))
        return self

    return cast("Fit", fit_or_restore)


SWITCHES = ("fit_intercept", "standardize", "warm_start")
NUMBERS = ("alpha", "sigma", "tau", "eta", "kappa", "tie", "L")  # or None, or these words
WORDS = {"alpha": "auto", "L": "backtracking"}


def _no_number(name: str, value: Any) -> bool:
    """Whether this is neither a number, nor several, nor the word that stands for one."""
    if isinstance(value, str):
        return value != WORDS.get(name)
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and not value)


def check_kinds(estimator: Any) -> None:
    """Refuse parameters of another type, before they are compared or counted with."""
    for name, value in vars(estimator).items():
        if name in SWITCHES:
            modes = getattr(estimator, "_standardize_modes", ()) if name == "standardize" else ()
            if not isinstance(value, str | None) or not modes:
                check_switch(name, value)
            elif value not in modes:
                raise ValueError(f"{name} must be True, False or one of {modes}, got {value!r}")
        elif name in NUMBERS and _no_number(name, value):
            auto = name == "alpha" and getattr(estimator, "_alpha_may_be_auto", False)
            allowed = "'auto' or a number between 0 and 1" if auto else "a number"
            raise ValueError(f"{name} must be {allowed}, got {value!r}")
        elif name == "grid" and not isinstance(value, Mapping | None):
            raise ValueError(
                f"grid must be a dict of lists of values, by names of parameters, got {value!r}"
            )
        elif name == "scoring" and not (value is None or callable(value) or isinstance(value, str)):
            raise ValueError(f"scoring must be a name, a function or None, got {value!r}")


@contextmanager
def naming_incomplete() -> Iterator[None]:
    """Where X has missing entries, name the X that may have some; scikit-learn names its own."""
    try:
        yield
    except ValueError as error:
        first = str(error).partition("\n")[0]
        if not first.startswith("Input X contains NaN"):
            raise
        raise ValueError(
            f"{first} Give ksupport.design.Incomplete(X) instead of X: missing entries are then "
            "filled in with the means of their columns, within folds with those of the training "
            "rows; or impute or remove them"
        ) from None


def outline(X: Any) -> Any:
    """An array of the shape and type of X that takes no memory.

    It stands for an X whose entries are checked by the first pass over them.
    """
    return np.broadcast_to(np.zeros((), X.dtype), X.shape)


Kind = TypeVar("Kind")


@dataclass_transform(eq_default=False)
def with_parameters(kind: type[Kind]) -> type[Kind]:
    """Give a class a constructor that takes its annotated attributes and keeps them as they are.

    As scikit-learn asks of constructors.  It is that of a `dataclass`, but that keywords stand in
    the order of the classes that declare them, the most derived first.  The docstring also gets
    the parameters and attributes that base classes and the method describe.
    """
    described = [base for base in kind.__mro__ if base.__module__.startswith("ksupport")]
    if name := getattr(kind, "_method_name", None):
        described.append(known_method(name))
    docs = [Docstring.of(each) for each in described]
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
    if docs[0].text:  # there is none with python -OO
        kind.__doc__ = complete(docs, {each.name: each.default for each in order[1:]})
    return kind
