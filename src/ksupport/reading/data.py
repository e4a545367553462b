"""What a data file holds once it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
from .covariates import Coding
from .duplicates import Duplicates
from .size import Budget, of_table

Kind = Literal["numbers", "classes", "survival"]


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
    duplicates : Duplicates
        What was done about features that share a name.
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
    duplicates: Duplicates = field(default_factory=Duplicates)

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
    size = np.asarray(sizes, np.float64)
    if data.kind == "numbers" and data.y is not None:
        size = np.append(size, np.abs(data.y).max())
    bad = np.flatnonzero((size != 0) & ~((size > limits.SMALLEST) & (size < limits.LARGEST)))
    if bad.size:
        at = int(bad[0])
        names = data.feature_names
        name = f"column {shown(names[at])}" if at < len(names) else "the target"
        raise InputError(
            f"{title(data.path)}: {name} has {size[at]:.3g} for its largest number in size, whose "
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
