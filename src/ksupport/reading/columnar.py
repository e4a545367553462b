"""Parquet, Arrow and Feather files as data frames; pyarrow does the work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._common.phases import Update, phase
from . import size
from .size import Budget
from .source import Source

ARROW_FILE = b"ARROW1\0\0"
BATCH = 1024  # rows of a Parquet file that are unpacked together


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
