"""One reader for each kind of file; pandas, pyarrow and scikit-learn do the work."""

from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed, shown
from .._common.phases import Update, phase
from . import size
from .cells import EXPONENT, Marks, is_beyond
from .size import Budget
from .source import Source
from .spelling import option
from .table import Matrix

SEPARATORS = (",", ";", "\t", "|", " ")
NUMBERS = "fiub"  # the kinds of NumPy
ARROW_FILE = b"ARROW1\0\0"
BATCH = 1024  # rows of a Parquet file that are unpacked together
BLANK_LINE = re.compile(rb"\n *\r?\n|\r *\r")


# -- data frames ---------------------------------------------------------------------------


def from_csv(source: Source, separator: str | None, marks: Marks, budget: Budget) -> Any:
    """A CSV or TSV file; the first line holds the names."""
    import pandas as pd

    if separator is None:
        separator = "\t" if {".tsv", ".tab"} & set(source.path.suffixes) else ","
    text = _trimmed(source.data)
    _check_text(text, source.name)
    budget.check(source.name, size.of_csv(text, separator))
    # A blank line is a row, so that rows and predictions go on corresponding.
    how: dict[str, Any] = {
        "sep": separator, "encoding": "utf-8-sig", "skip_blank_lines": False, "index_col": False,
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            # Longer lines than the first one would lose cells with no more than a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            names = _first_line(text, how)
            _check_comment(text, len(names), separator, source.name)
            _check_separator(names, separator, source.name)
            how |= {"header": 0, "names": range(len(names))}
            how["dtype"] = _kept_as_text(text, how)
            with phase("parsing", len(text)) as update:
                return pd.read_csv(
                    _Followed(text, update), decimal=marks.decimal, low_memory=False, **how
                ).set_axis(names, axis=1)
    except pd.errors.EmptyDataError:
        raise InputError(f"{source.name} is empty") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{source.name} is not text in UTF-8 ({error}); save it so") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise InputError(
            f"{source.name}: every line needs as many cells as the first one, and every quote its "
            f"end ({shown(str(error).strip(), 200)})"
        ) from None


class _Followed(io.BytesIO):
    """Bytes that tell how many of them have been read."""

    def __init__(self, data: bytes, update: Update) -> None:
        super().__init__(data)
        self._update = update

    def read1(self, size: int | None = -1, /) -> bytes:
        self._update(self.tell())
        return super().read1(size)

    def read(self, size: int | None = -1, /) -> bytes:
        self._update(self.tell())
        return super().read(size)


@phase("finding its columns")
def _first_line(text: bytes, how: dict[str, Any]) -> list[str]:
    import pandas as pd

    cells = pd.read_csv(
        io.BytesIO(text), header=None, nrows=1, dtype=object, keep_default_na=False, **how
    )
    return [str(cell) for cell in cells.iloc[0]]


def _kept_as_text(text: bytes, how: dict[str, Any]) -> dict[int, type]:
    """The columns with a cell that pandas must not take for a number: it would crash, or err."""
    import pandas as pd

    if EXPONENT.search(text) is None:
        return {}
    cells = pd.read_csv(io.BytesIO(text), dtype=object, **how)
    return {j: object for j in cells if cells[j].map(is_beyond).any()}


def _trimmed(text: bytes) -> bytes:
    """Text without blank lines at its ends; mostly there are none, and nothing is copied."""
    end = text[-3:]
    if text[:1] in (b"\r", b"\n") or BLANK_LINE.search(end) or not end.strip():
        return text.lstrip(b"\r\n").rstrip(b" \r\n")
    return text


def _check_text(text: bytes, name: str) -> None:
    """Refuse what is no text, and lines with nothing on them."""
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name} is text in UTF-16; save it as UTF-8")
    if b"\0" in text:
        line = len(text[: text.index(b"\0") + 1].splitlines())
        raise InputError(f"{name}: line {line} holds a NUL byte, so this is no text; save it again")
    quotes = at = 0
    for blank in BLANK_LINE.finditer(text):
        quotes += text.count(b'"', at, blank.start())
        at = blank.start()
        if quotes % 2 == 0:  # else it is inside of a cell
            line = len(text[:at].splitlines()) + 1
            raise InputError(
                f"{name}: line {line} is blank, and it is not the last one. Remove it; or, if it "
                "stands for a row without values, write its separators"
            )


def sniffed(source: Source) -> str | None:
    """What separates the columns of a small table, by its first line; None if there is but one."""
    first = _trimmed(source.data).splitlines()[0].decode("utf-8-sig", "replace")
    counts = {mark: first.count(mark) for mark in ("\t", ",", ";", "|")}
    mark = max(counts, key=lambda each: counts[each])
    if counts[mark]:
        return mark
    return r"\s+" if " " in first.strip() else None


def _check_comment(text: bytes, cells: int, separator: str, file: str) -> None:
    """Refuse a first line that is no header, but a comment: it has not the cells of the next."""
    first, *rest = text.removeprefix(b"\xef\xbb\xbf").split(b"\n", 2)
    if not first.startswith((b"#", b"%", b"//")) or not rest:
        return
    others = rest[0].count(separator.encode()) + 1
    if others != cells:
        raise InputError(
            f"{file}: line 1 begins with {shown(first.decode('utf-8', 'replace'))[:1]!r} and has "
            f"{cells} cells where line 2 has {others}, so it is a comment and holds no names of "
            "columns: remove the lines above the one that does"
        )


