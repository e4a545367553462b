"""What a data file holds once it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import limits
from .._common.checks import dense
from .._common.errors import InputError
from .._common.names import listed, shown, title
from ..design import Floats, Genotypes, Incomplete, Ints
from .cells import Marks, is_text, labels
from .duplicates import Duplicates
from .not_numbers import numbers
from .problems import option
from .size import Budget, of_table

Kind = Literal["numbers", "classes", "survival"]
MOST_LEVELS = 30  # different texts in a column that is coded


@dataclass(frozen=True)
class Coding:
    """How a column is coded as numbers; new rows are coded in the same way."""

    name: str
    levels: tuple[str, ...] = ()  # of a column of text; the first is what others are compared to

    @classmethod
    def of(cls, column: Any, marks: Marks) -> Coding:
        name = str(column.name)
        if not is_text(column, marks):
            return cls(name)
        found = labels(column)
        levels = sorted({each for each in found if each is not None})
        present = sum(each is not None for each in found)
        if len(levels) > min(MOST_LEVELS, max(present // 2, 2)):
            raise InputError(
                f"{option('adjust-for', shown(name))}: the column holds {len(levels)} different "
                f"texts in {present} rows, such as {listed(levels, 3)}, too many to adjust for. If "
                f"they name the rows, give {option('id', shown(name))}; else join some of them"
            )
        if len(levels) < 2:
            raise InputError(
                f"{option('adjust-for', shown(name))}: every row holds {listed(levels)}, so there "
                "is nothing to adjust for; leave it out"
            )
        return cls(name, tuple(levels))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={level}" for level in self.levels[1:]) or (self.name,)

    def code(self, column: Any, file: str, marks: Marks) -> Floats:
        """The columns of numbers of a column of a data frame; missing where its cell is."""
        if not self.levels:
            return numbers(column.to_frame(), file, marks)
        found = labels(column)
        unknown = sorted({str(each) for each in found if each not in (None, *self.levels)})
        if unknown:
            raise InputError(
                f"{file}: column {shown(self.name)} holds {listed(unknown)}, which the model has "
                f"not seen: it knows {listed(self.levels)}"
            )
        coded = np.array([[each == level for level in self.levels[1:]] for each in found], float)
        coded[[each is None for each in found]] = np.nan
        return coded

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "levels": list(self.levels)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Coding:
        return cls(value["name"], tuple(value["levels"]))


@dataclass(frozen=True)
class Data:
    """What a file holds, checked: what `ksupport.read` returns."""

    path: Path
    feature_names: tuple[str, ...]  # of the columns of X
    # Features, and after them the columns to adjust for, coded as numbers: an array, a CSR matrix,
    # or an array that is read or filled in block by block.
    X: Any
    y: Any  # numbers; or classes, as text; or records of ``event`` and ``time``; or None
    groups: NDArray[Any] | None = None  # labels of groups of rows
    remarks: list[str] = field(default_factory=list)  # what was assumed, left out or filled in
    sha256: str = ""  # of the file
    kind: Kind | None = "numbers"  # what y is
    ids: NDArray[Any] | None = None  # names of rows
    codings: tuple[Coding, ...] = ()  # of the columns to adjust for
    duplicates: Duplicates = field(default_factory=Duplicates)  # of names of features

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
    """Data with an X that every method takes: an array or a sparse matrix, filled in."""
    if not isinstance(data.X, Genotypes | Incomplete):
        return data
    budget.check(f"{title(data.path)} in memory", of_table(*data.shape))
    return replace(data, X=np.asarray(data.X))


def check_squares(data: Data) -> None:
    """Refuse numbers so large or so small that their squares are lost."""
    if isinstance(data.X, Genotypes):  # of 0, 1 and 2
        return
    if isinstance(data.X, Incomplete):
        size = np.nanmax(np.abs(data.X.values), axis=0)
    else:
        size = np.ravel(dense(abs(data.X).max(axis=0))).astype(np.float64)
    if data.kind == "numbers" and data.y is not None:
        size = np.append(size, np.abs(data.y).max())
    bad = np.flatnonzero((size != 0) & ~((size > limits.SMALLEST) & (size < limits.LARGEST)))
    if bad.size:
        at = int(bad[0])
        names = data.feature_names
        name = f"column {shown(names[at])}" if at < len(names) else "the target"
        raise InputError(
            f"{title(data.path)}: the largest absolute value of {name} is {size[at]:.3g}, "
            "which cannot be squared in floating point; rescale it to lie between "
            f"{limits.SMALLEST:g} and {limits.LARGEST:g}"
        )


def check_shape(data: Data) -> None:
    n, d = data.X.shape
    if n == 0:
        left = " left, as none has a target" if data.remarks else ""
        raise InputError(f"{title(data.path)} has column names but no rows{left}")
    if d == 0:
        raise InputError(f"{title(data.path)} has no columns left to fit")


def check_distinct(names: Sequence[str], path: Path) -> None:
    """Refuse columns that share a name, because their coefficients could not be distinguished."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{title(path)}: {len(twice)} column name(s) occur more than once: {listed(twice)}. "
            f"Rename the columns"
        )
