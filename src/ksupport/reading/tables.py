"""Data files of every kind as one thing: names, a matrix, a response."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, shown, title
from .._common.phases import phase
from ..design import Floats
from . import formats
from .cells import Marks, numbers
from .data import Columns, Data, Reading, check_distinct, check_shape, check_squares, dense
from .missing import without_missing
from .source import Source, open_source


def read(path: Path, columns: Columns, reading: Reading, need_target: bool = True) -> Data:
    """Read a file, find the columns, and check that all is numbers."""
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        raw = _raw(source, reading, _All(columns, need_target, reading))
        data = Data(path, tuple(raw.names), raw.X, raw.y, raw.groups, sha256=source.sha256)
        check_shape(data)
        check_distinct(data.names, path)
        data = without_missing(data, reading.missing)
        check_shape(data)
        check_squares(data)
        return data


@dataclass(frozen=True)
class _All:
    """Every column of a file, those with a role apart."""

    columns: Columns
    need_target: bool
    reading: Reading

    def of_arrays(self, source: Source) -> formats.Raw:
        columns = self.columns
        if source.kind == "npz":
            raw = formats.from_npz(
                source, columns.target, columns.groups, self.need_target, self.reading.budget
            )
        elif columns.groups is not None:
            raise InputError(f"--groups {shown(columns.groups)!r}: a LIBSVM file holds no labels")
        else:
            raw = formats.from_libsvm(source, self.reading.budget)
        return _without(raw, columns.ignored, source.path)

    def of_frame(self, frame: Any, path: Path) -> formats.Raw:
        return _split(frame, path, self.columns, self.need_target, self.reading.marks)


@dataclass(frozen=True)
class _Only:
    """Some columns of a file, by name."""

    names: Sequence[str]
    reading: Reading

    def of_arrays(self, source: Source) -> formats.Raw:
        if source.kind == "npz":
            return formats.from_npz(source, None, None, False, self.reading.budget)
        return formats.from_libsvm(source, self.reading.budget)

    def of_frame(self, frame: Any, path: Path) -> formats.Raw:
        present = [str(name) for name in frame.columns]
        frame.columns = present
        wanted = set(self.names)
        kept = [name for name in present if name in wanted]
        check_distinct(kept, path)
        return formats.Raw(kept, numbers(frame[kept], title(path), self.reading.marks), None)


def _raw(source: Source, reading: Reading, part: _All | _Only) -> formats.Raw:
    """What a file holds; what goes wrong is told in words."""
    try:
        if source.kind in ("npz", "libsvm"):
            return part.of_arrays(source)
        return part.of_frame(_frame(source, reading), source.path)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # parsers raise what they please on bytes that make no sense
        raise InputError(
            f"{source.name} cannot be read as {source.kind}: {_brief(error)}. Get or write the "
            "file again"
        ) from error


def _brief(error: Exception) -> str:
    return shown(str(error).strip().rstrip(".") or type(error).__name__, 300)


def _frame(source: Source, reading: Reading) -> Any:
    if source.kind == "csv":
        return formats.from_csv(source, reading.separator, reading.marks, reading.budget)
    reader = formats.from_parquet if source.kind == "parquet" else formats.from_arrow
    return reader(source, reading.budget)


def _without(raw: formats.Raw, ignored: Sequence[str], path: Path) -> formats.Raw:
    for name in ignored:
        _check_known("--ignore", name, raw.names, path)
    if not ignored:
        return raw
    kept = [j for j, name in enumerate(raw.names) if name not in ignored]
    return replace(raw, names=[raw.names[j] for j in kept], X=raw.X[:, kept])


def _split(
    frame: Any, path: Path, columns: Columns, need_target: bool, marks: Marks
) -> formats.Raw:
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
        y = numbers(frame[[columns.target]], title(path), marks)[:, 0]
    groups = None if columns.groups is None else _labels(frame[columns.groups], path)
    return formats.Raw(kept, numbers(frame[kept], title(path), marks), y, groups)


def _labels(column: Any, path: Path) -> NDArray[Any]:
    absent = column.isna().to_numpy()
    if absent.any():
        raise InputError(
            f"{title(path)}: --groups {shown(str(column.name))!r} has no label in "
            f"{absent.sum()} row(s), the first of them row {np.argmax(absent) + 1}; fill them in"
        )
    return np.asarray(column.astype(str).to_numpy(object))


def _check_known(option: str, name: str, names: Sequence[str], path: Path) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=3)
    hint = f"; did you mean {listed(near)}?" if near else f"; there are {listed(names)}"
    raise InputError(f"{option} {shown(name)!r} is not a column of {title(path)}{hint}")


def read_columns(path: Path, names: Sequence[str], reading: Reading) -> Floats:
    """The columns of these names, in this order; others may hold anything.

    In a LIBSVM file a feature that is always 0 does not appear: absent columns are zeros there.
    """
    with phase(f"reading {title(path)}"):
        source = open_source(path, reading.budget)
        raw = _raw(source, reading, _Only(names, reading))
    place = {name: j for j, name in enumerate(raw.names)}
    absent = [name for name in names if name not in place]
    if absent and source.kind != "libsvm":
        raise InputError(
            f"{title(path)} lacks {len(absent)} of the {len(names)} columns of the model: "
            f"{listed(absent)}"
        )
    out = np.zeros((raw.X.shape[0], len(names)))
    known = [at for at, name in enumerate(names) if name in place]
    out[:, known] = dense(raw.X[:, [place[names[at]] for at in known]])
    data = Data(path, tuple(names), out, None)
    if not names:
        return out
    return np.asarray(without_missing(data, "refuse").X)
