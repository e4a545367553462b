"""What is asked of a data file, and what it holds once it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import limits
from .._common.errors import InputError
from .._common.names import listed, shown, title
from ..design import Floats
from .cells import Marks
from .size import Budget

Missing = Literal["refuse", "drop-rows", "drop-columns"]


@dataclass(frozen=True)
class Columns:
    """Which columns are what; those of ``ignored`` are left out."""

    target: str | None = None
    groups: str | None = None
    ignored: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse a column that is given two parts, or the same one twice."""
        given = [("--target", self.target), ("--groups", self.groups)]
        given += [("--ignore", name) for name in self.ignored]
        seen: dict[str, str] = {}
        for option, name in given:
            if name is None:
                continue
            if name in seen:
                raise InputError(
                    f"{seen[name]} and {option} both name the column {shown(name)!r}; a column "
                    "has one part only: leave out one of the two"
                )
            seen[name] = option


@dataclass(frozen=True)
class Reading:
    """How to read a file."""

    separator: str | None
    marks: Marks
    budget: Budget
    missing: Missing


@dataclass(frozen=True)
class Data:
    """What a file holds, checked."""

    path: Path
    names: tuple[str, ...]  # of the columns of X
    X: Any  # float64, dense or CSR
    y: Floats | None
    groups: NDArray[Any] | None = None
    remarks: list[str] = field(default_factory=list)
    sha256: str = ""  # of the file

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return int(n), int(d)


def check_squares(data: Data) -> None:
    """Refuse numbers so large or so small that their squares are lost."""
    sizes = np.ravel(dense(abs(data.X).max(axis=0)))
    columns = dict(zip((f"column {shown(name)}" for name in data.names), sizes, strict=True))
    if data.y is not None:
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


def check_distinct(names: Sequence[str], path: Path) -> None:
    """Refuse columns that share a name: coefficients could not be told apart."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{title(path)}: {len(twice)} column name(s) occur more than once: {listed(twice)}. "
            "Rename the columns"
        )


def dense(X: Any) -> NDArray[Any]:
    """A matrix or a block of one, sparse or not, as an array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)
