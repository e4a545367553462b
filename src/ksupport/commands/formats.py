"""One reader for each kind of file; pandas, pyarrow and scikit-learn do the work."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design import Floats
from .errors import InputError
from .names import listed, shown

SEPARATORS = (",", ";", "\t", "|", " ")


@dataclass(frozen=True)
class Raw:
    """What a file holds, before it is checked."""

    names: Sequence[str]
    X: Any
    y: Floats | None
    groups: NDArray[Any] | None = None


# -- data frames ---------------------------------------------------------------------------


def from_csv(path: Path, separator: str | None, decimal: str) -> Any:
    """A CSV or TSV file, packed or not; the first line holds the names."""
    import pandas as pd

    if separator is None:
        separator = "\t" if {".tsv", ".tab"} & set(path.suffixes) else ","
    how: dict[str, Any] = {"sep": separator, "encoding": "utf-8-sig"}
    try:
        head = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **how)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path.name} is empty") from None
    names = [str(name) for name in head.iloc[0]]
    _check_separator(names, separator, path)
    try:
        with warnings.catch_warnings():
            # Longer lines than the first one would lose cells with no more than a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                path, header=0, names=range(len(names)), decimal=decimal, index_col=False,
                low_memory=False, **how,
            ).set_axis(names, axis=1)  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise InputError(
            f"{path.name}: every line needs as many cells as the first one, which has "
            f"{len(names)} ({shown(str(error).strip(), 200)})"
        ) from None


def _check_separator(names: list[str], separator: str, path: Path) -> None:
    if len(names) > 1:
        return
    counts = {mark: names[0].count(mark) for mark in SEPARATORS if mark != separator}
    mark = max(counts, key=lambda each: counts[each])
    if counts[mark]:
        raise InputError(
            f"{path.name} has a single column if {separator!r} separates them, but its first line "
            f"holds {counts[mark]} times {mark!r}: try --separator {mark!r}"
        )


def from_parquet(path: Path) -> Any:
    """A Parquet file."""
    import pyarrow.parquet as parquet

    return _pandas(parquet.read_table(path))


def from_arrow(path: Path) -> Any:
    """An Arrow IPC file, which is what Feather is, or an Arrow stream."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as source:
        try:
            return _pandas(pa.ipc.open_file(source).read_all())
        except pa.ArrowInvalid:
            source.seek(0)
            return _pandas(pa.ipc.open_stream(source).read_all())


def _pandas(table: Any) -> Any:
    names = table.column_names
    renamed = table.rename_columns([str(j) for j in range(len(names))])  # names may occur twice
    return renamed.replace_schema_metadata().to_pandas().set_axis(names, axis=1)


def numbers(frame: Any, path: Path) -> Floats:
    """A data frame as a matrix; the first cell that is no number is named."""
    import pandas as pd

    text = [j for j, kind in enumerate(frame.dtypes) if not _numeric(pd, kind)]
    if not text:
        return np.ascontiguousarray(frame.to_numpy(np.float64, na_value=np.nan))
    cells = []
    for j in text:
        column = frame.iloc[:, j]
        values = pd.to_numeric(column, errors="coerce") if _textual(pd, column) else None
        bad = column.notna() & (values.isna() if values is not None else True)
        if bad.any():
            row = int(np.argmax(bad.to_numpy()))
            cells.append((j, row))
        elif values is not None:
            frame = frame.assign(**{str(frame.columns[j]): values})
    if cells:
        j, row = cells[0]
        name, cell = shown(str(frame.columns[j])), shown(str(frame.iloc[row, j]))
        others = [str(frame.columns[i]) for i, _ in cells[1:]]
        also = f" (text is also in {listed(others, 4)})" if others else ""
        raise InputError(
            f"{path.name}: column {name}, row {row + 1} holds {cell!r}, which is not a "
            f"number{also}. Leave such columns out with --ignore, or encode them as numbers"
            + ("; for decimal commas give --decimal ','" if _comma(cell) else "")
        )
    return np.ascontiguousarray(frame.to_numpy(np.float64, na_value=np.nan))


def _numeric(pd: Any, kind: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(kind)) and kind.kind != "c"


def _textual(pd: Any, column: Any) -> bool:
    return bool(pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column))


def _comma(cell: str) -> bool:
    return cell.replace(",", "", 1).lstrip("+-").isdigit()


# -- arrays --------------------------------------------------------------------------------


def from_npz(path: Path, target: str | None, groups: str | None, need_target: bool) -> Raw:
    """Arrays ``X`` and ``y``, perhaps ``feature_names``; never pickled objects."""
    with np.load(path, allow_pickle=False) as archive:
        held = archive.files
        if "X" not in held:
            raise InputError(f"{path.name} needs an array 'X'; it holds {listed(held)}")
        X = np.asarray(archive["X"])
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise InputError(f"{path.name}: X must be a matrix of numbers, got {_kind(X)}")
        name = target or ("y" if "y" in held else None)
        if need_target and (name is None or name not in held):
            raise InputError(
                f"{path.name} has no array {target or 'y'!r} to explain; it holds {listed(held)}"
            )
        y = _vector(archive, name, X, path) if name in held else None
        if y is not None and y.dtype.kind not in "fiub":
            raise InputError(f"{path.name}: {name} must hold numbers, got {_kind(y)}")
        given = "feature_names" in held
        names = archive["feature_names"].tolist() if given else numbered(X.shape[1])
        if len(names) != X.shape[1]:
            raise InputError(
                f"{path.name}: {len(names)} feature_names for {X.shape[1]} columns of X"
            )
        labels = None if groups is None else _vector(archive, groups, X, path)
    y = None if y is None else y.astype(np.float64)
    return Raw([str(each) for each in names], X.astype(np.float64), y, labels)


def _vector(archive: Any, name: str | None, X: NDArray[Any], path: Path) -> NDArray[Any]:
    if name not in archive.files:
        raise InputError(f"{path.name} has no array {name!r}; it holds {listed(archive.files)}")
    vector = np.asarray(archive[name])
    if vector.shape != (len(X),):
        raise InputError(
            f"{path.name}: {name} must have one entry for each of the {len(X)} rows of X, got "
            f"{_kind(vector)}"
        )
    return vector


def _kind(array: NDArray[Any]) -> str:
    return f"shape {array.shape} of {array.dtype}"


def from_libsvm(path: Path) -> Raw:
    """A LIBSVM file: the response, then ``index:value``; features are named after their index."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), zero_based=True)
    names = numbered(X.shape[1])
    if X.shape[1] > 1 and X[:, [0]].nnz == 0:  # indices began at 1, as they mostly do
        X, names = X[:, 1:], names[1:]
    return Raw(names, X.tocsr(), y)


def numbered(d: int) -> list[str]:
    """Names for columns that have none."""
    return [f"x{j}" for j in range(d)]
