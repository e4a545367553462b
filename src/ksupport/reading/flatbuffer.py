"""The little of the flatbuffers format that the headers of Arrow's batches need."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Flatbuffer:
    """Tables, their integers, and their vectors of two integers, by the numbers of the fields."""

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
