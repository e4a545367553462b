"""What a file holds, whatever its kind: columns that may have a part, and features."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, shown, title
from ..design import Genotypes
from .cells import Marks, is_text, numbers
from .data import check_distinct
from .spelling import option

IN_ROWS = 3  # times as many rows as columns: features may stand in rows


@dataclass(frozen=True)
class Table:
    """The rows of a file.

    ``about`` has a column for each thing that is known of the rows and may have a part; what
    another file tells of them is ``joined``, with the same rows.
    """

    path: Path
    about: Any  # a data frame
    joined: Any = None
    beside: str = ""  # the other file
    ids: NDArray[Any] | None = None  # the names that the file itself gives to its rows
    remarks: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return title(self.path)

    @property
    def names(self) -> list[str]:
        """The columns that may have a part."""
        more = [] if self.joined is None else [str(each) for each in self.joined.columns]
        return [*more, *(str(each) for each in self.about.columns)]

    def column(self, part: str, name: str) -> Any:
        """The column of this name, for the option that names it."""
        for frame in (self.joined, self.about):
            if frame is not None and name in frame.columns:
                return frame[name]
        files = f"{self.name} or {self.beside}" if self.beside else self.name
        raise InputError(f"{option(part)} {shown(name)!r} is not a column of {files}"
                         f"{self._hint(name)}")  # fmt: skip

    def _hint(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.names, n=3)
        if near:
            return f"; did you mean {listed(near)}?"
        return f"; {self.there}"

    @property
    def there(self) -> str:
        """Which columns there are, and what may be amiss if one is not found."""
        known = f"there are {listed(self.names)}" if self.names else "it tells nothing of its rows"
        return f"{known}{self.guess}"

    @property
    def guess(self) -> str:
        """What may be amiss."""
        if self.joined is not None:
            return ""
        return f". If it is in another file, give {option('phenotypes')} FILE"

    def rows(self, keep: NDArray[Any]) -> Self:
        """Only these rows (indices or a mask)."""
        places = np.arange(len(self.about))[keep]
        return replace(
            self,
            about=self.about.iloc[places],
            joined=None if self.joined is None else self.joined.iloc[places],
            ids=None if self.ids is None else self.ids[places],
        )

    def features(self, parts: Collection[str], marks: Marks) -> tuple[list[str], Any]:
        """The names and the matrix of all columns but those that have another part."""
        raise NotImplementedError

    def only(self, names: Collection[str], marks: Marks) -> tuple[list[str], Any]:
        """The same of those of these names that are there."""
        raise NotImplementedError


@dataclass(frozen=True)
class Frame(Table):
    """A table of cells: a column is a feature unless it has another part."""

    def features(self, parts: Collection[str], marks: Marks) -> tuple[list[str], Any]:
        names = [str(name) for name in self.about.columns]
        kept = [name for name in names if name not in parts]
        return kept, numbers(self.about[kept], self.name, marks)

    def only(self, names: Collection[str], marks: Marks) -> tuple[list[str], Any]:
        present = [str(name) for name in self.about.columns]
        kept = [name for name in present if name in set(names)]
        check_distinct(kept, self.path)
        return kept, numbers(self.about[kept], self.name, marks)

    @property
    def guess(self) -> str:
        return f"{super().guess}{self._in_rows}"

    @property
    def _in_rows(self) -> str:
        """Whether the features look as if they stood in rows."""
        n, d = self.about.shape
        first = self.about.iloc[:, 0] if d else None
        if first is None or n < IN_ROWS * d or not is_text(first, Marks()):
            return ""
        if first.nunique() < n:
            return ""
        return (
            f". The first column holds {n} different names, and there are {d - 1} others: if "
            f"these are features in rows, give {option('transpose')}"
        )


@dataclass(frozen=True)
class Matrix(Table):
    """A matrix of features, and what is known of its rows beside it."""

    feature_names: tuple[str, ...] = ()
    X: Any = None

    def rows(self, keep: NDArray[Any]) -> Self:
        narrowed = super().rows(keep)
        return replace(narrowed, X=self.X[np.arange(len(self.about))[keep]])

    def features(self, parts: Collection[str], marks: Marks) -> tuple[list[str], Any]:
        if not set(parts) & set(self.feature_names):
            return list(self.feature_names), self.X
        kept = [j for j, name in enumerate(self.feature_names) if name not in parts]
        return self._at(kept)

    def only(self, names: Collection[str], marks: Marks) -> tuple[list[str], Any]:
        wanted = set(names)
        return self._at([j for j, name in enumerate(self.feature_names) if name in wanted])

    def _at(self, places: list[int]) -> tuple[list[str], Any]:
        names = [self.feature_names[j] for j in places]
        return names, self.X.select(places) if isinstance(self.X, Genotypes) else self.X[:, places]
