"""Data files of every kind as one thing: names, a matrix, a response."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..design import Floats
from ..theory._checks import LARGEST, SMALLEST
from . import formats
from .errors import InputError
from .missing import Missing, without_missing
from .names import listed, shown
from .size import check_memory

MAX_MEMORY = 2.0  # gigabytes

KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".tab": "csv",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".npz": "npz",
    ".svm": "libsvm", ".libsvm": "libsvm", ".svmlight": "libsvm",
}  # fmt: skip
PACKED = (".gz", ".bz2", ".xz")


@dataclass(frozen=True)
class Columns:
    """Which columns are what; those of ``ignored`` are left out."""

    target: str | None = None
    groups: str | None = None
    ignored: Sequence[str] = ()


@dataclass(frozen=True)
class Reading:
    """How to read a file."""

    separator: str | None = None
    decimal: str = "."
    max_memory: float = MAX_MEMORY
    missing: Missing = "refuse"


@dataclass(frozen=True)
class Data:
    """What a file holds, checked."""

    path: Path
    names: tuple[str, ...]  # of the columns of X
    X: Any  # float64, dense or CSR
    y: Floats | None
    groups: NDArray[Any] | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return int(n), int(d)


def kind_of(path: Path) -> str:
    """The kind of a file, by the end of its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last not in KINDS:
        raise InputError(
            f"{path.name}: the name must end in one of {', '.join(KINDS)} (CSV and LIBSVM also "
            "with .gz after it), so that its kind is known"
        )
    return KINDS[last]


def read(path: Path, columns: Columns, reading: Reading, need_target: bool = True) -> Data:
    """Read a file, find the columns, and check that all is numbers."""
    raw = _raw(path, _checked_kind(path, reading), reading, _All(columns, need_target))
    data = Data(path, tuple(raw.names), raw.X, raw.y, raw.groups)
    _check_shape(data)
    check_distinct(data.names, path)
    data = without_missing(data, reading.missing)
    _check_shape(data)
    _check_squares(data)
    return data


def _checked_kind(path: Path, reading: Reading) -> str:
    """The kind of a file that is there and not too large."""
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; give the path of a data file")
    kind = kind_of(path)
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} is empty")
    try:
        check_memory(path, kind, reading.max_memory)
    except (ValueError, OSError, ImportError) as error:
        raise InputError(f"{path.name} cannot be read as {kind}: {_brief(error)}") from error
    return kind


@dataclass(frozen=True)
class _All:
    """Every column of a file, those with a role apart."""

    columns: Columns
    need_target: bool

    def of_npz(self, path: Path) -> formats.Raw:
        target, groups = self.columns.target, self.columns.groups
        return formats.from_npz(path, target, groups, self.need_target)

    def of_frame(self, frame: Any, path: Path) -> formats.Raw:
        return _split(frame, path, self.columns, self.need_target)


@dataclass(frozen=True)
class _Only:
    """Some columns of a file, by name."""

    names: Sequence[str]

    def of_npz(self, path: Path) -> formats.Raw:
        return formats.from_npz(path, None, None, need_target=False)

    def of_frame(self, frame: Any, path: Path) -> formats.Raw:
        present = [str(name) for name in frame.columns]
        frame.columns = present
        wanted = set(self.names)
        kept = [name for name in present if name in wanted]
        check_distinct(kept, path)
        return formats.Raw(kept, formats.numbers(frame[kept], path), None)


def _raw(path: Path, kind: str, reading: Reading, part: _All | _Only) -> formats.Raw:
    """What a file holds; what goes wrong is told in words."""
    try:
        if kind == "npz":
            return part.of_npz(path)
        if kind == "libsvm":
            return formats.from_libsvm(path)
        return part.of_frame(_frame(path, kind, reading), path)
    except (ValueError, OSError, EOFError, KeyError, ImportError) as error:
        raise InputError(f"{path.name} cannot be read as {kind}: {_brief(error)}") from error


