"""Estimates of the memory that a file needs, before it is read."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import IO, Any

from .._common.errors import InputError
from .._common.files import npy_header
from .problems import option

TABLE_COPIES = 3  # the numbers as parsed, as arranged in a table, and as a matrix
TEXT_COPIES = 2  # the text of a file, and its cells in the parser
NUMBER_BYTES = 8  # bytes
COLUMN_BYTES = 3200  # bytes that pandas takes for a column beside its cells, as measured
FEATURE_BYTES = 200  # bytes for a name and a few vectors with an entry for each feature
GIGABYTE = 1e9


@dataclass(frozen=True)
class Budget:
    """The memory that reading may take, in gigabytes."""

    gigabytes: float

    def check(self, name: str, needed: float, about: str = "about") -> None:
        """Refuse what would need more bytes than there may be."""
        if needed > self.gigabytes * GIGABYTE:
            digits = ".1f" if needed > GIGABYTE / 10 else ".1g"
            raise InputError(
                f"{name} would take {about} {needed / GIGABYTE:{digits}} GB of memory, more than "
                f"{option('max-memory')} {self.gigabytes:g}. Raise that if the memory is there; or "
                "keep fewer columns; or, in Python, give a numpy.memmap or a dask array to "
                "ksupport.AutoIRKSN, which read the data from disk"
            )


def of_csv(text: bytes, separator: str) -> float:
    """Bytes for the text, for its cells and for its columns."""
    mark, end = separator.encode(), b"\n" if b"\n" in text else b"\r"
    cells = text.count(mark) + text.count(end) + 1
    first = text.find(end)
    columns = text.count(mark, 0, len(text) if first < 0 else first) + 1
    return TEXT_COPIES * len(text) + TABLE_COPIES * NUMBER_BYTES * cells + COLUMN_BYTES * columns


def of_libsvm(text: bytes) -> float:
    """Bytes for the text, and for a value and an index of each entry."""
    entries = text.count(b":") + text.count(b"\n") + 1
    return len(text) + TABLE_COPIES * 2 * NUMBER_BYTES * entries


def of_npy(stream: IO[bytes]) -> float:
    """Bytes for an array as stored and as float64, by what its header says."""
    shape, dtype = npy_header(stream)
    return float(math.prod(shape) * (dtype.itemsize + NUMBER_BYTES))


def of_table(rows: int, columns: int) -> float:
    """Bytes for a table of numbers, and for the matrix made of it."""
    return float(TABLE_COPIES * NUMBER_BYTES * rows * columns + COLUMN_BYTES * columns)


def of_arrow(stream: Any) -> float:
    """Bytes for the tables of an Arrow stream, by the headers of its batches."""
    import pyarrow as pa

    rows = unpacked = 0
    for message in pa.ipc.MessageReader.open_stream(stream):
        if message.type in ("record batch", "dictionary"):
            length, size = _batch(message)
            rows, unpacked = rows + length, unpacked + size
    return unpacked + of_table(rows, len(pa.ipc.open_stream(stream).schema))


@dataclass(frozen=True)
class Flatbuffer:
    """The header of an Arrow batch: tables, integers and pairs of them, by numbers of fields."""

    data: bytes

    @property
    def root(self) -> int:
        """Where the outermost table is."""
        return self._number("<I", 0)

    def field(self, table: int, number: int) -> int | None:
        """Where a field of a table is, if it is there."""
        fields = table - self._number("<i", table)
        at = 4 + 2 * number
        present = at < self._number("<H", fields)
        offset = self._number("<H", fields + at) if present else 0
        return table + offset if offset else None

    def table(self, table: int, number: int) -> int:
        """Where the table or vector is to which a field points."""
        at = self.field(table, number)
        if at is None:
            raise ValueError("the header of a batch is damaged")
        return at + self._number("<I", at)

    def integer(self, table: int, number: int) -> int:
        """An integer; one that is left out is 0."""
        at = self.field(table, number)
        return 0 if at is None else self._number("<q", at)

    def pairs(self, table: int, number: int) -> list[tuple[int, int]]:
        """A vector of pairs of integers."""
        if self.field(table, number) is None:
            return []
        start = self.table(table, number)
        count = self._number("<I", start)
        ends = self.data[start + 4 : start + 4 + 16 * count]
        return list(struct.iter_unpack("<qq", ends))

    def _number(self, kind: str, at: int) -> int:
        return int(struct.unpack_from(kind, self.data, at)[0])


def _batch(message: Any) -> tuple[int, int]:
    """Number of rows of a batch, and of bytes of its decompressed buffers.

    Nothing in pyarrow tells them before it unpacks, so they are read from the flatbuffer; the
    numbers of the fields are those of Arrow's Message.fbs.
    """
    header = Flatbuffer(message.metadata.to_pybytes())
    batch = header.table(header.root, 2)
    if message.type == "dictionary":
        batch = header.table(batch, 1)
    rows = header.integer(batch, 0)
    buffers = header.pairs(batch, 2)
    if header.field(batch, 3) is None:
        return rows, sum(length for _, length in buffers)
    # A packed buffer begins with its length when unpacked, or with -1 if it is not packed.
    total = 0
    for at, length in buffers:
        unpacked = struct.unpack_from("<q", message.body, at)[0] if length else 0
        total += length if unpacked < 0 else unpacked
    return rows, total