def _check_separator(names: list[str], separator: str, file: str) -> None:
    if len(names) > 1:
        return
    counts = {mark: names[0].count(mark) for mark in SEPARATORS if mark != separator}
    mark = max(counts, key=lambda each: counts[each])
    if counts[mark]:
        raise InputError(
            f"{file} has a single column if {separator!r} separates them, but its first line "
            f"holds {counts[mark]} times {mark!r}: try {option('separator', repr(mark))}"
        )


def from_parquet(source: Source, budget: Budget) -> Any:
    """A Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = parquet.ParquetFile(pa.BufferReader(source.data))
    columns = len(file.schema_arrow)
    budget.check(source.name, size.of_table(file.metadata.num_rows, columns))
    with phase("unpacking", file.metadata.num_rows) as update:
        batches = _bounded(file.iter_batches(BATCH), source.name, budget, update)
    return _pandas(pa.Table.from_batches(batches, file.schema_arrow))


def _bounded(batches: Iterable[Any], name: str, budget: Budget, update: Update) -> list[Any]:
    """Batches as long as they fit: text can unpack to far more than a header says."""
    held, needed, rows = [], 0, 0
    for batch in batches:
        needed += batch.nbytes
        budget.check(name, needed, "at least")
        held.append(batch)
        rows += batch.num_rows
        update(rows)
    return held


def from_arrow(source: Source, budget: Budget) -> Any:
    """An Arrow stream, or an Arrow IPC file (Feather), which is a stream between two marks."""
    import pyarrow as pa

    stream = pa.py_buffer(source.data)
    if source.data.startswith(ARROW_FILE):
        stream = stream[len(ARROW_FILE) :]
    budget.check(source.name, size.of_arrow(stream))
    return _pandas(pa.ipc.open_stream(stream).read_all())


def _pandas(table: Any) -> Any:
    names = table.column_names
    renamed = table.rename_columns([str(j) for j in range(len(names))])  # names may occur twice
    return renamed.replace_schema_metadata().to_pandas().set_axis(names, axis=1)


# -- arrays --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Arrays:
    """The arrays of an ``.npz``, each as large as is allowed; never pickled objects."""

    archive: Any
    name: str  # of the file
    budget: Budget

    @property
    def held(self) -> list[str]:
        return list(self.archive.files)

    def get(self, key: str) -> NDArray[Any]:
        if key not in self.held:
            raise InputError(f"{self.name} has no array {key!r}; it holds {listed(self.held)}")
        with self.archive.zip.open(f"{key}.npy") as stream:
            self.budget.check(self.name, size.of_npy(stream))
        return np.asarray(self.archive[key])

    def vector(self, key: str, length: int, each: str) -> NDArray[Any]:
        vector = self.get(key)
        if vector.shape != (length,):
            raise InputError(
                f"{self.name}: {key} must have one entry for each of the {length} {each} of X, got "
                f"{_kind(vector)}"
            )
        return vector


def from_npz(source: Source, wanted: Sequence[str], budget: Budget) -> Matrix:
    """An array ``X``, perhaps ``feature_names``, and arrays with an entry for each row."""
    import pandas as pd

    if not zipfile.is_zipfile(io.BytesIO(source.data)):
        raise InputError(
            f"{source.name} cannot be read as npz: it is not an archive of arrays, or only a part "
            "of one. Write it with numpy.savez(file, X=X, y=y)"
        )
    with np.load(io.BytesIO(source.data), allow_pickle=False) as archive:
        arrays = _Arrays(archive, source.name, budget)
        X = arrays.get("X")
        if X.ndim != 2 or X.dtype.kind not in NUMBERS:
            raise InputError(f"{source.name}: X must be a matrix of numbers, got {_kind(X)}")
        n, d = X.shape
        about = pd.DataFrame(
            {name: arrays.vector(name, n, "rows") for name in wanted}, index=range(n)
        )
        given = "feature_names" in arrays.held
        names = arrays.vector("feature_names", d, "columns").tolist() if given else numbered(d)
    X = X.astype(np.float64, copy=False)
    return Matrix(source.path, about, feature_names=tuple(map(str, names)), X=X)


def _kind(array: NDArray[Any]) -> str:
    return f"shape {array.shape} of {array.dtype}"


def held_by_npz(source: Source) -> list[str]:
    """The names of the arrays; none of what `from_npz` will refuse."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error):
        return []


def from_libsvm(source: Source, target: str, budget: Budget) -> Matrix:
    """A LIBSVM file: the response, then ``index:value``; features are named after their index."""
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    budget.check(source.name, size.of_libsvm(source.data))
    X, y = load_svmlight_file(io.BytesIO(source.data), zero_based=True)
    widest = f"{source.name}, whose largest index is {X.shape[1] - 1},"
    budget.check(widest, size.of_features(X.shape[1]))
    names = numbered(X.shape[1])
    if X.shape[1] > 1 and X[:, [0]].nnz == 0:  # indices began at 1, as they mostly do
        X, names = X[:, 1:], names[1:]
    about = pd.DataFrame({target: y})
    return Matrix(source.path, about, feature_names=tuple(names), X=X.tocsr())


def numbered(d: int) -> list[str]:
    """Names for columns that have none."""
    return [f"x{j}" for j in range(d)]