def _brief(error: Exception) -> str:
    return shown(str(error).strip() or type(error).__name__, 300)


def _frame(path: Path, kind: str, reading: Reading) -> Any:
    if kind == "csv":
        return formats.from_csv(path, reading.separator, reading.decimal)
    return formats.from_parquet(path) if kind == "parquet" else formats.from_arrow(path)


def _check_squares(data: Data) -> None:
    """Refuse numbers so large or so small that their squares are lost."""
    largest = abs(data.X).max(axis=0)
    sizes = np.ravel(largest.toarray() if sp.issparse(largest) else largest)
    columns = dict(zip((f"column {shown(name)}" for name in data.names), sizes, strict=True))
    if data.y is not None:
        columns["the target"] = np.abs(data.y).max()
    for name, size in columns.items():
        if size and not SMALLEST < size < LARGEST:
            raise InputError(
                f"{data.path.name}: {name} has {size:.3g} for its largest number in size, whose "
                f"square is lost; rescale it to lie between {SMALLEST:g} and {LARGEST:g}"
            )


def _check_shape(data: Data) -> None:
    n, d = data.X.shape
    if n == 0:
        left = " left, as none has a target" if data.remarks else ""
        raise InputError(f"{data.path.name} has column names but no rows{left}")
    if d == 0:
        raise InputError(f"{data.path.name} has no columns left to learn from")


def check_distinct(names: Sequence[str], path: Path) -> None:
    """Refuse columns that share a name: coefficients could not be told apart."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{path.name}: {len(twice)} column name(s) occur more than once: {listed(twice)}. "
            "Rename the columns"
        )


def _split(frame: Any, path: Path, columns: Columns, need_target: bool) -> formats.Raw:
    """Response, groups and the rest of a data frame, as numbers."""
    names = [str(name) for name in frame.columns]
    check_distinct(names, path)
    frame.columns = names
    if columns.target is None and need_target:
        raise InputError(f"--target must name the column to explain; there are {listed(names)}")
    for option, name in (("--target", columns.target), ("--groups", columns.groups)):
        if name is not None:
            _check_known(option, name, names, path)
    for name in columns.ignored:
        _check_known("--ignore", name, names, path)
    special = {columns.target, columns.groups, *columns.ignored}
    kept = [name for name in names if name not in special]
    y = None
    if columns.target is not None:
        y = formats.numbers(frame[[columns.target]], path)[:, 0]
    groups = None if columns.groups is None else frame[columns.groups].astype(str).to_numpy(object)
    return formats.Raw(kept, formats.numbers(frame[kept], path), y, groups)


def _check_known(option: str, name: str, names: list[str], path: Path) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=3)
    hint = f"; did you mean {listed(near)}?" if near else f"; there are {listed(names)}"
    raise InputError(f"{option} {shown(name)!r} is not a column of {path.name}{hint}")


def read_columns(path: Path, names: Sequence[str], reading: Reading) -> Floats:
    """The columns of these names, in this order; others may hold anything.

    In a LIBSVM file a feature that is always 0 does not appear: absent columns are zeros there.
    """
    kind = _checked_kind(path, reading)
    raw = _raw(path, kind, reading, _Only(names))
    place = {name: j for j, name in enumerate(raw.names)}
    absent = [name for name in names if name not in place]
    if absent and kind != "libsvm":
        raise InputError(
            f"{path.name} lacks {len(absent)} of the {len(names)} columns of the model: "
            f"{listed(absent)}"
        )
    out = np.zeros((raw.X.shape[0], len(names)))
    for at, name in enumerate(names):
        if name in place:
            column = raw.X[:, [place[name]]]
            out[:, at] = (column.toarray() if sp.issparse(column) else column)[:, 0]
    data = Data(path, tuple(names), out, None)
    if not names:
        return out
    return np.asarray(without_missing(data, "refuse").X)
