"""What is asked of a data file, and what it holds once it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import limits
from .._common.errors import InputError
from .._common.names import listed, shown, title
from ..design import Genotypes, Incomplete, Ints
from .cells import Marks
from .covariates import Coding
from .size import Budget, of_table
from .spelling import option

Missing = Literal["refuse", "drop-rows", "drop-columns", "impute"]
Kind = Literal["numbers", "classes", "survival"]


@dataclass(frozen=True)
class Columns:
    """Which columns are what; those of ``ignored`` are left out, and the rest are features."""

    target: str | None = None
    groups: str | None = None
    ignored: Sequence[str] = ()
    time: str | None = None
    event: str | None = None
    id: str | None = None
    adjust_for: Sequence[str] = ()
    response: Literal["numbers", "classes"] | None = None  # None: the column decides

    def __post_init__(self) -> None:
        """Refuse a column that is given two parts, or the same one twice."""
        seen: dict[str, str] = {}
        for name, column in self.parts:
            if column in seen:
                raise InputError(
                    f"{option(seen[column])} and {option(name)} both name the column "
                    f"{shown(column)!r}; a column has one part only: leave out one of the two"
                )
            seen[column] = name
        self._check_survival()

    def _check_survival(self) -> None:
        if (self.time is None) != (self.event is None):
            given, absent = ("time", "event") if self.event is None else ("event", "time")
            raise InputError(
                f"{option(given)} needs {option(absent)} beside it: survival is told by the time "
                "of each row and by whether the event was seen then (1) or not yet (0)"
            )
        if self.time is not None and (self.target is not None or self.response is not None):
            other = "target" if self.target is not None else "regression or classification"
            raise InputError(
                f"{option('time')} and {option('event')} say what to explain, and so does "
                f"{option(other)}: leave out the one or the other"
            )

    @property
    def parts(self) -> Iterator[tuple[str, str]]:
        """The options that name columns, each with its column."""
        ones = ("target", "time", "event", "groups", "id")
        yield from ((name, getattr(self, name)) for name in ones if getattr(self, name) is not None)
        yield from (("adjust-for", name) for name in self.adjust_for)
        yield from (("ignore", name) for name in self.ignored)

    @property
    def survival(self) -> bool:
        """Whether times until an event are to be explained."""
        return self.time is not None


@dataclass(frozen=True)
class Reading:
    """How to read a file."""

    separator: str | None
    marks: Marks
    budget: Budget
    missing: Missing
    sheet: str | None = None
    transpose: bool = False
    phenotypes: Path | None = None


@dataclass(frozen=True)
class Data:
    """What a file holds, checked: what `ksupport.read` returns.

    Attributes
    ----------
    path : Path
        The file.
    feature_names : tuple of str
        Of the columns of X.
    X : array, CSR matrix, or an array that is read or filled in block by block
        Features, and after them the columns to adjust for, coded as numbers.
    y : array of shape (n,) or None
        Numbers; or the classes, as text; or, for survival, records of ``event`` and ``time``.
    groups, ids : array of shape (n,) or None
        Labels of groups of rows, and names of rows.
    remarks : list of str
        What was assumed, left out or filled in.
    sha256 : str
        Of the file.
    kind : "numbers", "classes", "survival" or None
        What y is.
    codings : tuple of Coding
        How the columns to adjust for are coded.
    """

    path: Path
    feature_names: tuple[str, ...]
    X: Any
    y: Any
    groups: NDArray[Any] | None = None
    remarks: list[str] = field(default_factory=list)
    sha256: str = ""
    kind: Kind | None = "numbers"
    ids: NDArray[Any] | None = None
    codings: tuple[Coding, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return int(n), int(d)

    @property
    def n_features(self) -> int:
        """How many columns of X there are to choose from."""
        return self.shape[1] - len(self.covariates)

    @property
    def covariates(self) -> tuple[str, ...]:
        """The names of the columns to adjust for, which are the last of X."""
        return tuple(name for coding in self.codings for name in coding.names)

    @property
    def unpenalized(self) -> Ints:
        """Which columns of X are to adjust for: the parameter ``unpenalized`` of estimators."""
        d = self.shape[1]
        return np.arange(d - len(self.covariates), d)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in order; none where y is not of classes."""
        return tuple(map(str, np.unique(self.y))) if self.kind == "classes" else ()

    def __repr__(self) -> str:
        n, d = self.shape[0], self.n_features
        what = "no response" if self.kind is None else f"response: {self.kind}"
        beside = f", {len(self.covariates)} to adjust for" if self.codings else ""
        return f"Data({title(self.path)}: {n} rows, {d} features{beside}; {what})"


def in_memory(data: Data, budget: Budget) -> Data:
    """The same with an X that every method takes: an array or a sparse matrix, filled in."""
    if not isinstance(data.X, Genotypes | Incomplete):
        return data
    budget.check(f"{title(data.path)} in memory", of_table(*data.shape))
    return replace(data, X=np.asarray(data.X))


def check_squares(data: Data) -> None:
    """Refuse numbers so large or so small that their squares are lost."""
    if isinstance(data.X, Genotypes):  # of 0, 1 and 2
        return
    values = data.X.values if isinstance(data.X, Incomplete) else data.X
    sizes = np.ravel(dense(abs(values).max(axis=0)))
    if isinstance(data.X, Incomplete):
        sizes = np.nanmax(np.abs(values), axis=0)
    names = (f"column {shown(name)}" for name in data.feature_names)
    columns = dict(zip(names, sizes, strict=True))
    if data.kind == "numbers" and data.y is not None:
        columns["the target"] = np.abs(data.y).max()
    for name, size in columns.items():
        if size and not limits.SMALLEST < size < limits.LARGEST:
            raise InputError(
                f"{title(data.path)}: {name} has {size:.3g} for its largest number in size, whose "
                "square is lost; rescale it to lie between "
                f"{limits.SMALLEST:g} and {limits.LARGEST:g}"
            )


def check_shape(data: Data) -> None:
    n, d = data.X.shape
    if n == 0:
        left = " left, as none has a target" if data.remarks else ""
        raise InputError(f"{title(data.path)} has column names but no rows{left}")
    if d == 0:
        raise InputError(f"{title(data.path)} has no columns left to learn from")


def check_distinct(names: Sequence[str], path: Path, what: str = "column") -> None:
    """Refuse columns that share a name: coefficients could not be told apart."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{title(path)}: {len(twice)} {what} name(s) occur more than once: {listed(twice)}. "
            f"Rename the {what}s"
        )


def dense(X: Any) -> NDArray[Any]:
    """A matrix or a block of one, sparse or not, as an array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)
