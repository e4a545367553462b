"""The table of a file of any kind: columns that may have a role, and features."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, shown, title
from ..design import Genotypes
from .cells import Marks, converted, is_text, labels, numeric
from .data import check_distinct
from .duplicates import Duplicates
from .not_numbers import numbers, problems_of, text_columns
from .problems import Problem, Problems, option

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
    other_sheets: Callable[[str], list[str]] | None = None  # of the file, which have a column

    sheet: str | None = None  # of the file, if one was named

    @property
    def name(self) -> str:
        return title(self.path) + ("" if self.sheet is None else f":{shown(self.sheet)}")

    @property
    def names(self) -> list[str]:
        """The columns that may have a role."""
        more = [] if self.joined is None else [str(each) for each in self.joined.columns]
        return [*more, *(str(each) for each in self.about.columns)]

    def column(self, part: str, name: str) -> Any:
        """The column of this name, for the option that names it."""
        for frame in (self.joined, self.about):
            if frame is None or name not in frame.columns:
                continue
            found = frame[name]
            if found.ndim > 1:
                raise InputError(
                    f"{option(part)} {shown(name)!r} is the name of {found.shape[1]} columns of "
                    f"{self.name}; rename all but one of them"
                )
            return found
        files = f"{self.name} or {self.beside}" if self.beside else self.name
        near = self.near(name)
        sheets = [] if near or self.other_sheets is None else self.other_sheets(name)
        remedies = [[("sheet", sheet)] for sheet in sheets[:1]]
        if any(map(numeric, self.about.dtypes)):  # beside this one, instead of in its place
            remedies = [[("phenotypes", f"{self.path}:{sheet}")] for sheet in sheets[:1]]
        raise Problem(
            f"{option(part)} {shown(name)!r} is not a column of {files}{self._hint(near, sheets)}",
            *remedies,
        )

    def near(self, name: str) -> list[str]:
        """Names of columns that are spelled alike."""
        lower = {each.lower(): each for each in reversed(self.names)}
        alike = difflib.get_close_matches(name.lower(), lower, n=3)
        return [lower[each] for each in alike]

    def _hint(self, near: list[str], sheets: list[str]) -> str:
        if near:
            return f"; did you mean {listed(near)}?"
        if sheets:
            beside = option("phenotypes", shlex.quote(f"{self.path}:{sheets[0]}"))
            return (
                f"; sheet {shown(sheets[0])} has it: give "
                f"{option('sheet', shlex.quote(sheets[0]))} if the features are there, too, else "
                f"{beside}"
            )
        return f"; {self.listing}"

    @property
    def listing(self) -> str:
        known = f"there are {listed(self.names)}" if self.names else "it tells nothing of its rows"
        return f"{known}{self.guess}"

    @property
    def guess(self) -> str:
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

    def features(
        self, parts: Collection[str], marks: Marks, problems: Problems
    ) -> tuple[list[str], Any]:
        """The names and the matrix of the columns without another role."""
        raise NotImplementedError

    def only(
        self, names: Collection[str], marks: Marks, duplicates: Duplicates
    ) -> tuple[list[str], Any]:
        """The names and the matrix of those of these features that are there."""
        wanted, there = set(names), duplicates.rename(self.columns)
        kept = [j for j, name in enumerate(there) if name in wanted]
        found = [there[j] for j in kept]
        return duplicates.merge_again(found, self.values(kept, marks), self.name)

    @property
    def columns(self) -> Sequence[str]:
        raise NotImplementedError

    def values(self, places: list[int], marks: Marks) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Frame(Table):
    """A table of cells: a column is a feature unless it has another role."""

    def features(
        self, parts: Collection[str], marks: Marks, problems: Problems
    ) -> tuple[list[str], Any]:
        names = self.columns
        kept = [j for j, name in enumerate(names) if name not in parts]
        frame = self.about.iloc[:, kept]
        X, wrong = converted(frame, marks)
        if wrong:
            for problem in problems_of(frame, X, wrong, self.name, marks):
                problems.add(problem)
            numeric_ones = np.setdiff1d(
                np.arange(len(kept)), text_columns(frame, X, wrong, marks)
            ).tolist()
            kept, X = [kept[at] for at in numeric_ones], X[:, numeric_ones]
        return [names[j] for j in kept], X

    @property
    def columns(self) -> Sequence[str]:
        return [str(name) for name in self.about.columns]

    def values(self, places: list[int], marks: Marks) -> Any:
        return numbers(self.about.iloc[:, places], self.name, marks)

    @property
    def guess(self) -> str:
        n, d = self.about.shape
        first = self.about.iloc[:, 0] if d else None
        if first is None or n < IN_ROWS * d or first.nunique() < n or not is_text(first, Marks()):
            return super().guess
        return (
            f"{super().guess}. The first column holds {n} different names, and there are {d - 1} "
            f"others: if these are features in rows, give {option('transpose')}"
        )


@dataclass(frozen=True)
class Matrix(Table):
    """A matrix of features, and what is known of its rows beside it."""

    feature_names: tuple[str, ...] = ()
    X: Any = None

    def rows(self, keep: NDArray[Any]) -> Self:
        narrowed = super().rows(keep)
        return replace(narrowed, X=self.X[np.arange(len(self.about))[keep]])

    def features(
        self, parts: Collection[str], marks: Marks, problems: Problems
    ) -> tuple[list[str], Any]:
        if not set(parts) & set(self.feature_names):
            return list(self.feature_names), self.X
        kept = [j for j, name in enumerate(self.feature_names) if name not in parts]
        return [self.feature_names[j] for j in kept], self.values(kept, marks)

    @property
    def columns(self) -> Sequence[str]:
        return self.feature_names

    def values(self, places: list[int], marks: Marks) -> Any:
        return self.X.select(places) if isinstance(self.X, Genotypes) else self.X[:, places]


def transposed(frame: Table) -> Table:
    """Features in columns: the first column names them, and the first row names the samples."""
    import pandas as pd

    about = frame.about
    if about.shape[1] < 2:
        raise InputError(
            f"{option('transpose')}: {frame.name} has {about.shape[1]} column(s), but the first "
            "must name the features and others hold them"
        )
    first, rest = about.iloc[:, 0], about.iloc[:, 1:]
    if not is_text(first, Marks()):  # then nothing was in rows
        raise InputError(
            f"{option('transpose')}: the first column of {frame.name}, {shown(str(first.name))}, "
            f"must name the features, but it holds numbers such as {shown(str(first.iloc[0]))}; "
            f"leave {option('transpose')} out if features are in columns"
        )
    names = [name or "" for name in labels(first)]
    ids = np.array([str(name) for name in rest.columns], object)
    check_distinct(list(ids), frame.path)
    if all(map(numeric, rest.dtypes)):
        X = np.ascontiguousarray(rest.to_numpy(np.float64, na_value=np.nan).T)
        empty = pd.DataFrame(index=range(len(ids)))
        return Matrix(
            frame.path, empty, ids=ids, remarks=frame.remarks, feature_names=tuple(names), X=X
        )
    cells = pd.DataFrame(rest.to_numpy(object).T, columns=names)
    return Frame(frame.path, cells.infer_objects(), ids=ids, remarks=frame.remarks)
